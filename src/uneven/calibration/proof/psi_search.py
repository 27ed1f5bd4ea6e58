"""Find a table of bounds of psi."""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from typing import Any

from uneven._hull import lower_hull
from uneven.calibration.certificate.document import Claim, number
from uneven.calibration.enclosure import on_hull
from uneven.calibration.proof.attempt import Attempt, NotShown
from uneven.calibration.proof.hints import simplest_between
from uneven.calibration.proof.psi import SIDES, Contact, EtaNode, lower_vertices, upper_vertices
from uneven.errors import LossError

_NODES = {True: (48, 12), False: (12, 3)}  # even nodes and octaves near 0, for an affine wrong side or another
_DIGITS = 13


def psi_alpha(claim: Claim, asked: Fraction | None) -> Fraction:
    """The alpha for which psi is bounded: the one asked for or proved, else a simple one in the proved interval."""
    if asked is not None:
        return asked
    if claim["kind"] == "calibrated":
        return Fraction(claim["alpha"])
    if claim["kind"] == "calibrated within":
        return simplest_between(Fraction(claim["low"]), Fraction(claim["high"]))
    raise LossError("a psi table needs an alpha here: the loss has none of its own; give one, as in alpha=0.25")


def prove_psi(attempt: Attempt, alpha: Fraction, eps: list[Fraction], *, affine: bool) -> dict[str, Any]:
    """The table, ready for the document."""
    largest = max(alpha, 1 - alpha)
    for value in eps:
        if not 0 <= value <= largest:
            raise LossError(f"psi is defined from 0 to {float(largest):.6g}, got {float(value):.6g}")
    nodes = {side: _nodes(attempt, alpha, side, eps, affine=affine) for side in SIDES.values()}
    contacts = _contacts(attempt, alpha, eps, nodes)
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


def _nodes(attempt: Attempt, alpha: Fraction, side: int, eps: list[Fraction], *, affine: bool) -> list[EtaNode]:
    room = 1 - alpha if side > 0 else alpha
    even, octaves = _NODES[affine]
    mesh = {room * Fraction(k, even) for k in range(even + 1)}
    mesh |= {room / even / 2**k for k in range(1, octaves)} | {room - room / even / 2**k for k in range(1, octaves)}
    mesh |= {value for value in eps if value <= room}
    nodes = []
    for x in sorted(mesh):
        eta = alpha + side * x
        try:
            floor = None if affine else attempt.best_floor(eta, -side)
        except NotShown:
            if x in (0, room):
                raise
            continue
        nodes.append(EtaNode(eta, _simple(attempt.hints.minimiser(side, eta)), floor))
    return nodes


def _simple(t: Fraction) -> Fraction:
    """A nearby number of few digits: any t gives a valid bound, and near a minimum a close one."""
    return t.limit_denominator(10**7)


def _contacts(attempt: Attempt, alpha: Fraction, eps: list[Fraction], nodes: dict[int, list[EtaNode]]) -> list[Contact]:
    """Probabilities of the graph of nu between which each eps lies on the lower hull, as floats see it."""
    lowest: dict[Fraction, tuple[float, Fraction]] = {Fraction(0): (0.0, alpha)}
    for side, row in nodes.items():
        for node in row:
            x = abs(node.eta - alpha)
            if x > 0:
                gap = max(attempt.hints.minimum(-side, node.eta) - attempt.hints.minimum(side, node.eta), 0.0)
                lowest[x] = min(lowest.get(x, (gap, node.eta)), (gap, node.eta))
    xs = sorted(lowest)
    kept = lower_hull([float(x) for x in xs], [lowest[x][0] for x in xs])
    vertices = [xs[k] for k in kept]
    wanted: set[Fraction] = set()
    for value in eps:
        k = bisect_left(vertices, value)
        wanted |= {vertices[k]} if vertices[k] == value else {vertices[k - 1], vertices[k]}
    contacts = []
    for x in sorted(wanted - {Fraction(0)}):
        eta = lowest[x][1]
        side = 1 if eta > alpha else -1
        contacts.append(Contact(attempt.point(eta, -side), attempt.best_floor(eta, side)))
    return contacts


def _rounded(value: Fraction, direction: int) -> Fraction:
    """A short decimal at or below (direction -1) or at or above a number that is not negative."""
    if value == 0:
        return value
    size = len(str(value.numerator)) - len(str(value.denominator))
    unit = Fraction(10) ** (size - _DIGITS)
    return (value // unit) * unit if direction < 0 else -(-value // unit) * unit
