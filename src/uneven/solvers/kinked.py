"""Convex losses with kinks: an augmented Lagrangian whose inner problems are solved by semismooth Newton steps.

Ends with a proved duality gap. For slopes s_i that support the losses, every (w', b') costs at least
sum_i a_i (constant_i + s_i f'_i) + rho/2 ||w'||^2; if the weighted slopes sum to 0 (the intercept is free), the
minimum of that is sum_i a_i constant_i - ||X' (a s)||^2/(2 rho). Slopes inside kinks are moved to make the sum 0.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from uneven.losses import Phi
from uneven.ops.floats import plain_values
from uneven.ops.pieces import slope_beside
from uneven.solvers import _kinked
from uneven.solvers._threads import each, pieces
from uneven.solvers.metric import cholesky_metric, conjugate_gradients
from uneven.solvers.objective import Objective
from uneven.solvers.solution import Progress, Solution, silent

#: Width of the first parabola that stands for a kink, in units of kink/jump.
_FROM_ZERO, _FROM_NEAR = 4.0, 0.1
_SHRINK = 0.3
_LEAST_SIGMA = 1e-10
_MOST_INNER = 50
_WORTH_SAMPLING = 50_000
_SAMPLE_ROWS = 20_000
_SAMPLE_SHARE = 0.05
#: Columns up to which Newton systems are factored; beyond, they are solved by conjugate gradients.
_MOST_COLUMNS = 2000


def kinks_and_jumps(phi: Phi) -> tuple[list[float], list[float]]:
    """Kinks of a convex phi and by how much its slope jumps there."""
    kinks, jumps = [], []
    for kink in phi.kinks:
        at = np.array([kink])
        left, right = (plain_values(slope_beside(phi.tree, Fraction(kink), side), at)[0] for side in (-1, 1))
        kinks.append(kink)
        jumps.append(float(right - left))
    return kinks, jumps


class Lagrangian:
    """The augmented Lagrangian of an objective at the current scores and multipliers."""

    def __init__(self, objective: Objective, theta: np.ndarray, width: float) -> None:
        self.objective = objective
        self.theta = theta.copy()
        pairs = [kinks_and_jumps(phi) for phi in objective.pair.phis]
        most = max(len(kinks) for kinks, _ in pairs)
        self.kinks, self.jumps = (
            np.array([list(pair[which]) + [0.0] * (most - len(pair[which])) for pair in pairs]) for which in (0, 1)
        )
        self.t = objective.design.scores(self.theta)
        # In the middle of what the slopes can be, parabolas lie on both sides of their kinks.
        self.u = np.empty((most, objective.design.n))
        np.multiply(0.5, self.jumps.T[:, objective.y], out=self.u)
        used = self.jumps > 0
        self.sigma = width * float((np.abs(self.kinks[used]) / self.jumps[used]).min())
        flat = all(not np.any(kernel.second(np.linspace(-50, 50, 2001))) for kernel in objective.pair.kernels)
        addresses = [0 if flat else kernel.second_address for kernel in objective.pair.kernels]
        self.second = np.array(addresses, dtype=np.int64)

    @cached_property
    def _pieces(self) -> list[tuple[int, int]]:
        return pieces(self.objective.design.n, self.objective.design.numbers)

    @property
    def common(self) -> tuple[Any, ...]:
        return (*self.objective._common, self.kinks, self.jumps, self.sigma)

    @property
    def penalty(self) -> float:
        return self.objective.penalty

    def gradient(self) -> np.ndarray:
        """Gradient of the augmented Lagrangian."""
        parts = np.zeros((len(self._pieces), self.theta.size))
        each(
            lambda k, lo, hi: self.objective.design.kinked(self.common, self.t, self.u, lo, hi, parts[k]), self._pieces
        )
        total = parts.sum(axis=0)
        total[:-1] += self.penalty * self.theta[:-1]
        if not self.objective.fit_intercept:
            total[-1] = 0.0
        return total

    def direction(self, gradient: np.ndarray) -> np.ndarray:
        """A semismooth Newton step."""
        objective = self.objective
        bend = np.empty(objective.design.n)
        each(
            lambda k, lo, hi: _kinked.bends(self.common, self.second, self.t, self.u, lo, hi, bend[lo:hi]),
            self._pieces,
        )
        bent = np.flatnonzero(bend)
        # Without a bend anywhere (all rows far from their kinks) the intercept would have no curvature at all.
        ridge = 1e-10 * float(np.abs(objective.factors()).sum()) if bent.size == 0 else 0.0
        if objective.size <= _MOST_COLUMNS:
            hessian = np.zeros((objective.size, objective.size))
            size = objective.design.rows_per_block
            for start in range(0, bent.size, size):
                part = bent[start : start + size]
                rooted = np.sqrt(bend[part])
                scaled = objective.design.rows(part) * rooted[:, None]
                hessian[:-1, :-1] += scaled.T @ scaled
                hessian[:-1, -1] += rooted @ scaled
            hessian[-1, :-1] = hessian[:-1, -1]
            hessian[-1, -1] = bend[bent].sum() + ridge
            hessian[np.diag_indices(objective.size - 1)] += self.penalty
            if not objective.fit_intercept:
                hessian[-1, :] = hessian[:, -1] = 0.0
                hessian[-1, -1] = 1.0
            return -cholesky_metric(hessian)(gradient)
        return self._inexact(gradient, objective.design.some(bent), bend[bent], ridge)

    def _inexact(self, gradient: np.ndarray, rows: Any, bend: np.ndarray, ridge: float) -> np.ndarray:
        penalty, with_intercept = self.penalty, self.objective.fit_intercept

        def product(v: np.ndarray) -> np.ndarray:
            middle = bend * (rows @ v[:-1] + v[-1])
            return np.append(
                rows.T @ middle + penalty * v[:-1], middle.sum() + ridge * v[-1] if with_intercept else v[-1]
            )

        squares = rows.multiply(rows) if hasattr(rows, "multiply") else rows * rows
        diagonal = np.append(np.asarray(squares.T @ bend).ravel() + penalty, max(bend.sum(), 1e-12) + ridge)
        return -conjugate_gradients(product, gradient, 1 / diagonal, accuracy=1e-3, most=500)

    def _along(self, q: np.ndarray, at: float) -> tuple[float, float]:
        """Slope and curvature of the losses at the scores t + at * q."""
        parts = each(
            lambda k, lo, hi: _kinked.along(self.common, self.second, self.t, q, at, self.u, lo, hi), self._pieces
        )
        return float(sum(part[0] for part in parts)), float(sum(part[1] for part in parts))

    def step(self, gradient: np.ndarray, direction: np.ndarray) -> bool:
        """Move to the minimum along a direction: only the scores change, X is read once."""
        if not self.objective.fit_intercept:
            direction[-1] = 0.0
        promised = float(gradient @ direction)
        if not promised < 0:
            return False
        q = self.objective.design.scores(direction)
        linear, quadratic = (self.penalty * float(v @ direction[:-1]) for v in (self.theta[:-1], direction[:-1]))
        low, high, at = 0.0, np.inf, 1.0
        for _ in range(60):
            slope, bend = self._along(q, at)
            slope += linear + at * quadratic
            if abs(slope) <= 1e-6 * abs(promised):
                break
            low, high = (low, at) if slope > 0 else (at, high)
            bend += quadratic
            newton = at - slope / bend if bend > 0 else np.inf
            outside = not low < newton < min(high, 10 * at)
            at = (0.5 * (low + high) if high < np.inf else 4 * at) if outside else newton
            if high - low <= 1e-12 * at:
                break
        self.theta = self.theta + at * direction
        q *= at
        self.t += q
        return True

    def update(self) -> None:
        """Slopes become multipliers."""
        each(lambda k, lo, hi: _kinked.update(self.common, self.t, self.u, lo, hi), self._pieces)

    def _sums(self) -> tuple[float, float, float, float]:
        """Losses, constants of the supporting lines, and the room of their slopes upwards and downwards."""
        parts = each(lambda k, lo, hi: _kinked.bounds(self.common, self.t, self.u, lo, hi), self._pieces)
        loss, constant, up, down = (float(sum(values)) for values in zip(*parts, strict=True))
        return loss + 0.5 * self.penalty * float(self.theta[:-1] @ self.theta[:-1]), constant, up, down

    def value(self) -> float:
        """The objective here."""
        return self._sums()[0]

    def bounds(self) -> tuple[float, float]:
        """The objective here, and a proved lower bound of its minimum from the multipliers, which are adjusted."""
        value, constant, up, down = self._sums()
        support = self._support()
        if self.objective.fit_intercept:
            excess = support[-1]
            room = down if excess > 0 else up
            if abs(excess) > room:
                return value, -np.inf
            if excess:
                share = -excess / room
                each(lambda k, lo, hi: _kinked.shift(self.common, share, self.u, lo, hi), self._pieces)
                constant = self._sums()[1]
                support = self._support()
        # What rounding leaves of the intercept's sum is charged at the size of the intercept.
        left = abs(support[-1]) * (1 + abs(self.theta[-1])) if self.objective.fit_intercept else 0.0
        return value, constant - float(support[:-1] @ support[:-1]) / (2 * self.penalty) - left

    def _support(self) -> np.ndarray:
        """Gradient of the supporting lines: with sigma infinite the slopes are the multipliers."""
        common = (*self.common[:-1], np.inf)
        parts = np.zeros((len(self._pieces), self.theta.size))
        each(lambda k, lo, hi: self.objective.design.kinked(common, self.t, self.u, lo, hi, parts[k]), self._pieces)
        return parts.sum(axis=0)


def augmented_lagrangian(
    objective: Objective,
    theta: np.ndarray | None,
    *,
    tol: float,
    max_iter: int,
    random: np.random.Generator,
    progress: Progress = silent,
) -> Solution:
    """Minimise until the proved gap is below tol times the value; ``theta`` None: from a sample, or from 0."""
    if objective.penalty == 0:
        return _unpenalised(objective, theta, tol=tol, max_iter=max_iter, random=random, progress=progress)
    start = _FROM_ZERO if theta is None else _FROM_NEAR
    if theta is None and objective.design.n >= _WORTH_SAMPLING and objective.size <= _MOST_COLUMNS:
        wanted = max(_SAMPLE_ROWS, 40 * objective.size)
        chosen, factor = objective.sample(int(min(wanted, _SAMPLE_SHARE * objective.design.n)), random)
        sampled = objective.on_rows(chosen, factor)
        theta = augmented_lagrangian(sampled, None, tol=1e-3, max_iter=max_iter, random=random).theta
        start = _FROM_NEAR
    state = Lagrangian(objective, np.zeros(objective.size) if theta is None else theta, start)
    best_value, best_theta, lower = state.value(), state.theta, -np.inf
    gap, steps, outer = best_value, 0, 0
    status = f"stopped after {max_iter} Newton steps"
    while steps < max_iter:
        outer += 1
        for _ in range(_MOST_INNER):
            gradient = state.gradient()
            # The gap contains half the squared gradient: an inner problem is solved until that is no obstacle.
            obstacle = 0.5 * float(gradient[:-1] @ gradient[:-1]) / objective.penalty
            if obstacle <= 0.1 * max(tol * best_value, 0.1 * gap) or steps >= max_iter:
                break
            steps += 1
            if not state.step(gradient, state.direction(gradient)):
                break
        state.update()
        value, bound = state.bounds()
        lower = max(lower, bound)
        if value < best_value:
            best_value, best_theta = value, state.theta
        gap = best_value - lower
        progress(f"augmented lagrangian {outer}: objective {best_value:.10g}, gap {gap:.2e}, {steps} Newton steps")
        if gap <= tol * best_value:
            status = "reached the tolerance by the duality gap"
            break
        if state.sigma <= _LEAST_SIGMA:
            status = "reached the limit of rounding"
            break
        gap = min(gap, best_value)
        state.sigma *= _SHRINK
    return Solution(
        theta=best_theta,
        value=best_value,
        converged=gap <= tol * best_value,
        status=status,
        iterations=steps,
        suboptimality=gap,
        duality_gap=gap,
        stats={"outer": float(outer)},
    )


def _unpenalised(
    objective: Objective,
    theta: np.ndarray | None,
    *,
    tol: float,
    max_iter: int,
    random: np.random.Generator,
    progress: Progress,
) -> Solution:
    """No penalty: ever smaller ones, until what the penalty adds is below the tolerance.

    With rho/2 ||w||^2 added, a solution is above the unpenalised optimum by at most its gap plus rho/2 ||w*||^2, and
    the norm of the solutions tends to that of the shortest optimal w*.
    """
    rho, steps = 1e-4 * float(np.abs(objective.factors()).mean()), 0
    while True:
        part = augmented_lagrangian(
            replace(objective, penalty=rho), theta, tol=0.3 * tol, max_iter=max_iter - steps, random=random
        )
        theta, steps = part.theta, steps + part.iterations
        added = 0.5 * rho * float(theta[:-1] @ theta[:-1])
        value, above = part.value - added, part.suboptimality + added
        progress(f"penalty {rho:.1e}: objective {value:.10g}, above the optimum by about {above:.2e}")
        if above <= tol * value or steps >= max_iter or rho < 1e-12:
            break
        rho *= 1e-2
    return replace(part, value=value, converged=above <= tol * value, suboptimality=above, iterations=steps)
