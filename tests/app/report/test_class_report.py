"""Reports about several classes: from a model file by the command, and from a fitted model in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import uneven
from uneven.app.cli.main import main
from uneven.app.files.table import read_table
from uneven.app.models.model_files import read_model
from uneven.app.report.class_report import CLASS_HEADER, ClassReport, make_class_report
from uneven.errors import UnevenError
from uneven.metrics import expected_cost

LEVELS = ["low", "middle", "high"]
COSTS = uneven.CostMatrix([[0, 1, 4, 1.5], [3, 0, 1, 1.5], [20, 5, 0, 1.5]], classes=LEVELS, actions=[*LEVELS, "refer"])


def make_rows(n: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(n, 3)).round(4), columns=["a", "b", "c"])
    return X, np.array(LEVELS)[np.digitize(X["a"] + 0.4 * random.normal(size=n), [-0.4, 0.7])]


@pytest.fixture(scope="module")
def model() -> Any:
    X, y = make_rows(200)
    return uneven.UnevenThresholdClassifierCV(GaussianNB(), costs=COSTS).fit(X, y)


def test_the_answer_is_the_mean_cost_of_unseen_rows(model: Any) -> None:
    X, y = make_rows(150, seed=1)
    found = uneven.report(model, X, y, unit="EUR", rows_per_year=1e4)
    assert isinstance(found, ClassReport)
    ours = found.rows[0]
    assert ours.cost == pytest.approx(expected_cost(y, model.predict(X), costs=COSTS))
    constant = min(expected_cost(y, np.full(y.size, action), costs=COSTS) for action in COSTS.actions)
    rule = next(row for row in found.rows if row.name.startswith("always "))
    assert rule.cost == pytest.approx(constant)
    assert f"saves {1000 * (constant - ours.cost):,.4g} EUR against deciding" in found.answer
    likeliest = np.array(LEVELS)[model.predict_proba(X)[:, [1, 2, 0]].argmax(axis=1)]
    other = next(row for row in found.rows if row.name.endswith("likeliest class"))
    assert other.cost == pytest.approx(expected_cost(y, likeliest, costs=COSTS))
    assert ours.counts.sum() == 150
    assert "At 10,000 rows a year" in found.summary()
    assert found.columns[0].name == "a"


def test_rows_of_the_fit_are_judged_out_of_fold(model: Any) -> None:
    found = uneven.report(model, *make_rows(200), columns=False)
    assert isinstance(found, ClassReport)
    assert found.rows[0].cost == model.out_of_fold_cost_.cost
    assert "out of fold" in found.summary()
    assert found.known
    assert found.known_how.startswith("on 200 rows, of which the model has learnt")
    at = found.matrix.classes.index("high")  # counted in the order of the matrix, not of the learner
    own = model.classes_.tolist().index("high")
    assert found.rows[0].counts[at].tolist() == model.out_of_fold_cost_.counts[own].tolist()


def test_other_costs_move_the_decisions(model: Any) -> None:
    X, y = make_rows(120, seed=2)
    other = uneven.CostMatrix(1 - np.eye(3), classes=LEVELS)
    found = uneven.report(model, X, y, costs=other, columns=False)
    assert isinstance(found, ClassReport)
    assert found.rows[0].cost == pytest.approx(expected_cost(y, model.predict(X, costs=other), costs=other))


def test_a_model_of_others_is_compared_with_the_cheapest_decision() -> None:
    X, y = make_rows(200)
    search = GridSearchCV(make_pipeline(StandardScaler(), LogisticRegression()), {"logisticregression__C": [1.0]}, cv=2)
    given = {"costs": COSTS, "against": {"bayes": GaussianNB().fit(X, y)}, "columns": False}
    found = uneven.report(search.fit(X, y), *make_rows(100, seed=3), **given)
    assert isinstance(found, ClassReport)
    names = [row.name for row in found.rows]
    assert {"this model, cheapest decision", "bayes"} <= set(names)
    assert "Whether the model has learnt from these rows is not known" in found.unknowns[0]
    assert found.guarantee == "Nothing. This learner gives no guarantee."


def test_folds_judge_a_model_that_keeps_nothing() -> None:
    X, y = make_rows(90)
    linear = uneven.UnevenMultinomialClassifier(costs=COSTS).fit(X, y)
    unknown = uneven.report(linear, X, y, columns=False)
    assert unknown.answer.startswith("WARNING: it is not known what this model saves")
    found = uneven.report(linear, X, y, columns=False, folds=3)
    assert isinstance(found, ClassReport)
    assert "cross-validated, 3 folds" in found.summary()
    assert sum(row.name.startswith("always ") for row in found.rows) == 1


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"fp_cost": 3}, "fp_cost is for two classes"),
        ({"pos_label": "high"}, "pos_label is for two classes"),
        ({"costs": [[0, 1]]}, "costs must be uneven.CostMatrix"),
        (
            {"costs": uneven.CostMatrix([[0, 1], [1, 0]], classes=["low", "high"])},
            "which the cost matrix does not have",
        ),
        ({"against": {"this model": 0}}, "which the report needs"),
        ({"rows_per_year": -1}, "rows_per_year must be"),
    ],
)
def test_bad_input_is_one_sentence(model: Any, given: dict[str, Any], says: str) -> None:
    with pytest.raises(UnevenError, match=says):
        uneven.report(model, *make_rows(60, seed=4), **given)


def test_costs_of_several_classes_are_not_for_two() -> None:
    X, y = make_rows(60)
    two = LogisticRegression().fit(X, y == "high")
    with pytest.raises(UnevenError, match="costs of a report are for several classes"):
        uneven.report(two, X, y == "high", costs=COSTS)
    with pytest.raises(UnevenError, match="does not know what confusions cost"):
        uneven.report(LogisticRegression().fit(X, y), X, y)


# -- from a model file -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("class_reports")
    for name, n, seed in (("rows", 240, 0), ("new", 120, 1)):
        X, y = make_rows(n, seed)
        X.assign(level=y).to_csv(place / f"{name}.csv", index=False)
    pd.DataFrame(COSTS.costs, index=LEVELS, columns=COSTS.actions).to_csv(place / "costs.csv")
    given = ["--target", "level", "--costs", str(place / "costs.csv"), "--learner", "linear", "--unit", "EUR"]
    result = CliRunner().invoke(main, ["fit", str(place / "rows.csv"), *given, "-o", str(place / "model.skops")])
    assert result.exit_code == 0, result.output
    return place


def reported(folder: Path, data: str, *options: str) -> str:
    result = CliRunner().invoke(main, ["report", str(folder / "model.skops"), str(folder / data), *options])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_command_reports_money_first(folder: Path) -> None:
    page = folder / "page.html"
    said = reported(folder, "new.csv", "--html", str(page), "--rows-per-year", "1000")
    assert said.startswith("Per 1,000 rows this model saves")
    for words in ("plain logistic regression", "Each class, on this table", *CLASS_HEADER, "At 1,000 rows a year"):
        assert words in said
    assert "plain logistic regression has the numbers of this model, likeliest class" in said
    shown = page.read_text()
    assert "What does each decision cost?" in shown
    assert "not able to know" in shown


def test_the_page_is_the_report(folder: Path) -> None:
    made = make_class_report(read_model(str(folder / "model.skops")), read_table(str(folder / "new.csv")))
    assert made.to_html().count("<img") == 2
    lines = [(row.cost, row.low, row.high, row.counts.tolist()) for row in made.compared[0]]
    assert all(line not in lines[:k] for k, line in enumerate(lines))
    assert "srcdoc" in made._repr_html_()
    told = made.to_dict()
    assert told["answer"] in made.summary()
    assert sum(float(row["rows"]) for row in told["by_class"]) == 120


def test_rows_of_the_training_table_do_not_give_the_answer(folder: Path) -> None:
    said = reported(folder, "rows.csv")
    assert "the answer is that of the comparison at the fit" in said
    assert "where the model looks better than it is" in said


def test_a_class_that_the_model_does_not_know_is_one_sentence(folder: Path) -> None:
    X, y = make_rows(60, seed=5)
    X.assign(level=np.where(np.arange(60) < 3, "odd", y)).to_csv(folder / "odd.csv", index=False)
    result = CliRunner().invoke(main, ["report", str(folder / "model.skops"), str(folder / "odd.csv")])
    assert result.exit_code == 2
    assert "column 'level' has 'odd' (3 rows), which the model does not know" in result.stderr


def test_a_report_on_a_table_without_some_classes_works(folder: Path) -> None:
    X, y = make_rows(200, seed=6)
    X.assign(level=y)[y != "high"].to_csv(folder / "some.csv", index=False)
    assert "high (0)" in reported(folder, "some.csv")
