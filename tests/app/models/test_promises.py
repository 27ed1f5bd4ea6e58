"""What `uneven fit` says about a model holds for the model that it saves, whatever the order of the rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from uneven import UnevenEnsembleClassifier
from uneven.app.cli.main import main
from uneven.app.models.compare_candidates import Rows
from uneven.app.models.kept_promises import broken_promise
from uneven.app.models.model_files import read_model
from uneven.costs import RowCosts, money
from uneven.metrics import CostEstimate
from uneven.metrics.intervals import estimates

OPTIONS = ["--target", "late", "--positive", "yes", "--fp-cost", "20", "--fn-cost", "120"]
QUICK = ["--members", "linear,histogram"]


def flights(count: int = 1500, seed: int = 0) -> pd.DataFrame:
    """Months move the rate of late flights up and down, and the columns with it."""
    random = np.random.default_rng(seed)
    month = np.sort(random.integers(1, 13, count))
    distance = random.gamma(3, 300, count).round()
    wind = (random.normal(size=count) + 0.5 * np.cos(month)).round(2)
    log_odds = -2.2 + 1.5 * np.sin(month / 2) + 1.2 * wind - 0.0005 * distance
    late = np.where(random.random(count) < 1 / (1 + np.exp(-log_odds)), "yes", "no")
    return pd.DataFrame({"distance": distance, "wind": wind, "hour": random.integers(5, 23, count), "late": late})


def fit(table: pd.DataFrame, folder: Path, *options: str) -> str:
    table.to_csv(folder / "table.csv", index=False)
    command = ["fit", str(folder / "table.csv"), *OPTIONS, *options, "-o", str(folder / "model.skops")]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def test_a_quick_fit_says_what_its_own_folds_say(tmp_path: Path) -> None:
    """No comparison, and yet an honest answer: each row decided by models that had not learnt from it."""
    said = fit(flights(400), tmp_path, "--quick", "--members", "linear", "--rows-per-year", "50000")
    model = read_model(str(tmp_path / "model.skops"))["pipeline"][-1]
    ours = model.out_of_fold_cost_
    rule, name = min(
        (model.constant_costs_["all negative"], "flagging no one"),
        (model.constant_costs_["all positive"], "flagging everyone"),
        key=lambda one: one[0].cost,
    )
    assert ours.cost < rule.cost
    assert f"this model saves {money(1000 * (rule.cost - ours.cost))} against {name} (95 % interval" in said
    assert "Each row was decided by models that had not learnt from it." in said
    assert f"At 50,000 rows a year ensemble costs {money(50_000 * ours.cost)} " in said
    paths = [str(tmp_path / name) for name in ("model.skops", "table.csv", "report.html")]
    again = CliRunner().invoke(main, ["report", *paths[:2], "--html", paths[2]])
    assert again.exit_code == 0, again.output
    assert again.output.splitlines()[0].partition("(")[0] in said  # rows of the fit: the same answer
    assert "When it was fitted: ." not in Path(paths[2]).read_text(encoding="utf-8")


def test_a_comparison_says_how_to_be_quick_before_it_starts(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    flights(300).to_csv(table, index=False)
    base = ["fit", str(table), *OPTIONS, "--save-anyway", "-o", str(tmp_path / "model.skops")]
    for more, told in ((["--members", "linear"], True), (["--learner", "linear"], False), (["--quick", *QUICK], False)):
        result = CliRunner().invoke(main, [*base, *more])
        assert result.exit_code == 0, result.output
        assert ("Shorter: --quick" in result.stderr) == told
        assert "Shorter: --quick" not in result.stdout
        assert "--members linear,extra_trees" not in result.stderr  # they are named, or there is no ensemble


@pytest.mark.slow
@pytest.mark.parametrize("order", ["by month", "by label", "shuffled"])
def test_the_saved_model_is_the_one_that_was_compared(tmp_path: Path, order: str) -> None:
    """Of flights by month the saved model flagged no one, and cost more than promised on its own training rows."""
    table = flights()
    if order == "by label":
        table = table.sort_values("late", kind="stable")
    elif order == "shuffled":
        table = table.sample(frac=1, random_state=0)
    said = fit(table, tmp_path, "--learner", "ensemble", *QUICK)
    assert "is not what the comparison promised" not in said
    content = read_model(str(tmp_path / "model.skops"))
    shown = content["about"]["comparison"][0]
    ensemble = content["pipeline"][-1]
    assert shown["low"] <= ensemble.out_of_fold_cost_.cost <= shown["high"]
    new = flights(4000, seed=1)
    positive = (new.pop("late") == "yes").to_numpy()
    flagged = content["pipeline"].predict(new.astype(float)) == 1
    paid = np.where(flagged, 20.0 * ~positive, 120.0 * positive)
    assert shown["low"] < paid.mean() < shown["high"]


@pytest.mark.slow
def test_a_broken_promise_stands_in_the_place_of_the_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is called the cheapest then, and nothing is said to be saved."""
    fold_cost = UnevenEnsembleClassifier.out_of_fold_cost_
    twice = property(lambda self: replace(fold_cost.fget(self), cost=2 * fold_cost.fget(self).cost))  # type: ignore
    monkeypatch.setattr(UnevenEnsembleClassifier, "out_of_fold_cost_", twice)
    said = fit(flights(600), tmp_path, "--learner", "ensemble", *QUICK)
    assert "WARNING: the model that was fitted to all rows is not what the comparison promised." in said
    assert "Cheapest of" not in said
    assert "this model saves" not in said
    assert read_model(str(tmp_path / "model.skops"))["about"]["broken_promise"].startswith("WARNING")
    report = CliRunner().invoke(main, ["report", str(tmp_path / "model.skops"), str(tmp_path / "table.csv")])
    assert "is not what the comparison promised" in " ".join(report.output.split())


