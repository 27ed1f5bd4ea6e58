"""The worked examples say what they show; these tests check it."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_consistency(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Corollary 1: both regrets of the calibrated loss vanish, below the bound; the other's cost regret stays."""
    import matplotlib

    matplotlib.use("Agg")
    module = runpy.run_path(str(EXAMPLES / "consistency.py"))
    calibrated, other = module["paths"]()
    for path in (calibrated, other):
        assert path.surrogate[-1] < 1e-5
        assert np.all(path.cost <= path.bound + 1e-12)
    assert calibrated.cost[-1] < 1e-5
    assert calibrated.bound[-1] < 1e-2
    assert other.cost[-1] > 0.01
    assert other.bound[-1] > other.cost[-1]
    module["draw"]([calibrated, other], str(tmp_path / "consistency.png"))
    assert (tmp_path / "consistency.png").stat().st_size > 5000
