"""
Cost along the margin
=====================

Cross-validated cost for many values of gamma, the asymmetry of the margins: positives want a margin of 1, negatives
one of 1/gamma. Every gamma is calibrated for the same costs, so it may be tuned. One call for an SVM, one for logistic
regression.

The data are the breast-cancer data of scikit-learn; a missed malignant tumour costs twenty false alarms. Ten
repetitions of five folds make the curve smooth.
"""

from __future__ import annotations

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import uneven

GAMMAS = np.geomspace(1 / 16, 16, 17)
X, y = load_breast_cancer(return_X_y=True)  # 0 is malignant: the class to find
learners = {
    "UnevenSVC": uneven.UnevenSVC(pos_label=0),
    "UnevenLinearClassifier, logistic": uneven.UnevenLinearClassifier("logistic", C=0.1, pos_label=0),
}

# %%
# The rule of one standard error takes, of all gammas whose cost is within one standard error of the smallest, the one
# nearest to 1.

searches = {
    name: uneven.UnevenClassifierCV(
        make_pipeline(StandardScaler(), learner),
        fp_cost=1,
        fn_cost=20,
        margin_gammas=GAMMAS,
        cv=RepeatedStratifiedKFold(n_splits=5, n_repeats=10, random_state=0),
        rule="one_standard_error",
    ).fit(X, y)
    for name, learner in learners.items()
}
for name, search in searches.items():
    path = search.gamma_path_
    best = int(path.mean_cost.argmin())
    one = int(np.abs(np.log(path.margin_gamma)).argmin())
    print(
        f"{name}: smallest cost {path.mean_cost[best]:.3f} at gamma = {path.margin_gamma[best]:.3g}, cost "
        f"{path.mean_cost[one]:.3f} at gamma = 1; the rule chooses gamma = {path.chosen:.3g}"
    )

# %%
# A margin that favours the negatives, where a missed positive costs twenty times as much, does not pay. On these data
# an even margin is as good as any.

figure, axes = plt.subplots(1, len(searches), figsize=(9, 3.6), layout="constrained", sharey=True)
for ax, (name, search) in zip(axes, searches.items(), strict=True):
    search.plot(ax)
    ax.set_title(name)
axes[0].set_ylim(0, 0.8)
axes[1].set_ylabel("")

# %%
# ``python examples/plot_gamma_path.py FILE`` also writes the picture.

if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=110)
