"""psi from nu: the intervals (gaps) on which the convex hull lies below nu, and the chords there.

b and B are the smaller and the larger of alpha and 1 - alpha. nu is lower semicontinuous on [0, B] and continuous
except for a possible jump up just right of b. It may have concave kinks where its two branches cross. psi equals nu
except on finitely many gaps; over each gap, psi is a chord between two contacts with nu. The gaps are found on a mesh,
and then their contacts are refined. A contact is a point of tangency or an end point, so a small error in its place
changes the chord only to second order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from uneven._hull import lower_hull

Function = Callable[[np.ndarray], np.ndarray]
Branches = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
# Zooms in each round of refinement: a zoom looks at a window around the best contact, 16 times narrower than before.
_ROUNDS = (11, 6)
_PASSES = 5
_STENCIL = np.linspace(-0.5, 0.5, 33)


@dataclass(frozen=True)
class Gap:
    """An interval on which psi is the chord from (left, at_left) to (right, at_right)."""

    left: float
    right: float
    at_left: float
    at_right: float

    def value(self, eps: np.ndarray) -> np.ndarray:
        share = (eps - self.left) / (self.right - self.left)
        return self.at_left + share * (self.at_right - self.at_left)


def mesh(b: float, end: float) -> np.ndarray:
    """Nodes of [0, end], dense at 0, on both sides of b, and at the end."""
    powers = 2.0 ** -np.arange(0, 44, 1.0)
    inside = np.concatenate([np.linspace(0, 1, 129), powers, 1 - powers])
    nodes = np.concatenate([b * inside, b + (end - b) * inside, [0.0, b, end]])
    return np.unique(np.clip(nodes, 0.0, end))


def find_gaps(nu: Function, branches: Branches, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[Gap]]:
    """The nodes (more of them around crossings of the branches), nu at the nodes, and the gaps of its convex hull."""
    crossings = _crossings(branches, nodes)
    if crossings.size:
        spread = 2.0 ** -np.arange(6, 40, 1.0)
        around = np.concatenate([crossings * (1 + s) for s in (*spread, *-spread, 0.0)])
        nodes = np.unique(np.clip(np.concatenate([nodes, around]), 0.0, nodes[-1]))
    values = nu(nodes)
    cells = nodes
    gaps: list[Gap] = []
    for _ in range(_PASSES):
        # If one contact moves, the slope of the chord changes, and so does the place of the other contact.
        contacts = np.array([(gap.left, gap.at_left, gap.right, gap.at_right) for gap in gaps]).reshape(-1, 2)
        nodes, first = np.unique(np.append(nodes, contacts[:, 0]), return_index=True)
        values = np.append(values, contacts[:, 1])[first]
        hull = lower_hull(nodes.tolist(), values.tolist())
        found = [(i, j) for i, j in pairwise(hull) if j - i > 1 and _is_gap(nodes, values, i, j)]
        wide = np.array(found, dtype=int).reshape(-1, 2)
        before, gaps = gaps, _refined(nu, cells, nodes[wide], values[wide], rounds=(2,))
        if len(before) == len(gaps) and all(map(_close, before, gaps)):
            break
    return nodes, values, _refined(nu, cells, nodes[wide], values[wide], rounds=_ROUNDS)


def _close(one: Gap, other: Gap) -> bool:
    """Whether both contacts moved by only a small part of the gap."""
    return max(abs(one.left - other.left), abs(one.right - other.right)) <= 1e-3 * (other.right - other.left)


def _is_gap(x: np.ndarray, y: np.ndarray, i: int, j: int) -> bool:
    """Whether the graph rises above the chord by more than rounding."""
    between = slice(i + 1, j)
    chord = y[i] + (x[between] - x[i]) * (y[j] - y[i]) / (x[j] - x[i])
    rounding = 1e-13 + 4e-16 * x[-1] / x[between]
    return bool(np.any(y[between] - chord > rounding * np.abs(y[between])))


def _crossings(branches: Branches, nodes: np.ndarray) -> np.ndarray:
    """The eps at which the two branches of nu cross."""

    def excess(x: np.ndarray) -> np.ndarray:
        up, down = branches(x)
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(up) & np.isfinite(down), up - down, np.nan)

    at_nodes = excess(nodes)
    # Near 0 the branches agree to leading order and differ only by rounding; a kink there does not change psi.
    crossed = (np.sign(at_nodes[:-1]) * np.sign(at_nodes[1:]) < 0) & (nodes[:-1] > 1e-5 * nodes[-1])
    cells = np.flatnonzero(crossed)
    return zero_between(lambda x, _: excess(x), nodes[cells], nodes[cells + 1], at_nodes[cells], at_nodes[cells + 1])


def zero_between(
    function: Callable[[np.ndarray, np.ndarray], np.ndarray],
    low: np.ndarray,
    high: np.ndarray,
    at_low: np.ndarray,
    at_high: np.ndarray,
) -> np.ndarray:
    """Zeros of ``function(x, rows)`` in brackets over which it changes sign, by the Illinois method, to 1e-12."""
    low, high, at_low, at_high = low.copy(), high.copy(), at_low.copy(), at_high.copy()
    best, kept = low.copy(), np.zeros(low.size)
    live = np.arange(low.size)
    for _ in range(100):
        if live.size == 0:
            break
        x0, x1, f0, f1 = low[live], high[live], at_low[live], at_high[live]
        with np.errstate(invalid="ignore", divide="ignore"):
            guess = x0 - f0 * (x1 - x0) / (f1 - f0)
        guess = np.where((guess > x0) & (guess < x1), guess, 0.5 * (x0 + x1))
        value = function(guess, live)
        left = np.sign(value) == np.sign(f0)
        # The Illinois rule: if an end stays twice in a row, halve its value, so that both ends move.
        stale = kept[live] == np.where(left, 1, -1)
        low[live], at_low[live] = np.where(left, guess, x0), np.where(left, value, np.where(stale, f0 / 2, f0))
        high[live], at_high[live] = np.where(left, x1, guess), np.where(left, np.where(stale, f1 / 2, f1), value)
        kept[live] = np.where(left, 1, -1)
        moved = np.abs(guess - best[live])
        best[live] = guess
        live = live[(moved > 1e-12 * np.abs(guess)) & (value != 0)]
    return best


def _refined(
    nu: Function, cells: np.ndarray, contact: np.ndarray, value: np.ndarray, *, rounds: tuple[int, ...]
) -> list[Gap]:
    """Move contacts, one row (left, right) per gap, to where a line with the slope of the chord touches nu."""
    if contact.size == 0:
        return []
    start = contact
    place = np.searchsorted(cells, contact)
    least = cells[np.maximum(place - 3, 0)]
    most = cells[np.minimum(place + 2, cells.size - 1)]
    middle = contact.mean(axis=1)  # the two contacts of a gap must not meet
    least[:, 1], most[:, 0] = np.maximum(least[:, 1], middle), np.minimum(most[:, 0], middle)
    for zooms in rounds:
        # The second round starts with the full window again. By then the slope is right, so a contact that a wrong
        # slope had misplaced can move.
        slope, still = np.zeros(len(contact)), 0
        for zoom in range(zooms):
            before, slope = slope, (value[:, 1] - value[:, 0]) / (contact[:, 1] - contact[:, 0])
            still = still + 1 if np.all(np.abs(slope - before) <= 1e-15 * np.abs(slope)) else 0
            if still == 3 and zoom > 5:  # a smooth contact settles early; a kink needs every zoom
                break
            reach = (most - least) * 16.0**-zoom
            fine = np.clip(contact[..., None] + reach[..., None] * _STENCIL, least[..., None], most[..., None])
            fine = np.append(fine, contact[..., None], axis=2)
            values = nu(fine.ravel()).reshape(fine.shape)
            best = np.argmin(values - slope[:, None, None] * fine, axis=2)[..., None]
            contact, value = (np.take_along_axis(array, best, axis=2)[..., 0] for array in (fine, values))
    # Rounding may move a contact at b slightly beyond b: put it back.
    contact = np.where(np.abs(contact - start) <= 1e-15 * start, start, contact)
    return [Gap(*places, *heights) for places, heights in zip(contact.tolist(), value.tolist(), strict=True)]
