"""Laws of a confidence sequence: its error over a whole life, order of arrival in batches, and bad input."""

from __future__ import annotations

import numpy as np
import pytest

from uneven.errors import UnevenError
from uneven.metrics import CostSequence


@pytest.mark.slow
def test_whole_lives_err_in_at_most_5_percent() -> None:
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(300):  # ends only ever move inwards, so that the last look is the worst one
        rows = np.where(rng.random(500) < 0.05, rng.uniform(0, 20, 500), 0.0)
        found = CostSequence(most=20).update(rows)
        wrong += not found.low <= 0.5 <= found.high
    assert wrong <= 15


def test_batches_do_not_matter_and_ends_move_inwards() -> None:
    rows = np.random.default_rng(1).choice([-2.0, 0.0, 7.0], 1500)
    whole, parts = CostSequence(most=7, least=-2).update(rows), CostSequence(most=7, least=-2)
    low, high = parts.low, parts.high
    for part in np.split(rows, 15):
        parts.update(part)
        assert low <= parts.low <= parts.high <= high
        low, high = parts.low, parts.high
    assert (parts.low, parts.high, parts.count) == (whole.low, whole.high, whole.count)
    assert parts.mean == pytest.approx(rows.mean())
    assert low < rows.mean() < high < 3


@pytest.mark.parametrize("bad", [[1.0, 2.0], [np.nan], [-0.1], "x"])
def test_bad_costs_change_nothing(bad: object) -> None:
    found = CostSequence(most=1).update([0.5] * 50)
    before = found.low, found.high, found.count
    with pytest.raises(UnevenError):
        found.update(bad)
    assert (found.low, found.high, found.count) == before
