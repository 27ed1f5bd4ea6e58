"""nu, mu, psi and the inverse of psi, which bound the cost regret by the surrogate regret (theorem 1).

psi is made from nu: there are intervals (gaps) on which the convex hull lies below nu, and the chords there.

b and B are the smaller and the larger of alpha and 1 - alpha. nu is lower semicontinuous on [0, B] and continuous
except for a possible jump up just right of b. It may have concave kinks where its two branches cross. psi equals nu
except on finitely many gaps; over each gap, psi is a chord between two contacts with nu. The gaps are found on a mesh,
and then their contacts are refined. A contact is a point of tangency or an end point, so a small error in its place
changes the chord only to second order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from uneven._hull import lower_hull
from uneven.calibration.conditional_risk import ConditionalRisk, Probabilities
from uneven.expression.functions import FALLING, RISING
from uneven.losses import Loss, Phi
from uneven.losses.partial import Partial
from uneven.shape.structure import direction_by_structure

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
        before, gaps = gaps, _refine(nu, cells, nodes[wide], values[wide], rounds=(2,))
        if len(before) == len(gaps) and all(map(_close, before, gaps)):
            break
    return nodes, values, _refine(nu, cells, nodes[wide], values[wide], rounds=_ROUNDS)


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


def _refine(
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
            rise, run = value[:, 1] - value[:, 0], contact[:, 1] - contact[:, 0]
            # Contacts that meet belong to a gap that only rounding made: it is empty and changes nothing.
            before, slope = slope, np.divide(rise, run, out=slope.copy(), where=run > 0)
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


# Lemma M: if L1 falls and L-1 rises, then A - B never rises as eta grows, and mu = nu for every alpha.


def falls_and_rises(loss: Loss) -> bool:
    """Whether L1 falls up to a minimiser at t > 0 and L-1 rises from a minimiser at t < 0.

    A t beyond these minimisers is no better for either label, so it can be ignored.
    """
    return all(_moves(partial, sign) for partial, sign in zip(loss.partials, (1, -1), strict=True))


def _moves(partial: Partial, sign: int) -> bool:
    if not isinstance(partial.function, Phi):
        return False
    declared = partial.function.declaration.minimiser if partial.function.built_in else None
    if declared is not None and declared > 0:
        return partial.inner * sign > 0
    return direction_by_structure(partial.tree) == (FALLING if sign > 0 else RISING)


# nu, mu, psi and the inverse of psi, which bound the cost regret by the surrogate regret (theorem 1).

# nu may jump just right of b. An eps that exceeds b only by rounding counts as b, where nu has its smaller, safe value.
_SLACK = 1 + 4 * 2.0**-52


class RegretCurves:
    """H, nu, mu and psi of one loss at one alpha, vectorised."""

    def __init__(self, risk: ConditionalRisk, alpha: Fraction, *, monotone: bool) -> None:
        self.risk = risk
        self.alpha = alpha
        self.monotone = monotone
        self.near = min(alpha, 1 - alpha)
        self.largest = max(alpha, 1 - alpha)
        self.b, self.end = float(self.near), float(self.largest)

    def H(self, points: Probabilities) -> np.ndarray:  # noqa: N802 - the paper's symbol
        """max(0, D) below alpha, max(0, -D) above, 0 at alpha."""
        distance, difference = points.minus(self.alpha), self.risk.sides(points).difference
        return np.where(distance == 0, 0.0, np.maximum(np.where(distance < 0, difference, -difference), 0.0)) + 0.0

    def branches(self, eps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """H(alpha + eps) and H(alpha - eps), infinite outside [0, 1]."""
        offsets, admissible = [], []
        for sign, room in ((1, 1 - self.alpha), (-1, self.alpha)):
            admissible.append(eps <= float(room) * _SLACK)
            inside = eps[admissible[-1]]
            offsets.append(sign * np.minimum(inside, float(room)))
        found = self.H(Probabilities(self.alpha, np.concatenate(offsets)))
        up, down = np.full(eps.shape, np.inf), np.full(eps.shape, np.inf)
        up[admissible[0]], down[admissible[1]] = np.split(found, [offsets[0].size])
        return up, down

    def nu(self, eps: np.ndarray) -> np.ndarray:
        up, down = self.branches(eps)
        return np.minimum(up, down)

    @cached_property
    def _hull(self) -> tuple[np.ndarray, np.ndarray, list[Gap]]:
        return find_gaps(self.nu, self.branches, mesh(self.b, self.end))

    @property
    def gaps(self) -> list[Gap]:
        return self._hull[2]

    def mu(self, eps: np.ndarray) -> np.ndarray:
        """The infimum of nu over [eps, B]: nu itself if Lemma M applies, else from the minima of nu on the mesh."""
        value = self.nu(eps)
        if self.monotone:
            return value
        nodes, values = self._descents
        suffix = np.minimum.accumulate(values[::-1])[::-1]
        following = np.searchsorted(nodes, eps, side="left")
        beyond = np.append(suffix, np.inf)[following]
        return np.minimum(value, beyond)

    @cached_property
    def _descents(self) -> tuple[np.ndarray, np.ndarray]:
        """Mesh nodes and refined local minima of nu."""
        nodes, values = self._hull[0], self._hull[1]
        for _ in range(6):
            dips = np.flatnonzero((values[1:-1] < values[:-2]) & (values[1:-1] <= values[2:])) + 1
            if dips.size == 0:
                break
            extra = np.concatenate([np.linspace(nodes[k - 1], nodes[k + 1], 17) for k in dips[:20]])
            nodes = np.union1d(nodes, extra)
            values = self.nu(nodes)
        return nodes, values

    def psi(self, eps: np.ndarray) -> np.ndarray:
        """The convex hull of nu: chords over the gaps, nu elsewhere."""
        outside = np.ones(eps.shape, dtype=bool)
        value = np.empty(eps.shape)
        for gap in self.gaps:
            inside = (eps > gap.left) & (eps < gap.right)
            value[inside] = gap.value(eps[inside])
            outside &= ~inside
        value[outside] = self.nu(eps[outside])
        return value

    @cached_property
    def _table(self) -> tuple[np.ndarray, np.ndarray]:
        nodes = np.union1d(self._hull[0], [x for gap in self.gaps for x in (gap.left, gap.right)])
        return nodes, np.maximum.accumulate(self.psi(nodes))

    def psi_inverse(self, r: np.ndarray) -> np.ndarray:
        """sup{eps <= B: psi(eps) <= r}."""
        nodes, values = self._table
        cell = np.searchsorted(values, r, side="right")  # values[cell - 1] <= r < values[cell]
        result = np.full(r.shape, self.end)
        rows = np.flatnonzero((cell < nodes.size) & (r > 0))
        low, high = cell[rows] - 1, cell[rows]
        target = r[rows]
        result[rows] = zero_between(
            lambda eps, live: self.psi(eps) - target[live],
            nodes[low],
            nodes[high],
            values[low] - target,
            values[high] - target,
        )
        if np.any((r == 0) & (cell < nodes.size)):
            result[r == 0] = self._end_of_zeros
        return result

    @cached_property
    def _end_of_zeros(self) -> float:
        """The largest eps with psi(eps) = 0; it is 0 for a calibrated loss."""
        nodes, values = self._table
        first = int(np.searchsorted(values, 0.0, side="right"))
        low, high = nodes[first - 1], nodes[first]
        while low < (middle := 0.5 * (low + high)) < high:
            low, high = (middle, high) if self.psi(np.array([middle]))[0] <= 0 else (low, middle)
        return float(low)
