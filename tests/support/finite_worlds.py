"""Finite worlds, in which the expected losses of every shift are sums: the truth to compare a guarantee with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, expit


def window(t: np.ndarray, order: int) -> np.ndarray:
    """The window loss, from SciPy's incomplete beta function."""
    return betainc(order + 1, order, expit(-t))


@dataclass(frozen=True)
class World:
    """Points: their probability, P(Y = 1), a model's log-odds minus those of alpha, the regrets of both mistakes."""

    mass: np.ndarray
    eta: np.ndarray
    distance: np.ndarray
    fn_regret: np.ndarray
    fp_regret: np.ndarray

    @property
    def positive(self) -> np.ndarray:
        return self.mass * self.eta * self.fn_regret

    @property
    def negative(self) -> np.ndarray:
        return self.mass * (1 - self.eta) * self.fp_regret

    def cost(self, shifts: np.ndarray) -> np.ndarray:
        said_positive = self.distance > np.atleast_1d(shifts)[:, None]
        return np.where(said_positive, self.negative, self.positive).sum(axis=1)

    def window_loss(self, shifts: np.ndarray, order: int) -> np.ndarray:
        t = self.distance - np.atleast_1d(shifts)[:, None]
        return (self.positive * window(t, order) + self.negative * window(-t, order)).sum(axis=1)

    def least_cost(self) -> float:
        """Of all shifts: decisions change at the distances only."""
        return float(self.cost(np.append(self.distance, [self.distance.min() - 1])).min())

    def least_window_loss(self, order: int) -> float:
        shifts = np.concatenate([np.linspace(-9, 9, 301), [-700.0, 700.0]])
        return float(self.window_loss(shifts, order).min())

    def draw(self, rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the points, and labels."""
        points = rng.choice(self.mass.size, size=count, p=self.mass)
        return points, rng.random(count) < self.eta[points]
