"""Move slopes at kinks until all slopes sum to 0, as a free intercept demands, at the least cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from uneven.solvers.linear.objective import Objective


class Multipliers(Protocol):
    """What an augmented Lagrangian knows: scores t, and multipliers u in [0, jump] for each kink and row."""

    objective: Objective
    t: np.ndarray
    u: np.ndarray
    kinks: np.ndarray
    jumps: np.ndarray


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


def moves(state: Multipliers, excess: float, *, free_only: bool = False) -> list[Move]:
    """Change multipliers until the slopes, which sum to ``excess``, sum to 0, or as far as possible.

    A multiplier u with 0 < u < J is free: at its row's score the line of any slope between 0 and J supports
    J relu(m - k) equally well, if the score is at the kink. If these are not enough, the multipliers of the rows
    nearest to their kinks are moved too.
    """
    if not excess or not state.u.size:
        return []
    free = _rooms(state, excess, free=True)
    available = sum(float(part.gain.sum()) for part in free)
    share = min(1.0, abs(excess) / available) if available > 0 else 0.0
    changes = [(part, share * part.room) for part in free]
    if available < abs(excess) and not free_only:
        changes += _nearest(state, _rooms(state, excess, free=False), abs(excess) - available)
    return [_moved(state, part, change) for part, change in changes if part.rows.size]


def _rooms(state: Multipliers, excess: float, *, free: bool) -> list[_Room]:
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


def _nearest(state: Multipliers, rooms: list[_Room], wanted: float) -> list[tuple[_Room, np.ndarray]]:
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


def _moved(state: Multipliers, part: _Room, change: np.ndarray) -> Move:
    """Change some multipliers of one kink; returns by how much the slopes in the score changed."""
    moving = np.flatnonzero(change)
    rows, change = part.rows[moving], change[moving]
    before = state.u[part.kink, rows].astype(np.float64)
    state.u[part.kink, rows] = np.clip(before + change, 0.0, state.jumps[state.objective.y[rows], part.kink])
    return Move(part.kink, rows, part.weight[moving] * (state.u[part.kink, rows] - before))
