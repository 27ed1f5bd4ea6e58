r"""What steps and the proof ask of each part about its losses, whose kinks are smoothed to parabolas of width sigma.

The term :math:`J (m - k)_+` of a kink k with jump J becomes

.. math:: \max_{0 \le u \le J} u (m - k) - \tfrac{\sigma}{2} (u - J/2)^2,

which lies below it by at most :math:`\sigma J^2/8`. The best u is the slope there, and the line through the kink with
that slope supports the true loss. So a minimum of the smoothed losses also gives a lower bound for the true ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np

from uneven.parts.blocks import Block
from uneven.solvers import loops
from uneven.solvers.linear.lagrangian import Lagrangian, Support
from uneven.solvers.linear.newton_systems import sum_squares
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.pair_of_losses import PairOfLosses
from uneven.solvers.running import in_threads, row_ranges


class Smoothed:
    """The smoothed losses of some rows at a theta. Losses without kinks stay as they are."""

    def __init__(self, losses: Objective, theta: np.ndarray, sigma: float) -> None:
        self._state = Lagrangian(losses, theta, 1.0)
        self._state.sigma = sigma
        self._state.u = self._state.u.astype(np.float64)  # rounded to float32, a slope may exceed its jump

    def curvature(self) -> np.ndarray:
        """Matrix of second derivatives; to be asked for before :meth:`lines`."""
        return self._state.hessian()

    def lines(self) -> Support:
        """Lines that support the true losses; their slopes are those of the smoothed ones."""
        self._state.update()
        return self._state.support()

    def value(self, lines: Support) -> float:
        """Sum of the smoothed losses; to be asked for after :meth:`lines`."""
        state = self._state
        parts = state.over_rows(lambda k, lo, hi: loops.kinked_passes.off_centre(state.common, state.u, lo, hi))
        return lines.loss - lines.above - 0.5 * state.sigma * sum(parts)


@dataclass(frozen=True)
class SmoothedPolygons:
    """The smoothed losses of some rows at a theta, for losses made of straight pieces: one pass over the scores.

    Attributes
    ----------
    value, loss, above : float
        Sums of the smoothed losses, of the true ones, and of their heights above their lines.
    slopes, bends : ndarray
        First and second derivative of each row's smoothed loss in its score.
    """

    value: float
    loss: float
    above: float
    slopes: np.ndarray
    bends: np.ndarray

    @classmethod
    def at(cls, losses: Objective, theta: np.ndarray, sigma: float) -> SmoothedPolygons:
        """At a theta."""
        return cls.at_scores(losses, losses.design.scores(theta), sigma)

    @classmethod
    def at_scores(cls, losses: Objective, t: np.ndarray, sigma: float) -> SmoothedPolygons:
        """At scores."""
        design, pair = losses.design, losses.pair
        common = (np.zeros(2, dtype=np.int64), *losses.common[1:], *pair.kinks_and_jumps, sigma, pair.lines)
        slopes, bends = np.empty(design.n), np.empty(design.n)
        parts = in_threads(
            lambda k, lo, hi: loops.kinked_passes.smoothed_polygons(common, t, lo, hi, slopes, bends),
            row_ranges(design.n, design.numbers),
        )
        value, loss, above = (float(sum(values)) for values in zip(*parts, strict=True))
        return cls(value, loss, above, slopes, bends)

    def curvature(self, losses: Objective) -> np.ndarray:
        """Matrix of second derivatives, from the rows near a kink."""
        rows = np.flatnonzero(self.bends)
        return sum_squares(
            lambda lo, hi: (losses.design.rows(rows[lo:hi]), self.bends[rows[lo:hi]]),
            rows.size,
            losses.size,
            losses.design.rows_per_block,
        )


# -- the question of every step: the sum of the losses, its gradient, and second derivatives for the metric -----------


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


# -- the question of the proof: lines that support the losses of all rows ---------------------------------------------

T = TypeVar("T")


@dataclass(frozen=True)
class Lines:
    """Sums of the lines that support the losses, at one theta or at several (first axis).

    Attributes
    ----------
    numbers : ndarray of shape (k, 5)
        Sum of the losses; how far they are above their lines; sum of the slopes; of their absolute values; and of
        their squares, each divided by the weight of its row.
    slopes : ndarray of shape (k, d)
        X' times the slopes.
    terms : int
        Most additions on the way of a number into a sum.
    most_terms : int
        Most numbers in a row.
    """

    numbers: np.ndarray
    slopes: np.ndarray
    terms: int
    most_terms: int

    def __add__(self, other: Lines) -> Lines:
        return replace(
            self,
            numbers=self.numbers + other.numbers,
            slopes=self.slopes + other.slopes,
            terms=max(self.terms, other.terms) + 1,
            most_terms=max(self.most_terms, other.most_terms),
        )


@dataclass(frozen=True)
class LinesAt:
    """Ask for the :class:`Lines` at each of some thetas.

    Attributes
    ----------
    thetas : ndarray of shape (k, d + 1)
        They differ in the intercept only.
    pair : PairOfLosses
    sigma : float
        The line of a row near a kink has the slope of a parabola of this width.
    """

    thetas: np.ndarray
    pair: PairOfLosses
    sigma: float = 1.0

    def answer(self, block: Block) -> Lines:
        """The sums of one block."""
        losses = block.losses(self.pair)
        numbers, slopes = [], []
        for loss, above, found in self._at_each(losses):
            parts = _over_rows(losses, partial(loops.proof_sums.sums_of_slopes, found, losses.sample_weight))
            numbers.append([loss, above, *np.sum(parts, axis=0)])
            slopes.append(losses.design.weighted_sum(found))
        return Lines(
            np.array(numbers), np.array(slopes), losses.design.terms_of_sums, most_terms=losses.design.most_terms
        )

    def _at_each(self, losses: Objective) -> list[tuple[float, float, np.ndarray]]:
        """Sum of the losses, how far they are above their lines, and the slope of each row."""
        if self.pair.kinked and not self.pair.polygons:
            states = [Smoothed(losses, theta, self.sigma).lines() for theta in self.thetas]
            return [(state.loss, state.above, state.slopes) for state in states]
        t, found = losses.design.scores(self.thetas[0]), []
        for shift in (self.thetas[:, -1] - self.thetas[0, -1]).tolist():
            if self.pair.kinked:
                polygons = SmoothedPolygons.at_scores(losses, t + shift, self.sigma)
                found.append((polygons.loss, polygons.above, polygons.slopes))
                continue
            slopes = np.empty(t.size)
            parts = _over_rows(losses, partial(loops.proof_sums.smooth_lines, losses.common, t, shift, slopes))
            found.append((float(sum(parts)), 0.0, slopes))
        return found


def _over_rows(losses: Objective, function: Callable[[int, int], T]) -> list[T]:
    """function(lo, hi) for the ranges of rows that sums over rows are made of."""
    ranges = row_ranges(losses.design.n, losses.design.numbers, losses.design.d)
    return in_threads(lambda k, lo, hi: function(lo, hi), ranges)
