"""Search for proved bounds of psi from below and above, and for a table of them."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from uneven._hull import lower_hull
from uneven.calibration.search.attempt import Attempt, NotShown, Proof
from uneven.calibration.search.cells import Exhausted
from uneven.calibration.search.hints import simplest_between
from uneven.calibration.search.prover import Limits, attempt_at, decide, for_scores_within
from uneven.calibration.trusted.claims import Claim, number
from uneven.calibration.trusted.psi import (
    SIDES,
    Contact,
    EtaNode,
    Vertex,
    inverse_on_hull,
    lower_vertices,
    on_hull,
    upper_vertices,
)
from uneven.calibration.trusted.rules import at
from uneven.errors import LossError, ParameterError
from uneven.losses import Loss
from uneven.ops.balls import Undefined, shared_lock

_DIGITS = 13
#: Number of evenly spaced nodes, and of octaves near 0; by whether the wrong-side risk is known to be affine.
_COARSE = {True: (48, 12), False: (12, 3)}


def psi_alpha(claim: Claim) -> Fraction:
    """The alpha of the psi table: the one asked for, else the proved one, else a short one in the proved interval."""
    if claim.alpha is not None:
        return claim.alpha
    if claim.only.interval is not None:
        low, high = claim.only.interval
        return low if low == high else simplest_between(low, high)
    raise LossError("a psi table needs an alpha, and this loss is calibrated for none; give one, such as alpha=0.25")


def psi_table(attempt: Attempt, proof: Proof, alpha: Fraction, eps: list[Fraction]) -> dict[str, Any]:
    """Bounds of psi at each eps, with their proof, as the JSON holds them."""
    largest = max(alpha, 1 - alpha)
    for value in eps:
        if not 0 <= value <= largest:
            raise ParameterError(f"psi is defined from 0 to {float(largest):.6g}, got {float(value):.6g}")
    affine = proof.shows_affine_wrong_side(alpha)
    jumps = attempt.hints.solver.jumps_at_zero  # then a tiny t must not be rounded to 0
    nodes = {}
    for side, room in rooms(alpha).items():
        mesh = {*_mesh(room, *_COARSE[affine]), *(value for value in eps if value <= room)}
        place = (lambda t: _short(t) or t) if jumps else _short
        nodes[side] = nodes_at(attempt, alpha, side, sorted(mesh), affine=affine, place=place)
    hull = float_hull(attempt, alpha, nodes)
    wanted = {eta for value in eps for eta in etas_around(hull, value)}
    contacts = [contact_at(attempt, alpha, eta) for eta in sorted(wanted)]
    lower, upper = lower_vertices(attempt.rules, alpha, nodes), upper_vertices(alpha, contacts)
    rows = [
        {
            "eps": number(value),
            "lower": number(_round_to_decimal(on_hull(lower, value), -1)),
            "upper": number(_round_to_decimal(on_hull(upper, value), 1)),
        }
        for value in eps
    ]
    return {
        "alpha": number(alpha),
        "affine": affine,
        "rows": rows,
        **{name: [node.to_dict() for node in nodes[side]] for name, side in SIDES.items()},
        "contacts": [contact.to_dict() for contact in contacts],
    }


def rooms(alpha: Fraction) -> dict[int, Fraction]:
    """The distances from alpha to 1 (side 1) and to 0 (side -1)."""
    return {1: 1 - alpha, -1: alpha}


def _mesh(room: Fraction, even: int, octaves: int) -> set[Fraction]:
    """Distances from alpha: evenly spaced, with smaller steps at both ends."""
    halves = [room / even / 2**k for k in range(1, octaves)]
    return {*(room * Fraction(k, even) for k in range(even + 1)), *halves, *(room - x for x in halves)}


def nodes_at(
    attempt: Attempt,
    alpha: Fraction,
    side: int,
    mesh: list[Fraction],
    *,
    affine: bool,
    place: Callable[[Fraction], Fraction] = lambda t: t,
) -> list[EtaNode]:
    """Nodes at these distances from alpha, both ends first, until the budget is used up.

    ``place`` may round the t whose risk bounds the optimal one, because any t gives a valid bound.
    """
    found: dict[Fraction, EtaNode] = {}
    best = attempt.hints.minimisers(side, [alpha + side * x for x in mesh])
    minimiser = dict(zip(mesh, best, strict=True))
    if not affine:
        attempt.hints.minimisers(-side, [alpha + side * x for x in mesh])  # for the floors; all at once is faster
    for x in _ends_first(mesh):
        eta = alpha + side * x
        try:
            floor = None if affine else attempt.best_floor(eta, -side)
        except NotShown:
            if x in (mesh[0], mesh[-1]):
                raise
            continue
        except Exhausted:
            if len(found) < 2:
                raise
            break
        found[x] = EtaNode(eta, place(minimiser[x]), floor)
    return [found[x] for x in sorted(found)]


def _ends_first(mesh: list[Fraction]) -> list[Fraction]:
    """Both ends, then the middle, then the middles of the halves, and so on."""
    order, pending = [mesh[0], mesh[-1]], [(0, len(mesh) - 1)]
    while pending:
        low, high = pending.pop(0)
        middle = (low + high) // 2
        if low < middle < high:
            order.append(mesh[middle])
            pending += [(low, middle), (middle, high)]
    return order


def _short(t: Fraction) -> Fraction:
    """A nearby number with few digits; near a minimum the risk changes very little."""
    return t.limit_denominator(10**7)


def float_hull(attempt: Attempt, alpha: Fraction, nodes: dict[int, list[EtaNode]]) -> dict[Fraction, Fraction]:
    """The vertices of the lower hull of nu, computed in floats: distances from alpha, in order, and their etas."""
    lowest: dict[Fraction, tuple[float, Fraction]] = {Fraction(0): (0.0, alpha)}
    for side, row in nodes.items():
        etas = [node.eta for node in row]
        right, wrong = attempt.hints.minima(side, etas), attempt.hints.minima(-side, etas)
        for eta, gap in zip(etas, np.maximum(wrong - right, 0.0).tolist(), strict=True):
            x = abs(eta - alpha)
            if x > 0:
                lowest[x] = min(lowest.get(x, (gap, eta)), (gap, eta))
    xs = sorted(lowest)
    kept = lower_hull([float(x) for x in xs], [lowest[x][0] for x in xs])
    return {xs[k]: lowest[xs[k]][1] for k in kept}


def etas_around(hull: dict[Fraction, Fraction], eps: Fraction) -> list[Fraction]:
    """The etas of the two vertices around eps, or of the vertex at eps; without alpha."""
    vertices = list(hull)
    k = bisect_left(vertices, eps)
    around = vertices[k : k + 1] if vertices[k] == eps else vertices[k - 1 : k + 1]
    return [hull[x] for x in around if x > 0]


def contact_at(attempt: Attempt, alpha: Fraction, eta: Fraction) -> Contact:
    """An upper bound of H at eta."""
    side = 1 if eta > alpha else -1
    return Contact(attempt.point(eta, -side), attempt.best_floor(eta, side))


def _round_to_decimal(value: Fraction, direction: int) -> Fraction:
    """A nonnegative number rounded down (direction -1) or up to a short decimal."""
    if value == 0:
        return value
    size = len(str(value.numerator)) - len(str(value.denominator))
    unit = Fraction(10) ** (size - _DIGITS)
    return (value // unit) * unit if direction < 0 else -(-value // unit) * unit


# Proved bounds of psi from below and above, for one loss and one alpha.

_MOST_CELLS = 100_000
#: Held while bounds are computed: all threads that use an analysis share one budget, and what was found so far.
_LOCK = shared_lock()
#: Number of evenly spaced nodes, number of octaves of smaller and smaller distances from alpha, and nodes per octave;
#: by whether the wrong-side risk is known to be affine. If it is, a node costs one evaluation; if not, a search.
_FINE = {True: (64, 24, 4), False: (16, 8, 1)}


class PsiBounds:
    """Piecewise linear bounds of psi, for scores within a bound if there is one.

    The rules of the prover make them when they are first needed.
    """

    def __init__(self, loss: Loss, alpha: Fraction, score_bound: Fraction | None = None) -> None:
        self.alpha = alpha
        self.largest = max(alpha, 1 - alpha)
        start = time.monotonic()
        self._affine = decide(for_scores_within(loss, score_bound), alpha).proof.shows_affine_wrong_side(alpha)
        left = max(Limits().seconds - (time.monotonic() - start), 0)  # one budget for the call that comes here first
        bounded = loss if score_bound is None else loss.clipped(score_bound)
        self._attempt = attempt_at(bounded, Limits(cells=_MOST_CELLS, seconds=left), shorten=False)
        self._begun = False
        self._contacts: dict[Fraction, Contact] = {}

    @contextmanager
    def turn(self) -> Iterator[PsiBounds]:
        """Give a call of the user its own budget; the first call shares it with the proof made before.

        Looser bounds that a busy machine left in an earlier call are forgotten.
        """
        with _LOCK:
            budget = self._attempt.search.budget
            if budget.starved:
                for name in ("_nodes", "_lower", "_float_hull"):
                    self.__dict__.pop(name, None)
            if self._begun:
                budget.restart(Limits().seconds)
            self._begun = True
            yield self

    @cached_property
    def _nodes(self) -> dict[int, list[EtaNode]]:
        return {
            side: nodes_at(self._attempt, self.alpha, side, self._mesh(room), affine=self._affine)
            for side, room in rooms(self.alpha).items()
        }

    def _mesh(self, room: Fraction) -> list[Fraction]:
        """Distances from alpha, dense at both ends; with min(alpha, 1 - alpha), at which psi may have a kink."""
        count, depth, per_octave = _FINE[self._affine]
        even = [room * Fraction(k, count) for k in range(count + 1)]
        shrunk = [Fraction(round(2 ** (-k / per_octave) * 2**40), 2**40) for k in range(1, depth * per_octave)]
        ends = [room * x / count for x in shrunk]
        near = 1 - self.largest
        return sorted({*even, *ends, *(room - x for x in ends[:: 2 * per_octave]), *([near] if near <= room else [])})

    @cached_property
    def _lower(self) -> list[Vertex]:
        try:
            return lower_vertices(self._attempt.rules, self.alpha, self._nodes)
        except (NotShown, Exhausted, Undefined):  # psi is never negative
            return [(Fraction(0), Fraction(0)), (self.largest, Fraction(0))]

    def bounds(self, eps: Fraction) -> tuple[Fraction, Fraction]:
        """Rationals below and above psi(eps)."""
        lower = on_hull(self._lower, eps)
        try:
            contacts = [self._contact(eta) for eta in etas_around(self._float_hull, eps)]
            upper = on_hull(upper_vertices(self.alpha, contacts), eps)
        except (NotShown, Exhausted, Undefined):
            upper = self._without_search(eps)
        return min(lower, upper), upper

    def _without_search(self, eps: Fraction) -> Fraction:
        """psi is convex and 0 at 0; at its end it is at most the risk of a wrong decision at the farthest eta."""
        above = 1 - self.alpha == self.largest
        wrong = self._attempt.nearest(-1 if above else 1)
        return self._attempt.rules.upper_at(at(Fraction(1 if above else 0)), wrong) * eps / self.largest

    @cached_property
    def _float_hull(self) -> dict[Fraction, Fraction]:
        return float_hull(self._attempt, self.alpha, self._nodes)

    def _contact(self, eta: Fraction) -> Contact:
        if eta not in self._contacts:
            self._contacts[eta] = contact_at(self._attempt, self.alpha, eta)
        return self._contacts[eta]

    def inverse_of_lower(self, r: Fraction) -> Fraction:
        """sup{eps: lower bound of psi(eps) <= r}, an upper bound of the inverse of psi at r."""
        found = inverse_on_hull(self._lower, r)
        return self.largest if found is None else found
