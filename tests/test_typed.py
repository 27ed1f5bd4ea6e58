"""``py.typed`` holds: the program of a user passes ``mypy --strict``, and a mistake in it is found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import numpy as np
import uneven
from uneven.metrics import expected_cost

cost = uneven.Cost(fp_cost=1, fn_cost=9)
alpha: float = cost.alpha
loss = uneven.calibrated_loss("sigmoid", alpha=alpha, gamma=3)
analysis = uneven.analyze(loss)
status: str = analysis.verdict.status
certificate = uneven.certify(loss)
text: str = certificate.to_json()
valid: bool = uneven.verify(text).valid
mine = uneven.phi("softplus(-t)")
names: list[str] = list(uneven.losses.names())
X, y = np.zeros((4, 2)), np.array([0, 1, 0, 1])
model = uneven.UnevenLinearClassifier("logistic", fp_cost=1, fn_cost=9, margin_gamma=2).fit(X, y)
search = uneven.UnevenClassifierCV(uneven.UnevenSVC(), fp_cost=1, fn_cost=9)
paid: float = expected_cost(y, model.predict(X), fp_cost=1, fn_cost=9)
try:
    uneven.phi("ln(t)")
except uneven.errors.ExpressionError as error:
    column: int | None = error.column
"""


def checked(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "program.py").write_text(program, encoding="utf-8")
    options = ["--strict", "--config-file=", "--cache-dir", str(folder / "cache")]
    command = [sys.executable, "-m", "mypy", *options, "program.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("user")


def test_a_users_program_passes(folder: Path) -> None:
    done = checked(PROGRAM, folder)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_mistake_is_found(folder: Path) -> None:
    done = checked(PROGRAM + "\nwrong: int = analysis.verdict.status\nuneven.Cost(fp=1)\n", folder)
    assert "Found 3 errors" in done.stdout or "Found 2 errors" in done.stdout, done.stdout
    assert 'variable has type "int"' in done.stdout
