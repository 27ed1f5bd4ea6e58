"""An objective in the space of the rows: w = X'c, with one coefficient c_i per row.

At the optimum w is such a combination. The scores are t = G c + b with G = X X', and a Newton step solves a system with
one row for each example whose loss is curved there. With slopes s and curvatures D at the scores t, the new scores t'
and coefficients c' satisfy

    (I + G D/rho) (t' - t) = b' - b - G (c + s/rho),        c' = -(s + D (t' - t))/rho.

With R = sqrt(D/rho) the matrix becomes I + R G R, which is symmetric and has no eigenvalue below 1. Losses with kinks
have the slopes and curvatures of their augmented Lagrangian.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from uneven.solvers import loops
from uneven.solvers.linear.gram import Gram
from uneven.solvers.linear.lagrangian import Lagrangian
from uneven.solvers.linear.lbfgs import exact_step
from uneven.solvers.linear.newton_systems import factor_in_place, solve_factored
from uneven.solvers.linear.objective import Objective
from uneven.solvers.running import in_threads, row_ranges


class NotPositive(Exception):
    """The linear system is not positive definite: the Gram matrix is not accurate enough."""


class RowSpace:
    """The augmented Lagrangian of an objective, at coefficients of the rows and multipliers of the kinks.

    :meth:`measure` computes the scores from X. Later differences to them are computed with the Gram matrix, which may
    be inexact.
    """

    def __init__(self, objective: Objective, gram: Gram) -> None:
        n = objective.design.n
        self.objective = objective
        self.gram = gram
        self.losses = Lagrangian(objective, np.zeros(objective.size), 1.0, scores=np.zeros(n))
        self.kinked = bool(self.losses.jumps.size)
        self._factors = objective.factors()
        self._scales = objective.pair.scales[objective.y]
        self._kinks, self._jumps = self.losses.kinks[objective.y].T, self.losses.jumps[objective.y].T
        self._ridge = 1e-10 * float(np.abs(self._factors).sum())  # curvature of b where no loss is curved
        self._memory = np.empty(0)
        self.start_at_zero()

    def start_at_zero(self) -> None:
        """Start where all coefficients are 0, with the multipliers that belong to them."""
        self.c, self._own = np.zeros(self._factors.size), np.zeros(self._factors.size)
        self.b = self._squared_norm = 0.0  # own: scores without the intercept; squared norm: of w
        self._base = self.c, self._own, self._squared_norm  # where they were computed from X last
        self._w: np.ndarray | None = None  # if it was computed for these coefficients
        self._bend = 0.0  # curvature of the minimum over w as a function of the intercept
        self.losses.u = 0.5 * self._jumps
        self.losses.u = self.multipliers()

    @property
    def _rho(self) -> float:
        return self.objective.penalty

    @property
    def t(self) -> np.ndarray:
        """The scores."""
        return self._own + self.b

    def value(self) -> float:
        """The objective."""
        losses, _ = loops.kinked_passes.bounds(self.losses.common, self.t, self.losses.u, 0, self.c.size)
        return float(losses) + 0.5 * self._rho * self._squared_norm

    # -- slopes and gaps ----------------------------------------------------------------------------------------------

    def _common(self, sigma: float) -> tuple[Any, ...]:
        """What compiled functions take, for parabolas of this width; at width infinity the multipliers are slopes."""
        before, after = self.losses.common[:7], self.losses.common[8:]
        return (*before, sigma, *after)

    def _slopes(self, t: np.ndarray, u: np.ndarray, sigma: float) -> np.ndarray:
        out = np.empty(t.size)
        loops.kinked_passes.slopes(self._common(sigma), t, u, 0, t.size, out)
        return out

    def _curvatures(self, t: np.ndarray, u: np.ndarray, sigma: float) -> np.ndarray:
        out = np.empty(t.size)
        loops.kinked_passes.curvatures(self._common(sigma), self.losses.second, t, u, 0, t.size, out)
        return np.minimum(np.nan_to_num(out, nan=0.0, posinf=1e300), 1e300)

    def _over(self, t: np.ndarray) -> np.ndarray:
        """How far each margin is above each kink; of shape (kinks, n)."""
        return self._scales * t - self._kinks

    def _reducible(self, s: np.ndarray) -> float:
        """About how far the objective can fall, given slopes: half the squared gradient over the curvature.

        For w the curvature is at least rho, so that this part is a bound up to rounding.
        """
        residual = self._rho * self.c + s
        part = 0.5 * float(residual @ (self.gram.matrix @ residual)) / self._rho
        return max(part + self._reducible_by_intercept(s), 0.0)

    def _reducible_by_intercept(self, s: np.ndarray) -> float:
        """The same for the intercept alone; infinite where the slopes are too large for their square."""
        if not self.objective.fit_intercept:
            return 0.0
        total = float(s.sum())
        return 0.5 * total * total / (self._bend or self._ridge)  # a power of a float would raise OverflowError

    def gain(self) -> float:
        """About how far the augmented Lagrangian can fall."""
        return self._reducible(self._slopes(self.t, self.losses.u, self.losses.sigma))

    def multipliers(self) -> np.ndarray:
        """The multipliers that belong to the coefficients.

        At the minimum of the augmented Lagrangian they are its slopes at the kinks. But those are differences of
        margins over a small sigma, so rounding would spoil them.
        """
        u = np.zeros_like(self.losses.u)
        if not self.kinked:
            return u
        left = -self._rho * self.c - self._slopes(self.t, u, np.inf)
        left = np.divide(left, self._factors * self._scales, out=np.zeros(left.size), where=self._factors > 0)
        for row, jumps in zip(u, self._jumps, strict=True):
            np.clip(left, 0.0, jumps, out=row)
            left -= row
        return u

    def gap(self, u: np.ndarray) -> float:
        """About the duality gap of multipliers: what w and b can gain, and how far losses exceed supporting lines."""
        over = self._over(self.t)
        above = self._jumps * np.maximum(over, 0.0) - u * over
        return self._reducible(self._slopes(self.t, u, np.inf)) + float(above.sum(axis=0) @ self._factors)

    def use(self, gram: Gram) -> None:
        """Go on with a more accurate Gram matrix."""
        self.gram = gram
        self._base = np.zeros_like(self.c), np.zeros_like(self.c), 0.0
        self._place(self.c, self.b)

    def refresh(self) -> np.ndarray:
        """Compute w and the scores from X, by two passes; returns w."""
        if self._w is None:
            design = self.objective.design
            self._w = design.weighted_sum(self.c)
            self._own = design.scores(np.append(self._w, 0.0))
            self._squared_norm = float(self._w @ self._w)
            self._base = self.c, self._own, self._squared_norm
        return self._w

    def measure(self) -> tuple[np.ndarray, float, float]:
        """theta, the objective there, and its gap, with scores computed from X."""
        theta = np.append(self.refresh(), self.b)
        return theta, self.value(), self.gap(self.losses.u)

    def polish(self, theta: np.ndarray, most: int, enough: float) -> Iterator[tuple[np.ndarray, float, float]]:
        """Newton steps in theta itself, for smooth losses; each gives theta, the objective and its gap.

        With columns of very different scale, w = X'c loses digits: rounding of c moves scores that depend on large
        columns. Here the gradient is computed from X, and the Gram matrix only turns it into a step. A step costs four
        passes. They end when the gap is ``enough``, or does not fall any more.
        """
        design, before = self.objective.design, np.inf
        for _ in range(most):
            w, self.b = theta[:-1], float(theta[-1])
            self._own, self._squared_norm = design.scores(np.append(w, 0.0)), float(w @ w)
            t = self.t
            s, curvature = self._slopes(t, self.losses.u, np.inf), self._curvatures(t, self.losses.u, np.inf)
            gradient = design.weighted_sum(s) + self._rho * w
            gap = 0.5 * float(gradient @ gradient) / self._rho + self._reducible_by_intercept(s)
            if not gap < before:
                return
            yield theta, self.value(), gap
            if gap <= enough:
                return
            before = gap
            change, db = self._change(-design.scores(np.append(gradient, 0.0)) / self._rho, s, curvature)
            theta = np.append(w - (gradient + design.weighted_sum(change)) / self._rho, self.b + db)

    # -- steps --------------------------------------------------------------------------------------------------------

    def typical_change(self) -> float:
        """By how much a multiplier typically changes its own margin."""
        changes = self._factors * self._scales**2 * np.diagonal(self.gram.matrix) / self._rho
        return float(np.median(changes[changes > 0])) if (changes > 0).any() else 1.0

    def at_kinks(self) -> np.ndarray:
        """Where the augmented Lagrangian is at the curved part of a kink; of shape (kinks, n)."""
        slopes = self.losses.u + self._over(self.t) / self.losses.sigma
        return np.asarray((slopes > 0) & (slopes < self._jumps))

    def newton_step(self) -> bool:
        """Move to the minimum on the line to the minimum of the local parabolas; False if it does not lead down."""
        t, u, sigma = self.t, self.losses.u, self.losses.sigma
        return self._step_to(*self._target(t, self._slopes(t, u, sigma), self._curvatures(t, u, sigma)))

    def predicted_step(self, at_kinks: np.ndarray) -> bool:
        """A Newton step that assumes that these rows stay at their kinks. A narrow parabola alone would not know."""
        return self._step_to(*self._target(self.t, *self._parabolas(self.t, at_kinks)))

    def start_near(self, t: np.ndarray, near: float) -> None:
        """Move to the minimum of the parabolas of the losses at the scores t, whatever the value there.

        Rows whose margin is as near to a kink as ``near``, relative to the kink, are taken to be at the kink.
        """
        over = self._over(t)
        at_kinks = np.abs(over) <= near * np.maximum(np.abs(self._kinks), near)
        self.start_at_zero()
        self.losses.u = np.where(at_kinks, 0.5, over > 0) * self._jumps
        self._place(*self._target(t, *self._parabolas(t, at_kinks)))

    def _parabolas(self, t: np.ndarray, at_kinks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Slopes and curvatures of the losses at t if exactly these rows are at the curved part of these kinks."""
        s, curvature = self._slopes(t, self.losses.u, np.inf), self._curvatures(t, self.losses.u, np.inf)
        factor = self._factors * self._scales / self.losses.sigma
        s += factor * np.where(at_kinks, self._over(t), 0.0).sum(axis=0)
        return s, curvature + factor * self._scales * at_kinks.sum(axis=0)

    def _target(self, t: np.ndarray, s: np.ndarray, curvature: np.ndarray) -> tuple[np.ndarray, float]:
        """Coefficients and intercept that minimise the parabolas with slopes s and these curvatures at the scores t."""
        # Differences to the current scores, so that the error of the Gram matrix concerns only the change.
        off = self.t - t - (self.gram.matrix @ (self.c + s / self._rho))
        change, db = self._change(off, s, curvature)
        return -(s + change) / self._rho, self.b + db

    def _change(self, off: np.ndarray, s: np.ndarray, curvature: np.ndarray) -> tuple[np.ndarray, float]:
        """By how much a Newton step changes the slopes and the intercept.

        Without curvature the scores would move by ``off``, and by what the intercept does.
        """
        rows = np.flatnonzero(curvature)
        roots = np.sqrt(curvature[rows] / self._rho)
        # R (t' - t) = (I + R G R)^-1 R (off + b' - b), and the slopes change by rho R times that.
        change = self._solve(rows, roots, np.stack([roots * off[rows], roots], axis=1))
        change *= self._rho * roots[:, None]
        db = 0.0
        if self.objective.fit_intercept:
            self._bend = max(float(change[:, 1].sum()), 0.0)
            if self._bend > 0:
                db = -(float(s.sum()) + float(change[:, 0].sum())) / self._bend
            else:  # no loss is curved: a step in the right direction
                db = -float(np.sign(s.sum())) * (1.0 + abs(self.b))
        total = np.zeros(s.size)
        total[rows] = change[:, 0] + db * change[:, 1]
        return total, db

    def _solve(self, rows: np.ndarray, roots: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Solve with I + R G R."""
        size = rows.size
        if not size:
            return right
        if self._memory.size < size * size:
            self._memory = np.empty(size * size)
        system = self._memory[: size * size].reshape(size, size)
        in_threads(
            lambda k, lo, hi: loops.row_products.fill_system(self.gram.matrix, rows, roots, lo, hi, system),
            row_ranges(size, size * size),
        )
        if not factor_in_place(system):
            raise NotPositive
        return solve_factored(system, right)

    def _step_to(self, c: np.ndarray, b: float) -> bool:
        """Move to the minimum on the line to these coefficients; False if it does not lead down."""
        dc, db = c - self.c, b - self.b
        own = self.gram.matrix @ dc
        q, t, u = own + db, self.t, self.losses.u
        linear, quadratic = self._rho * float(dc @ self._own), self._rho * max(float(dc @ own), 0.0)
        promised = linear + float(self._slopes(t, u, self.losses.sigma) @ q)
        if not promised < 0:
            return False
        common = self.losses.common

        def slope_and_curvature(at: float) -> tuple[float, float]:
            slope, curvature = loops.kinked_passes.along(common, self.losses.second, t, q, at, u, 0, t.size)
            return slope + linear + at * quadratic, curvature + quadratic

        at = exact_step(slope_and_curvature, promised, flat=1e-3)  # a trial costs little
        self._place(self.c + at * dc, self.b + at * db)
        return True

    def _place(self, c: np.ndarray, b: float) -> None:
        """Move to coefficients. The scores are those of the base plus the difference, so that errors do not add up."""
        self.c, self.b, self._w = c, b, None
        base_c, base_own, base_norm = self._base
        change = self.gram.matrix @ (c - base_c)
        self._own = base_own + change
        self._squared_norm = max(base_norm + float((c - base_c) @ (base_own + self._own)), 0.0)
