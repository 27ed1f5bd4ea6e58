"""What the leaves of a tree add to the scores: three ways to choose it, all for any convex loss.

- discrete: each leaf says +1 or -1, and one number for the tree is the length of the step (AdaBoost).
- real: each leaf gets the best number of its own (real AdaBoost).
- gradient: each leaf gets a Newton step, and one number for the tree is its length (gradient boosting).

Lengths are minima along the tree, or of a leaf. So a share of at most 1 of them never raises a convex loss.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from uneven.expression import parse
from uneven.solvers.boosting.rows import BoostedRows
from uneven.solvers.linear.exact_search import exact_step

#: The slope at the end of a line search, as a share of that at its start.
_FLAT = 1e-10
#: A leaf goes no further than where the slopes of the class that it favours have fallen to this share: a leaf of one
#: class may have its minimum at infinity.
_LEAST_SLOPE = 1 / 64
_MOST_TRIALS = 200

_EXPONENTIAL = parse("exp(-t)")


def has_closed_form(rows: BoostedRows) -> bool:
    """Whether slopes after a step are known from sums over the leaves: those of the exponential loss."""
    return all(phi.tree == _EXPONENTIAL for phi in rows.pair.phis)


def discrete(rows: BoostedRows, slots: np.ndarray, sums: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Leaves of one size: the sign is that of the larger sum of slopes."""
    return _along(rows, slots, sums, np.where(sums[:, 4] < 0, 1.0, -1.0))


def gradient(rows: BoostedRows, slots: np.ndarray, sums: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Newton steps, times the best length."""
    with np.errstate(divide="ignore", invalid="ignore"):
        direction = np.where(sums[:, 5] > 0, -sums[:, 4] / sums[:, 5], 0.0)
    return _along(rows, slots, sums, direction)


def real(rows: BoostedRows, slots: np.ndarray, sums: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """The minimum of each leaf."""
    if has_closed_form(rows):
        negative, positive = np.abs(rows.pair.scales)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.nan_to_num(
                np.log(-sums[:, 1] / sums[:, 0]) / (negative + positive), posinf=np.inf, neginf=-np.inf
            )
        most = -np.log(_LEAST_SLOPE)
        return np.clip(value, -most / negative, most / positive)
    return _leaf_minima(rows, slots, sums, pairs)


def _leaf_minima(rows: BoostedRows, slots: np.ndarray, sums: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """By bracketed Newton steps of all leaves at once, each in the direction in which its loss falls."""
    leaves = np.arange(len(sums))
    way = -np.sign(sums[:, 0] + sums[:, 1])
    favoured = (way > 0).astype(np.intp)
    least = _LEAST_SLOPE * np.abs(sums[leaves, favoured])
    size = np.abs(sums[:, :2]).sum(axis=1)
    unit = 1 / float(np.abs(rows.pair.scales).max())
    low, high, at = np.zeros(len(sums)), np.full(len(sums), np.inf), np.zeros(len(sums))
    found = sums
    for _ in range(_MOST_TRIALS):
        slope, curvature = way * (found[:, 0] + found[:, 1]), found[:, 2] + found[:, 3]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            newton = at - slope / curvature
        most = np.minimum(high, 4 * np.maximum(at, unit))
        at = np.where((newton > low) & (newton < most), newton, np.minimum(low + (high - low) / 2, most))
        rows.along(rows.spread(slots, way * at), 1.0)
        found = rows.leaf_sums(slots, len(sums), pairs)
        slope = way * (found[:, 0] + found[:, 1])
        beyond = np.abs(found[leaves, favoured]) < least
        flat = (np.abs(slope) <= _FLAT * size) & ~beyond
        too_far = (slope > 0) | beyond
        low, high = np.where(too_far & ~flat, low, at), np.where(too_far | flat, at, high)
        if (((high - low <= 1e-12 * high) & np.isfinite(high)) | (way == 0)).all():
            break
    rows.along(np.zeros(slots.size), 0.0)
    return np.asarray(way * low)


def _along(rows: BoostedRows, slots: np.ndarray, sums: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """A direction, one number per leaf, times the length at which the loss is least."""
    negatives, positives = sums[:, 0], sums[:, 1]
    promised = float(direction @ (negatives + positives))
    if not promised < 0:
        return np.zeros_like(direction)
    if has_closed_form(rows):
        s = rows.pair.scales

        def trial(step: float) -> tuple[float, float]:
            with np.errstate(over="ignore", invalid="ignore"):
                down = negatives * np.exp(-s[0] * step * direction)
                up = positives * np.exp(-s[1] * step * direction)
                slope = float(direction @ (down + up))
                return slope, float(-(direction**2) @ (s[0] * down + s[1] * up))

    else:
        each = rows.spread(slots, direction)

        def trial(step: float) -> tuple[float, float]:
            return rows.along(each, step)[1:]

    step = exact_step(trial, promised, flat=_FLAT)
    if not has_closed_form(rows):
        rows.along(np.zeros(slots.size), 0.0)
    return step * direction


#: How the leaves get their values: from the rows, their leaves, sums over the leaves, and the pairs of the rows.
ALGORITHMS: dict[str, Callable[[BoostedRows, np.ndarray, np.ndarray, np.ndarray], np.ndarray]] = {
    "discrete": discrete,
    "real": real,
    "gradient": gradient,
}
