"""The question of the proof: lines that support the losses of all rows, and how wrong their sums can be."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from uneven.solvers.linear.pair_of_losses import PairOfLosses
from uneven.solvers.linear.parts.block import Block
from uneven.solvers.linear.parts.smoothed import Smoothed


@dataclass(frozen=True)
class Lines:
    """Sums of the lines that support the losses, at one theta or at several (first axis).

    Attributes
    ----------
    numbers : ndarray of shape (k, 5)
        Sum of the losses; how far they are above their lines; sum of the slopes; sum of the absolute values of the
        steepest slopes; the same, each times the absolute score.
    slopes : ndarray of shape (k, d)
        X' times the slopes.
    sizes : ndarray of shape (k, d)
        abs(X)' times the absolute values of the steepest slopes.
    terms : int
        Most additions on the way of a number into a sum.
    most_terms : int
        Most numbers in a row.
    """

    numbers: np.ndarray
    slopes: np.ndarray
    sizes: np.ndarray
    terms: int
    most_terms: int

    def __add__(self, other: Lines) -> Lines:
        return replace(
            self,
            numbers=self.numbers + other.numbers,
            slopes=self.slopes + other.slopes,
            sizes=self.sizes + other.sizes,
            terms=max(self.terms, other.terms) + 1,
            most_terms=max(self.most_terms, other.most_terms),
        )


@dataclass(frozen=True)
class LinesAt:
    """Ask for the :class:`Lines` at each of some thetas.

    Attributes
    ----------
    thetas : ndarray of shape (k, d + 1)
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
        numbers, slopes, sizes = [], [], []
        for theta in self.thetas:
            found = Smoothed(losses, theta, self.sigma).lines()
            product, size = losses.design.transposed_product(found.slopes, found.steepest)
            numbers.append([found.loss, found.above, found.slopes.sum(), found.size, found.moment])
            slopes.append(product)
            sizes.append(size)
        return Lines(
            np.array(numbers),
            np.array(slopes),
            np.array(sizes),
            terms=losses.design.terms_of_sums,
            most_terms=losses.design.most_terms,
        )
