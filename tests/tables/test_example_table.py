"""The example table is what its page says: parts, costs, licence."""

import numpy as np
import pandas as pd
import pytest

import uneven
from uneven.errors import ParameterError
from uneven.tables import example_table


def test_the_parts_are_the_whole_and_share_no_row_number():
    X, y, costs = uneven.load_example()
    parts = [uneven.load_example(rows) for rows in ("train", "test")]
    assert [len(part[0]) for part in parts] == [len(X) - len(X) // 4, len(X) // 4]
    together = pd.concat([part[0].assign(y=part[1]) for part in parts])
    pd.testing.assert_frame_equal(
        together.sort_values(list(together)).reset_index(drop=True),
        X.assign(y=y).sort_values(list(together)).reset_index(drop=True),
    )
    assert sum(part[2]["fn_cost"].sum() for part in parts) == pytest.approx(costs["fn_cost"].sum())


def test_costs_are_the_published_ones_and_right_decisions_never_cost_more():
    X, y, costs = uneven.load_example()
    assert y.dtype == bool
    assert 0.1 < y.mean() < 0.15
    expected = [max(1.0, 0.25 * 0.02463333 * balance) for balance in X["balance"]]
    np.testing.assert_allclose(costs["fn_cost"], expected)
    assert (costs["fn_cost"] >= costs["tp_cost"]).all()
    assert not X.isna().any().any()


def test_the_package_holds_licence_and_source_and_is_small():
    folder = example_table._FILE.parent
    words = (folder / "bank_calls.txt").read_text(encoding="utf-8")
    assert all(part in words for part in ("CC BY 4.0", "Moro", "10.24432/C5K306", "Correa Bahnsen"))
    assert sum(path.stat().st_size for path in folder.iterdir()) < 300_000


def test_an_unknown_part_is_refused():
    with pytest.raises(ParameterError, match="rows must be one of all, train, test"):
        uneven.load_example("half")