class Constant:
    """A model that says the same of every row."""

    def __init__(self, label: int) -> None:
        self.label = label

    def predict(self, X: Any) -> np.ndarray:
        return np.full(len(X), self.label)


class Steps(list[Any]):
    """A pipeline without preprocessing."""

    def __getitem__(self, item: Any) -> Any:
        return self if isinstance(item, slice) else super().__getitem__(item)

    def transform(self, X: Any) -> Any:
        return X


@pytest.mark.parametrize(("label", "broken"), [(0, True), (1, False)])
def test_any_model_is_held_against_its_own_training_rows(label: int, broken: bool) -> None:
    is_positive = np.arange(1000) % 4 == 0
    rows = Rows(np.zeros((1000, 1)), is_positive, RowCosts.read(1000, fp_cost=1, fn_cost=10), False)
    shown = CostEstimate("m", 0.75, 0.7, 0.8, 750, 0, rough=False)
    said = broken_promise(shown, Steps([Constant(label)]), rows, "EUR")
    assert bool(said) == broken
    if broken:
        assert "on the rows that it learnt from it costs 2,500 EUR" in said
        assert "(95 % interval 700 to 800)" in said


def test_a_few_mistakes_more_are_chance() -> None:
    is_positive = np.arange(1000) % 100 == 0
    rows = Rows(np.zeros((1000, 1)), is_positive, RowCosts.read(1000, fp_cost=1, fn_cost=1), False)
    said = np.zeros((1, 1000), dtype=bool)
    (eight,) = estimates(rows.costs, np.arange(1000) < 8, {"m": said})
    assert not broken_promise(eight, Steps([Constant(0)]), rows)  # ten misses where eight were seen
    (one,) = estimates(rows.costs, np.arange(1000) < 1, {"m": said})
    assert broken_promise(one, Steps([Constant(0)]), rows)


# -- the order of the rows --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_an_order_that_matters_is_told_in_one_sentence(tmp_path: Path) -> None:
    linear = ["--learner", "linear", "--save-anyway"]
    assert "The order of the rows matters" in fit(flights(3000), tmp_path, *linear)
    assert "The order of the rows matters" not in fit(flights().sample(frac=1, random_state=0), tmp_path, *linear)


def test_dates_are_told(tmp_path: Path) -> None:
    table = flights(400).sample(frac=1, random_state=0)
    table["day"] = pd.date_range("2024-01-01", periods=400).strftime("%Y-%m-%d")
    dates = "Column 'day' holds dates. All folds are shuffled"
    said = fit(table, tmp_path, "--learner", "linear", "--save-anyway", "--quick")
    assert said.count(dates) == 1
    assert read_model(str(tmp_path / "model.skops"))["about"]["order"].startswith(dates)
    table["late"] = np.random.default_rng(5).permutation(table["late"])
    table.to_csv(tmp_path / "noise.csv", index=False)
    other = tmp_path / "other.skops"
    costs = ["--positive", "YES", "--fp-cost", "20", "--fn-cost", "20000"]  # so that flagging everyone is the cheapest
    command = ["fit", str(tmp_path / "noise.csv"), *OPTIONS[:2], *costs, "--learner", "linear"]
    result = CliRunner().invoke(main, [*command, "-o", str(other)])
    assert result.exit_code == 1
    assert not other.exists()
    said = " ".join(result.output.split())
    assert said.index(dates) < said.index("WARNING: ")  # known before the fits, and so also if nothing is saved
    assert "--positive 'YES': column 'late' writes it 'yes'." in said


# -- progress ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_long_fit_tells_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Above 20,000 rows there is one split, and nothing was said for many minutes."""
    from uneven.app.cli import terminal
    from uneven.app.models import fit_table

    monkeypatch.setattr(terminal, "_PAUSE", 0.0)
    monkeypatch.setattr(fit_table, "_FOLDS", {100: 3})
    table = flights(300)
    table.to_csv(tmp_path / "table.csv", index=False)
    wanted = [*QUICK, "--learner", "ensemble", "--save-anyway"]
    command = ["fit", str(tmp_path / "table.csv"), *OPTIONS, *wanted, "-o", str(tmp_path / "m.skops")]
    told = CliRunner().invoke(main, command).stderr
    assert "comparing on rows kept out: 1 of " in told
    assert " left" in told
    assert "to all rows: " in told
