"""Newton steps in the free coefficients of a kernel SVM.

Steps of pairs are slow if C is large and rows are nearly dependent: they zigzag among coefficients strictly between
their bounds. On this face of the box the problem is a linear system. A step towards its solution either reaches it, or
stops at a bound; then that coefficient is fixed, and the next step is taken in the others.
"""

from __future__ import annotations

import math

import numpy as np

#: Most free coefficients; the cost of a step grows with their third power.
MOST_FREE = 2000
#: Arithmetic of one visit, in multiplications; at least one step is taken.
_BUDGET = 1e9
#: Ridge of the linear system, relative to the mean of its diagonal, if K is singular there.
_RIDGE = 1e-14


def climb(K: np.ndarray, g: np.ndarray, b: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Free coefficients with a larger dual objective and the same sum, from those of K, g, b and bounds."""
    b, g = b.copy(), g.copy()
    free = np.arange(b.size)
    spent = 0.0
    while free.size >= 2 and spent < _BUDGET:
        spent += free.size**3 / 3
        part = K[np.ix_(free, free)]
        d = _direction(part, g[free])
        slope = float(g[free] @ d)
        if not slope > 0:
            break
        curvature = float(d @ (part @ d))
        with np.errstate(divide="ignore"):
            rooms = np.where(d > 0, high[free] - b[free], np.where(d < 0, b[free] - low[free], math.inf)) / np.abs(d)
        first = int(rooms.argmin())
        room = float(rooms[first])
        step = room if curvature * room <= slope else slope / curvature
        if not math.isfinite(step):
            break
        b[free] = np.clip(b[free] + step * d, low[free], high[free])
        g -= step * (K[:, free] @ d)
        if step < room:
            break
        b[free[first]] = high[free[first]] if d[first] > 0 else low[free[first]]
        free = free[(b[free] > low[free]) & (b[free] < high[free])]
    return b


def _direction(K: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Maximise g'd - d'Kd/2 where the sum of d is 0."""
    n = g.size
    system = np.ones((n + 1, n + 1))
    scale = float(np.trace(K)) / n
    system[:n, :n] = K / scale if scale > 0 else K
    system.flat[: n * (n + 2) : n + 2] += _RIDGE
    system[n, n] = 0.0
    try:
        d = np.linalg.solve(system, np.append(g, 0.0))[:n]
    except np.linalg.LinAlgError:
        d = g.copy()
    return np.asarray(d - d.mean()) / (scale if scale > 0 else 1.0)
