"""``uneven predict --reasons``: the columns that it adds are those of ``explain``, for every model that is saved."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from uneven.app.cli.main import main
from uneven.app.files.table import read_table
from uneven.app.models.apply_model import apply_model, dearer_in_words, prediction_table
from uneven.app.models.model_files import read_model

pytestmark = pytest.mark.slow

LINEAR = ("--learner", "linear")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("reasons")
    random = np.random.default_rng(7)
    n = 260
    amount = random.integers(1, 900, n)
    country = random.choice(["AT", "US", "FR"], n)
    frame = pd.DataFrame(
        {
            "id": [f"r{k}" for k in range(n)],
            "amount": amount,
            "country": country,
            "since": pd.date_range("2026-01-01", periods=n, freq="30h").strftime("%Y-%m-%d"),
            "note": [f"called about {a} and then {b}" for a, b in random.integers(0, 900, (n, 2))],
            "fraud": np.where(random.random(n) < amount / 1200 * (1 + (country == "US")), "yes", "no"),
        }
    )
    frame[:200].to_csv(place / "train.csv", index=False)
    frame[200:].to_csv(place / "new.csv", index=False)
    frame[200:201].to_csv(place / "one.csv", index=False)
    return place


def fit(folder: Path, *more: object) -> Path:
    path = folder / "model.skops"
    asked = ["--target", "fraud", "--positive", "yes", "--fp-cost", 20, "--quick", "--id", "id"]
    result = run("fit", folder / "train.csv", *asked, *more, "-o", path)
    assert result.exit_code == 0, result.output
    return path


def predict(folder: Path, model: Path, *more: object, data: str = "new.csv") -> pd.DataFrame:
    result = run("predict", model, folder / data, *more, "-o", folder / "out.parquet")
    assert result.exit_code == 0, result.output
    return pd.read_parquet(folder / "out.parquet")


@pytest.mark.parametrize(
    "asked",
    [
        ["--fn-cost", 60, "--learner", "linear"],
        ["--fn-cost", "amount", "--learner", "linear"],
        ["--fn-cost", 60, "--learner", "svc"],
        ["--fn-cost", 60, "--learner", "linear", "--tune"],
        ["--fn-cost", "amount", "--members", "linear,histogram"],
    ],
    ids=lambda asked: " ".join(map(str, asked)),
)
def test_reasons_of_every_model(folder: Path, asked: list[object]) -> None:
    model = fit(folder, *asked)
    plain, found = predict(folder, model), predict(folder, model, "--reasons", 9)
    pd.testing.assert_frame_equal(found[plain.columns], plain)
    names = [name for name in found if name.startswith("reason_") and name.count("_") == 1]
    assert len(names) == 9
    points = found[[f"{name}_points" for name in names]].fillna(0.0)
    flagged = plain["prediction"] == "yes"
    assert (points[flagged] >= 0).all(axis=None)
    assert (points[~flagged] <= 0).all(axis=None)
    seen = set(found[names].stack().dropna())
    assert seen <= {"amount", "country", "since", "note"}
    assert "amount" in seen
    alone = predict(folder, model, "--reasons", 9, data="one.csv")  # the other rows of a table have no say
    assert alone[names].fillna("").to_numpy().tolist() == found[names][:1].fillna("").to_numpy().tolist()
    changed = found["change"].dropna()
    assert changed.str.startswith("Would ").all()


def test_a_model_file_keeps_no_row_of_the_training_table(folder: Path) -> None:
    kept = pd.DataFrame(read_model(str(fit(folder, "--fn-cost", 60, "--learner", "linear")))["about"]["background"])
    train = pd.read_csv(folder / "train.csv")
    assert kept["note"].isna().all()
    assert set(kept["country"]) <= set(train["country"])
    rows = {tuple(row) for row in train[["amount", "country", "since"]].itertuples(index=False)}
    assert not rows & {tuple(row) for row in kept[["amount", "country", "since"]].itertuples(index=False)}


def test_reasons_of_limited_decisions_are_refused(folder: Path) -> None:
    model = fit(folder, "--fn-cost", 60, "--learner", "linear")
    result = run("predict", model, folder / "new.csv", "--reasons", 2, "--at-most", 3, "-o", folder / "none.csv")
    assert result.exit_code != 0
    assert "--reasons explains decisions by the threshold" in result.output
    assert not (folder / "none.csv").exists()


def test_reasons_are_written_with_the_decimal_sign_of_the_table(folder: Path) -> None:
    frame = pd.read_csv(folder / "train.csv").assign(amount=lambda table: table["amount"] / 100 + 0.125)
    frame.to_csv(folder / "comma.csv", index=False, sep=";", decimal=",")
    asked = ["--target", "fraud", "--positive", "yes", "--fp-cost", 20, "--fn-cost", 60, "--quick", *LINEAR]
    result = run("fit", folder / "comma.csv", *asked, "-o", folder / "comma.pkl")
    assert "written with skops, not with pickle" in result.output
    columns = {}
    commas = partial(pd.read_csv, sep=";", decimal=",", dtype=object)
    for name, read in {"commas.csv": commas, "points.parquet": pd.read_parquet}.items():
        result = run("predict", folder / "comma.pkl", folder / "comma.csv", "--reasons", 2, "-o", folder / name)
        assert result.exit_code == 0, result.output
        assert result.stderr.startswith("Reasons of 200 rows")
        found = read(folder / name)
        texts = found["reason_1_value"][found["reason_1"] == "amount"]
        changes = found["change"].dropna()
        columns[name] = texts.tolist(), changes[changes.str.contains("amount")].tolist()
    assert len(columns["commas.csv"][0]) > 0
    assert all("," in text and text.endswith("5") for text in columns["commas.csv"][0])
    assert any("," in text for text in columns["commas.csv"][1])
    in_points = tuple([text.replace(",", ".") for text in texts] for texts in columns["commas.csv"])
    assert in_points == columns["points.parquet"]


def test_decisions_that_are_dearer_by_the_written_costs_are_counted(folder: Path) -> None:
    content = read_model(str(fit(folder, "--fn-cost", 60, *LINEAR)))
    used = apply_model(content, read_table(str(folder / "new.csv")))
    assert dearer_in_words(used, content["pipeline"]) == ""
    said = used.decisions.said_positive.copy()
    said[:7] = ~said[:7]
    turned = replace(used, decisions=replace(used.decisions, said_positive=said))
    written = prediction_table(turned)
    dearer = (written["cost_if_negative"] < written["cost_if_positive"]) == (written["prediction"] == "yes")
    assert dearer.sum() == 7
    assert dearer_in_words(turned, content["pipeline"]).startswith(
        "In 7 of 60 rows the decision is not the cheaper one"
    )
