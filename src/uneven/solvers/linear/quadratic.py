"""The quadratic model of a smooth objective, and its minimum together with an l1 norm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from uneven.solvers import loops
from uneven.solvers.linear.design import Design, SparseRows
from uneven.solvers.linear.newton_systems import cholesky_metric, sum_squares
from uneven.solvers.linear.objective import Objective
from uneven.solvers.running import in_threads, row_ranges


@dataclass(frozen=True)
class Limits:
    """What was tuned by measuring; ``benchmarks/sensitivity.py`` doubles and halves each."""

    #: H of a CSR matrix is kept if it costs at most as much as so many visits of all columns.
    most_visits: float = 10.0
    #: Visits of all coordinates between two Newton steps on the nonzero ones.
    visits: int = 20


LIMITS = Limits()
#: Columns up to which the matrix H of second derivatives is kept; with more, its memory and time are too much, and
#: coordinate descent reads the columns of X.
MOST_KEPT = 2500
#: Columns of a CSR matrix up to which H costs no more than a step, so that a new one is made for each step.
_FEW_COLUMNS = 100
#: Share of the diagonal of H that is added to it, so that equal columns do not make it singular.
_LEAST = 1e-12
#: Most rounds of visits and Newton steps; usually a few are enough.
_ROUNDS = 40


class Model(Protocol):
    """g'(x - w) + (x - w)' H (x - w)/2 + l1 |x|_1; the last coordinate is not in the norm."""

    #: The diagonal of H.
    diagonal: np.ndarray
    #: Whether a new model costs no more than a step.
    cheap: bool

    def minimum(self, w: np.ndarray, gradient: np.ndarray, l1: float, accuracy: float) -> tuple[np.ndarray, float]:
        """The minimiser x, and by how much it is below w. It stops where little more than ``accuracy`` is left."""
        ...


def model(objective: Objective, curvature: np.ndarray, damping: np.ndarray) -> Model:
    """The model whose H is (X 1)' diag(curvature) (X 1) + diag(damping), plus the second derivative of the penalty."""
    added = np.append(np.full(objective.design.d, objective.penalty), 0.0) + damping
    kind = _Kept if _worth_keeping(objective.design) else _Columns
    return kind(objective.design, curvature, added, objective.fit_intercept)


def _worth_keeping(design: Design) -> bool:
    """Whether H is small, and costs less than the visits that it makes cheaper."""
    if design.d > MOST_KEPT or not isinstance(design, SparseRows):
        return design.d <= MOST_KEPT
    per_row = np.diff(design.X.indptr).astype(np.float64)
    return float(per_row @ per_row) <= LIMITS.most_visits * design.numbers


def _squares(design: Design, curvature: np.ndarray) -> np.ndarray:
    size = design.d + 1
    if not isinstance(design, SparseRows):
        return sum_squares(
            lambda lo, hi: (design.rows(slice(lo, hi)), curvature[lo:hi]), design.n, size, design.rows_per_block
        )
    X = design.X
    if size <= _FEW_COLUMNS:  # each range of rows gets a matrix of its own
        ranges = row_ranges(design.n, design.numbers + design.n)
        totals = np.zeros((len(ranges), size, size))
        in_threads(
            lambda k, lo, hi: loops.coordinate_descent.add_squares_sparse(
                X.data, X.indices, X.indptr[lo : hi + 1], curvature[lo:hi], 1, 0, totals[k]
            ),
            ranges,
        )
        total = totals.sum(axis=0)
    else:
        total = np.zeros((size, size))
        parts = 2 if design.numbers >= 100_000 else 1  # with fewer, a second thread is not worth its start
        in_threads(
            lambda part, *_: loops.coordinate_descent.add_squares_sparse(
                X.data, X.indices, X.indptr, curvature, parts, part, total
            ),
            [(0, 0)] * parts,
        )
    loops.coordinate_descent.mirror(total, 0, size)
    return total


