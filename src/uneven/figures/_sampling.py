"""Where to evaluate a curve so that the drawn polygon looks smooth: more points where it bends."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

_ROUNDS = 7
_BEND = 1.5e-3  # as a share of the height of the curve


def sampled(
    function: Callable[[np.ndarray], np.ndarray], low: float, high: float, *, start: int = 61
) -> tuple[np.ndarray, np.ndarray]:
    """x and y from low to high: an interval whose middle lies off the chord is halved, up to seven times.

    The points close in geometrically on both ends, where roots and logarithms are steep.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.figures._sampling import sampled
    >>> x, y = sampled(np.sqrt, 0.0, 1.0)
    >>> middle = (x[1:] + x[:-1]) / 2
    >>> bool(np.max(np.abs(np.sqrt(middle) - (y[1:] + y[:-1]) / 2)) < 2e-3)
    True
    """
    ends = (high - low) * np.geomspace(1e-6, 1e-2, 9)
    x = np.unique(np.concatenate([np.linspace(low, high, start), low + ends, high - ends]))
    y = function(x)
    for _ in range(_ROUNDS):
        height = np.ptp(y[np.isfinite(y)]) or 1.0
        middle = (x[1:] + x[:-1]) / 2
        value = function(middle)
        bent = np.abs(value - (y[1:] + y[:-1]) / 2) > _BEND * height
        near = bent | np.append(bent[1:], False) | np.append(False, bent[:-1])
        if not bent.any():
            break
        order = np.argsort(np.append(x, middle[near]), kind="stable")
        x, y = np.append(x, middle[near])[order], np.append(y, value[near])[order]
    return x, y
