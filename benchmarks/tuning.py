"""Time of UnevenClassifierCV and of GridSearchCV over the same grid; both choose the same parameters.

    python benchmarks/tuning.py [--rows 3000] [--linear-rows 50000] [--runs 3]

Ten gammas, five folds, one C. GridSearchCV fits every candidate in every fold; UnevenClassifierCV shares work between
candidates. They take turns; the least of all times counts, because it is the one that other processes disturbed least.
Searches of little data run more often.
"""

from __future__ import annotations

import argparse
import platform
import time
from datetime import date
from typing import Any

import numpy as np
import sklearn
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV

import uneven
from uneven.metrics import make_cost_scorer

GAMMAS = np.geomspace(1 / 8, 8, 10)
FN_COST = 5.0
#: Rows up to which a search takes so little time that it runs ten times as often.
FEW_ROWS = 1000


def cases(rows: int, linear_rows: int) -> dict[str, tuple[Any, int, int]]:
    linear = uneven.UnevenLinearClassifier
    return {
        "svc, rbf": (uneven.UnevenSVC(fn_cost=FN_COST), rows, 20),
        "linear hinge": (linear("hinge", fn_cost=FN_COST), linear_rows, 20),
        "linear logistic": (linear("logistic", fn_cost=FN_COST), linear_rows, 20),
        "linear logistic, few rows": (linear("logistic", fn_cost=FN_COST), 1000, 20),
        "squared hinge, few rows": (linear("squared_hinge", fn_cost=FN_COST), 1000, 20),
        "exponential, few rows": (linear("exponential", fn_cost=FN_COST), 1000, 20),
        "linear logistic, 100 columns": (linear("logistic", fn_cost=FN_COST), linear_rows, 100),
        "linear squared hinge": (linear("squared_hinge", fn_cost=FN_COST), linear_rows, 20),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--linear-rows", type=int, default=50000)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    print(
        f"{date.today().isoformat()}, Python {platform.python_version()}, NumPy {np.__version__}, scikit-learn "
        f"{sklearn.__version__}, uneven {uneven.__version__}; ten gammas, five folds, one C"
    )
    scorer = make_cost_scorer(fp_cost=1, fn_cost=FN_COST)
    for name, (learner, n, d) in cases(arguments.rows, arguments.linear_rows).items():
        X, y = make_classification(
            n, d, n_informative=10, n_redundant=0, weights=[0.9], flip_y=0.02, class_sep=0.6, random_state=0
        )
        ours = uneven.UnevenClassifierCV(learner, margin_gammas=GAMMAS, refit=False, verbose=False)
        grid = [
            {key: [value] for key, value in params.items()}
            for params in clone_fit(ours, X[:600], y[:600]).cv_results_["params"]
        ]
        plain = GridSearchCV(learner, grid, scoring=scorer, cv=5, refit=False)
        seconds: dict[str, list[float]] = {"ours": [], "plain": []}
        ours.fit(X, y)  # losses are compiled
        for _ in range(arguments.runs if n > FEW_ROWS else 10 * arguments.runs):
            for key, search in (("ours", ours), ("plain", plain)):
                started = time.perf_counter()
                search.fit(X, y)
                seconds[key].append(time.perf_counter() - started)
        fast, slow = min(seconds["ours"]), min(seconds["plain"])
        a, b = ours.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
        same = bool(np.isclose(b[ours.best_index_], b.max(), atol=1e-12))
        print(
            f"{name:29s} n={n:6d}  GridSearchCV {slow:7.2f} s  ours {fast:7.3f} s  ratio {slow / fast:6.1f}   "
            f"same choice: {'yes' if same else 'no'}, costs differ by at most {np.abs(a - b).max():.1e}"
        )


def clone_fit(search: Any, X: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.base import clone

    return clone(search).fit(X, y)


if __name__ == "__main__":
    main()
