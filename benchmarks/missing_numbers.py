"""What a missing number should become for a linear model: the mean or the median of its column, in money.

Real tables of scikit-learn get holes, at random or where values are large; every hole is flagged in a column of its
own. A linear classifier decides at the costs of the table, in the same folds for both fillings. The ratios are of the
costs of all rows out of fold. Means can be added over parts of the rows, medians cannot.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import uneven

REPEATS = 5
COSTS = {"fp_cost": 1, "fn_cost": 5}


def tables() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Numbers and two classes; a skewed version of each table has the exponential of its columns."""
    cancer, digits, wine, iris = (f(return_X_y=True) for f in (load_breast_cancer, load_digits, load_wine, load_iris))
    diabetes = load_diabetes(return_X_y=True)
    found = {
        "breast cancer": (cancer[0], cancer[1] == 0),
        "digits, 8 or not": (digits[0][::3], digits[1][::3] == 8),
        "wine": (wine[0], wine[1] == 0),
        "iris": (iris[0], iris[1] == 1),
        "diabetes": (diabetes[0], diabetes[1] > np.quantile(diabetes[1], 0.75)),
    }
    for name, (X, y) in list(found.items()):
        scaled = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
        found[f"{name}, skewed"] = np.exp(np.clip(1.5 * scaled, -6, 6)), y
    return found


def with_holes(X: np.ndarray, how: str, random: np.random.Generator) -> np.ndarray:
    """A fifth of the values missing: at random, or above all the large ones."""
    share = 0.2
    if how == "large values":
        rank = X.argsort(axis=0).argsort(axis=0) / len(X)
        share = np.where(rank > 0.7, 0.6, 0.03)
    return np.where(random.random(X.shape) < share, np.nan, X)


def cost(X: np.ndarray, y: np.ndarray, filling: str, seed: int) -> float:
    """The mean cost of all rows out of fold."""
    said = np.zeros(y.size, dtype=bool)
    for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
        filled = SimpleImputer(strategy=filling, add_indicator=True, keep_empty_features=True)
        model = make_pipeline(filled, StandardScaler(), uneven.UnevenLinearClassifier("logistic", C=0.1, **COSTS))
        said[test] = model.fit(X[train], y[train]).predict(X[test])
    return float(np.where(said, COSTS["fp_cost"] * ~y, COSTS["fn_cost"] * y).mean())


def main() -> None:
    warnings.simplefilter("ignore")
    print("| table | holes | mean | median | mean / median |\n|---|---|---|---|---|")
    ratios = []
    for name, (X, y) in tables().items():
        for how in ("at random", "large values"):
            found = np.zeros(2)
            for seed in range(REPEATS):
                holes = with_holes(X, how, np.random.default_rng(seed))
                found += [cost(holes, y, filling, seed) / REPEATS for filling in ("mean", "median")]
            ratios.append(found[0] / found[1])
            print(f"| {name} | {how} | {found[0]:.3f} | {found[1]:.3f} | {ratios[-1]:.3f} |", flush=True)
    print(f"\nGeometric mean of the ratios: {np.exp(np.mean(np.log(ratios))):.3f}, of {len(ratios)}.")


if __name__ == "__main__":
    main()
