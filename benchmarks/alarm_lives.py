"""How often the alarms of a monitor err in a whole life, and how soon they find a change.

A life is a year: a reference of labelled rows, then 12 months of new rows, whose labels come two months late. The
monitor looks after every month and whenever labels come. In the first table nothing ever changes, so every alarm is a
false one. In the second, the share of positives doubles in month 7, or the dear mistakes become twice as frequent
among rows that look as before, which only labels can show.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from uneven.monitor import CostMonitor

MONTHS, DELAY, BASE = 12, 2, 0.05
COSTS = {"fp_cost": 1, "fn_cost": 15}
Draw = Callable[[np.random.Generator, int, int], tuple[np.ndarray, np.ndarray]]


class Known(ClassifierMixin, BaseEstimator):
    """The right probabilities of a known world, and the cheapest decisions."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Known:
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        p = 1 / (1 + np.exp(-(2 * X[:, 0] + np.log(BASE / (1 - BASE)))))
        return np.stack([1 - p, p], axis=1)

    def predict(self, X: np.ndarray) -> np.ndarray:
        return (self.predict_proba(X)[:, 1] > 1 / 16).astype(int)


def rows(random: np.random.Generator, count: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    y = (random.random(count) < share).astype(int)
    return random.normal(2 * y - 1.0, 1.0)[:, None], y


def unchanged(random: np.random.Generator, count: int, month: int) -> tuple[np.ndarray, np.ndarray]:
    return rows(random, count, BASE)


def more_positives(random: np.random.Generator, count: int, month: int) -> tuple[np.ndarray, np.ndarray]:
    return rows(random, count, BASE if month < 7 else 2 * BASE)


def unseen_change(random: np.random.Generator, count: int, month: int) -> tuple[np.ndarray, np.ndarray]:
    """From month 7 on, negatives that are not flagged turn positive, so that misses are twice as many."""
    X, y = rows(random, count, BASE)
    if month >= 7:
        missed = Known().predict(X) == 0
        share = y[missed].mean()
        y = np.where(missed & (y == 0) & (random.random(count) < share), 1, y)
    return X, y


def live(draw: Draw, seed: int, reference: int, count: int) -> dict[str, int]:
    """The month of the first alarm of each kind."""
    random = np.random.default_rng(seed)
    X, y = rows(random, reference, BASE)
    monitor = CostMonitor(Known().fit(X, y), (X, y), **COSTS)
    labels = {}
    found: dict[str, int] = {}
    for month in range(1, MONTHS + DELAY + 1):
        if month <= MONTHS:
            Z, labels[month] = draw(random, count, month)
            probability = monitor.model.predict_proba(Z)[:, 1]
            monitor.update(batch=str(month), probability=probability, flagged=monitor.model.predict(Z) == 1)
        if month > DELAY:
            monitor.add_labels(labels[month - DELAY], batch=str(month - DELAY))
        for alarm in monitor.alarms:
            found.setdefault(alarm.kind, month)
    return found


def unchanged_lives(lives: int, reference: int, count: int) -> None:
    """How many lives have a false alarm if nothing changes."""
    found = [live(unchanged, seed, reference, count) for seed in range(lives)]
    kinds = ", ".join(f"{kind} {sum(kind in one for one in found)}" for kind in ("cost", "prevalence"))
    some = sum(bool(one) for one in found)
    what = f"reference {reference}, {count} rows a month"
    print(f"{what}: false alarm in {some} of {lives} lives, {some / lives:.2%} ({kinds})")


def changed_lives(lives: int) -> None:
    """When alarms are raised if something changes in month 7."""
    for draw in (more_positives, unseen_change):
        found = [live(draw, seed, 5000, 2000) for seed in range(lives)]
        for kind in ("cost", "prevalence"):
            when = sorted(one[kind] for one in found if one.get(kind, 0) >= 7)
            early = sum(one.get(kind, 99) < 7 for one in found)
            middle = f"{np.median(when):g}" if when else "never"
            print(f"{draw.__name__}, {kind}: {len(when)} of {lives} lives, median month {middle}; earlier {early}")


def main(lives: int) -> None:
    unchanged_lives(lives, 1000, 500)
    unchanged_lives(lives, 5000, 500)
    changed_lives(max(lives // 20, 1))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
