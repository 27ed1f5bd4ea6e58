"""The worked examples say what they show; these tests check it."""

from __future__ import annotations

import re
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


def test_gamma_path(tmp_path: Path) -> None:
    """A margin that favours the negatives, where a missed positive costs twenty times as much, does not pay."""
    import matplotlib

    matplotlib.use("Agg")
    module = runpy.run_path(str(EXAMPLES / "gamma_path.py"))
    found = module["searches"](repeats=1)
    for search in found.values():
        path = search.gamma_path_
        assert path.mean_cost[0] > 1.3 * path.mean_cost.min()
    module["draw"](found, str(tmp_path / "path.png"))
    assert (tmp_path / "path.png").stat().st_size > 5000


def test_displays(tmp_path: Path) -> None:
    """At the threshold in use the classifier for 20:1 is cheaper than plain logistic regression."""
    import matplotlib

    matplotlib.use("Agg")
    module = runpy.run_path(str(EXAMPLES / "displays.py"))
    found = module["draw"](tmp_path)
    shown = {file.stem for file in tmp_path.iterdir() if file.stat().st_size > 5000}
    assert shown == set(found)
    assert {f"images/displays/{name}.png" for name in found} == set(
        re.findall(r"\((images/displays/.*?)\)", (EXAMPLES.parent / "docs" / "displays.md").read_text(encoding="utf-8"))
    )
    plain = found["threshold_cost"].costs.at(0.0)
    ours = found["cost_confusion"]
    assert ours.costs.sum() / ours.counts.sum() < plain
