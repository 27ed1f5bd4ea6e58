"""Compiled semismooth Newton steps on the augmented Lagrangian of a small problem, on one thread and without BLAS.

Arguments are those of :mod:`~uneven.solvers.compiled.kinked_passes`, for a C-ordered matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from uneven.solvers.compiled.kinked_passes import along, curvatures, gradient_rows
from uneven.solvers.compiled.options import ANY_ORDER
from uneven.solvers.compiled.small_systems import dot, factor_newton, newton_step, write_scores

_FLAT = 0.1  # a step is long enough where the slope along it is below this share of the slope at its start
_MOST_TRIALS = 60


@njit(**ANY_ORDER)
def _length(
    common: Any, second: Any, t: Any, u: Any, q: Any, lo: int, hi: int, promised: float, linear: float, square: float
) -> float:
    """The length of a step along the scores q; the penalty has the slope ``linear + length * square``."""
    low, high, step = 0.0, np.inf, 1.0
    for _ in range(_MOST_TRIALS):
        slope, curvature = along(common, second, t, q, step, u, lo, hi)
        slope += linear + step * square
        if abs(slope) <= _FLAT * abs(promised):
            break
        if not np.isfinite(slope):  # overflow: far too long
            high = step
            step = low + 0.1 * (high - low)
            continue
        if slope > 0:
            high = step
        else:
            low = step
        curvature += square
        guess = step - slope / curvature if curvature > 0 else np.inf
        between = 0.5 * (low + high) if high < np.inf else 4 * step
        step = guess if low < guess < min(high, 10 * step) else between
        if high - low <= 1e-12 * step:
            break
    return step


@njit(**ANY_ORDER)
def steps(
    X: Any,
    common: Any,
    second: Any,
    t: Any,
    u: Any,
    theta: Any,
    penalty: float,
    with_intercept: bool,
    ridge: float,
    enough: float,
    most: int,
    lo: int,
    hi: int,
    g: Any,
) -> int:
    """Move theta and the scores t until the gradient g is small enough, at most so many steps; returns how many.

    ``enough`` bounds what the gradient adds to the duality gap. ``lo`` is 0 and ``hi`` the number of rows.
    """
    d = X.shape[1]
    q, h = np.empty(hi), np.empty(hi)
    direction, scale, matrix, factor = (
        np.empty(d + 1),
        np.empty(d + 1),
        np.empty((d + 1, d + 1)),
        np.empty((d + 1, d + 1)),
    )
    taken = 0
    while True:
        for j in range(d + 1):
            g[j] = 0.0
        gradient_rows(X, common, t, u, lo, hi, g)
        for j in range(d):
            g[j] += penalty * theta[j]
        if not with_intercept:
            g[d] = 0.0
        if 0.5 * dot(g, g, d) / penalty + abs(g[d]) * (1 + abs(theta[d])) <= enough or taken == most:
            return taken
        curvatures(common, second, t, u, lo, hi, h)
        factor_newton(X, h, penalty, with_intercept, ridge, matrix, factor, scale)
        newton_step(factor, scale, g, with_intercept, direction)
        promised = dot(g, direction, d + 1)
        taken += 1
        if not promised < 0:  # rounding
            return taken
        write_scores(X, direction, q)
        linear, square = penalty * dot(theta, direction, d), penalty * dot(direction, direction, d)
        step = _length(common, second, t, u, q, lo, hi, promised, linear, square)
        for i in range(hi):
            t[i] += step * q[i]
        for j in range(d + 1):
            theta[j] += step * direction[j]
