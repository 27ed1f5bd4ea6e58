"""The six displays, of a classifier for 20:1 and of plain logistic regression, on breast-cancer data held out.

A missed malignant tumour costs 20 biopsies; a biopsy costs 1. Run ``python examples/displays.py FOLDER`` to draw the
pictures of ``docs/displays.md`` (``docs/images/displays``); needs matplotlib.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import uneven
from uneven import figures

COSTS: dict[str, Any] = {"fp_cost": 1, "fn_cost": 20, "pos_label": "malignant"}


def draw(folder: Path) -> dict[str, Any]:
    """Draw and save every display; returns them by the name of their file."""
    import matplotlib.pyplot as plt

    X, y = load_breast_cancer(return_X_y=True)
    labels = np.array(["malignant", "benign"])[y]
    X, new, y, truth = train_test_split(X[:, :10], labels, test_size=0.5, stratify=labels, random_state=0)
    learner = uneven.UnevenLinearClassifier("logistic", **COSTS)
    ours = make_pipeline(StandardScaler(), learner).fit(X, y)
    plain = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    search = uneven.UnevenClassifierCV(make_pipeline(StandardScaler(), learner), **COSTS).fit(X, y)

    found: dict[str, Any] = {}
    for name, display in {
        "threshold_cost": figures.ThresholdCostDisplay,
        "cost_curve": figures.CostCurveDisplay,
        "decision_curve": figures.DecisionCurveDisplay,
        "calibration_near_alpha": figures.CalibrationNearAlphaDisplay,
    }.items():
        first = display.from_estimator(ours, new, truth)
        found[name] = display.from_estimator(plain, new, truth, **COSTS, ax=first.ax_)
    found["cost_confusion"] = figures.CostConfusionDisplay.from_estimator(ours, new, truth, unit="biopsies")
    found["gamma_path"] = figures.GammaPathDisplay.from_estimator(search)
    folder.mkdir(parents=True, exist_ok=True)
    for name, shown in found.items():
        shown.figure_.savefig(folder / f"{name}.png", dpi=110)
        plt.close(shown.figure_)
    return found


if __name__ == "__main__":
    draw(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/images/displays"))
