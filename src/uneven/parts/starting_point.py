"""Where a fit in parts starts: at the minimum on a sample of all rows, or from the minima of the parts themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from uneven.parts.blocks import Block
from uneven.parts.loss_slopes import SlopesAt
from uneven.parts.summed_objective import Standardisation, SummedObjective
from uneven.solvers import loops
from uneven.solvers.linear.design import design
from uneven.solvers.linear.newton_systems import cholesky_metric
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.pair_of_losses import PairOfLosses
from uneven.solvers.linear.proof import minimise
from uneven.solvers.linear.solver import Settings


@dataclass(frozen=True)
class _Piece:
    """Some rows, each with the random number that decides whether it stays."""

    X: Any
    y: np.ndarray
    weight: np.ndarray
    order: np.ndarray

    def below(self, limits: np.ndarray) -> _Piece:
        """The rows whose random numbers do not exceed the limits of their classes."""
        kept = np.flatnonzero(self.order <= limits[self.y])
        return self if kept.size == self.y.size else _Piece(*(one[kept] for one in self.arrays))

    @property
    def arrays(self) -> tuple[Any, ...]:
        return self.X, self.y, self.weight, self.order


@dataclass(frozen=True)
class Sample:
    """Random rows of both classes: those with the smallest of random numbers, and maybe some more.

    Attributes
    ----------
    most : int
        Rows of a class that are wanted.
    pieces : tuple
        Rows that may be in the sample. They are put together only when there are too many.
    counts : ndarray of int64, shape (2,)
        How many rows of each class the pieces have.
    rows : ndarray of int64, shape (2,)
        How many rows of each class they are drawn from.
    limits : ndarray of shape (2,)
        For each class, the largest random number that can be in the sample. All samples of a question share it, so
        that most of a later block is not even copied. Which rows are drawn does not depend on it.
    """

    most: int
    pieces: tuple[_Piece, ...]
    counts: np.ndarray
    rows: np.ndarray
    limits: np.ndarray

    def __add__(self, other: Sample) -> Sample:
        pieces, counts = self.pieces + other.pieces, self.counts + other.counts
        return replace(self, pieces=pieces, counts=counts, rows=self.rows + other.rows).trim(2)

    def trim(self, times: float) -> Sample:
        """As one piece without the rows beyond the limits, if a class has more than so many times the rows wanted."""
        if self.counts.max() <= times * self.most:
            return self
        whole, limits = self._whole(), np.full(2, np.inf)
        for label in np.flatnonzero(self.counts >= self.most):
            limits[label] = np.partition(whole.order[whole.y == label], self.most - 1)[self.most - 1]
        np.minimum(limits, self.limits, out=self.limits)
        kept = whole.below(limits)
        return replace(self, pieces=(kept,), counts=np.bincount(kept.y, minlength=2))

    def _whole(self) -> _Piece:
        columns = list(zip(*(piece.arrays for piece in self.pieces), strict=True))
        return _Piece(_stack(columns[0]), *(np.concatenate(column) for column in columns[1:]))

    def with_classes_exchanged(self) -> Sample:
        """The same if the other class is the positive one."""
        pieces = tuple(replace(piece, y=1 - piece.y) for piece in self.pieces)
        return replace(
            self, pieces=pieces, counts=self.counts[::-1], rows=self.rows[::-1], limits=self.limits[::-1].copy()
        )

    def losses(
        self,
        pair: PairOfLosses,
        penalty: float,
        fit_intercept: bool,
        standardised: Callable[[np.ndarray], np.ndarray] = lambda X: X,
    ) -> Objective:
        """An objective in which each row of the sample stands for as many rows as it was drawn from."""
        part = self.trim(1)._whole()
        kept = np.bincount(part.y, minlength=2)
        factor = np.divide(self.rows, kept, out=np.zeros(2), where=kept > 0)
        weight = part.weight * factor[part.y]
        X = standardised(part.X if isinstance(part.X, np.ndarray) else part.X.toarray())
        return Objective(design(X), part.y, pair, weight, penalty=penalty, fit_intercept=fit_intercept)


@dataclass(frozen=True)
class SampleRows:
    """Ask for a :class:`Sample` of ``most`` rows of each class, or all if there are fewer."""

    most: int
    seed: int = 0
    limits: np.ndarray = field(default_factory=lambda: np.full(2, np.inf))

    def answer(self, block: Block) -> Sample:
        """Copies of the rows of one block that may be in the sample."""
        n = block.y.size
        state = np.random.SeedSequence((self.seed, block.number)).generate_state(1, np.uint64)[0]
        chosen, order = loops.part_passes.draw_rows(state, block.y, self.limits.copy())
        y = block.y[chosen]
        weight = block.weight[chosen] if block.weight.size else np.ones(chosen.size)
        positive = int(np.count_nonzero(block.y))
        piece = _Piece(block.X[chosen], y, weight, order)
        return Sample(
            self.most, (piece,), np.bincount(y, minlength=2), np.array([n - positive, positive]), self.limits
        ).trim(2)


def _stack(matrices: Sequence[Any]) -> Any:
    if isinstance(matrices[0], np.ndarray):
        return np.concatenate([np.ascontiguousarray(one) for one in matrices])
    from scipy.sparse import vstack

    return vstack(matrices, format="csr")


# -- a start from the minima of the parts themselves ------------------------------------------------------------------
#
# Each part minimises the objective of a sample of its own rows, which stay where they are. Of the minimum
# :math:`\theta_k` and the second derivatives :math:`H_k` there, only :math:`H_k` and :math:`H_k \theta_k` are sent: no
# more than a step sends. The start is the minimum of the sum of the parabolas :math:`(\theta - \theta_k)' H_k (\theta
# - \theta_k)/2`. For squared losses it would be the minimum for all sampled rows together, also if the parts differ.


@dataclass(frozen=True)
class Limits:
    """What was tuned by measuring; ``benchmarks/sensitivity.py`` doubles and halves each."""

    #: Numbers in the samples of all parts together, so that the start stays cheap.
    sample_numbers: float = 3e6
    #: Rows of the sample of each part, and rows for each column, at least: fewer say little about the minimum.
    sample_rows: int = 2000
    sample_rows_per_column: int = 20
    #: A part with fewer rows for each column is not asked: its minimum says little about that of all rows.
    rows_per_column: int = 20
    #: With more columns no part is asked: finding the minima takes longer than the steps that they save.
    most_columns: int = 250
    #: Least tolerance of the minimum on a sample, and share of the sample's own inaccuracy (columns over rows).
    tol: float = 1e-4
    share_of_noise: float = 0.1
    #: Most steps on a sample; an unfinished minimum is still a start.
    most_steps: int = 100
    #: Width of the parabolas that replace kinks, in units of kink/jump: as in the first stage from a near start.
    width: float = 0.1


LIMITS = Limits()


def worth_asking(rows: int, columns: int) -> bool:
    """Whether a part of so many rows and columns has a minimum of its own that helps."""
    return columns <= LIMITS.most_columns and rows >= LIMITS.rows_per_column * (columns + 1)


@dataclass(frozen=True)
class Parabolas:
    """The sum of parabolas around minima.

    Attributes
    ----------
    matrix : ndarray of shape (d + 1, d + 1)
        Sum of the matrices of second derivatives.
    product : ndarray of shape (d + 1,)
        Sum of their products with the minima.
    """

    matrix: np.ndarray
    product: np.ndarray

    def __add__(self, other: Parabolas) -> Parabolas:
        return Parabolas(self.matrix + other.matrix, self.product + other.product)

    @property
    def minimum(self) -> np.ndarray | None:
        """Where the sum is least; None if no part had a minimum."""
        return cholesky_metric(self.matrix)(self.product) if self.matrix.any() else None


@dataclass(frozen=True)
class OwnMinimum:
    """Ask each part for the parabola around its own minimum. Parts of few rows, or of one class, have none.

    Attributes
    ----------
    pair : PairOfLosses
    rows : int
        Number of rows of all parts together.
    penalty : float
        Of all rows together.
    fit_intercept : bool
    columns : Standardisation
    """

    pair: PairOfLosses
    rows: int
    penalty: float
    fit_intercept: bool
    columns: Standardisation

    def answer(self, block: Block) -> Parabolas:
        """The parabola of one part."""
        n, d = block.X.shape
        nothing = Parabolas(np.zeros((d + 1, d + 1)), np.zeros(d + 1))
        if not worth_asking(n, d) or not 0 < np.count_nonzero(block.y) < n:
            return nothing
        random = np.random.default_rng(block.number)
        whole = replace(block.losses(self.pair), penalty=self.penalty * n / self.rows, fit_intercept=self.fit_intercept)
        wanted = int(LIMITS.sample_numbers / (d + 1) * n / self.rows)
        count = max(wanted, LIMITS.sample_rows, LIMITS.sample_rows_per_column * (d + 1))
        losses = whole.on_rows(*whole.sample(min(count, n), random))
        losses = replace(losses, design=design(self.columns.rows(losses.design.X)))
        tol = max(LIMITS.tol, LIMITS.share_of_noise * losses.size / losses.design.n)
        theta = minimise(losses, Settings(tol, LIMITS.most_steps, random)).theta
        sampled = Block(losses.design.X, losses.y, losses.sample_weight)
        sigma = LIMITS.width * self.pair.width_of_kinks if self.pair.kinked else 1.0
        matrix = SlopesAt(theta, self.pair, sigma, stride=1).answer(sampled).curvature
        assert matrix is not None
        matrix = losses.add_penalty(matrix)
        found = Parabolas(matrix, matrix @ theta)
        return found if np.isfinite(found.product).all() else nothing


def start_from_parts(objective: SummedObjective) -> np.ndarray | None:
    """A theta near the minimum, by one question to all parts; None if they know none."""
    question = OwnMinimum(
        objective.pair, objective.survey.count, objective.penalty, objective.fit_intercept, objective.columns
    )
    return objective.parts.ask(question).minimum
