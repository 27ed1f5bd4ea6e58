"""``uneven fit --monotone``: the saved model keeps it, and the command says what is left out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from uneven.app.cli.main import main
from uneven.app.models.model_files import read_model


def fit(folder: Path, *more: object) -> Result:
    random = np.random.default_rng(3)
    income = random.normal(size=200).round(3)
    fraud = random.random(200) < 1 / (1 + np.exp(np.sin(3 * income)))
    frame = pd.DataFrame({"income": income, "city": random.choice(["a", "b"], 200), "fraud": np.where(fraud, "y", "n")})
    frame.to_csv(folder / "train.csv", index=False)
    asked = ["--target", "fraud", "--positive", "y", "--fp-cost", 1, "--fn-cost", 1, "-o", folder / "model.skops"]
    return CliRunner().invoke(main, [str(one) for one in ["fit", folder / "train.csv", *asked, *more]])


@pytest.mark.slow
def test_the_saved_model_is_monotone(tmp_path: Path) -> None:
    result = fit(tmp_path, "--quick", "--members", "linear,histogram,forest", "--monotone", "income=-")
    assert result.exit_code == 0, result.output
    assert "The probability only falls with 'income'" in result.output
    assert "left out: forest" in result.output
    model = read_model(str(tmp_path / "model.skops"))["pipeline"]
    for city in ("a", "b"):
        rows = pd.DataFrame({"income": np.linspace(-3, 3, 90), "city": pd.Categorical([city] * 90)})
        assert (np.diff(model[-1].decision_function(rows)) <= 1e-9).all()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["--monotone", "city=+"], "for columns of numbers"),
        (["--monotone", "size=+"], "no such column is used"),
        (["--monotone", "income"], "needs a column and + or -"),
        (["--monotone", "income=+", "--learner", "linear"], "--monotone is for --learner auto or ensemble"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, asked: list[str], message: str) -> None:
    result = fit(tmp_path, *asked)
    assert result.exit_code != 0
    assert message in result.output
    assert not (tmp_path / "model.skops").exists()
