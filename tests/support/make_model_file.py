"""Make the model file of the current format that later versions must open: python tests/support/make_model_file.py

Run it again only with a new ``FORMAT`` of ``uneven.app.models.model_files``. It also writes the table, with the answers
of the model.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from click.testing import CliRunner

from uneven.app.cli.main import main
from uneven.app.models.model_files import FORMAT

FOLDER = Path(__file__).parent.parent / "reference"
MODEL, TABLE = FOLDER / f"model-{FORMAT}.skops", FOLDER / f"model-{FORMAT}.csv"
COSTS = ["--target", "late", "--positive", "yes", "--fp-cost", "1", "--fn-cost", "6", "--id", "order"]


def table() -> pd.DataFrame:
    """Orders: numbers, a category, and missing cells."""
    random = np.random.default_rng(11)
    days = random.normal(5, 2, 60).round(1)
    kind = random.choice(["road", "rail", "sea"], 60)
    late = np.where(days + 2 * (kind == "sea") + random.normal(size=60) > 6.5, "yes", "no")
    days[::13] = np.nan
    return pd.DataFrame({"order": [f"A{k}" for k in range(60)], "days": days, "kind": kind, "late": late})


def run(*arguments: object) -> str:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.output


def make() -> None:
    table().to_csv(TABLE, index=False)
    run("fit", TABLE, *COSTS, "--learner", "linear", "--quick", "-o", MODEL)
    answers = TABLE.with_name("answers.csv")
    run("predict", MODEL, TABLE, "-o", answers)
    said = pd.read_csv(answers)
    table().assign(prediction=said["prediction"], score=said["score"]).to_csv(TABLE, index=False)
    answers.unlink()


if __name__ == "__main__":
    make()
