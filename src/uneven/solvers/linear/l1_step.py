"""The length of a step if the penalty has an l1 norm, which bends where a coefficient changes its sign."""

from __future__ import annotations

import numpy as np

from uneven.solvers.linear.lagrangian import Lagrangian

#: A step is long enough where the slope along it is below this share of the slope at its start.
_FLAT = 0.3
#: Relative size of slopes that rounding may make, and the largest coefficient of a step.
_ROUNDING, _FARTHEST = 1e-14, 1e100


def step_towards(state: Lagrangian, x: np.ndarray, gradient: np.ndarray) -> float:
    """Move towards x, to the minimum on the way. Returns the length of the step; 0: it does not lead down."""
    l1, rho = state.objective.l1, state.objective.penalty
    w = state.theta
    move = x - w
    # Where a coefficient keeps its sign, its slope and lambda nearly cancel: they are added first.
    signs = np.append(np.where(w[:-1] * x[:-1] > 0, np.sign(x[:-1]), 0.0), 0.0)
    others = l1 * float(((np.abs(x) - np.abs(w)) * (signs == 0))[:-1].sum())
    promised = float((gradient + l1 * signs) @ move) + others
    if not promised < 0 or not np.isfinite(move).all() or np.abs(move).max() > _FARTHEST:
        return 0.0
    rounding = _ROUNDING * float((np.abs(gradient) + l1) @ np.abs(move))
    q = state.objective.design.scores(move)
    linear, quadratic = (rho * float(v @ move[:-1]) for v in (w[:-1], move[:-1]))
    low, high, at = 0.0, np.inf, 1.0
    for _ in range(60):
        slope, curvature = state.along(q, at)
        there = w[:-1] + at * move[:-1]
        signs = np.sign(np.where(there == 0, w[:-1], there))
        slope += linear + at * quadratic + l1 * float(signs @ move[:-1])
        curvature += quadratic
        # Beyond the minimum only if it is near: the function may rise as steeply as it fell.
        if abs(slope) <= _FLAT * abs(promised) and slope <= _FLAT * at * curvature:
            break
        if abs(slope) <= rounding:
            break
        low, high = (low, at) if slope > 0 else (at, high)
        newton = at - slope / curvature if curvature > 0 else np.inf
        outside = not low < newton < min(high, 10 * at)
        at = (0.5 * (low + high) if high < np.inf else 4 * at) if outside else newton
        if high - low <= 1e-12 * at:
            break
    state.theta = x if at == 1.0 else w + at * move
    state.move_scores(q, at)
    return at
