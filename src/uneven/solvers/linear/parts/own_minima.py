r"""A start from the minima of the parts themselves.

Each part minimises the objective of a sample of its own rows, which stay where they are. Of the minimum
:math:`\theta_k` and the second derivatives :math:`H_k` there, only :math:`H_k` and :math:`H_k \theta_k` are sent: no
more than a step sends. The start is the minimum of the sum of the parabolas
:math:`(\theta - \theta_k)' H_k (\theta - \theta_k)/2`. For squared losses it would be the minimum for all sampled rows
together, also if the parts differ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from uneven.solvers.linear.design import design
from uneven.solvers.linear.metric import cholesky_metric
from uneven.solvers.linear.pair_of_losses import PairOfLosses
from uneven.solvers.linear.parts.block import Block
from uneven.solvers.linear.parts.slopes import SlopesAt
from uneven.solvers.linear.parts.summed_objective import Standardisation, SummedObjective
from uneven.solvers.linear.solve import minimise
from uneven.solvers.linear.solver import Settings


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
        matrix = losses.completed(matrix)
        found = Parabolas(matrix, matrix @ theta)
        return found if np.isfinite(found.product).all() else nothing


def start_from_parts(objective: SummedObjective) -> np.ndarray | None:
    """A theta near the minimum, by one question to all parts; None if they know none."""
    question = OwnMinimum(
        objective.pair, objective.survey.count, objective.penalty, objective.fit_intercept, objective.columns
    )
    return objective.parts.ask(question).minimum
