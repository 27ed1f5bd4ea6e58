"""The question of every step: the sum of the losses, its gradient, and second derivatives for the metric."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.pair_of_losses import PairOfLosses
from uneven.solvers.linear.parts.block import Block
from uneven.solvers.linear.parts.smoothed import Smoothed, SmoothedPolygons


@dataclass(frozen=True)
class Limits:
    """What was tuned by measuring; ``benchmarks/sensitivity.py`` doubles and halves each."""

    #: Rows of a block that are worth estimating second derivatives from: fewer rows of each block would take longer.
    enough_rows: int = 2048
    #: Every so many blocks give second derivatives, at most, so that they come from all parts of the data.
    most_blocks: int = 8


LIMITS = Limits()


@dataclass(frozen=True)
class Slopes:
    """The losses at a theta, summed.

    Attributes
    ----------
    value : float
        Of the smoothed losses.
    gradient : ndarray of shape (d + 1,)
    curvature : ndarray of shape (d + 1, d + 1), optional
        Matrix of second derivatives, estimated from some of the rows; None if these rows are not among them.
    loss : float
        Sum of the true losses.
    above : float
        How far the true losses are above the lines through their kinks; 0 without kinks.
    """

    value: float
    gradient: np.ndarray
    curvature: np.ndarray | None
    loss: float
    above: float

    def __add__(self, other: Slopes) -> Slopes:
        return Slopes(
            self.value + other.value,
            self.gradient + other.gradient,
            _sum(self.curvature, other.curvature),
            self.loss + other.loss,
            self.above + other.above,
        )


def _sum(one: np.ndarray | None, other: np.ndarray | None) -> np.ndarray | None:
    return other if one is None else one if other is None else one + other


@dataclass(frozen=True)
class SlopesAt:
    """Ask for the :class:`Slopes` at a theta.

    Attributes
    ----------
    theta : ndarray of shape (d + 1,)
    pair : PairOfLosses
    sigma : float
        Width of the parabolas that replace kinks.
    stride : int
        Second derivatives are those of every so many rows; 0: they are not wanted. Of a polygon, all rows near a kink
        are used, because they are few.
    """

    theta: np.ndarray
    pair: PairOfLosses
    sigma: float = 1.0
    stride: int = 0

    def answer(self, block: Block) -> Slopes:
        """The sums of one block."""
        losses = block.losses(self.pair)
        if self.pair.kinked and self.pair.polygons:
            found = SmoothedPolygons.at(losses, self.theta, self.sigma)
            gradient = np.append(losses.design.weighted_sum(found.slopes), found.slopes.sum())
            curvature = found.curvature(losses) if self.stride else None
            return Slopes(found.value, gradient, curvature, found.loss, found.above)
        if self.pair.kinked:
            smoothed = Smoothed(losses, self.theta, self.sigma)
            curvature = smoothed.curvature() if self.stride else None
            lines = smoothed.lines()
            gradient = np.append(losses.design.weighted_sum(lines.slopes), lines.slopes.sum())
            return Slopes(smoothed.value(lines), gradient, curvature, lines.loss, lines.above)
        value, gradient = losses.value_and_gradient(self.theta)
        curvature = None
        if self.stride:
            curvature = self._curvature(losses, block.number)
        return Slopes(value, gradient, curvature, value, 0.0)

    def _curvature(self, losses: Objective, number: int) -> np.ndarray | None:
        """Second derivatives, estimated from every so many rows; None where other blocks give them."""
        n, stride = losses.design.n, self.stride
        if stride == 1:
            return losses.hessian(self.theta)
        # Few rows of every block take longer than more rows of some blocks; those are spread evenly, too.
        blocks = min(max(1, LIMITS.enough_rows * stride // n), LIMITS.most_blocks)
        if number % blocks:
            return None
        stride = max(1, stride // blocks)
        chosen = np.arange(number // blocks % min(stride, n), n, stride)
        return losses.hessian(self.theta, chosen) * (blocks * n / chosen.size)
