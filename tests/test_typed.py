"""``py.typed`` holds: the program of a user passes ``mypy --strict``, and a mistake in it is found."""

from __future__ import annotations

import subprocess
import sys

import pytest
from places import ROOT

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


MISTAKES = """
wrong: int = analysis.verdict.status
uneven.Cost(fp=1)
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What mypy says about the program and about one with mistakes; most of its time goes into what both import."""
    folder = tmp_path_factory.mktemp("user")
    (folder / "right.py").write_text(PROGRAM, encoding="utf-8")
    (folder / "wrong.py").write_text(PROGRAM + MISTAKES, encoding="utf-8")
    # The cache is kept: other options than those of `make lint` would not find theirs there.
    options = ["--strict", "--config-file=", "--cache-dir", str(ROOT / ".mypy_cache" / "user")]
    command = [sys.executable, "-m", "mypy", *options, "right.py", "wrong.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert "checked 2 source files" in done.stdout, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_users_program_passes(said: str) -> None:
    assert "right.py" not in said, said


@pytest.mark.slow
def test_a_mistake_is_found(said: str) -> None:
    assert "Found 3 errors" in said or "Found 2 errors" in said, said
    assert 'variable has type "int"' in said
    assert 'Unexpected keyword argument "fp"' in said
