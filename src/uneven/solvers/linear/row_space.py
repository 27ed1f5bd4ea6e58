"""An objective in the space of the rows: w = X'c, with one coefficient c_i per row.

At the optimum w is such a combination. The scores are G c + b with G = X X', and a Newton step solves a system with one
row for each example whose loss is curved there:

    t' - t solves  (I + G D/rho) (t' - t) = b' - t - G s/rho,    then  c' = -(s + D (t' - t))/rho,

where s and D are the slopes and curvatures at the scores t. With R = sqrt(D/rho) the matrix I + R G R is symmetric, and
its eigenvalues are at least 1. Losses with kinks have the slopes and curvatures of their augmented Lagrangian.
"""

from __future__ import annotations

import numpy as np

from uneven.solvers.compiled import kinked_passes, row_space_passes
from uneven.solvers.linear.exact_search import exact_step
from uneven.solvers.linear.gram import Gram
from uneven.solvers.linear.lagrangian import Lagrangian
from uneven.solvers.linear.objective import Objective
from uneven.solvers.threads import in_threads, row_ranges, single_threaded_blas, threaded_blas

#: Rows of a system up to which BLAS is faster with one thread.
_SMALL = 1500
#: The slope along a step ends below this share of the slope at its start: here a trial costs little.
_FLAT = 1e-3


class NotPositive(Exception):
    """The linear system is not positive definite: the Gram matrix is not accurate enough."""


