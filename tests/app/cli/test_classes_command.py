"""The command with a cost for every confusion: fit, predict, and what is wrong with a table of costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

import uneven
from uneven.app.cli.main import main
from uneven.app.files.table import read_table
from uneven.app.files.table_columns import read_classes
from uneven.app.models.apply_classes import apply_to_classes, range_of_total
from uneven.app.models.candidates import AskedLearner
from uneven.app.models.class_candidates import LogisticClassRule, actions_of_classes
from uneven.app.models.fit_table import Question, prepare_table
from uneven.app.models.model_files import read_model
from uneven.app.models.written_matrix import WrittenMatrix
from uneven.decisions.matrix_table import MatrixTable
from uneven.errors import UnevenError
from uneven.tables import FrameEncoder

LEVELS = ["low", "middle", "high"]
COSTS = [[0, 1, 4, 1.5], [3, 0, 1, 1.5], [20, 5, 0, 1.5]]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def succeeded(*arguments: object) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*arguments: object) -> str:
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    return result.stderr


def make_rows(n: int, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(n, 3)).round(4), columns=["a", "b", "c"])
    level = np.digitize(X["a"] + 0.4 * random.normal(size=n), [-0.4, 0.7])
    return X.assign(id=np.arange(n) + 100, level=np.array(LEVELS)[level])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("classes")
    make_rows(240).sort_values("level", kind="stable").to_csv(place / "rows.csv", index=False)  # sorted by class
    make_rows(90, seed=1).to_csv(place / "new.csv", index=False, sep=";", decimal=",")
    table = pd.DataFrame(COSTS, index=LEVELS, columns=[*LEVELS, "refer"])
    table.to_csv(place / "costs.csv", index_label="true level")
    table.to_excel(place / "costs.xlsx")
    table.to_csv(place / "german.csv", sep=";", decimal=",")
    return place


@pytest.fixture(scope="module")
def fitted(folder: Path) -> tuple[Path, str]:
    model = folder / "model.skops"
    given = ("--target", "level", "--costs", folder / "costs.csv", "--learner", "linear", "--unit", "EUR", "--id", "id")
    return model, succeeded("fit", folder / "rows.csv", *given, "-o", model)


def test_money_comes_first_and_the_comparison_is_that_of_two_classes(fitted: tuple[Path, str]) -> None:
    _, said = fitted
    assert "Per 1,000 rows this model saves" in said
    assert "against deciding 'refer' for every row" in said
    for name in ("plain logistic regression", "logistic, cheapest decision", "class-weighted", "uneven linear"):
        assert name in said
    assert said.count("always ") == 1  # the cheapest constant decision alone
    assert "The dearest mistake: 'low' where 'high' is true costs 20 EUR." in said
    assert "decided refer" in said


def test_a_table_of_costs_may_be_text_or_a_workbook(folder: Path) -> None:
    for name in ("costs.xlsx", "german.csv"):
        assert uneven.CostMatrix.read(folder / name) == uneven.CostMatrix.read(folder / "costs.csv")


def test_predictions_are_those_of_the_learner(folder: Path, fitted: tuple[Path, str]) -> None:
    output = folder / "decided.csv"
    said = succeeded("predict", fitted[0], folder / "new.csv", "-o", output)
    found = pd.read_csv(output, sep=";", decimal=",")  # written as the table is
    pipeline = read_model(str(fitted[0]))["pipeline"]
    X = make_rows(90, seed=1)[["a", "b", "c"]]
    assert found["decision"].tolist() == pipeline.predict(X).tolist()
    assert found["id"].tolist() == list(range(100, 190))
    shares = found[[f"P({level})" for level in LEVELS]].to_numpy()
    assert np.allclose(shares.sum(axis=1), 1, atol=1e-4)
    costs = found[[f"cost_if_{action}" for action in [*LEVELS, "refer"]]].to_numpy()
    assert np.allclose(costs, shares @ np.array(COSTS), atol=1e-3)
    assert np.allclose(found["expected_cost"], costs.min(axis=1), atol=1e-9)  # a linear learner takes the cheapest
    counts = found["decision"].value_counts()
    for action, count in counts.items():
        assert f"{action} ({count})" in said
    assert "deciding 'refer' for every row would cost 135 EUR" in said


def test_an_ensemble_is_compared_with_its_likeliest_class(folder: Path) -> None:
    model = folder / "ensemble.skops"
    make_rows(100, seed=3).to_csv(folder / "few.csv", index=False)
    given = ("--target", "level", "--costs", folder / "costs.xlsx", "--members", "linear", "--drop", "id")
    said = succeeded("fit", folder / "few.csv", *given, "-o", model)
    assert "ensemble, likeliest class" in said
    assert "not ensemble, likeliest class" not in said
    assert len(pd.read_csv(_predicted(folder, model))) == 90


def _predicted(folder: Path, model: Path) -> Path:
    frame = make_rows(90, seed=2).drop(columns="level")
    frame.to_csv(folder / "unlabelled.csv", index=False)
    succeeded("predict", model, folder / "unlabelled.csv", "-o", folder / "out.csv")
    return folder / "out.csv"


def test_times_and_groups_make_folds_of_several_classes(folder: Path) -> None:
    rows = make_rows(240).assign(month=np.repeat(np.arange(12), 20), who=np.arange(240) % 40)
    rows.to_csv(folder / "times.csv", index=False)
    given = ("--target", "level", "--costs", folder / "costs.csv", "--learner", "linear", "--drop", "id")
    said = succeeded("fit", folder / "times.csv", *given, "--time", "month", "--group", "who", "-o", folder / "t.skops")
    assert "Random folds would have claimed" in said
    assert "out of time" in said


# -- what is wrong with a table of costs, or with what is asked --------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (",low,middle,high\nlow,0,1,4\nmiddle,3,0,1\n", "has two classes"),
        (",a,low,middle,high\nlow,0,0,1,4\nmiddle,0,3,0,1\nother,0,20,5,0\n", "cheapest decision in every class"),
        (",low,middle,high\nlow,0,1,4\nmiddle,3,0,1\nhi,20,5,0\n", "column 'level' has 'high'"),
        (",low,middle,x\nlow,0,1,4\nmiddle,3,0,1\nhigh,20,,0\n", "no cost of 'middle' where 'high' is true"),
        (",low,middle,high\nlow,0,one,4\nmiddle,3,0,1\nhigh,20,5,0\n", "the cost of 'middle' where 'low' is true"),
        ("low\n", "the actions in its first line"),
        (",low,,x\nlow,0,1,4\nmiddle,3,0,1\nhigh,20,5,0\n", "action 2 has no name"),
        (",low,middle,high\na,0,1,4\nb,3,0,1\nc,20,5,0\n", "is the table turned round?"),
    ],
)
def test_a_wrong_table_of_costs_is_one_sentence(folder: Path, table: str, says: str) -> None:
    path = folder / "wrong.csv"
    path.write_text(table, encoding="utf-8")
    given = ("fit", folder / "rows.csv", "--target", "level", "--costs", path, "--learner", "linear", "--quick")
    model = folder / "wrong.skops"
    assert says in refused(*given, "-o", model)
    assert not model.exists()


def test_there_may_be_fewer_decisions_than_classes(folder: Path) -> None:
    costs, model = folder / "fewer.csv", folder / "fewer.skops"
    costs.write_text(",home,ward\nlow,0,1\nmiddle,3,0\nhigh,20,5\n", encoding="utf-8")
    given = ("--target", "level", "--costs", costs, "--learner", "linear", "--quick", "--drop", "id")
    succeeded("fit", folder / "rows.csv", *given, "-o", model)
    assert set(pd.read_csv(_predicted(folder, model))["decision"]) == {"home", "ward"}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--fp-cost", "1"], "--costs {} stands in place of --fp-cost"),
        (["--fp-cost", "1", "--fn-cost", "20"], "stands in place of --fp-cost"),
        (["--tn-cost", "0"], "stands in place of --tn-cost"),
        (["--action", "review=1:2"], "further decisions are columns of the table"),
        (["--positive", "high"], "--positive is for two classes"),
        (["--gamma", "2"], "--gamma is for two classes"),
        (["--tune"], "--tune is for two classes"),
        (["--learner", "svc"], "--learner svc is for two classes"),
        (["--monotone", "a=+"], "--monotone is for two classes"),
        (["--loss", "hinge"], "--loss hinge has no probabilities"),
        (["--memory-limit", "1GB"], "for a table that fits into memory"),
    ],
)
def test_what_is_for_two_classes_is_refused(folder: Path, options: list[str], says: str) -> None:
    costs = folder / "costs.csv"
    given = ("fit", folder / "rows.csv", "--target", "level", "--costs", costs, *options)
    assert says.format(costs) in refused(*given, "-o", folder / "refused.skops")


def test_without_a_table_of_costs_the_options_of_two_classes_are_required(folder: Path) -> None:
    given = ("fit", folder / "rows.csv", "--target", "level", "-o", folder / "none.skops")
    assert "Missing option '--positive'" in refused(*given)
    assert "Missing option '--fp-cost'" in refused(*given, "--positive", "high")


@pytest.mark.parametrize("command", ["watch", "export"])
def test_commands_for_two_classes_say_so(folder: Path, fitted: tuple[Path, str], command: str) -> None:
    more = (folder,) if command == "watch" else ("--to", "python")
    assert "3 classes" in refused(command, fitted[0], *more, "-o", folder / "no.html")


@pytest.mark.parametrize("options", [["--fn-cost", "3"], ["--budget", "3"], ["--reasons", "2"], ["--action", "x=1:2"]])
def test_predict_refuses_what_is_for_two_classes(folder: Path, fitted: tuple[Path, str], options: list[str]) -> None:
    said = refused("predict", fitted[0], folder / "new.csv", *options, "-o", folder / "no.csv")
    assert f"{options[0]} is for two classes" in said


def test_other_costs_need_no_new_fit(folder: Path, fitted: tuple[Path, str]) -> None:
    other = uneven.CostMatrix([[0, 9], [1, 0], [9, 0]], classes=LEVELS, actions=["x", "y"])
    pd.DataFrame(other.costs, index=LEVELS, columns=other.actions).to_csv(folder / "other.csv")
    out = folder / "other_out.csv"
    succeeded("predict", fitted[0], folder / "new.csv", "--costs", folder / "other.csv", "-o", out)
    found = pd.read_csv(out, sep=";", decimal=",")
    shares = found[[f"P({level})" for level in LEVELS]].to_numpy()
    assert found["decision"].tolist() == other.decide(shares / shares.sum(axis=1, keepdims=True)).tolist()
    fewer = folder / "fewer_classes.csv"
    fewer.write_text(",x,y\nlow,0,9\nmiddle,1,0\n", encoding="utf-8")
    assert "has no row for it" in refused("predict", fitted[0], folder / "new.csv", "--costs", fewer, "-o", out)


def test_models_that_cannot_decide_otherwise_say_so(folder: Path) -> None:
    rows = read_table(str(folder / "new.csv"))
    X, y = make_rows(120)[["a", "b", "c"]], make_rows(120)["level"].to_numpy()
    given = WrittenMatrix(uneven.CostMatrix(COSTS, classes=LEVELS, actions=[*LEVELS, "refer"]), None)
    first = FrameEncoder(view="linear").fit(X)
    weighted = LogisticClassRule("weighted", given.matrix).fit(first.transform(X), y)
    about = {"costs": given.to_dict(), "classes": dict.fromkeys(LEVELS, 40), "target": "level", "model": "weighted"}
    content: dict[str, Any] = {"about": about, "pipeline": [weighted]}
    with pytest.raises(UnevenError, match="decides only at the costs of its fit"):
        apply_to_classes(content, rows, None, given)


def test_limits_hold_on_decisions(folder: Path, fitted: tuple[Path, str]) -> None:
    out = folder / "limited.csv"
    succeeded("predict", fitted[0], folder / "new.csv", "-o", out)
    free = pd.read_csv(out, sep=";", decimal=",")["decision"].value_counts()
    said = succeeded("predict", fitted[0], folder / "new.csv", "--at-most", "high=7", "-o", out)
    counts = pd.read_csv(out, sep=";", decimal=",")["decision"].value_counts()
    assert counts["high"] == 7 < free["high"]
    assert "At most 7 high: this is expected to cost" in said
    share = succeeded("predict", fitted[0], folder / "new.csv", "--at-most-share", "high=0.1", "-o", out)
    assert "At most 9 high" in share
    grouped = succeeded("predict", fitted[0], folder / "new.csv", "--at-most", "high=2", "--per", "level", "-o", out)
    assert "in all 3 groups" in grouped
    assert "names the decision that it is on" in refused(
        "predict", fitted[0], folder / "new.csv", "--at-most", "7", "-o", out
    )


def test_decisions_are_logged(folder: Path, fitted: tuple[Path, str]) -> None:
    for k in range(2):
        said = succeeded("predict", fitted[0], folder / "new.csv", "--log", folder / "log", "-o", folder / "logged.csv")
        assert f"log: batch {k + 1}, 90 decisions" in said
    logged = pd.read_parquet(folder / "log")
    assert logged["decision"].tolist() == 2 * pd.read_csv(folder / "logged.csv", sep=";")["decision"].tolist()
    assert np.allclose(logged[[f"P({level})" for level in LEVELS]].sum(axis=1), 1)
    assert "valid: 2 batches" in succeeded("verify", folder / "log")


# -- classes of the table and of the data ------------------------------------------------------------------------------


def _ready(folder: Path, rows: pd.DataFrame, table: str) -> Any:
    rows.to_csv(folder / "given.csv", index=False)
    (folder / "given_costs.csv").write_text(table, encoding="utf-8")
    given = WrittenMatrix.read(str(folder / "given_costs.csv"), None)
    asked = AskedLearner(kind="linear")
    return prepare_table(read_table(str(folder / "given.csv")), Question("level"), given, asked)


def test_a_spelling_in_other_case_is_said_and_the_data_decide(folder: Path) -> None:
    ready = _ready(folder, make_rows(60), ",LOW,middle,high\nLOW,0,1,4\nmiddle,3,0,1\nhigh ,20,5,0\n")
    assert ready.training.given.matrix.classes == tuple(LEVELS)
    assert ready.training.given.matrix.actions == tuple(LEVELS)
    assert "The class 'LOW' of given_costs.csv is 'low' in column 'level'." in ready.notes


def test_a_misspelt_class_of_the_costs_is_suggested(folder: Path) -> None:
    costs = ",low,middles,high\nlow,0,1,4\nmiddles,3,0,1\nhigh,20,5,0\n"
    with pytest.raises(UnevenError) as error:
        _ready(folder, make_rows(60), costs)
    assert "no row for it (did you mean 'middles'?); its rows are 'low', 'middles', 'high'" in str(error.value)


def test_numbers_are_classes_however_they_are_written(folder: Path) -> None:
    rows = make_rows(60)
    rows["level"] = rows["level"].map({"low": 1.0, "middle": 2.0, "high": 3.0})
    ready = _ready(folder, rows, ",1,2,3\n1,0,1,4\n2,3,0,1\n3,20,5,0\n")
    truth = np.array(ready.training.given.matrix.classes)[ready.training.truth].astype(float)
    assert truth.tolist() == rows["level"].tolist()


def test_classes_that_are_numbers_can_be_weighted() -> None:
    rows = make_rows(90)
    y = rows["level"].map({"low": "1", "middle": "2", "high": "10"}).to_numpy(dtype=str)
    matrix = uneven.CostMatrix([row[:3] for row in COSTS], classes=["1", "2", "10"])
    model = LogisticClassRule("weighted", matrix).fit(rows[["a"]].to_numpy(), y)
    assert set(model.predict(rows[["a"]].to_numpy())) <= {"1", "2", "10"}


def test_a_class_that_no_row_has_is_left_out_and_said(folder: Path) -> None:
    ready = _ready(
        folder, make_rows(60), ",low,rare,middle,high\nlow,0,1,1,4\nrare,9,0,9,9\nmiddle,3,1,0,1\nhigh,20,5,5,0\n"
    )
    assert ready.training.given.matrix.classes == tuple(LEVELS)
    assert "rare" in ready.training.given.matrix.actions
    assert any(note.startswith("WARNING: no row has level = 'rare'") for note in ready.notes)


def test_two_classes_give_the_four_costs(folder: Path) -> None:
    rows = make_rows(120)
    rows["level"] = np.where(rows["level"] == "high", "high", "low")
    rows.to_csv(folder / "two.csv", index=False)
    (folder / "two_costs.csv").write_text(",low,high,look\nlow,0,1,2\nhigh,20,0.5,2.5\n", encoding="utf-8")
    start = ("fit", folder / "two.csv", "--target", "level", "--quick", "--learner", "linear", "--drop", "id")
    table = ("--costs", folder / "two_costs.csv")
    assert "--positive says which" in refused(*start, *table, "-o", folder / "no.skops")
    given = succeeded(*start, *table, "--positive", "HIGH", "-o", folder / "a.skops")
    four = ("--fp-cost", "1", "--fn-cost", "20", "--tp-cost", "1/2", "--tn-cost", "0", "--action", "look=5/2:2")
    asked = succeeded(*start, "--positive", "HIGH", *four, "-o", folder / "b.skops")
    assert given.replace("a.skops", "") == asked.replace("b.skops", "")
    one, other = (read_model(str(folder / name))["about"] for name in ("a.skops", "b.skops"))
    assert one["costs"] == other["costs"]
    assert one["actions"] == other["actions"]


# -- the parts ---------------------------------------------------------------------------------------------------------


def test_the_way_of_the_likeliest_class_takes_actions_that_exist() -> None:
    matrix = uneven.CostMatrix([[0, 9, 2], [9, 0, 2], [9, 1, 2]], classes=["x", "y", "z"], actions=["x", "y", "ask"])
    assert actions_of_classes(matrix).tolist() == [0, 1, 1]


def test_weights_of_classes_are_taken_out_of_probabilities() -> None:
    rows = make_rows(3000)
    X, y = rows[["a", "b"]].to_numpy(), rows["level"].to_numpy()
    matrix = uneven.CostMatrix([row[:3] for row in COSTS], classes=LEVELS)
    plain, weighted = (LogisticClassRule(way, matrix).fit(X, y) for way in ("plain", "weighted"))
    assert np.abs(plain.predict_proba(X) - weighted.predict_proba(X)).max() < 0.15
    assert (weighted.predict(X) == "high").sum() > (plain.predict(X) == "high").sum()


def test_the_range_of_the_total_is_that_of_independent_classes() -> None:
    random = np.random.default_rng(0)
    matrix = uneven.CostMatrix(COSTS, classes=LEVELS, actions=[*LEVELS, "refer"])
    shares = random.dirichlet(np.ones(3), size=700)
    found = MatrixTable(shares, matrix.number_actions("a", matrix.decide(shares)), matrix)
    paid = np.array(COSTS)[:, found.choice].T
    mean = (shares * paid).sum(axis=1)
    half = 1.96 * np.sqrt((shares * (paid - mean[:, None]) ** 2).sum())
    low, high = range_of_total(found)
    assert low == pytest.approx(mean.sum() - half, rel=0.05)
    assert high == pytest.approx(mean.sum() + half, rel=0.05)


def test_the_labels_of_a_table_are_counted(folder: Path) -> None:
    found = read_classes(read_table(str(folder / "rows.csv")), "level")
    counts = make_rows(240)["level"].value_counts()
    assert dict(zip(found.classes, found.counts, strict=True)) == counts.to_dict()
    assert found.counts == sorted(found.counts, reverse=True)
