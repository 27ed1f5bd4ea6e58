"""Time of boosted stumps against XGBoost and scikit-learn, and features per row of a cascade against one boosting.

    python benchmarks/boosting.py [--rows 100000] [--runs 5] [--no-sklearn] [--no-cascade]

Stumps: 30 columns, 100 rounds, two threads for all that use threads. The methods take turns; the least of all times
counts, because it is the one that other processes disturbed least. Processor time is given, too. scikit-learn runs
once.

The cascade: positives are rare, in two kinds of synthetic data and in real images (load_digits: one digit against the
others, with differences of rectangles as features, as in the detector of Viola and Jones). Costs are measured on rows
that neither model saw, with the mean over seeds and its standard error.
"""

from __future__ import annotations

import argparse
import itertools
import platform
import time
from collections.abc import Iterator
from datetime import date
from typing import Any

import numpy as np
import sklearn
import xgboost
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import train_test_split

import uneven
from uneven import UnevenAdaBoostClassifier, UnevenCascadeClassifier
from uneven.metrics import expected_cost

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


def rectangles(images: np.ndarray) -> np.ndarray:
    """Differences of the means of two neighbouring rectangles, on all places of images of 8 x 8 pixels."""
    sums = np.zeros((len(images), 9, 9))
    sums[:, 1:, 1:] = images.cumsum(axis=1).cumsum(axis=2)

    def mean(top: int, left: int, height: int, width: int) -> np.ndarray:
        corners = sums[:, top + height, left + width] - sums[:, top, left + width]
        return np.asarray((corners - sums[:, top + height, left] + sums[:, top, left]) / (height * width))

    found = []
    for height, width in itertools.product((1, 2, 3, 4), repeat=2):
        for top, left in itertools.product(range(9 - height), range(9 - width)):
            if left + 2 * width <= 8:
                found.append(mean(top, left, height, width) - mean(top, left + width, height, width))
            if top + 2 * height <= 8:
                found.append(mean(top, left, height, width) - mean(top + height, left, height, width))
    return np.stack(found, axis=1)


def compared(X: np.ndarray, y: np.ndarray, seed: int, fn_cost: float, price: float, trees: int) -> list[float]:
    """Cost of mistakes and features per row: of one boosting, then of the cascade."""
    X, Z, y, truth = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
    how: dict[str, Any] = {"fn_cost": fn_cost, "n_estimators": trees, "algorithm": "real", "learning_rate": 0.5}
    one = UnevenAdaBoostClassifier(**how).fit(X, y)
    cascade = UnevenCascadeClassifier(feature_price=price, **how).fit(X, y)
    report = cascade.report(Z, truth)
    return [
        expected_cost(truth, one.predict(Z), fn_cost=fn_cost),
        float(np.unique(one.tree_features_[one.tree_features_ >= 0]).size),
        report.mistake_cost,
        report.features,
    ]


def windows(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows like those of a detector: 1 % positive, and nine of ten negatives are easily told by a few columns."""
    random = np.random.default_rng(seed)
    y = (random.random(rows) < 0.01).astype(int)
    easy = (y == 0) & (random.random(rows) < 0.9)
    X = random.normal(size=(rows, 100))
    X[:, :40] += 0.6 * y[:, None]
    X[:, :6] -= 1.5 * easy[:, None]
    return X, y


def clusters(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian clusters: 1 % positive, and no negatives that are easier than others."""
    X, y = make_classification(
        rows,
        100,
        n_informative=25,
        n_redundant=25,
        weights=[0.99],
        class_sep=1.5,
        flip_y=0.002,
        random_state=seed,
    )
    return X, y


def cascades(rows: int, seeds: int) -> None:
    print("\ncascade against one boosting of as many trees (cost of mistakes per row, different features per row):")
    digits = load_digits()
    cells = rectangles(digits.images)
    cases: dict[str, Iterator[tuple[Any, ...]]] = {
        "synthetic detector": ((*windows(rows, seed), seed, 50.0, 0.005, 100) for seed in range(seeds)),
        "synthetic clusters": ((*clusters(rows, seed), seed, 50.0, 0.002, 100) for seed in range(seeds)),
        f"digits, {cells.shape[1]} rectangles": (
            (cells, (digits.target == digit).astype(int), digit, 20.0, 0.0005, 100) for digit in range(10)
        ),
    }
    for name, given in cases.items():
        found = np.array([compared(*arguments) for arguments in given])
        ratio = found[:, 2] / found[:, 0] - 1
        single, features, cost, seen = found.mean(axis=0)
        error = ratio.std(ddof=1) / len(ratio) ** 0.5
        print(
            f"  {name:28s} one boosting {single:.4f}, {features:.0f} features; cascade {cost:.4f}, {seen:.1f} "
            f"features: {features / seen:.1f} times fewer\n{'':30s} cost {100 * (cost / single - 1):+.1f} % in all, "
            f"{100 * ratio.mean():+.1f} +- {100 * error:.1f} % per seed ({len(ratio)} seeds)"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--no-stumps", action="store_true")
    parser.add_argument("--no-sklearn", action="store_true")
    parser.add_argument("--no-cascade", action="store_true")
    arguments = parser.parse_args()
    print(
        f"{date.today().isoformat()}, Python {platform.python_version()}, NumPy {np.__version__}, scikit-learn "
        f"{sklearn.__version__}, XGBoost {xgboost.__version__}, uneven {uneven.__version__}"
    )
    if not arguments.no_stumps:
        stumps(arguments.rows, arguments.runs, not arguments.no_sklearn)
    if not arguments.no_cascade:
        cascades(arguments.rows, arguments.seeds)


if __name__ == "__main__":
    main()
