"""
A classifier in nine pictures
=============================

A classifier for costs of 20 to 1 beside plain logistic regression, on breast-cancer data held out. A missed malignant
tumour costs 20 biopsies; a biopsy costs 1. The displays follow scikit-learn's convention and work for every classifier
of two classes.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import uneven
from uneven import figures

COSTS: dict[str, Any] = {"fp_cost": 1, "fn_cost": 20, "pos_label": "malignant"}
X, y = load_breast_cancer(return_X_y=True)
labels = np.array(["malignant", "benign"])[y]
X, new, y, truth = train_test_split(X[:, :10], labels, test_size=0.5, stratify=labels, random_state=0)
learner = uneven.UnevenLinearClassifier("logistic", **COSTS)
ours = make_pipeline(StandardScaler(), learner).fit(X, y)
plain = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
found: dict[str, Any] = {}

# %%
# What does each decision threshold cost? The square is the threshold in use, the circle the cheapest one on these
# rows. Ours is near it. Plain logistic regression decides as if both mistakes cost the same.

first = figures.ThresholdCostDisplay.from_estimator(ours, new, truth)
found["threshold_cost"] = figures.ThresholdCostDisplay.from_estimator(plain, new, truth, **COSTS, ax=first.ax_)

# %%
# What if the costs are not what we think? alpha is the share of a false positive in the sum of both costs.

first = figures.CostCurveDisplay.from_estimator(ours, new, truth)
found["cost_curve"] = figures.CostCurveDisplay.from_estimator(plain, new, truth, **COSTS, ax=first.ax_)

# %%
# What if nobody knows the costs, only that a missed tumour costs 5 to 100 biopsies? Each ratio decides for itself.

first = figures.MeanCostDisplay.from_estimator(ours, new, truth, prior=(5, 100))
found["mean_cost"] = figures.MeanCostDisplay.from_estimator(
    plain, new, truth, prior=(5, 100), pos_label="malignant", ax=first.ax_
)

# %%
# Is the model better than treating everyone, or nobody?

first = figures.DecisionCurveDisplay.from_estimator(ours, new, truth)
found["decision_curve"] = figures.DecisionCurveDisplay.from_estimator(plain, new, truth, **COSTS, ax=first.ax_)

# %%
# Are the probabilities right where they decide, near alpha = 1/21?

first = figures.CalibrationNearAlphaDisplay.from_estimator(ours, new, truth)
found["calibration_near_alpha"] = figures.CalibrationNearAlphaDisplay.from_estimator(
    plain, new, truth, **COSTS, ax=first.ax_
)

# %%
# What if only 90 of these patients can have a biopsy? Flags beyond the cheapest limit save nothing.

first = figures.CapacityCostDisplay.from_estimator(ours, new, truth, at_most=90, unit="biopsies")
found["capacity_cost"] = figures.CapacityCostDisplay.from_estimator(
    plain, new, truth, **COSTS, at_most=90, unit="biopsies", ax=first.ax_
)

# %%
# Which outcomes cost how much?

found["cost_confusion"] = figures.CostConfusionDisplay.from_estimator(ours, new, truth, unit="biopsies")

# %%
# What does the margin cost? A search over gamma keeps the cost of each.

search = uneven.UnevenClassifierCV(make_pipeline(StandardScaler(), learner), **COSTS).fit(X, y)
found["gamma_path"] = figures.GammaPathDisplay.from_estimator(search)

# %%
# How far is the threshold of naive Bayes moved, and how sure is that?

shifted = uneven.UnevenThresholdClassifierCV(GaussianNB(), **COSTS).fit(X, y)
found["threshold_shift"] = figures.ThresholdShiftDisplay.from_estimator(shifted, unit="biopsies")

# %%
# ``python examples/plot_displays.py FOLDER`` also writes the pictures.

if len(sys.argv) > 1:
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    for name, shown in found.items():
        shown.figure_.savefig(Path(sys.argv[1]) / f"{name}.png", dpi=110)
