"""Small and middle data: time of a fit against scikit-learn's, all in one process, one fit of each in turn.

    python benchmarks/small.py [--case logistic hinge tuning predict] [--seconds 3]

``logistic``: UnevenLinearClassifier (tol 1e-6) and LogisticRegression (lbfgs, its default tol) on the same objective.
``hinge``: UnevenLinearClassifier("hinge", tol=1e-4), LinearSVC as it comes (squared hinge, default tol), and LinearSVC
with the hinge and the loosest tolerance of a grid at which its objective is within 1e-4 of the optimum.
``tuning``: UnevenClassifierCV and GridSearchCV over the same ten gammas in five folds.
``predict``: labels of 1e6 rows with 20 columns, checks of the input included; both predict with the same coefficients.

A ratio is the time of the peer divided by ours: above 1, ours is faster. In brackets: of the quickest fits, which other
work on the machine hardly changes.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
import warnings
from collections.abc import Callable
from datetime import date
from typing import Any

import numba
import numpy as np
import scipy
import sklearn
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC

import uneven
from uneven.metrics import make_cost_scorer

SHAPES = ((200, 10), (1000, 20), (5000, 50), (20_000, 20))
GAMMAS = np.geomspace(1 / 8, 8, 10)
FN_COST = 5.0
GAP = 1e-4


def data(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(n, d, n_informative=d // 2, n_redundant=0, flip_y=0.05, class_sep=0.8, random_state=0)


def measured(models: dict[str, Any], X: np.ndarray, y: np.ndarray, seconds: float) -> dict[str, list[float]]:
    """Times of each fit."""
    return in_turn({name: lambda model=model: model.fit(X, y) for name, model in models.items()}, seconds)


def in_turn(works: dict[str, Callable[[], Any]], seconds: float) -> dict[str, list[float]]:
    """Times of each work. All are done in turn until the time is used up, at least five times each after the first."""
    for work in works.values():
        work()
    times: dict[str, list[float]] = {name: [] for name in works}
    ends = time.perf_counter() + seconds
    while time.perf_counter() < ends or len(next(iter(times.values()))) < 5:
        for name, work in works.items():
            started = time.perf_counter()
            work()
            times[name].append(time.perf_counter() - started)
    return times


def shown(title: str, times: dict[str, list[float]], note: str = "") -> None:
    """One line: medians with their ratios, and the ratio of the quickest fits."""
    middle = {name: statistics.median(values) for name, values in times.items()}
    ours, best = middle["ours"], min(times["ours"])
    parts = [f"ours {1e3 * ours:8.2f} ms"]
    parts += [
        f"{name} {1e3 * middle[name]:8.2f} ms, ratio {middle[name] / ours:5.2f} [{min(values) / best:5.2f}]"
        for name, values in times.items()
        if name != "ours"
    ]
    print(f"{title:28s} {'   '.join(parts)}{note}", flush=True)


def logistic(seconds: float) -> None:
    for n, d in SHAPES:
        X, y = data(n, d)
        ours, peer = uneven.UnevenLinearClassifier("logistic"), LogisticRegression()
        times = measured({"ours": ours, "LogisticRegression": peer}, X, y, seconds)
        theta = np.append(peer.coef_, peer.intercept_)
        above = objective(np.logaddexp, X, y, theta) / ours.objective_ - 1
        shown(f"logistic {n} x {d}", times, f"   gap: ours {gap_of(ours)}, the peer's objective is {above:.1e} above")


def objective(loss: Any, X: np.ndarray, y: np.ndarray, theta: np.ndarray) -> float:
    margin = (2 * y - 1) * (X @ theta[:-1] + theta[-1])
    total = np.logaddexp(0, -margin) if loss is np.logaddexp else np.maximum(1 - margin, 0)
    return float(total.sum() + 0.5 * theta[:-1] @ theta[:-1])


def gap_of(model: Any) -> str:
    return "not computed" if model.duality_gap_ is None else f"{model.duality_gap_ / model.objective_:.1e}"


def hinge(seconds: float) -> None:
    for n, d in SHAPES:
        X, y = data(n, d)
        ours, peer = uneven.UnevenLinearClassifier("hinge", tol=GAP), LinearSVC()
        ours.fit(X, y)
        exact = exact_enough(X, y, ours.objective_)
        models = {"ours": ours, "LinearSVC": peer}
        note = f"   gap: ours {gap_of(ours)}"
        if exact is None:
            note += f"; LinearSVC with the hinge does not come within {GAP:g}"
        else:
            models["LinearSVC, hinge, same gap"] = exact
        shown(f"hinge {n} x {d}", measured(models, X, y, seconds), note)


def exact_enough(X: np.ndarray, y: np.ndarray, best: float) -> Any:
    """LinearSVC with the hinge and the loosest tolerance that comes as close to the optimum as ours; None if none does.

    It penalises its intercept; a large intercept_scaling makes that harmless.
    """
    for tol in 10.0 ** -np.arange(1, 7):
        peer = LinearSVC(loss="hinge", tol=tol, max_iter=20_000, intercept_scaling=10, random_state=0)
        started = time.perf_counter()
        peer.fit(X, y)
        if objective(None, X, y, np.append(peer.coef_, peer.intercept_)) <= best * (1 + GAP):
            return peer
        if time.perf_counter() - started > 5:
            break
    return None


def tuning(seconds: float) -> None:
    X, y = make_classification(
        1000, 20, n_informative=10, n_redundant=0, weights=[0.9], flip_y=0.02, class_sep=0.6, random_state=0
    )
    for loss in ("logistic", "squared_hinge", "hinge"):
        learner = uneven.UnevenLinearClassifier(loss, fn_cost=FN_COST)
        ours = uneven.UnevenClassifierCV(learner, margin_gammas=GAMMAS, refit=False, verbose=False)
        grid = [{key: [value] for key, value in one.items()} for one in ours.fit(X, y).cv_results_["params"]]
        scorer = make_cost_scorer(fp_cost=1, fn_cost=FN_COST)
        plain = GridSearchCV(learner, grid, scoring=scorer, cv=5, refit=False)
        times = measured({"ours": ours, "GridSearchCV": plain}, X, y, seconds)
        differ = np.abs(ours.cv_results_["mean_test_score"] - plain.cv_results_["mean_test_score"]).max()
        shown(f"tuning {loss} 1000 x 20", times, f"   costs differ by at most {differ:.1e}")


def predict(seconds: float) -> None:
    X, y = data(1_000_000, 20)
    ours, peer = uneven.UnevenLinearClassifier("logistic").fit(X[:5000], y[:5000]), LogisticRegression()
    peer.fit(X[:5000], y[:5000])
    peer.coef_, peer.intercept_ = ours.coef_, ours.intercept_
    times = in_turn({"ours": lambda: ours.predict(X), "LogisticRegression": lambda: peer.predict(X)}, seconds)
    differ = int((ours.predict(X) != peer.predict(X)).sum())
    shown("predict 1000000 x 20", times, f"   {differ} labels differ")


CASES: dict[str, Callable[[float], None]] = {
    "logistic": logistic,
    "hinge": hinge,
    "tuning": tuning,
    "predict": predict,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--seconds", type=float, default=3.0, help="time for each line")
    arguments = parser.parse_args()
    print(
        f"{date.today().isoformat()}, Python {platform.python_version()}, NumPy {np.__version__}, SciPy "
        f"{scipy.__version__}, scikit-learn {sklearn.__version__}, numba {numba.__version__}, uneven "
        f"{uneven.__version__}; medians, one process"
    )
    warnings.simplefilter("ignore", ConvergenceWarning)
    for case in arguments.case:
        CASES[case](arguments.seconds)


if __name__ == "__main__":
    main()
