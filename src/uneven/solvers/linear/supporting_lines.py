"""Lines that support the losses of all rows, and the lower bound of the objective that they give.

A free intercept demands that the slopes of all lines sum to 0. Slopes at kinks are moved until they do, at the least
cost, and so is the intercept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uneven.solvers.linear.lagrangian import Lagrangian


def set_multipliers_from_scores(state: Lagrangian) -> None:
    """Give each row the slope of its loss: the whole jump right of a kink, none left of it."""
    if state.smooth:
        return
    y = state.objective.y
    margins = state.objective.pair.scales[y] * state.t
    for j, row in enumerate(state.u):
        row[:] = np.where(margins > state.kinks[y, j], state.jumps[y, j], 0.0)


def bounds(state: Lagrangian, gradient: np.ndarray) -> tuple[float, float]:
    """The objective and a lower bound of its minimum, for a solver to know when to stop.

    To be called after :meth:`Lagrangian.update`, with the gradient from before it. Errors of rounding are only
    estimated here; :func:`uneven.solvers.linear.proof.prove` bounds them.
    """
    value, constant = state.sums()
    support = gradient.copy()
    support[:-1] -= state.penalty * state.theta[:-1]
    if state.objective.fit_intercept:
        excess = support[-1]
        for move in move_multipliers(state, excess):
            y = state.objective.y[move.rows]
            constant -= float((move.change / state.objective.pair.scales[y]) @ state.kinks[y, move.kink])
            support[-1] += move.change.sum()
            support[:-1] += state.objective.design.combine(move.rows, move.change)
        constant -= abs(support[-1]) * (1 + abs(state.theta[-1]))
    return value, float(constant) - float(support[:-1] @ support[:-1]) / (2 * state.penalty)


def balance(state: Lagrangian, enough: float) -> None:
    """Make the slopes of the lines sum to 0, or to at most ``enough``.

    Slopes at kinks are moved where that costs nothing; then b is moved, which changes the slopes of curved parts;
    then the slopes at the nearest kinks, which raises the losses above their lines.
    """
    sigma, state.sigma = state.sigma, np.inf
    excess, curvature = state.along(None, 0.0)
    curved = not state.objective.pair.polygons
    if state.u.size and abs(excess) > enough:
        move_multipliers(state, excess, free_only=curved)
        excess, curvature = state.along(None, 0.0)
    if curved and abs(excess) > enough:
        excess = _centre(state, enough, excess, curvature)
        if state.u.size and abs(excess) > enough:
            move_multipliers(state, excess)
    state.sigma = sigma


def _centre(state: Lagrangian, enough: float, slope: float, curvature: float) -> float:
    """Move b until the slopes sum to at most ``enough``, or as far as floating point can. Returns their sum.

    ``slope`` and ``curvature`` are those of the sum of the losses in b before.
    """
    low, high, at, reach = -np.inf, np.inf, 0.0, 1e-3 * (1 + abs(float(state.theta[-1])))
    best, least = 0.0, slope
    for trial in range(100):
        if trial:
            slope, curvature = state.along(None, at)
        if abs(slope) < abs(least):
            best, least = at, slope
        if abs(slope) <= enough:
            break
        low, high = (low, at) if slope > 0 else (at, high)
        newton = at - slope / curvature if curvature > 0 else np.nan
        if low < newton < high and abs(newton - at) <= 1e3 * reach:
            at = newton
        elif np.isfinite(high - low):
            at = 0.5 * (low + high)
        else:
            at = high - reach if slope > 0 else low + reach
            reach *= 4
        if not low < at < high:
            break
    state.move_scores(None, best)
    state.theta = state.theta.copy()
    state.theta[-1] += best
    return least


# -- slopes at kinks ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Move:
    """Changes of the slopes (in the score) of some rows at one kink."""

    kink: int
    rows: np.ndarray
    change: np.ndarray


@dataclass(frozen=True)
class _Room:
    """Some multipliers of one kink: the factors of their slopes in the sum, and how far each may move."""

    kink: int
    rows: np.ndarray
    weight: np.ndarray
    room: np.ndarray

    @property
    def gain(self) -> np.ndarray:
        return np.abs(self.weight * self.room)


def move_multipliers(state: Lagrangian, excess: float, *, free_only: bool = False) -> list[Move]:
    """Change multipliers until the slopes, which sum to ``excess``, sum to 0, or as far as possible.

    A multiplier u with 0 < u < J is free: at its row's score the line of any slope between 0 and J supports
    J relu(m - k) equally well, if the score is at the kink. If these are not enough, the multipliers of the rows
    nearest to their kinks are moved too.
    """
    if not excess or not state.u.size:
        return []
    free = _find_rooms(state, excess, free=True)
    available = sum(float(part.gain.sum()) for part in free)
    share = min(1.0, abs(excess) / available) if available > 0 else 0.0
    changes = [(part, share * part.room) for part in free]
    if available < abs(excess) and not free_only:
        changes += _move_nearest(state, _find_rooms(state, excess, free=False), abs(excess) - available)
    return [_move(state, part, change) for part, change in changes if part.rows.size]


def _find_rooms(state: Lagrangian, excess: float, *, free: bool) -> list[_Room]:
    """The multipliers that are free, or the others."""
    objective, found = state.objective, []
    for j, slopes in enumerate(state.u):
        jumps = state.jumps[:, j].astype(slopes.dtype)
        inside = (slopes > 0) & (slopes < jumps[objective.y])
        rows = np.flatnonzero(inside if free else ~inside)
        y, u = objective.y[rows], slopes[rows].astype(np.float64)
        weight = objective.factors(rows) * objective.pair.scales[y]
        found.append(_Room(j, rows, weight, np.where(weight * excess < 0, state.jumps[y, j] - u, -u)))
    return found


def _move_nearest(state: Lagrangian, rooms: list[_Room], wanted: float) -> list[tuple[_Room, np.ndarray]]:
    """How far multipliers move whose rows are not at their kinks: the nearest first, until the sum is reached."""
    objective = state.objective
    distance = []
    for part in rooms:
        y = objective.y[part.rows]
        distance.append(np.abs(state.t[part.rows] - state.kinks[y, part.kink] / objective.pair.scales[y]))
    gain = np.concatenate([part.gain for part in rooms])
    order = np.argsort(np.concatenate(distance))
    order = order[gain[order] > 0]
    before = np.cumsum(gain[order]) - gain[order]
    share = np.zeros(gain.size)
    share[order] = np.clip((wanted - before) / gain[order], 0.0, 1.0)
    shares = np.split(share, np.cumsum([part.rows.size for part in rooms])[:-1])
    return [(part, one * part.room) for part, one in zip(rooms, shares, strict=True)]


def _move(state: Lagrangian, part: _Room, change: np.ndarray) -> Move:
    """Change some multipliers of one kink; returns by how much the slopes in the score changed."""
    moving = np.flatnonzero(change)
    rows, change = part.rows[moving], change[moving]
    before = state.u[part.kink, rows].astype(np.float64)
    state.u[part.kink, rows] = np.clip(before + change, 0.0, state.jumps[state.objective.y[rows], part.kink])
    return Move(part.kink, rows, part.weight[moving] * (state.u[part.kink, rows] - before))
