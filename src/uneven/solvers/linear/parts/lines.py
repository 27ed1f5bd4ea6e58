"""The question of the proof: lines that support the losses of all rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np

from uneven.solvers import compiled
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.pair_of_losses import PairOfLosses
from uneven.solvers.linear.parts.block import Block
from uneven.solvers.linear.parts.smoothed import Smoothed, SmoothedPolygons
from uneven.solvers.threads import in_threads, row_ranges

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
            parts = _over_rows(losses, partial(compiled.line_passes.sums_of_slopes, found, losses.sample_weight))
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
            parts = _over_rows(losses, partial(compiled.line_passes.smooth_lines, losses.common, t, shift, slopes))
            found.append((float(sum(parts)), 0.0, slopes))
        return found


def _over_rows(losses: Objective, function: Callable[[int, int], T]) -> list[T]:
    """function(lo, hi) for the ranges of rows that sums over rows are made of."""
    ranges = row_ranges(losses.design.n, losses.design.numbers, losses.design.d)
    return in_threads(lambda k, lo, hi: function(lo, hi), ranges)
