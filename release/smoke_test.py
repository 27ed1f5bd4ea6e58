"""Tries an installed wheel that has no extras; the argument is the version that it should be."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import uneven


def main(version: str) -> None:
    """Losses, proofs, learners, metrics, the command, and what is said where an extra is missing."""
    home = Path(uneven.__file__)
    assert uneven.__version__ == version, uneven.__version__
    assert "site-packages" in home.parts, home
    assert (home.parent / "py.typed").exists()
    for name in uneven.__all__:
        try:
            getattr(uneven, name)
        except uneven.errors.MissingExtraError as error:
            print(error)

    loss = uneven.calibrated_loss("sigmoid", alpha=0.1, gamma=3)
    assert uneven.analyze(loss).verdict.status == "calibrated up to rounding"
    assert uneven.verify(uneven.certify(uneven.UnevenMarginLoss("hinge", gamma=2, alpha="1/4")).to_json())
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 4))
    y = (X[:, 0] + random.normal(size=300) > 1).astype(int)
    costs = {"fp_cost": 1, "fn_cost": 10}
    for learner in (
        uneven.UnevenLinearClassifier("logistic", margin_gamma=2, **costs),
        uneven.UnevenSVC(**costs),
        uneven.UnevenEnsembleClassifier(members=["linear"], **costs),
    ):
        said = learner.fit(X, y).predict(X)
        better = min(uneven.metrics.expected_cost(y, np.full(300, k), **costs) for k in (0, 1))
        assert uneven.metrics.expected_cost(y, said, **costs) < better, learner

    command = Path(sys.executable).parent / "uneven"
    done = subprocess.run([command, "check", "hinge", "--gamma", "2"], capture_output=True, text=True, check=True)
    assert "CALIBRATED" in done.stdout, done.stdout
    module = subprocess.run([sys.executable, "-m", "uneven", "--version"], capture_output=True, text=True, check=True)
    assert version in module.stdout, module.stdout
    told = subprocess.run([command, "doctor"], capture_output=True, text=True, check=True)
    assert "All is well." in told.stdout, told.stdout
    for shell in ("bash", "zsh", "fish"):
        shown = subprocess.run([command, "completion", shell], capture_output=True, text=True, check=True)
        assert "_UNEVEN_COMPLETE" in shown.stdout, shown.stdout
    program = Path("program.py")
    program.write_text("from sklearn.svm import SVC\nSVC().fit(X, y).predict(X)\n", encoding="utf-8")
    found = subprocess.run(
        [command, "lint", str(program), "--fp-cost", "1", "--fn-cost", "9"], capture_output=True, text=True, check=False
    )
    assert found.returncode == 1, found
    assert "UNV001" in found.stdout, found.stdout
    table = Path("table.csv")
    table.write_text("a,y\n1,0\n2,1\n", encoding="utf-8")
    refused = subprocess.run(
        [
            command,
            "fit",
            str(table),
            "--target",
            "y",
            "--positive",
            "1",
            "--fp-cost",
            "1",
            "--fn-cost",
            "2",
            "-o",
            "m.skops",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if find_spec("pandas") is None:
        assert refused.returncode == 2, refused
        assert "uneven[data]" in refused.stderr.replace("\n", ""), refused.stderr
    print(f"uneven {version} works without extras on Python {sys.version.split()[0]}.")


if __name__ == "__main__":
    main(sys.argv[1])
