"""Cross-validated cost for many values of gamma, for an SVM and for logistic regression: one call each.

The data are the breast-cancer data of scikit-learn; a missed malignant tumour costs twenty false alarms. Ten
repetitions of five folds make the curve smooth. Run ``python examples/gamma_path.py``. With matplotlib installed,
``--plot FILE`` draws the curves.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import uneven

GAMMAS = np.geomspace(1 / 16, 16, 17)


def searches(repeats: int = 10) -> dict[str, uneven.UnevenClassifierCV]:
    """Fitted searches, by the name of the learner."""
    X, y = load_breast_cancer(return_X_y=True)
    learners = {
        "UnevenSVC": uneven.UnevenSVC(pos_label=0),
        "UnevenLinearClassifier, logistic": uneven.UnevenLinearClassifier("logistic", C=0.1, pos_label=0),
    }
    return {
        name: uneven.UnevenClassifierCV(
            make_pipeline(StandardScaler(), learner),
            fp_cost=1,
            fn_cost=20,
            margin_gammas=GAMMAS,
            cv=RepeatedStratifiedKFold(n_splits=5, n_repeats=repeats, random_state=0),
            rule="one_standard_error",
        ).fit(X, y)
        for name, learner in learners.items()
    }


def draw(found: dict[str, uneven.UnevenClassifierCV], path: str) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(found), figsize=(9, 3.6), layout="constrained", sharey=True)
    for ax, (name, search) in zip(axes, found.items(), strict=True):
        search.plot(ax)
        ax.set_title(name)
    axes[0].set_ylim(0, 0.8)
    axes[1].set_ylabel("")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", help="file for the picture")
    arguments = parser.parse_args()
    found = searches()
    for name, search in found.items():
        path = search.gamma_path_
        best = int(path.mean_cost.argmin())
        one = int(np.abs(np.log(path.margin_gamma)).argmin())
        print(
            f"{name}: smallest cost {path.mean_cost[best]:.3f} at gamma = {path.margin_gamma[best]:.3g}, cost "
            f"{path.mean_cost[one]:.3f} at gamma = 1; the one-standard-error rule chooses gamma = {path.chosen:.3g}"
        )
    if arguments.plot:
        draw(found, arguments.plot)


if __name__ == "__main__":
    main()
