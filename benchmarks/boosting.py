"""Time of boosted stumps against XGBoost and scikit-learn.

    python benchmarks/boosting.py [--rows 100000] [--runs 5] [--no-sklearn]

Stumps: 30 columns, 100 rounds, two threads for all that use threads. The methods take turns; the least of all times
counts, because it is the one that other processes disturbed least. Processor time is given, too. scikit-learn runs
once.
"""

from __future__ import annotations

import argparse
import platform
import time
from datetime import date
from typing import Any

import numpy as np
import sklearn
import xgboost
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier

import uneven
from uneven import UnevenAdaBoostClassifier

ROUNDS = 100


def timed(fit: Any) -> tuple[float, float]:
    started, worked = time.perf_counter(), time.process_time()
    fit()
    return time.perf_counter() - started, time.process_time() - worked


def stumps(rows: int, runs: int, with_sklearn: bool) -> None:
    X, y = make_classification(rows, 30, n_informative=10, flip_y=0.05, class_sep=0.5, random_state=0)
    boosting = UnevenAdaBoostClassifier
    models: dict[str, Any] = {
        "XGBoost, depth 1": xgboost.XGBClassifier(n_estimators=ROUNDS, max_depth=1, tree_method="hist", n_jobs=2),
        "exponential, discrete": boosting(n_estimators=ROUNDS),
        "exponential, real": boosting(algorithm="real", n_estimators=ROUNDS),
        "exponential, gradient": boosting(algorithm="gradient", n_estimators=ROUNDS),
        "exponential, gamma 4": boosting(n_estimators=ROUNDS, margin_gamma=4, fn_cost=5),
        "logistic, gradient": boosting("logistic", algorithm="gradient", n_estimators=ROUNDS),
        "logistic, discrete": boosting("logistic", n_estimators=ROUNDS),
    }
    for model in models.values():  # compiled, and threads started
        model.fit(X[:2000], y[:2000])
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in models}
    for _ in range(runs):
        for name, model in models.items():
            times[name].append(timed(lambda model=model: model.fit(X, y)))  # type: ignore[misc]
    least = {name: np.min(found, axis=0) for name, found in times.items()}
    peer = least["XGBoost, depth 1"]
    print(f"stumps, {rows} x 30, {ROUNDS} rounds, least of {runs} runs:")
    for name, (wall, cpu) in least.items():
        ratio = f"  XGBoost takes {peer[0] / wall:5.2f} times as long, {peer[1] / cpu:5.2f} times the processor time"
        print(f"  {name:24s} {wall:7.3f} s, processor {cpu:7.3f} s{'' if name.startswith('XGB') else ratio}")
    if with_sklearn:
        wall, cpu = timed(lambda: AdaBoostClassifier(n_estimators=ROUNDS).fit(X, y))
        ours = least["exponential, discrete"]
        print(
            f"  scikit-learn AdaBoost    {wall:7.1f} s, processor {cpu:7.1f} s  {wall / ours[0]:.0f} times as long, "
            f"{cpu / ours[1]:.0f} times the processor time"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--no-sklearn", action="store_true")
    arguments = parser.parse_args()
    print(
        f"{date.today().isoformat()}, Python {platform.python_version()}, NumPy {np.__version__}, scikit-learn "
        f"{sklearn.__version__}, XGBoost {xgboost.__version__}, uneven {uneven.__version__}"
    )
    stumps(arguments.rows, arguments.runs, not arguments.no_sklearn)


if __name__ == "__main__":
    main()