class RowSpace:
    """The augmented Lagrangian of an objective at coefficients of the rows.

    The scores of the place to which :meth:`rebase` was applied last are exact. Differences to them are computed with
    the Gram matrix, which may be inexact.
    """

    def __init__(self, objective: Objective, gram: Gram) -> None:
        n = objective.design.n
        self.objective = objective
        self.gram = gram
        self.losses = Lagrangian(objective, np.zeros(objective.size), 1.0, scores=np.zeros(n))
        self.losses.u = self.losses.u.astype(np.float64)
        self.c = np.zeros(n)
        self.b = 0.0
        self.own = np.zeros(n)  # the scores without the intercept
        self.squared_norm = 0.0  # of w
        self._bend = 0.0  # curvature of the minimum over w as a function of the intercept
        self._memory = np.empty(0)

    @property
    def rho(self) -> float:
        return self.objective.penalty

    @property
    def t(self) -> np.ndarray:
        """The scores."""
        return self.own + self.b

    def value(self) -> float:
        """The objective."""
        losses, _ = kinked_passes.bounds(self.losses.common, self.t, self.losses.u, 0, self.c.size)
        return float(losses) + 0.5 * self.rho * self.squared_norm

    def slopes(self, t: np.ndarray) -> np.ndarray:
        """Slopes of the losses in the scores."""
        out = np.empty(t.size)
        kinked_passes.slopes(self.losses.common, t, self.losses.u, 0, t.size, out)
        return out

    def curvatures(self, t: np.ndarray) -> np.ndarray:
        """Curvatures of the losses in the scores."""
        out = np.empty(t.size)
        kinked_passes.curvatures(self.losses.common, self.losses.second, t, self.losses.u, 0, t.size, out)
        return np.minimum(np.nan_to_num(out, nan=0.0, posinf=1e300), 1e300)

    def suboptimality(self, s: np.ndarray) -> float:
        """About how far the augmented Lagrangian can fall, given the slopes.

        The part of w is a bound up to rounding: half the squared gradient over rho.
        """
        residual = self.rho * self.c + s
        part = 0.5 * float(residual @ (self.gram.matrix @ residual)) / self.rho
        if self.objective.fit_intercept:
            part += 0.5 * float(s.sum()) ** 2 / max(self._bend, self._ridge)
        return max(part, 0.0)

    @property
    def _ridge(self) -> float:
        """Curvature of the intercept where no loss is curved."""
        return 1e-10 * float(np.abs(self.objective.factors()).sum())

    def newton_step(self, s: np.ndarray) -> bool:
        """Move to the minimum towards the minimum of the parabolas of the losses; False if that does not lead down."""
        return self._step_to(*self._target(self.t, s, self.curvatures(self.t)), s)

    def start_near(self, t: np.ndarray, near: float) -> None:
        """Move to the minimum of the parabolas of the losses at the scores t, whatever the value there.

        Rows whose margin is as near to a kink as ``near``, relative to the kink, are taken to be at the kink.
        """
        over, jumps = self._over(t)
        at_kinks = np.abs(over) <= near * np.maximum(np.abs(self.losses.kinks[self.objective.y].T), near)
        self.losses.u = np.where(at_kinks, 0.5, over > 0) * jumps
        self.c, self.b = self._target(t, *self._parabolas(t, at_kinks))
        self.own = self.gram.matrix @ self.c
        self.squared_norm = max(float(self.c @ self.own), 0.0)

    def start_at_zero(self) -> None:
        """Start where all coefficients are 0."""
        self.c, self.own = np.zeros(self.c.size), np.zeros(self.c.size)
        self.b = self.squared_norm = 0.0
        self.losses.u = 0.5 * self.losses.jumps[self.objective.y].T

    def _target(self, t: np.ndarray, s: np.ndarray, curvature: np.ndarray) -> tuple[np.ndarray, float]:
        """Coefficients and intercept that minimise the parabolas with slopes s and these curvatures at the scores t."""
        rows = np.flatnonzero(curvature)
        roots = np.sqrt(curvature[rows] / self.rho)
        off = -(self.gram.matrix @ s)[rows] / self.rho - t[rows]
        # Without and with the intercept: R (t' - t) = (I + R G R)^-1 R (off + b'), and the slopes change by rho R times
        # that.
        solved = self._solved(rows, roots, np.stack([roots * off, roots], axis=1))
        change = self.rho * roots[:, None] * solved
        b = 0.0
        if self.objective.fit_intercept:
            self._bend = float(change[:, 1].sum())
            if self._bend > self._ridge:
                b = -(float(s.sum()) + float(change[:, 0].sum())) / self._bend
            else:  # no loss is curved: a step in the right direction
                b = self.b - float(np.sign(s.sum())) * (1.0 + abs(self.b))
        slopes = s.copy()
        slopes[rows] += change[:, 0] + b * change[:, 1]
        return -slopes / self.rho, b

    def _solved(self, rows: np.ndarray, roots: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Solve with I + R G R."""
        from scipy.linalg.lapack import dpotrf, dpotrs

        if not rows.size:
            return right
        size = rows.size
        if self._memory.size < size * size:
            self._memory = np.empty(size * size)
        system = self._memory[: size * size].reshape(size, size)
        in_threads(
            lambda k, lo, hi: row_space_passes.fill_system(self.gram.matrix, rows, roots, lo, hi, system),
            row_ranges(size, size * size),
        )
        with threaded_blas() if size > _SMALL else single_threaded_blas():
            # The lower triangle in C order is the upper one in Fortran order.
            factor, failed = dpotrf(system.T, lower=0, overwrite_a=1, clean=0)
            if failed:
                raise NotPositive
            solved, _ = dpotrs(factor, right, lower=0)
        return np.asarray(solved)

    def _step_to(self, c: np.ndarray, b: float, s: np.ndarray) -> bool:
        """Move to the minimum on the line to these coefficients; False if it does not lead down."""
        dc, db = c - self.c, b - self.b
        own = self.gram.matrix @ dc
        q, t = own + db, self.t
        linear, quadratic = self.rho * float(dc @ self.own), self.rho * max(float(dc @ own), 0.0)
        promised = linear + float(s @ q)
        if not promised < 0:
            return False

        def slope_and_curvature(at: float) -> tuple[float, float]:
            slope, curvature = kinked_passes.along(
                self.losses.common, self.losses.second, t, q, at, self.losses.u, 0, t.size
            )
            return slope + linear + at * quadratic, curvature + quadratic

        at = exact_step(slope_and_curvature, promised, flat=_FLAT)
        self.squared_norm += (2 * at * linear + at * at * quadratic) / self.rho
        self.c = self.c + at * dc
        self.own = self.own + at * own
        self.b += at * db
        return True

    # -- kinks --------------------------------------------------------------------------------------------------------

    @property
    def kinked(self) -> bool:
        return bool(self.losses.jumps.size)

    def typical_change(self) -> float:
        """By how much a multiplier typically changes its own margin."""
        scale = self.objective.pair.scales[self.objective.y]
        changes = self.objective.factors() * scale * scale * np.diagonal(self.gram.matrix) / self.rho
        return float(np.median(changes[changes > 0])) if (changes > 0).any() else 1.0

    def _over(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How far each margin is above each kink, and the jumps there; both of shape (kinks, n)."""
        y = self.objective.y
        margins = self.objective.pair.scales[y] * t
        return margins - self.losses.kinks[y].T, self.losses.jumps[y].T

    def gap_at_kinks(self) -> float:
        """By how much the losses exceed the lines whose slopes at the kinks are the multipliers."""
        over, jumps = self._over(self.t)
        above = jumps * np.maximum(over, 0.0) - self.losses.u * over
        return float(above.sum(axis=0) @ self.objective.factors())

    def at_kinks(self) -> np.ndarray:
        """Where the augmented Lagrangian is at the curved part of a kink; of shape (kinks, n)."""
        over, jumps = self._over(self.t)
        slopes = self.losses.u + over / self.losses.sigma
        return np.asarray((slopes > 0) & (slopes < jumps))

    def update(self) -> None:
        """Replace the multipliers by the current slopes."""
        self.losses.t = self.t
        self.losses.update()

    def slopes_of_multipliers(self) -> np.ndarray:
        """Slopes of the losses if the multipliers themselves are the slopes at the kinks."""
        sigma, self.losses.sigma = self.losses.sigma, np.inf
        s = self.slopes(self.t)
        self.losses.sigma = sigma
        return s

    def _parabolas(self, t: np.ndarray, at_kinks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Slopes and curvatures of the losses at t if exactly these rows are at the curved part of these kinks."""
        sigma, self.losses.sigma = self.losses.sigma, np.inf
        s, curvature = self.slopes(t), self.curvatures(t)
        self.losses.sigma = sigma
        scale = self.objective.pair.scales[self.objective.y]
        factor = self.objective.factors() * scale / sigma
        s += factor * np.where(at_kinks, self._over(t)[0], 0.0).sum(axis=0)
        return s, curvature + factor * scale * at_kinks.sum(axis=0)

    def predicted_step(self, at_kinks: np.ndarray) -> bool:
        """A Newton step that assumes that these rows stay at their kinks. A narrow parabola alone would not know."""
        return self._step_to(*self._target(self.t, *self._parabolas(self.t, at_kinks)), self.slopes(self.t))

    # -- exact scores -------------------------------------------------------------------------------------------------

    def _rebase(self) -> np.ndarray:
        """Compute the scores from X, by two passes; returns theta."""
        w = self.objective.design.transposed_product(self.c)
        self.own = self.objective.design.scores(np.append(w, 0.0))
        self.squared_norm = float(w @ w)
        return np.append(w, self.b)

    def measured(self) -> tuple[np.ndarray, float, float]:
        """theta, the objective there, and its gap, with scores computed from X."""
        theta = self._rebase()
        if not self.kinked:
            return theta, self.value(), self.suboptimality(self.slopes(self.t))
        self.losses.theta, self.losses.t = theta, self.t
        value, bound = self.losses.bounds(self.losses.gradient_of_multipliers())
        return theta, value, value - bound
