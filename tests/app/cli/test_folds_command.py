"""``uneven fit --time`` and ``--group``: what is compared, what is said, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from uneven.app.cli.main import main
from uneven.app.files.table import Table
from uneven.app.files.table_formats import DETECT
from uneven.app.models.apply_model import predict_positive
from uneven.app.models.candidates import AskedLearner
from uneven.app.models.compare_candidates import FoldColumns
from uneven.app.models.fit_table import Question, prepare_table
from uneven.app.models.kept_promises import RandomClaim
from uneven.app.models.model_files import read_model
from uneven.app.models.written_costs import WrittenCosts


def bills(rows: int = 240) -> pd.DataFrame:
    random = np.random.default_rng(0)
    customer, month = random.integers(0, 60, rows), random.integers(0, 8, rows)
    score = random.normal(size=rows) + random.normal(size=60)[customer]
    unpaid = (score * np.cos(month / 3) + random.logistic(size=rows) > 0.5).astype(int)
    months = [f"2024-{one + 1:02d}" for one in month]
    names = [f"c{one}" for one in customer]
    return pd.DataFrame({"month": months, "customer": names, "score": score, "other": score**2, "unpaid": unpaid})


def fit(folder: Path, table: pd.DataFrame, *options: str) -> Any:
    table.to_csv(folder / "bills.csv", index=False)
    needed = [
        "fit",
        str(folder / "bills.csv"),
        "--target",
        "unpaid",
        "--positive",
        "1",
        "--fp-cost",
        "1",
        "--fn-cost",
        "3",
    ]
    linear = ["--learner", "linear", "--save-anyway", "-o", str(folder / "m.skops")]
    return CliRunner().invoke(main, [*needed, *linear, *options])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--time", "month"), "out of time it is"),
        (("--group", "customer"), "for new groups (column 'customer') it is"),
        (("--time", "month", "--group", "customer"), "out of time and for new groups"),
    ],
)
def test_what_random_folds_would_have_claimed(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    found = fit(tmp_path, bills(), *options)
    assert found.exit_code == 0, found.output
    assert "Random folds would have claimed" in found.output
    assert said in found.output
    about = read_model(str(tmp_path / "m.skops"))["about"]
    assert said in about["random_folds"]
    assert not set(options) & {column["name"] for column in about["columns"]}
    page = tmp_path / "report.html"
    asked = ["report", str(tmp_path / "m.skops"), str(tmp_path / "bills.csv"), "--html", str(page)]
    assert "At the fit: random folds would have claimed" in CliRunner().invoke(main, asked).output
    html = page.read_text(encoding="utf-8")
    assert 0 < html.index("Random folds would have claimed") < html.index("Appendix")


def prepared(**question: Any) -> Any:
    table = Table("bills.csv", bills(), "text", DETECT)
    given = WrittenCosts("1", "3", "0", "0", None)
    asked = AskedLearner("linear")
    return prepare_table(table, Question("unpaid", "1", **question), given, asked)


def test_columns_are_used_as_said() -> None:
    used = {column.name for column in prepared(time="month", group="customer").plan.columns}
    assert used == {"score", "other"}
    kept = prepared(time="month", keep=("month",))
    assert "month" in {column.name for column in kept.plan.columns}
    assert any("used for prediction too" in note for note in kept.notes)


@pytest.mark.slow
def test_the_comparison_and_the_claim_are_those_of_a_recount() -> None:
    training = prepared(time="month").training
    outcome = training.compare(lambda *_, **__: None)
    name = "plain logistic regression"
    claim = training.random_claim(outcome, name, lambda *_, **__: None)
    assert isinstance(claim, RandomClaim)
    paid = outcome.costs["as given"].paid(outcome.truth, outcome.decisions["as given"][name])
    assert claim.found.cost == pytest.approx(paid.mean())
    assert claim.found.difference == pytest.approx(claim.found.cost - claim.claimed.cost)
    chosen = next(one for one in training._candidates() if one.name == name)
    said = []
    for train, test in training.by.splits(training.is_positive, training._folds):
        rows = training._rows.take(train)
        model = rows.fit(chosen, training.costs, training._preprocessing())
        later = training._rows.take(test)
        said.append(predict_positive(model, later.X, later.costs, told=False))
    assert np.array_equal(
        outcome.decisions["as given"][name][0], np.concatenate(said)[np.argsort(rows_tested(training))]
    )


def rows_tested(training: Any) -> np.ndarray:
    return np.concatenate([test for _, test in training.by.splits(training.is_positive, training._folds)])


def test_inner_folds_without_times_where_they_cannot_be() -> None:
    by = FoldColumns(time="month", times=np.zeros(20, dtype=int))
    assert by.given_to_fit(np.arange(20) % 2 == 0) == {}
    assert list(FoldColumns(time="month", times=np.arange(20)).given_to_fit(np.arange(20) % 2 == 0)) == ["times"]


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        ({}, ("--time", "nowhere"), "no column 'nowhere'"),
        ({}, ("--time", "unpaid"), "is the column to predict"),
        ({}, ("--time", "month", "--group", "month"), "name two columns"),
        ({}, ("--group", "customer", "--keep", "customer"), "new groups have other values"),
        ({"month": ["2024-01"] * 239 + [""]}, ("--time", "month"), "1 of 240 rows without a time"),
        ({"month": ["2024-01"] * 240}, ("--time", "month"), "column 'month' has the same value in every row"),
        ({"month": ["soon", "late"] * 120}, ("--time", "month"), "would work"),
        ({"customer": ["c"] * 240}, ("--group", "customer"), "column 'customer' has the same value in every row"),
        ({}, ("--time", "month", "--memory-limit", "1GB"), "read in parts"),
    ],
)
def test_what_is_refused(tmp_path: Path, change: dict[str, Any], options: tuple[str, ...], said: str) -> None:
    found = fit(tmp_path, bills().assign(**change), *options)
    assert found.exit_code == 2
    assert said in " ".join(found.output.split())
    assert not (tmp_path / "m.skops").exists()
