"""A smooth objective on fewer rows than columns, minimised over a few combinations of the rows, which become more.

At the optimum w = X'c, with one coefficient c_i per row. Let c be in the span of some directions. With the product of
each with G = X X' known, the minimum over the span is a small problem, which reads nothing of X. There the gradient is
X'r with r = s + rho c, where s are the slopes of the losses. The next directions come from r: r itself, and what
Newton's step would be if rows were orthogonal, r/(rho + D diag(G)) with the curvatures D, each cut into the parts of
the two classes. A read of X multiplies all four with G. Few reads are enough where the rows are far from dependent, or
the penalty is strong; G itself, which costs as much as 20 or 30 reads, is not needed then.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from uneven.solvers import compiled
from uneven.solvers.linear.design import Dense
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.small import minimise_small
from uneven.solvers.linear.solution import Solution
from uneven.solvers.linear.solver import Settings
from uneven.solvers.progress import silent
from uneven.solvers.threads import in_threads, row_ranges

#: Reads of X that cost as much as the Gram matrix and its steps: with few rows, and one more for so many rows.
_READS, _ROWS_PER_READ = 12, 200
#: With fewer rows the Gram matrix costs less than these reads.
_LEAST_ROWS = 400
#: Columns from which the lengths of the rows are estimated.
_COLUMNS_OF_LENGTHS = 256
#: A direction is new if its squared length outside the span is at least this share of its squared length.
_NEW = 1e-10
#: Share of the last gap, and of the one wanted, that is left within the span.
_OF_LAST, _OF_WANTED = 1e-2, 0.1
#: The gap is computed when this share of the one wanted is expected, and this share is enough.
_CLOSE = 0.3
#: After so many reads, the gaps tell how many more are needed; and a gap of so many times the value says too many.
_SEEN, _HOPELESS = 3, 1e3


def is_worth_trying(objective: Objective) -> bool:
    """Whether a few reads of X cost less than its Gram matrix: for dense rows, and losses that are one smooth piece.

    Where curvatures jump, rows move between pieces in every step, and directions from before are of little use.
    """
    design = objective.design
    return isinstance(design, Dense) and objective.pair.of_one_piece and _LEAST_ROWS <= design.n < design.d


def minimise_over_directions(objective: Objective, settings: Settings) -> Solution | None:
    """Add directions until the gap is below tol times the value; None if the Gram matrix is the faster way."""
    most = min(_READS + objective.design.n // _ROWS_PER_READ, settings.max_iter)
    state, gaps = Subspace(objective, settings, most), [math.inf]
    while len(gaps) <= most and state.grow():
        gaps.append(state.gap)
        settings.progress(f"gram, read {len(gaps) - 1}: objective {state.value:.10g}, gap before {state.gap:.2e}")
        if state.gap * min(1.0, gaps[-1] / gaps[-2]) <= _CLOSE * state.wanted and state.is_close():
            return Solution(
                theta=np.append(objective.design.weighted_sum(state.c), state.b),
                value=state.value,
                converged=True,
                status="reached the tolerance by the gap",
                iterations=len(gaps) - 1,
                stats={"reads": float(len(gaps) + 1)},
            )
        if len(gaps) > _SEEN:
            fall = min((gaps[-1] / gaps[-_SEEN]) ** (1 / (_SEEN - 1)), 1.0)  # a high power of more would overflow
            expected = state.gap * fall ** (most - len(gaps))
            if not (state.gap <= _HOPELESS * state.value and expected <= state.wanted):
                break
    return None


def gram_times(design: Dense, vectors: np.ndarray) -> np.ndarray:
    """X X' times each row of ``vectors``, of which there are ``gram_products.TOGETHER``, by one read of X."""
    by_rows = design.X.flags.c_contiguous
    products = compiled.gram_products
    add, X = (products.add_by_rows, design.X) if by_rows else (products.add_by_columns, design.X.T)
    ranges = row_ranges(design.d, design.numbers, vectors.size)
    sums = np.zeros((len(ranges), *vectors.shape))
    in_threads(lambda k, lo, hi: add(X, vectors, lo, hi, sums[k]), ranges)
    return sums.sum(axis=0)