class _Kept:
    """H is kept as a matrix: coordinate descent finds the nonzero coordinates, Newton steps on them the rest."""

    def __init__(self, design: Design, curvature: np.ndarray, added: np.ndarray, fit_intercept: bool) -> None:
        self.H = _squares(design, curvature)
        diagonal = np.diag_indices(len(self.H))
        self.H[diagonal] += added + _LEAST * self.H[diagonal]
        if not fit_intercept:
            self.H[-1, :] = self.H[:, -1] = 0.0
            self.H[-1, -1] = 1.0
        self.diagonal = np.diagonal(self.H)
        self.cheap = isinstance(design, SparseRows) and design.d <= _FEW_COLUMNS

    def minimum(self, w: np.ndarray, gradient: np.ndarray, l1: float, accuracy: float) -> tuple[np.ndarray, float]:
        x, slope = w.copy(), gradient.copy()
        accuracy *= 1e-3  # visits cost little, compared with H
        gained = 0.0
        for _ in range(_ROUNDS):
            gained, done = loops.coordinate_descent.descend(self.H, x, slope, l1, LIMITS.visits, accuracy, gained)
            if done:
                break
            if np.count_nonzero(x) <= 1500:  # with more, a Newton step is slower than more visits
                gained += self._on_nonzero(x, slope, l1)
        return x, gained

    def _on_nonzero(self, x: np.ndarray, slope: np.ndarray, l1: float) -> float:
        """A Newton step on the nonzero coordinates, none of which changes its sign. Returns what it gains."""
        used = np.append(np.flatnonzero(x[:-1]), x.size - 1)
        part, signs = self.H[np.ix_(used, used)], np.sign(x[used])
        signs[-1] = 0.0
        down = slope[used] + l1 * signs
        move = -cholesky_metric(part)(down)
        image = part @ move
        steepness, bend = float(down @ move), float(move @ image)
        if not steepness < 0:
            return 0.0
        longest = -steepness / bend if bend > 0 else np.inf
        crossing = (signs * move < 0) & (signs != 0)
        reach = np.full(used.size, np.inf)
        reach[crossing] = -x[used[crossing]] / move[crossing]
        at = min(longest, float(reach.min(initial=np.inf)))
        if not np.isfinite(at):
            return 0.0
        new = x[used] + at * move
        new[reach <= at] = 0.0
        slope += self.H[:, used] @ (new - x[used])
        x[used] = new
        return -at * (steepness + 0.5 * at * bend)


class _Columns:
    """H is not computed: coordinate descent reads the columns of diag(root) X, where root**2 are the curvatures."""

    def __init__(self, design: Design, curvature: np.ndarray, added: np.ndarray, fit_intercept: bool) -> None:
        root = np.sqrt(curvature)
        self.columns: tuple[Any, ...]
        self.descend: Any
        if isinstance(design, SparseRows):
            scaled, own, self.ones = _scale_columns(design, root)
            self.columns, self.descend = (scaled, *design.by_columns[1:]), loops.coordinate_descent.descend_sparse
        else:
            columns = np.ascontiguousarray(design.X.T) * root
            own, self.ones = np.einsum("ij,ij->i", columns, columns), columns @ root
            self.columns, self.descend = (columns,), loops.coordinate_descent.descend_dense
        own = np.append(own, curvature.sum())
        self.added = added + _LEAST * own
        self.diagonal = own + self.added
        self.inverse = 1 / float(self.diagonal[-1]) if fit_intercept and self.diagonal[-1] > 0 else 0.0
        self.rows = root.size
        self.cheap = isinstance(design, SparseRows)

    def minimum(self, w: np.ndarray, gradient: np.ndarray, l1: float, accuracy: float) -> tuple[np.ndarray, float]:
        x, s = w.copy(), np.zeros(self.rows)
        gained = 0.0
        for _ in range(_ROUNDS):
            gained, done = self.descend(
                *self.columns, self.diagonal, self.added, self.ones, self.inverse, x, w, gradient, s, l1, LIMITS.visits,
                accuracy, gained,
            )  # fmt: skip
            if done:
                break
        return x, gained


def _scale_columns(design: SparseRows, root: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The numbers of diag(root) X, column by column, the squares of these columns, and their products with root."""
    data, indices, indptr = design.by_columns
    scaled, (squares, ones) = np.empty(data.size), np.empty((2, design.d))
    in_threads(
        lambda k, lo, hi: loops.coordinate_descent.scale_columns(
            data, indices, indptr, root, lo, hi, scaled, squares, ones
        ),
        row_ranges(design.d, design.numbers),
    )
    return scaled, squares, ones
