"""
What knowing the costs saves
============================

A missed malignant tumour costs as much as twenty needless biopsies. What do the decisions of ordinary rules cost, and
what is left when the rule knows the costs?

The data are the breast-cancer data of scikit-learn, of which we take the ten mean measurements. Every decision is made
by a model that has not seen the patient (five folds).
"""

from __future__ import annotations

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import uneven

FP_COST, FN_COST = 1, 20  # a biopsy, and a tumour that is missed
X, y = load_breast_cancer(return_X_y=True)
X, malignant = X[:, :10], (y == 0).astype(int)
folds = StratifiedKFold(5, shuffle=True, random_state=0)

# %%
# Two constant rules, logistic regression in its two usual ways, and two ways to use the costs: to cut the probability
# of logistic regression where they say, or to train with a loss that is calibrated for them.

models = {
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
    "logistic regression,\nclasses balanced": make_pipeline(
        StandardScaler(), LogisticRegression(class_weight="balanced")
    ),
    "logistic regression,\nthreshold for the costs": make_pipeline(
        StandardScaler(), uneven.UnevenThresholdClassifierCV(LogisticRegression(), fp_cost=FP_COST, fn_cost=FN_COST)
    ),
    "UnevenLinearClassifier": make_pipeline(
        StandardScaler(), uneven.UnevenLinearClassifier("logistic", fp_cost=FP_COST, fn_cost=FN_COST)
    ),
}
decisions = {"biopsy for no one": np.zeros_like(malignant), "biopsy for everyone": np.ones_like(malignant)}
decisions |= {name: cross_val_predict(model, X, malignant, cv=folds) for name, model in models.items()}

# %%
# The cost per 1,000 patients, apart for needless biopsies and for missed tumours. The first bar is far too long to be
# shown in full.


def costs(said: np.ndarray) -> tuple[float, float]:
    """Cost per 1,000 patients of false alarms and of misses."""
    false_alarms, misses = (said > malignant).mean(), (said < malignant).mean()
    return 1000 * FP_COST * float(false_alarms), 1000 * FN_COST * float(misses)


found = {name: costs(said) for name, said in decisions.items()}
for name, (alarms, misses) in found.items():
    print(f"{name.replace(chr(10), ' '):40s} {alarms:6.0f} + {misses:6.0f} = {alarms + misses:6.0f}")

# %%
# Plain logistic regression treats both mistakes alike. Balanced classes assume a ratio of costs that nobody chose:
# that of the numbers of rows. Rules that know the costs make more false alarms, and far fewer misses. On these data it
# hardly matters how the costs are used; the docs have a page on when it does ("When does it pay?").

figure, ax = plt.subplots(figsize=(8.2, 3.3), layout="constrained")
names = list(found)
alarms, misses = np.array(list(found.values())).T
ax.barh(names, alarms, color="#E69F00", label="needless biopsies")
ax.barh(names, misses, left=alarms, color="#0072B2", label="missed tumours")
edge = 880.0
for k, total in enumerate(alarms + misses):
    text, place = (f"{total:,.0f}", total) if total < edge else (f"{total:,.0f} →", 0.9 * edge)
    ax.text(place + 0.01 * edge, k, text, va="center", color="black" if total < edge else "white")
ax.set(xlim=(0, edge), xlabel="cost per 1,000 patients (a biopsy costs 1, a missed tumour 20)")
ax.invert_yaxis()
ax.spines[["top", "right"]].set_visible(False)
ax.legend(loc="lower right", frameon=False)

# %%
# ``python examples/plot_what_it_saves.py FILE`` also writes the picture, which is on the first page of the
# documentation.

if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120)
