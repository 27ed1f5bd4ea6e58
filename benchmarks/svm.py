"""Kernel SVM: our solver against scikit-learn's SVC (LIBSVM) and scikit-learn-intelex, at the same dual objective.

    python benchmarks/svm.py [--rows 200 500 1000 2000 5000 20000] [--runs 3] [--cache 1000]

RBF kernel on synthetic data with rare positives and cost weights. Every solver gets the same cache and tol. The dual
objective is computed again from each solution, so a solver that is fast because it is inaccurate would be seen. Times
are medians over ``runs``, of which small data get more; in each run the solvers take turns. A small fit of each solver
comes first, to compile and load code. scikit-learn-intelex is left out if it is not installed. The last line is our
solver at margin_gamma = 4 and the same effective C. Our lines end in the relative gap that the fit has proved.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
from datetime import date
from typing import Any

import numpy as np
import sklearn
from sklearn.datasets import make_classification
from sklearn.svm import SVC

import uneven
from uneven.solvers.kernel.kernel_matrix import KernelFunction, gram

FN_COST = 5.0


def made(n: int) -> tuple[np.ndarray, np.ndarray]:
    """About a third of the rows become support vectors."""
    return make_classification(
        n, 20, n_informative=10, n_redundant=0, weights=[0.9], flip_y=0.02, class_sep=0.6, random_state=0
    )


def solvers(cache: float, y: np.ndarray) -> dict[str, Any]:
    weight = {0: 1.0, 1: FN_COST}
    mean = float(np.where(y == 1, FN_COST, 1.0).mean())  # by which ours divides the weights
    found: dict[str, Any] = {
        "uneven": uneven.UnevenSVC(fn_cost=FN_COST, cache_size=cache, C=mean),
        "SVC": SVC(class_weight=weight, cache_size=cache),
    }
    try:
        from sklearnex import svm as intel

        found["intelex"] = intel.SVC(class_weight=weight, cache_size=cache)
    except ImportError:
        print("scikit-learn-intelex is not installed: left out")
    found["uneven, margin_gamma=4"] = uneven.UnevenSVC(
        fn_cost=FN_COST, cache_size=cache, margin_gamma=4, C=0.625 * mean
    )
    return found


def dual_objective(X: np.ndarray, y: np.ndarray, model: Any, scale: float = 1.0) -> float:
    """The dual objective sum |b| - 1/2 b' K b of a solution, in the coordinates of the ordinary SVM."""
    b = np.zeros(y.size)
    b[np.asarray(model.support_)] = np.asarray(model.dual_coef_).ravel() / scale
    K = gram(KernelFunction("rbf", width=1 / (X.shape[1] * X.var())), X)
    return float(np.abs(b).sum() - 0.5 * b @ K.times(b))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[200, 500, 1000, 2000, 5000, 20000])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cache", type=float, default=1000.0, help="cache of each solver, in megabytes")
    arguments = parser.parse_args()
    print(
        f"{date.today().isoformat()}, Python {platform.python_version()}, NumPy {np.__version__}, scikit-learn "
        f"{sklearn.__version__}, uneven {uneven.__version__}; cache {arguments.cache:g} MB, tol 1e-3"
    )
    small = made(2500)
    for n in arguments.rows:
        X, y = made(n)
        models = solvers(arguments.cache, y)
        times: dict[str, list[float]] = {name: [] for name in models}
        for model in solvers(1.0, small[1]).values():  # compiles the float32 rows of a small cache too
            model.fit(*small)
        for _ in range(arguments.runs * max(1, min(20, 10_000 // n))):
            for name, model in models.items():
                started = time.perf_counter()
                model.fit(X, y)
                times[name].append(time.perf_counter() - started)
        ours = statistics.median(times["uneven"])
        for name, model in models.items():
            seconds = statistics.median(times[name])
            value = dual_objective(X, y, model, scale=0.625 if "gamma" in name else 1.0)
            proved = f"   gap {model.duality_gap_ / model.objective_:.1e}" if hasattr(model, "duality_gap_") else ""
            print(
                f"n={n:6d}  {name:24s} {1000 * seconds:8.1f} ms  {seconds / ours:5.2f} times ours   "
                f"dual objective {value:.6f}   {len(model.support_)} support vectors{proved}"
            )


if __name__ == "__main__":
    main()
