"""The sentences of answers, each for the numbers that call for it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from uneven import Actions, UnevenThresholdClassifierCV
from uneven.app.files.table import read_table
from uneven.app.files.table_columns import plan_columns, type_columns
from uneven.app.models.apply_model import in_training, row_hashes, seen_in_words
from uneven.app.report.sentences import (
    WhatIf,
    first_line,
    probability_in_words,
    ratio_in_words,
    shift_in_words,
    stability_in_words,
    threshold_in_words,
    volume_in_words,
    what_if_title,
)
from uneven.app.report.table_report import _few_rows, list_unknowns
from uneven.costs import RowCosts
from uneven.decisions.alpha import probability_thresholds
from uneven.metrics import CostEstimate


def estimates(wide: float, rough: bool = False, **costs: float) -> list[CostEstimate]:
    """Estimates whose paired intervals reach so far to both sides; underscores in names become spaces."""
    first = next(iter(costs.values()))
    return [
        CostEstimate(
            *(name.replace("_", " "), x, x - 1, x + 1, 0, 0, x - first, x - first - wide, x - first + wide),
            rough=rough,
            difference_rough=rough,
        )
        for name, x in costs.items()
    ]


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        (
            estimates(0.1, uneven=1.0, flag_no_one=3.0, flag_everyone=1.5),
            "Per 1,000 rows this model saves 500 EUR against flagging everyone (95 % interval 400 to 600).",
        ),
        (
            estimates(0.1, rough=True, uneven=1.0, flag_no_one=3.0, flag_everyone=1.5),
            "Per 1,000 rows this model saves 500 EUR against flagging everyone (95 % interval 400 to 600, rough).",
        ),
        (
            estimates(0.6, uneven=1.0, flag_no_one=1.5, flag_everyone=4.0),
            "Per 1,000 rows this model saves 500 EUR against flagging no one (95 % interval -100 to 1,100; it may be "
            "chance).",
        ),
        (
            estimates(0.1, uneven=1.0, flag_no_one=3.0, flag_everyone=0.75),
            "WARNING: this model is dearer than flagging everyone: it costs 250 EUR more per 1,000 rows (95 % interval "
            "150 to 350). Rather do that, or find better columns, more rows or other costs.",
        ),
        (
            estimates(0.3, uneven=1.0, flag_no_one=0.9, flag_everyone=2.0),
            "WARNING: this model is dearer than flagging no one: it costs 100 EUR more per 1,000 rows (95 % interval "
            "-200 to 400; it may be chance). Rather do that, or find better columns, more rows or other costs.",
        ),
        (
            estimates(0.0, uneven=1.0, flag_no_one=3.0, flag_everyone=1.0),
            "WARNING: this model saves nothing: it costs as much as flagging everyone.",
        ),
    ],
)
def test_the_first_line(rows: list[CostEstimate], line: str) -> None:
    assert first_line(rows, "EUR") == line


def test_sums_of_a_year_can_be_read() -> None:
    rows = estimates(0.1, uneven=2.0, flag_no_one=3.0, flag_everyone=4.0)
    assert volume_in_words(rows, "EUR", 1e12).startswith(
        "At 1,000,000,000,000 rows a year uneven costs 2 trillion EUR (95 % interval 1 trillion to 3 trillion), and "
        "saves 1 trillion EUR (95 % interval 900 billion to 1.1 trillion) against flagging no one"
    )
    assert "costs 2,000,000 EUR" in volume_in_words(rows, "EUR", 1e6)


def what_ifs(wide: float, half: dict[str, float], given: dict[str, float], double: dict[str, float]) -> list[WhatIf]:
    labels = {"half": half, "as given": given, "double": double}
    return [WhatIf(label, "20 : 1", False, estimates(wide, **costs)) for label, costs in labels.items()]


def test_whether_the_cheapest_changes() -> None:
    ours, theirs = {"uneven": 1.0, "other": 2.0}, {"uneven": 2.0, "other": 1.0}
    stays = "Whether a miss costs half or double: uneven stays the cheapest."
    assert stability_in_words(what_ifs(0.1, ours, ours, ours)) == stays
    assert stability_in_words(what_ifs(0.1, theirs, ours, theirs)) == (
        "At your costs of a miss the cheapest is uneven; if it costs half or double, it is other: find out what a miss "
        "costs."
    )
    assert stability_in_words(what_ifs(5.0, ours, theirs, theirs)) == (
        "At your costs of a miss the cheapest is other; if it costs half, it is uneven. These differences may be "
        "chance."
    )
    tied = {"uneven": 1.0, "flag_everyone": 1.0, "flag_no_one": 2.0}
    beaten = {"uneven": 1.0, "flag_everyone": 1.5, "flag_no_one": 2.0}
    then = what_ifs(0.1, beaten, beaten, tied)
    assert stability_in_words(then) == (
        "At your costs of a miss the cheapest is uneven; if it costs double, flag everyone costs as much."
    )
    assert [what.cells[1] for what in then] == ["uneven", "uneven", "flag everyone (same cost)"]
    assert stability_in_words(what_ifs(0.1, tied, tied, tied)).endswith("flag everyone stays the cheapest.")
    assert what_if_title(WhatIf("as given", "7.5 : 1", True, [])) == "Are you sure about 7.5 : 1 on average?"


@pytest.mark.parametrize("method", ["gibbs", "none", "isotonic"])
def test_a_threshold_is_told_as_it_is_used(method: str) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 2))
    y = X[:, 0] + random.normal(size=200) > 1
    model = UnevenThresholdClassifierCV(LogisticRegression(), fp_cost=1, fn_cost=15, method=method).fit(X, y)
    (said,) = shift_in_words(model)
    assert f"the threshold in use is {model.threshold_:.3g}" in said
    assert (" instead of 0.0625, which rows" in said) == (f"{model.threshold_:.3g}" != "0.0625")
    probability = model.predict_proba(X)[:, 1]
    assert np.array_equal(model.predict(X), probability > model.threshold_)


def test_thresholds_of_rows_and_of_actions_are_told() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 2))
    y = X[:, 0] + random.normal(size=200) > 1
    by_row = UnevenThresholdClassifierCV(LogisticRegression()).fit(X, y, fp_cost=1, fn_cost=random.uniform(2, 30, 200))
    (said,) = shift_in_words(by_row)
    assert f"by {abs(by_row.shift_):.2g} (give or take " in said
    assert "before the calibration" in said
    actions = Actions(clear=(10, 0), review=(2, 1), block=(0, 5))
    (said,) = shift_in_words(UnevenThresholdClassifierCV(LogisticRegression(), actions=actions).fit(X, y))
    assert re.search(r"at the costs of the fit: review [\d.]+, block [\d.]+; rows", said)


def test_ratios_and_thresholds() -> None:
    assert ratio_in_words(RowCosts.read(2, fp_cost=1, fn_cost=20)) == "20 : 1"
    assert ratio_in_words(RowCosts.read(2, fp_cost=3, fn_cost=1)) == "1 : 3"
    assert ratio_in_words(RowCosts.read(2, fp_cost=2, fn_cost=[10, 20], tp_cost=[1, 2])) == "6.75 : 1"
    assert threshold_in_words(np.full(3, 0.25)) == "The model flags a row where the probability is above 0.25."
    assert threshold_in_words(np.array([0.1, 0.2, 0.9, np.nan])) == (
        "The model flags a row where the probability is above the threshold of the row: 0.1 to 0.9, median 0.2. In 1 "
        "row both mistakes pay."
    )
    some = RowCosts.read(5, fp_cost=[1, 1, -9, -1, 1], fn_cost=[-9, 0, 1, -1, 3])
    assert np.array_equal(probability_thresholds(*some.thresholds()), [1, 1, 0, np.nan, 0.25], equal_nan=True)
    shown = [probability_in_words(p) for p in (1.0, 0.99999, 0.5, 0.01234, 0.000123, 0.0)]
    assert shown == ["1", ">0.999", "0.500", "0.012", "0.00012", "0"]


def test_rows_are_recognised_in_another_kind_of_file(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [0.1, 2.5, 1 / 3, np.nan], "c": ["a", "b", None, "a"], "y": ["p", "q", "p", "q"]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.iloc[[3, 1, 0]].assign(x=[np.nan, 2.5, 0.2]).to_parquet(tmp_path / "b.parquet")
    first, second = (read_table(str(tmp_path / name)) for name in ("a.csv", "b.parquet"))
    columns = plan_columns(first, "y").columns
    found = in_training(type_columns(second, columns), row_hashes(type_columns(first, columns)))
    assert found.tolist() == [True, True, False]
    assert seen_in_words(found).startswith("2 of 3 rows were in the training table")
    assert seen_in_words(found[2:]) == ""


def test_what_could_not_be_known() -> None:
    about = {
        "rows": 100,
        "positives": 12,
        "dropped": ["a", "b", "c", "d", "e", "f"],
        "skipped": {"id": "looks like an ID"},
        "columns": [{"role": "date"}],
    }
    X = pd.DataFrame({"x": [1.0, np.nan], "z": [np.nan, np.nan]})
    rare = _few_rows(about, np.array([True, False]))
    assert list_unknowns(about, X, rare, 3, ["Column 'c': news."]) == [
        "Training had only 12 positive rows: the model is a rough guess, its intervals wide.",
        "This table has only 1 positive row: a few decisions carry the result.",
        "Left out at your wish: a, b, c, d and 2 more.",
        "Column 'id' was not used: looks like an ID.",
        "Column 'c': news.",
        "Missing values were guessed: z (2), x (1).",
        "3 rows without a label: not in the costs.",
        "Cross-validation mixed earlier and later rows: a change over time is not in its costs.",
    ]
