"""Search for a table of bounds of psi."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from uneven._hull import lower_hull
from uneven.calibration.claim import Claim
from uneven.calibration.proof.attempt import Attempt, NotShown, Proof
from uneven.calibration.proof.hints import simplest_between
from uneven.calibration.proof.numbers import number
from uneven.calibration.proof.psi import SIDES, Contact, EtaNode, lower_vertices, upper_vertices
from uneven.calibration.proof.psi_hull import on_hull
from uneven.calibration.proof.search import Exhausted
from uneven.errors import LossError, ParameterError

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
    nodes = {}
    for side, room in rooms(alpha).items():
        mesh = {*_mesh(room, *_COARSE[affine]), *(value for value in eps if value <= room)}
        nodes[side] = nodes_at(attempt, alpha, side, sorted(mesh), affine=affine, place=_short)
    hull = float_hull(attempt, alpha, nodes)
    wanted = {eta for value in eps for eta in etas_around(hull, value)}
    contacts = [contact_at(attempt, alpha, eta) for eta in sorted(wanted)]
    lower, upper = lower_vertices(attempt.rules, alpha, nodes), upper_vertices(alpha, contacts)
    rows = [
        {
            "eps": number(value),
            "lower": number(_rounded(on_hull(lower, value), -1)),
            "upper": number(_rounded(on_hull(upper, value), 1)),
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


def _rounded(value: Fraction, direction: int) -> Fraction:
    """A nonnegative number rounded down (direction -1) or up to a short decimal."""
    if value == 0:
        return value
    size = len(str(value.numerator)) - len(str(value.denominator))
    unit = Fraction(10) ** (size - _DIGITS)
    return (value // unit) * unit if direction < 0 else -(-value // unit) * unit
