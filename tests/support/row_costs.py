"""Rows with costs of their own, for tests of metrics: labels, scores with ties, weights, four costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

NAMES = ("fp_cost", "fn_cost", "tp_cost", "tn_cost")


@dataclass(frozen=True)
class Sample:
    """Random rows. With ``pays`` some mistakes cost less than the right decision."""

    y: np.ndarray
    score: np.ndarray
    probability: np.ndarray
    weight: np.ndarray
    costs: dict[str, Any]

    @property
    def guess(self) -> np.ndarray:
        return (self.score > 0).astype(int)

    def taken(self, rows: np.ndarray) -> Sample:
        parts = (part[rows] for part in (self.y, self.score, self.probability, self.weight))
        return Sample(*parts, {name: cost[rows] for name, cost in self.costs.items()})

    def costing(self, **costs: Any) -> Sample:
        return Sample(self.y, self.score, self.probability, self.weight, {**self.costs, **costs})


def sample(seed: int, count: int = 40, *, pays: bool = False) -> Sample:
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, count)
    y[:2] = 0, 1
    score = random.integers(-3, 4, count) + y * 1.0
    probability = random.integers(0, 21, count) / 20
    right = {name: random.normal(size=count) for name in ("tp_cost", "tn_cost")}
    regret = random.normal(0.5, 1.0, (2, count)) if pays else random.exponential(size=(2, count))
    costs = {"fp_cost": right["tn_cost"] + regret[0], "fn_cost": right["tp_cost"] + 3 * regret[1], **right}
    return Sample(y, score, probability, random.integers(1, 4, count).astype(float), costs)
