"""Loops over rows whose cheapest action changes along a line: lower envelopes of a few straight lines each."""

from __future__ import annotations

import numpy as np
from numba import njit

from uneven.solvers.loops.compile_options import IN_ORDER


@njit(**IN_ORDER)
def costs_along(
    shares: np.ndarray,
    tilts: np.ndarray,
    regrets: np.ndarray,
    truth: np.ndarray,
    weight: np.ndarray,
    moved: int,
    reach: float,
    steps: int,
) -> np.ndarray:
    """What the cheapest actions cost if the share of one class is multiplied by exp(-u), at ``steps`` values of u.

    Row i of draw m takes the action a of least sum_y shares[i, y] tilts[m, y] regrets[i, y, a], where the share of the
    class ``moved`` is multiplied by exp(-u), and pays weight[i] tilts[m, truth[i]] regrets[i, truth[i], a]. Along u the
    sum is a line in exp(-u) for each action, so the actions taken are those of a lower envelope, and no u is tried.

    Returns
    -------
    ndarray of shape (steps,)
        Sums over rows, means over draws, at steps equal values of u from -reach to reach.
    """
    rows, classes = shares.shape
    draws, actions = tilts.shape[0], regrets.shape[2]
    one_matrix = regrets.shape[0] == 1
    changes = np.zeros(steps + 1)
    rest, slope = np.empty(actions), np.empty(actions)
    first, last = np.exp(reach), np.exp(-reach)
    per_unit = (steps - 1) / (2 * reach)
    for i in range(rows):
        matrix = regrets[0 if one_matrix else i]
        own = matrix[truth[i]]
        for m in range(draws):
            tilt = tilts[m]
            for a in range(actions):
                rest[a] = 0.0
                slope[a] = shares[i, moved] * tilt[moved] * matrix[moved, a]
            for y in range(classes):
                if y != moved:
                    share = shares[i, y] * tilt[y]
                    for a in range(actions):
                        rest[a] += share * matrix[y, a]
            best = 0
            for a in range(1, actions):
                if rest[a] + first * slope[a] < rest[best] + first * slope[best]:
                    best = a
            paid = weight[i] * tilt[truth[i]]
            changes[0] += paid * own[best]
            while True:
                place, follower = last, -1
                for a in range(actions):
                    if slope[a] > slope[best]:
                        crossing = (rest[best] - rest[a]) / (slope[a] - slope[best])
                        if crossing > place or (follower >= 0 and crossing == place and slope[a] > slope[follower]):
                            place, follower = crossing, a
                if follower < 0:
                    break
                at = int(np.ceil((reach - np.log(min(place, first))) * per_unit))
                changes[min(max(at, 0), steps)] += paid * (own[follower] - own[best])
                best = follower
    return np.cumsum(changes[:steps]) / draws
