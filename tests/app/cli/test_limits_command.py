"""``uneven predict`` within limits and with further actions, and what ``uneven report`` says about limits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

import uneven
from uneven.app.cli.main import main
from uneven.app.models.model_files import read_model

pytestmark = pytest.mark.slow


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("limits")
    random = np.random.default_rng(7)
    n = 1200
    amount = random.lognormal(3, 1, n).round(2)
    fraud = random.uniform(size=n) < 1 / (1 + np.exp(2.5 - 1.2 * (np.log(amount) - 3)))
    frame = pd.DataFrame(
        {
            "amount": amount,
            "other": random.normal(size=n).round(3),
            "when": pd.date_range("2026-01-01", periods=n, freq="30min"),
            "branch": random.choice(["east", "west"], n),
            "fraud": np.where(fraud, "yes", "no"),
        }
    )
    frame[:500].to_csv(place / "train.csv", index=False)
    frame[500:900].to_csv(place / "past.csv", index=False)
    frame[900:].to_csv(place / "new.csv", index=False)
    return place


def fit(folder: Path, name: str, *more: object) -> Path:
    path = folder / name
    asked = ["--target", "fraud", "--positive", "yes", "--fp-cost", 20, "--learner", "linear", "--quick"]
    result = run("fit", folder / "train.csv", *asked, *more, "--drop", "when", "-o", path)
    assert result.exit_code == 0, result.output
    return path


@pytest.fixture(scope="module")
def model(folder: Path) -> Path:
    return fit(folder, "model.skops", "--fn-cost", 100)


@pytest.fixture(scope="module")
def three(folder: Path) -> Path:
    return fit(folder, "three.skops", "--fn-cost", "amount + 60", "--action", "review=8:5")


def predicted(folder: Path, model: Path, *options: object) -> tuple[pd.DataFrame, str]:
    result = run("predict", model, folder / "new.csv", *options, "-o", folder / "out.csv")
    assert result.exit_code == 0, result.output
    return pd.read_csv(folder / "out.csv", keep_default_na=False), result.stdout


def test_without_a_binding_limit_the_predictions_are_the_same(folder: Path, model: Path) -> None:
    plain, _ = predicted(folder, model)
    limited, said = predicted(folder, model, "--at-most", 300)
    assert limited["prediction"].tolist() == plain["prediction"].tolist()
    assert "The limits cost nothing" in said


def test_a_limit_in_each_group(folder: Path, model: Path) -> None:
    plain, _ = predicted(folder, model)
    frame, said = predicted(folder, model, "--at-most", 5, "--per", "when:day")
    flagged = frame[frame["prediction"] == "yes"]
    assert flagged.groupby("group").size().max() <= 5
    assert sorted(set(frame["group"])) == sorted(set(pd.read_csv(folder / "new.csv")["when"].str[:10]))
    assert (frame.loc[flagged.index, "rank"] <= 5).all()
    assert (plain.loc[flagged.index, "prediction"] == "yes").all()
    assert "One more place in each of the" in said
    by_branch, _ = predicted(folder, model, "--at-most", 7, "--per", "branch")
    counts = by_branch[by_branch["prediction"] == "yes"].groupby("group").size()
    assert counts.to_dict() == {"east": 7, "west": 7}


def test_a_further_action_with_costs_of_rows(folder: Path, three: Path) -> None:
    frame, said = predicted(folder, three, "--at-most", "review=20")
    table = pd.read_csv(folder / "new.csv")
    p = frame["probability"].to_numpy()
    costs = np.column_stack([p * (table["amount"] + 60), 8 * p + 5 * (1 - p), 20 * (1 - p)])
    shown = frame[["cost_if_no", "cost_if_review", "cost_if_yes"]].to_numpy()
    np.testing.assert_allclose(shown, costs, rtol=1e-4)
    expected = uneven.decide(
        p, actions=uneven.Actions(no=(table["amount"] + 60, 0), review=(8, 5), yes=(0, 20)), at_most={"review": 20}
    )
    assert frame["action"].tolist() == expected.action.tolist()
    assert (frame["action"] == "review").sum() == 20
    assert "20 'review'" in said
    other, _ = predicted(folder, three, "--action", "call=1:0.5")
    assert set(other["action"]) <= {"no", "call", "yes"}, "actions of the command replace those of the model"


def test_a_recall_with_a_guarantee(folder: Path, model: Path) -> None:
    _, said = predicted(folder, model, "--recall-at-least", 0.8, "--held-out", folder / "past.csv", "--confidence", 0.9)
    assert "With 90 % confidence, of new positives, at least 80 % are flagged" in said
    result = run(
        "predict",
        model,
        folder / "new.csv",
        "--recall-at-least",
        0.8,
        "--held-out",
        folder / "train.csv",
        "-o",
        "x.csv",
    )
    assert result.exit_code == 2
    assert "500 of 500 rows were in the training table" in result.output


def test_a_budget(folder: Path, model: Path) -> None:
    frame, _ = predicted(folder, model, "--budget", 400, "--flag-takes", "amount*0.5")
    flagged = (frame["prediction"] == "yes").to_numpy()
    assert 300 < 0.5 * pd.read_csv(folder / "new.csv")["amount"][flagged].sum() <= 400


def test_the_fit_says_where_actions_pay(folder: Path) -> None:
    asked = [
        "--target",
        "fraud",
        "--positive",
        "yes",
        "--fp-cost",
        20,
        "--fn-cost",
        100,
        "--quick",
        "--learner",
        "linear",
    ]
    result = run("fit", folder / "train.csv", *asked, "--action", "review=30:18", "-o", folder / "never.skops")
    assert "review never pays; it would if both of its costs were lower by more than 3.333." in result.stdout
    assert read_model(str(folder / "never.skops"))["about"]["actions"] == ["review=30:18"]


def test_the_report_tells_what_limits_cost(folder: Path, three: Path) -> None:
    result = run("report", three, folder / "new.csv", "--html", folder / "report.html")
    assert result.exit_code == 0, result.output
    assert "What if only so many of the 300 rows can be flagged?" in result.stdout
    assert "15 (5.0%)" in result.stdout
    assert "With its further actions (no " in result.stdout
    page = (folder / "report.html").read_text()
    assert "What if only so many rows can be flagged?" in page
    assert "With its further actions (no " in page


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--at-most", "many"], "--at-most takes a whole number such as 200, or ACTION=200, got 'many'"),
        (["--at-most", "no=3"], "--at-most can be on 'yes', which flags a row, got 'no'"),
        (["--at-most", 3, "--per", "nowhere"], "nowhere"),
        (["--at-most", 3, "--per", "amount:day"], "holds no dates"),
        (["--per", "branch"], "per= is for a limit in each group"),
        (["--budget", 5], "--budget and --flag-takes belong together"),
        (["--recall-at-least", "most"], "--recall-at-least must be a number, got 'most'"),
        (["--recall-at-least", 2], "recall_at_least must lie in (0, 1]"),
        (["--action", "review=5"], "--action takes NAME=COST:COST"),
        (["--action", "yes=5:5"], "there is an action of this name already"),
        (["--action", "review=nothing:5"], "nothing"),
        (["--at-most", 1, "--recall-at-least", 0.9], "contradicts the limit of 1 rows"),
    ],
)
def test_bad_options_get_a_sentence_and_nothing_is_written(
    folder: Path, model: Path, options: list[object], words: str
) -> None:
    path = folder / "nothing.csv"
    result = run("predict", model, folder / "new.csv", *options, "-o", path)
    assert result.exit_code == 2, result.output
    assert words in result.output
    assert result.output.count("\n") == 1
    assert not path.exists()
