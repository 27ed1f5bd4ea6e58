"""The augmented Lagrangian of a convex objective, which is smooth even if the losses have kinks.

It keeps the scores of all rows, so that a step along a direction reads X only once and its length is found exactly.
Without kinks it is the objective itself.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np

from uneven.solvers import loops
from uneven.solvers.linear.algorithms.newton import is_small, newton_direction, rows_with_ones
from uneven.solvers.linear.lbfgs import exact_step
from uneven.solvers.linear.newton_systems import MOST_COLUMNS, cholesky_metric, conjugate_gradients, sum_squares
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.pair_of_losses import FewPolygons, absolute_sums
from uneven.solvers.running import in_threads, row_ranges, single_threaded_blas

T = TypeVar("T")

#: Rows whose second derivatives are in memory at once, where only the rows that have some are kept.
_ROWS_AT_ONCE = 65_536
#: The same where only their sum is needed: so many stay in the cache.
_ROWS_OF_SCRATCH = 8192


@dataclass(frozen=True)
class Support:
    """Lines that support the losses of all rows.

    Attributes
    ----------
    slopes : ndarray
        Of the lines in the score, with the factors of the rows.
    steepest : ndarray
        At least the absolute slopes; with kinks, their jumps are added. The signs have no meaning.
    loss : float
        Sum of the losses at the scores.
    above : float
        How far the losses are above their lines at the scores, summed.
    size : float
        Sum of the absolute values of ``steepest``.
    moment : float
        The same, each times the absolute score.
    """

    slopes: np.ndarray
    steepest: np.ndarray
    loss: float
    above: float
    size: float
    moment: float


class _RowSlopes:
    """Slopes and second derivatives of losses without kinks in their scores, as they were evaluated last.

    Second derivatives (``bends``) are kept from the first time on that they are asked for: a proof does without.
    """

    def __init__(self, n: int) -> None:
        self.slopes, self.bends = np.empty(n), np.empty(0)
        self.loss = np.inf
        self.place: tuple[np.ndarray | None, float] | None = None

    def note_place(self, q: np.ndarray | None, at: float, loss: float) -> None:
        """They are now those at the scores t + at * q."""
        self.place, self.loss = (q, at), loss

    def keep_bends(self) -> None:
        """Keep the second derivatives, too."""
        if self.bends.size != self.slopes.size:
            self.bends, self.place = np.empty(self.slopes.size), None

    def note_move(self, q: np.ndarray | None, at: float) -> None:
        """The scores have been moved by at * q."""
        here = self.place is not None and self.place[0] is q and self.place[1] == at
        self.place = (None, 0.0) if here else None

    def forget(self) -> None:
        """The scores have changed in another way."""
        self.place = None

    @property
    def current(self) -> bool:
        """Whether they are those at the current scores."""
        return self.place is not None and self.place[1] == 0.0


class Lagrangian:
    """The augmented Lagrangian of an objective at the current scores and multipliers."""

    def __init__(self, objective: Objective, theta: np.ndarray, width: float, scores: np.ndarray | None = None) -> None:
        self.objective = objective
        self.theta = theta.copy()
        self.kinks, self.jumps = objective.pair.kinks_and_jumps
        self.smooth = not self.kinks.size
        most = self.kinks.shape[1]
        straight = objective.pair.polygons
        # Slopes and curvatures of all rows in their scores, where NumPy and BLAS are enough for all steps.
        few = straight and not self.smooth and is_small(objective)
        self._few = FewPolygons(objective.pair, objective.y, objective.factors()) if few else None
        self._evaluated_here = False  # whether they are those of the current scores and multipliers
        with self._blas():
            self.t = self._scores(self.theta) if scores is None else scores
        # Multipliers start in the middle of their range; the parabolas are then centred on the kinks.
        self.u = np.empty((most, objective.design.n), dtype=objective.design.X.dtype)
        for row, jumps in zip(self.u, self.jumps.T, strict=True):
            np.take(0.5 * jumps.astype(self.u.dtype), objective.y, out=row)
        self.sigma = width * objective.pair.width_of_kinks
        # With straight pieces compiled code calls no function, and its address is 0.
        self.first = np.zeros(2, dtype=np.int64) if straight else objective.pair.addresses
        self.second = np.zeros(2, dtype=np.int64) if straight else objective.pair.second_addresses
        self.lines = objective.pair.lines
        self._rows = _RowSlopes(objective.design.n if self.smooth else 0)

    def on_columns(self, chosen: np.ndarray) -> Lagrangian:
        """The same for some columns only; scores and multipliers are shared."""
        part = copy.copy(self)
        for name in ("_ranges", "_parts", "_ridge"):
            part.__dict__.pop(name, None)
        part.objective = replace(self.objective, design=self.objective.design.columns(chosen))
        part.theta = np.append(self.theta[chosen], self.theta[-1])
        return part

    @cached_property
    def _ranges(self) -> list[tuple[int, int]]:
        return row_ranges(self.objective.design.n, self.objective.design.numbers, self.theta.size)

    def over_rows(self, function: Callable[[int, int, int], T]) -> list[T]:
        """function(k, lo, hi) for every range of rows, in threads."""
        return in_threads(function, self._ranges)

    def _scores(self, theta: np.ndarray) -> np.ndarray:
        if self._few is None:
            return self.objective.design.scores(theta)
        return np.asarray(rows_with_ones(self.objective) @ theta)

    @property
    def common(self) -> tuple[Any, ...]:
        """What every compiled pass takes."""
        return (self.first, *self.objective.common[1:], self.kinks, self.jumps, self.sigma, self.lines)

    @property
    def penalty(self) -> float:
        return self.objective.penalty

    def gradient(self) -> np.ndarray:
        """Gradient of the augmented Lagrangian."""
        total = self._gradient_of_losses()
        total[:-1] += self.penalty * self.theta[:-1]
        if not self.objective.fit_intercept:
            total[-1] = 0.0
        return total

    def gradient_of_multipliers(self) -> np.ndarray:
        """The gradient if the multipliers themselves are the slopes."""
        sigma, self.sigma, self._evaluated_here = self.sigma, np.inf, False
        try:
            return self.gradient()
        finally:
            self.sigma = sigma

    def _gradient_of_losses(self) -> np.ndarray:
        if self.smooth:
            slopes = self._at_scores().slopes
            return np.append(self.objective.design.weighted_sum(slopes), slopes.sum())
        if self._few is not None:
            if not self._evaluated_here:
                self.along(None, 0.0)
            return np.asarray(self._few.slopes @ rows_with_ones(self.objective))
        parts = self._cleared_parts()
        self.over_rows(
            lambda k, lo, hi: self.objective.design.add_kinked_gradient(self.common, self.t, self.u, lo, hi, parts[k])
        )
        return parts.sum(axis=0)

    def _cleared_parts(self) -> np.ndarray:
        """Zeros for the gradient of each range of rows; valid until the next call."""
        self._parts.fill(0.0)
        return self._parts

    @cached_property
    def _parts(self) -> np.ndarray:
        return np.empty((len(self._ranges), self.theta.size))

    def direction(self, gradient: np.ndarray, accuracy: float = 1e-3) -> np.ndarray:
        """A semismooth Newton step, right after the gradient was computed."""
        if self._few is not None:
            bends, curved = self._few.bends, rows_with_ones(self.objective)
            if bends.size > 500:  # with fewer rows, choosing those that are curved takes longer than multiplying all
                rows = np.flatnonzero(bends)
                bends, curved = bends[rows], curved[rows]
            return newton_direction(self.objective, curved, bends, gradient, self._ridge)
        if self.theta.size <= MOST_COLUMNS:
            return -cholesky_metric(self.hessian())(gradient)
        return self._inexact(gradient, self.all_curvatures(), accuracy)

    def curvatures(self, lo: int, hi: int, out: np.ndarray) -> None:
        """Weighted second derivatives of the rows lo to hi in their scores."""
        loops.kinked_passes.curvatures(self.common, self.second, self.t, self.u, lo, hi, out)

    def all_curvatures(self) -> np.ndarray:
        """The same for all rows; valid until the next evaluation."""
        if self.smooth:
            self._rows.keep_bends()
            return self._at_scores().bends
        out = np.empty(self.t.size)
        self.over_rows(lambda k, lo, hi: self.curvatures(lo, hi, out[lo:hi]))
        return out

    @cached_property
    def _ridge(self) -> float:
        """Curvature of the intercept where all rows are far from their kinks and have none."""
        return 1e-10 * float(np.abs(self.objective.factors()).sum())

    def hessian(self) -> np.ndarray:
        """Matrix of second derivatives, from the rows whose own are not 0."""
        design = self.objective.design

        def find(k: int, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
            rows, values = [], []
            work = np.empty(min(_ROWS_AT_ONCE, last - first))
            for lo in range(first, last, _ROWS_AT_ONCE):
                hi = min(lo + _ROWS_AT_ONCE, last)
                self.curvatures(lo, hi, work[: hi - lo])
                curved = np.flatnonzero(work[: hi - lo])
                rows.append(lo + curved)
                values.append(work[curved])
            return np.concatenate(rows), np.concatenate(values)

        rows, values = (np.concatenate(parts) for parts in zip(*self.over_rows(find), strict=True))
        total = sum_squares(
            lambda lo, hi: (design.rows(rows[lo:hi]), values[lo:hi]),
            rows.size,
            self.theta.size,
            design.rows_per_block,
        )
        total = self.objective.add_penalty(total)
        total[-1, -1] = max(total[-1, -1], self._ridge)
        return total

    def _inexact(self, gradient: np.ndarray, curvature: np.ndarray, accuracy: float) -> np.ndarray:
        design, with_intercept = self.objective.design, self.objective.fit_intercept
        ridge = 0.0 if curvature.any() else self._ridge

        def product(v: np.ndarray) -> np.ndarray:
            parts = self._cleared_parts()
            w, c = np.ascontiguousarray(v[:-1]), float(v[-1])
            self.over_rows(lambda k, lo, hi: design.add_curvature_product(curvature, w, c, lo, hi, parts[k]))
            total = parts.sum(axis=0)
            total[:-1] += self.penalty * w
            total[-1] = total[-1] + ridge * c if with_intercept else c
            return total

        diagonal = np.append(design.squared_transposed_product(curvature) + self.penalty, curvature.sum() + ridge)
        return -conjugate_gradients(product, gradient, 1 / diagonal, accuracy=accuracy, most=500)

    def along(self, q: np.ndarray | None, at: float) -> tuple[float, float]:
        """Slope and curvature of the losses at the scores t + at * q; None: along the intercept, q = 1."""
        if self.smooth and q is None and at == 0.0 and self._rows.current and self._rows.bends.size:
            return float(self._rows.slopes.sum()), float(self._rows.bends.sum())
        if self.smooth:
            return self._smooth_along(q, at)
        if q is None:
            q = self._ones
        self._evaluated_here = False
        if self._few is not None:
            return self._few.along(self.t, q, self.u, self.sigma)(at)
        parts = self.over_rows(
            lambda k, lo, hi: loops.kinked_passes.along(self.common, self.second, self.t, q, at, self.u, lo, hi)
        )
        return float(sum(part[0] for part in parts)), float(sum(part[1] for part in parts))

    @cached_property
    def _ones(self) -> np.ndarray:
        return np.ones(self.t.size)

    def _smooth_along(self, q: np.ndarray | None, at: float) -> tuple[float, float]:
        """The same for losses without kinks; what is found for each row is kept."""
        first, second, y, weight, *classes = self.objective.derivatives
        rows = self._rows

        def part(k: int, first_row: int, last_row: int) -> np.ndarray:
            total, size = np.zeros(3), min(_ROWS_OF_SCRATCH, last_row - first_row)
            ones, scratch = np.ones(size if q is None else 0), np.empty(0 if rows.bends.size else size)
            for lo in range(first_row, last_row, _ROWS_OF_SCRATCH):
                hi = min(lo + _ROWS_OF_SCRATCH, last_row)
                pair = (first, second, y[lo:hi], weight[lo:hi], *classes)
                along = ones[: hi - lo] if q is None else q[lo:hi]
                bends = rows.bends[lo:hi] if rows.bends.size else scratch[: hi - lo]
                total += loops.passes.losses_along(pair, self.t[lo:hi], along, at, rows.slopes[lo:hi], bends)
            return total

        loss, slope, curvature = np.sum(self.over_rows(part), axis=0).tolist()
        rows.note_place(q, at, loss)
        return slope, curvature

    def _at_scores(self) -> _RowSlopes:
        """The rows of losses without kinks at the current scores."""
        if not self._rows.current:
            self._smooth_along(None, 0.0)
        return self._rows

    def move_scores(self, q: np.ndarray | None, at: float) -> None:
        """Move the scores by at * q; None: q = 1."""
        self.t += at if q is None else at * q
        self._evaluated_here = False
        self._rows.note_move(q, at)

    def replace_scores(self, scores: np.ndarray) -> None:
        """Take these scores, which are equal to the current ones but for rounding and a move of the intercept."""
        self.t[...] = scores
        self._evaluated_here = False
        self._rows.forget()

    def step(self, gradient: np.ndarray, direction: np.ndarray) -> bool:
        """Move to the minimum along a direction. X is read once; False if the direction does not lead down."""
        if not self.objective.fit_intercept:
            direction[-1] = 0.0
        promised = float(gradient @ direction)
        if not promised < 0:
            return False
        q = self._scores(direction)
        linear, quadratic = (self.penalty * float(v @ direction[:-1]) for v in (self.theta[:-1], direction[:-1]))

        last = np.nan
        along = partial(self.along, q) if self._few is None else self._few.along(self.t, q, self.u, self.sigma)

        def slope_and_curvature(at: float) -> tuple[float, float]:
            nonlocal last
            last = at
            slope, curvature = along(at)
            return slope + linear + at * quadratic, curvature + quadratic

        at = exact_step(slope_and_curvature, promised)
        self.theta = self.theta + at * direction
        self.move_scores(q, at)
        self._evaluated_here = at == last
        return True

    def descend(self, enough: float, most: int) -> tuple[np.ndarray, int]:
        """Take semismooth Newton steps until the gradient adds at most ``enough`` to the gap; at most so many.

        Returns the gradient and the number of steps.
        """
        with self._blas():
            return self._descend(enough, most)

    def _blas(self) -> AbstractContextManager[None]:
        return single_threaded_blas() if self._few is not None else nullcontext()

    def _descend(self, enough: float, most: int) -> tuple[np.ndarray, int]:
        for steps in range(most + 1):
            gradient = self.gradient()
            obstacle = 0.5 * float(gradient[:-1] @ gradient[:-1]) / self.penalty
            obstacle += abs(gradient[-1]) * (1 + abs(self.theta[-1]))
            if obstacle <= enough or steps == most:
                break
            if not self.step(gradient, self.direction(gradient)):
                return gradient, steps + 1  # rounding
        return gradient, steps

    def update(self) -> None:
        """Replace the multipliers by the current slopes. The gradient at the current scores stays the same."""
        self._evaluated_here = False
        if self._few is not None:
            self.u[...] = self._few.update(self.t, self.u, self.sigma)
            return

        def part(k: int, first_row: int, last_row: int) -> None:
            for lo in range(first_row, last_row, _ROWS_OF_SCRATCH):
                rows = slice(lo, min(lo + _ROWS_OF_SCRATCH, last_row))
                y = self.objective.y[rows]
                margins = self.objective.pair.scales[y] * self.t[rows]
                for u, kinks, jumps in zip(self.u, self.kinks.T, self.jumps.T, strict=True):
                    np.clip(u[rows] + (margins - kinks[y]) / self.sigma, 0.0, jumps[y], out=u[rows])

        self.over_rows(part)

    def sums(self) -> tuple[float, float]:
        """The objective at the current scores, and the sum of the constants of the supporting lines."""
        if self._few is not None:
            lines = self.support()
            return (
                lines.loss + self.objective.penalty_of(self.theta[:-1]),
                lines.loss - lines.above - float(lines.slopes @ self.t),
            )
        parts = self.over_rows(lambda k, lo, hi: loops.kinked_passes.bounds(self.common, self.t, self.u, lo, hi))
        loss, constant = (float(sum(values)) for values in zip(*parts, strict=True))
        return loss + self.objective.penalty_of(self.theta[:-1]), constant

    def value(self) -> float:
        """The objective at the current scores."""
        return self.sums()[0]

    def support(self) -> Support:
        """The lines that support the losses: smooth parts at the current scores, kinks with the multipliers."""
        if self.smooth:
            rows = self._at_scores()
            return Support(rows.slopes, rows.slopes, rows.loss, 0.0, *absolute_sums(rows.slopes, self.t))
        if self._few is not None:
            slopes, steepest, loss, above = self._few.support(self.t, self.u)
            return Support(slopes, steepest, loss, above, float(steepest.sum()), float(steepest @ np.abs(self.t)))
        slopes = np.empty(self.t.size)
        steepest = np.empty(self.t.size) if self.u.size else slopes
        parts = self.over_rows(
            lambda k, lo, hi: loops.kinked_passes.support(self.common, self.t, self.u, lo, hi, slopes, steepest)
        )
        return Support(slopes, steepest, *(float(sum(values)) for values in zip(*parts, strict=True)))
