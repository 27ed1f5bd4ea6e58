"""Penalties with an l1 norm: Newton steps on a growing set of columns, each found by coordinate descent.

Most coefficients of a solution are 0, and so only a working set of columns is copied and visited. A Newton step
minimises the local parabola plus the l1 norm; its length is found by the scores alone. The other columns are looked at,
in one pass over X, when the problem on the working set is solved: those whose slope is larger than lambda join it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uneven.solvers.linear.lagrangian import Lagrangian
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.quadratic import Model, model
from uneven.solvers.linear.solution import Solution
from uneven.solvers.linear.solver import FASTEST, LAST_RESORT, Settings, Solver

_NAME = "coordinate"
#: Columns in the first working set, and how many times more may join than are used.
_FIRST, _GROWTH = 100, 1.0
#: A matrix of second derivatives is kept while each step gains less than this share of the one before.
_GOOD = 0.05
#: Most Newton steps on one working set.
_MOST_INNER = 50
#: A step is long enough where the slope along it is below this share of the slope at its start.
_FLAT = 0.3
_SHRINK = 0.3
_LEAST_SIGMA = 1e-10


def accepts(objective: Objective) -> str | None:
    """Convex losses, with an l1 norm in the penalty."""
    reason = objective.pair.why_not_convex
    if reason:
        return f"solver={_NAME!r} needs a convex loss, but {reason}"
    if not objective.l1 > 0:
        return f"solver={_NAME!r} needs an l1 penalty, but there is none (the loss {objective.pair.names} would fit)"
    return None


def preference(objective: Objective) -> int:
    return FASTEST


@dataclass
class Bound:
    value: float
    gap: float


def lower_bound(objective: Objective, constant: float, v: np.ndarray) -> float:
    """The best lower bound from the supporting lines with slopes c s, 0 <= c <= 1."""
    l1, rho = objective.l1, objective.penalty
    size = np.abs(v)
    most = float(size.max(initial=0.0))
    feasible = min(1.0, l1 / most) if most > 0 else 1.0
    if rho == 0:
        return feasible * constant
    best = feasible * constant
    over = size[size > l1]
    low, high = feasible, 1.0
    for _ in range(20):  # concave in c
        one, two = low + 0.4 * (high - low), low + 0.6 * (high - low)
        at = [c * constant - float(np.square(np.maximum(c * over - l1, 0.0)).sum()) / (2 * rho) for c in (one, two)]
        low, high = (one, high) if at[1] > at[0] else (low, two)
        best = max(best, *at)
    return max(best, constant - float(np.square(over - l1).sum()) / (2 * rho))


def evaluated(state: Lagrangian, gradient: np.ndarray) -> Bound:
    objective = state.objective
    loss, constant = state.sums()
    w = state.theta[:-1]
    value = loss + 0.5 * objective.penalty * float(w @ w) + objective.l1 * float(np.abs(w).sum())
    v = gradient[:-1] - objective.penalty * w
    constant -= abs(gradient[-1]) * (1 + abs(state.theta[-1]))
    return Bound(value, value - lower_bound(objective, constant, v))


def minimise(objective: Objective, theta: np.ndarray | None, settings: Settings) -> Solution:
    state = Lagrangian(objective, np.zeros(objective.size) if theta is None else theta, 1.0)
    return _Run(state, settings).solution()


class _Run:
    def __init__(self, state: Lagrangian, settings: Settings) -> None:
        self.state, self.settings = state, settings
        self.objective = state.objective
        self.steps = self.models = self.passes = 0
        self.gap = np.inf

    def solution(self) -> Solution:
        state, settings, objective = self.state, self.settings, self.objective
        used = np.flatnonzero(state.theta[:-1])
        part: Lagrangian | None = state.on_columns(used) if used.size else None
        while True:
            if part is not None:
                self._solve(part)
                state.theta[used], state.theta[-1] = part.theta[:-1], part.theta[-1]
            self._centre(state)
            if part is not None:
                part.theta[-1] = state.theta[-1]
            gradient = state.gradient()
            self.passes += 1
            bound = evaluated(state, gradient)
            self.gap = bound.gap
            self.value = bound.value
            settings.progress(f"coordinate: objective {bound.value:.10g}, gap {bound.gap:.2e}, {used.size} columns in the working set, {np.count_nonzero(state.theta[:-1])} used, {self.steps} steps, {self.models} models")
            if bound.gap <= settings.tol * bound.value or self.steps >= settings.max_iter:
                break
            new = self._chosen(gradient, used)
            if new is not None:
                used = new
                part = state.on_columns(used)
        return Solution(state.theta, bound.value, bool(bound.gap <= settings.tol * bound.value), "", self.steps, bound.gap, bound.gap)

    def _chosen(self, gradient: np.ndarray, used: np.ndarray) -> np.ndarray | None:
        w = self.state.theta[:-1]
        size = np.abs(gradient[:-1] - self.objective.penalty * w)
        violated = size > self.objective.l1 
        violated[used] = False
        if not violated.any():
            return None
        keep = w != 0
        candidates = np.flatnonzero(violated & ~keep)
        most = int(max(_FIRST, _GROWTH * np.count_nonzero(keep)))
        if candidates.size > most:
            candidates = candidates[np.argpartition(-size[candidates], most)[:most]]
        return np.concatenate([np.flatnonzero(keep), candidates])

    def _solve(self, state: Lagrangian) -> None:
        objective = state.objective
        local: Model | None = None
        before = np.inf
        for _ in range(_MOST_INNER):
            gradient = state.gradient()
            bound = evaluated(state, gradient)
            if bound.gap <= 0.3 * max(self.settings.tol * bound.value, 0.1 * min(self.gap, bound.value)):
                return
            if local is None:
                curvature = np.empty(state.t.size)
                state.over_rows(lambda k, lo, hi: state.curvatures(lo, hi, curvature[lo:hi]))
                local = model(objective.design, curvature, objective.penalty, fit_intercept=objective.fit_intercept)
                self.models += 1
            x, gain = local.minimum(state.theta, gradient, objective.l1, 1e-3)
            if not self._step(state, gradient, x):
                return
            self.steps += 1
            if gain > _GOOD * before:
                local = None
            before = gain

    def _step(self, state: Lagrangian, gradient: np.ndarray, x: np.ndarray) -> bool:
        l1, rho = self.objective.l1, self.objective.penalty
        w = state.theta
        move = x - w
        promised = float(gradient @ move) + l1 * float(np.abs(x[:-1]).sum() - np.abs(w[:-1]).sum())
        if not promised < 0:
            return False
        q = state.objective.design.scores(move)
        linear, quadratic = (rho * float(v @ move[:-1]) for v in (w[:-1], move[:-1]))
        low, high, at = 0.0, np.inf, 1.0
        for _ in range(60):
            slope, curvature = state.along(q, at)
            signs = np.sign(w[:-1] + at * move[:-1])
            signs[signs == 0] = np.sign(w[:-1])[signs == 0]
            slope += linear + at * quadratic + l1 * float(signs @ move[:-1])
            if abs(slope) <= _FLAT * abs(promised):
                break
            low, high = (low, at) if slope > 0 else (at, high)
            curvature += quadratic
            newton = at - slope / curvature if curvature > 0 else np.inf
            outside = not low < newton < min(high, 10 * at)
            at = (0.5 * (low + high) if high < np.inf else 4 * at) if outside else newton
            if high - low <= 1e-12 * at:
                break
        state.theta = x if at == 1.0 else w + at * move
        q *= at
        state.t += q
        return True

    def _centre(self, state: Lagrangian) -> None:
        if not self.objective.fit_intercept:
            return
        ones = np.ones(state.t.size)
        low, high, at = -np.inf, np.inf, 0.0
        for _ in range(60):
            slope, curvature = state.along(ones, at)
            if slope == 0:
                break
            low, high = (low, at) if slope > 0 else (at, high)
            new = at - slope / curvature if curvature > 0 else np.nan
            if not low < new < high:
                new = 0.5 * (low + high) if np.isfinite(high - low) else at - np.sign(slope) * max(1.0, 4*abs(at))
            if abs(new - at) <= 1e-15 * max(1.0, abs(at)):
                break
            at = new
        state.t += at
        state.theta = state.theta.copy()
        state.theta[-1] += at


SOLVER = Solver(_NAME, accepts, minimise, preference)
