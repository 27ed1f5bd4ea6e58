"""Tables with many columns: what is found for all together is what is found for each alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uneven.app.files import remarks as leaking
from uneven.app.files import table as tables
from uneven.app.files.remarks import find_leaks
from uneven.app.files.table import Table, table_of_bytes
from uneven.app.files.table_columns import matrix_width, plan_columns, type_columns
from uneven.tables.written_numbers import Numbers

WRITTEN = (
    *(
        "1.5",
        "1,5",
        "-1,25",
        "1,234",
        "1.234",
        "1.234.567",
        "05",
        "0012",
        "1e5",
        "1.5e-3",
        ".5",
        "5.",
        "2,25-",
        "(3.50)",
    ),
    *("€ 1.234,50", "$1,234.5", "5,00 kr", "1'234.5", "1\u00a0234,5", "12%", "3,5 %", "−1,5", "2,25-", "(3.50)"),
    *("", "NA", "-", "None", "red", "blue", " red ", "x,1", "TRUE", "2021-03-04", "inf"),
)
COLUMN = st.lists(st.sampled_from(WRITTEN), min_size=1, max_size=4)


def read(columns: dict[str, list[str]]) -> Table:
    return table_of_bytes("t.csv", pd.DataFrame(columns).to_csv(sep="\t", index=False).encode())


def assert_same_numbers(one: Numbers, other: Numbers) -> None:
    np.testing.assert_array_equal(one.values, other.values)
    np.testing.assert_array_equal(one.others, other.others)
    assert (one.infinite, one.example) == (other.infinite, other.example)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(columns=st.lists(COLUMN, min_size=1, max_size=40), rows=st.integers(2, 30), seed=st.integers(0, 99))
def test_each_column_is_read_as_if_it_were_alone(columns: list[list[str]], rows: int, seed: int) -> None:
    """``row`` numbers the rows: a line of a table must not be empty."""
    random = np.random.default_rng(seed)
    row = [f"r{k}" for k in range(rows)]
    made = {f"c{k}": list(random.choice(some, rows)) for k, some in enumerate(columns)}
    together = read({"row": row, **made})
    alone = {name: read({"row": row, name: texts}) for name, texts in made.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "_FEW_ROWS", 0)
        one_by_one = read({"row": row, **made})
        for name in made:
            assert together.decimals.get(name) == alone[name].decimals.get(name)
            assert together.texts(name).equals(alone[name].texts(name))
            assert together.texts(name).equals(one_by_one.texts(name))
            assert together.texts(name, ("red",)).equals(one_by_one.texts(name, ("red",)))
            assert_same_numbers(together.numbers(name), one_by_one.numbers(name))
        assert (together.decimal, together.unsure) == (one_by_one.decimal, one_by_one.unsure)


@pytest.mark.parametrize("at_once", [1, 7, 1 << 17])
def test_columns_are_read_in_pieces_of_any_size(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    made = {f"c{k}": list(random.choice(WRITTEN, 12)) for k in range(9)}
    whole = read(made)
    monkeypatch.setattr(tables, "_AT_ONCE", at_once)
    pieces = read(made)
    assert (whole.decimals, whole.decimal, whole.unsure) == (pieces.decimals, pieces.decimal, pieces.unsure)
    assert all(whole.texts(name).equals(pieces.texts(name)) for name in made)


def test_some_rows_have_their_own_texts() -> None:
    whole = read({"a": ["1", "2", "x"], "b": ["u", "NA", "v"]})
    some = whole.rows(np.array([True, False, True]))
    assert (some.texts("a").to_pylist(), some.texts("b").to_pylist()) == (["1", "x"], ["u", "v"])
    assert whole.texts("b").to_pylist() == ["u", None, "v"]


def awkward_table(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers with ties, gaps and values near the end of the range, and categories; some know the target."""
    random = np.random.default_rng(seed)
    rows = int(random.integers(20, 90))
    is_positive = np.arange(rows) % int(random.choice([2, 2, 3])) == 0
    found: dict[str, object] = {}
    for k in range(25):
        values = random.normal(size=rows) + random.choice([0, 1, 3, 10]) * is_positive
        values = np.round(values) if k % 3 == 0 else values
        values = values * 1e307 if k % 11 == 0 else values
        values = (
            np.where((random.random(rows) < 0.1) | (~is_positive & (k % 2 == 0)), np.nan, values) if k % 4 else values
        )
        found[f"c{k}"] = pd.Categorical(np.round(values, 0).astype(str)) if k % 7 == 0 else values
    return pd.DataFrame(found), is_positive


@pytest.mark.parametrize("seed", range(12))
def test_a_column_leaks_whatever_is_beside_it(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaking, "_NEAR_PERFECT", 0.75)  # otherwise few columns are told about
    X, is_positive = awkward_table(seed)
    alone: dict[str, str] = {}
    for name in X.columns:
        alone |= find_leaks(X[[name]], is_positive)
    assert list(find_leaks(X, is_positive).items()) == list(alone.items())
    assert alone


@pytest.mark.parametrize("seed", range(6))
def test_leaks_follow_from_the_definition(seed: int) -> None:
    """The order of the rows by a column of numbers, as scikit-learn finds it."""
    from sklearn.metrics import roc_auc_score

    X, is_positive = awkward_table(seed)
    numbers = X.select_dtypes("number").dropna(axis=1)
    share = [roc_auc_score(is_positive, numbers[name]) for name in numbers]
    found = leaking._order_by_numbers(numbers.to_numpy(), np.zeros(len(X), dtype=bool), is_positive)
    np.testing.assert_allclose(found, np.maximum(share, 1 - np.array(share)), rtol=1e-12)


def test_the_width_is_the_sum_over_columns() -> None:
    X, _ = awkward_table(1)
    each = [matrix_width(X[[name]], 500) for name in X.columns]
    assert matrix_width(X, 500) == tuple(np.sum(each, axis=0))


def test_a_wide_table_becomes_numbers_and_categories() -> None:
    random = np.random.default_rng(0)
    made = {f"n{k}": [f"{v:.2f}" for v in random.normal(size=12)] for k in range(300)}
    made |= {f"c{k}": list(random.choice(["a", "b"], 12)) for k in range(20)}
    table = read({**made, "y": ["u", "v"] * 6})
    plan = plan_columns(table, "y")
    X = type_columns(table, plan.columns)
    assert list(X.columns) == list(made)
    assert (X["n7"].tolist(), list(X["c3"])) == ([float(text) for text in made["n7"]], made["c3"])


def test_free_text_is_no_id_however_many_texts_there_are() -> None:
    rows = 5_200  # more than are counted
    said = [f"the customer called again about order {k}" for k in range(rows)]
    table = read({"said": said, "card": [f"c{k}" for k in range(rows)], "y": ["u", "v"] * (rows // 2)})
    plan = plan_columns(table, "y")
    assert [(column.name, column.role, column.words, column.counted) for column in plan.columns] == [
        ("said", "text", True, False)
    ]
    assert plan.skipped == {"card": "looks like an ID (5,200 different values); --keep uses it"}
    assert plan.remarks == ["Column 'said': free text (5,200 different texts); its words are used."]