class Subspace:
    """The minimum of an objective over the intercept b and w = X'c, for c in the span of directions.

    Attributes
    ----------
    value : float
        The objective there.
    b : float
    gap : float
        About how far the objective was above the optimum before the last directions were added.
    """

    def __init__(self, objective: Objective, settings: Settings, most: int) -> None:
        assert isinstance(objective.design, Dense)
        self.objective, self.design, self._settings = objective, objective.design, settings
        n = self.design.n
        # Directions and their products with G; one row each. They are orthonormal in the inner product of G.
        self._directions, self._products = np.empty((2, compiled.gram_products.TOGETHER * most, n))
        self._at, self.b = np.empty(0), 0.0
        self._slopes, self._curvatures = np.empty((2, n))
        some = self.design.X[:, :: max(1, self.design.d // _COLUMNS_OF_LENGTHS)].astype(np.float64)
        self._lengths = np.einsum("ij,ij->i", some, some) * (self.design.d / some.shape[1])  # squared
        self._classes = np.stack([objective.y == 1, objective.y == 0])
        self.value, self.gap = objective.value_at_zero, 0.0
        self._minimise()

    @property
    def wanted(self) -> float:
        """The gap that is wanted."""
        return self._settings.tol * self.value

    @property
    def c(self) -> np.ndarray:
        """The coefficients of the rows."""
        return np.asarray(self._at @ self._directions[: self._at.size])

    def is_close(self) -> bool:
        """Whether the objective is as close to the optimum as wanted, by a read of X."""
        gradient = self.design.weighted_sum(self._residual())
        return 0.5 * float(gradient @ gradient) <= self.objective.penalty * _CLOSE * self.wanted

    def grow(self) -> bool:
        """Add directions by one read of X, and minimise over them, too; False if there is none to add."""
        new = self._candidates()
        products = gram_times(self.design, new)
        squared_gradient = float(new[:2].sum(axis=0) @ products[:2].sum(axis=0))  # r'G r
        self.gap = 0.5 * max(squared_gradient, 0.0) / self.objective.penalty
        if not np.isfinite(products).all() or not self._append(new, products):
            return False
        self._minimise()
        return True

    def _residual(self) -> np.ndarray:
        """r, where X'r is the gradient in w."""
        return self._slopes + self.objective.penalty * self.c

    def _candidates(self) -> np.ndarray:
        residual = self._residual()
        newton = residual / (self.objective.penalty + self._curvatures * self._lengths)
        return np.concatenate([self._classes * residual, self._classes * newton])

    def _append(self, new: np.ndarray, products: np.ndarray) -> bool:
        """Append what is new in some directions; False if there is nothing."""
        size = self._at.size
        known, their_products = self._directions[:size], self._products[:size]
        lengths = np.sqrt(np.maximum(np.einsum("ij,ij->i", new, products), 0.0))
        used = lengths > 0
        new, products = new[used] / lengths[used, None], products[used] / lengths[used, None]
        for _ in range(2):  # the second time corrects the rounding of the first
            shares = new @ their_products.T
            new, products = new - shares @ known, products - shares @ their_products
        squares, turns = np.linalg.eigh(new @ products.T)
        kept = squares > _NEW
        turns = (turns[:, kept] / np.sqrt(squares[kept])).T
        added = len(turns)
        self._directions[size : size + added] = turns @ new
        self._products[size : size + added] = turns @ products
        self._at = np.append(self._at, np.zeros(added))
        return added > 0

    def _minimise(self) -> None:
        """Find the minimum over the span: a fit to the products of the directions as columns."""
        columns = Dense(self._products[: self._at.size].T)
        tol = max(_OF_WANTED * self._settings.tol, _OF_LAST * self.gap / max(self.value, 1e-300))
        settings = replace(self._settings, tol=tol, progress=silent)
        found = minimise_small(replace(self.objective, design=columns), np.append(self._at, self.b), settings)
        self._at, self.b, self.value = found.theta[:-1], float(found.theta[-1]), found.value
        scores = self._at @ columns.X.T + self.b
        self.objective.losses_along(scores, scores, 0.0, self._slopes, self._curvatures)
