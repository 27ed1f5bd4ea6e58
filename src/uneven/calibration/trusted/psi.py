"""Bounds of psi: their parts, why they hold, and how a table of them is checked.

Lower bound: between two nodes of eta, the wrong-side risk is concave, so it lies above the chord of its floors. (For a
loss that is calibrated by theorem 4 or theorem T it is C(eta, 0), which is affine.) The optimal risk lies below the
risk of any one t, which is affine in eta. The difference is a lower bound of H.

Upper bound: at a contact, H is at most the risk of a t on the wrong side minus a floor of the right side.

The lower convex hulls of these bounds of H bound psi. All numbers are rational.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from uneven._hull import lower_hull
from uneven.calibration.trusted.claims import Claim, number, read_number
from uneven.calibration.trusted.rules import Rules, at
from uneven.calibration.trusted.steps import Floor, Point, read_step
from uneven.errors import CertificateError
from uneven.ops.balls import Undefined, below

Vertex = tuple[Fraction, Fraction]


def vertices_of_largest(x0: Fraction, x1: Fraction, lines: list[tuple[Fraction, Fraction]]) -> list[Vertex]:
    """Vertices of the maximum of affine functions; each is given by its values at x0 and x1."""
    places = {Fraction(0), Fraction(1)}
    for i, (u0, u1) in enumerate(lines):
        for v0, v1 in lines[:i]:
            change = (v1 - v0) - (u1 - u0)
            if change:
                place = (u0 - v0) / change
                if 0 < place < 1:
                    places.add(place)
    return [(x0 + s * (x1 - x0), max(u0 + s * (u1 - u0) for u0, u1 in lines)) for s in sorted(places)]


def hull(vertices: list[Vertex]) -> list[Vertex]:
    """Vertices of the lower convex hull, in order."""
    ordered = sorted(vertices)
    kept = lower_hull([x for x, _ in ordered], [y for _, y in ordered])
    return [ordered[k] for k in kept]


def on_hull(vertices: list[Vertex], x: Fraction) -> Fraction:
    """The value at x of the piecewise linear function through the vertices; constant beyond the last vertex."""
    k = bisect_right(vertices, x, key=lambda vertex: vertex[0])
    if k >= len(vertices):
        return vertices[-1][1]
    (x0, y0), (x1, y1) = vertices[k - 1], vertices[k]
    return y0 + (x - x0) * (y1 - y0) / (x1 - x0)


def inverse_on_hull(vertices: list[Vertex], y: Fraction) -> Fraction | None:
    """The largest x at which the rising function through the vertices is at most y; None if it is nowhere larger."""
    if y >= vertices[-1][1]:
        return None
    k = bisect_right([height for _, height in vertices], y)
    (x0, y0), (x1, y1) = vertices[k - 1], vertices[k]
    return x0 + (y - y0) * (x1 - x0) / (y1 - y0)


_ZERO = Fraction(0)
SIDES = {"above": 1, "below": -1}


@dataclass(frozen=True)
class EtaNode:
    """At eta: a floor of the wrong-side risk (None if that is C(eta, 0)), and a t whose risk bounds the optimal one."""

    eta: Fraction
    t: Fraction
    floor: Floor | None

    def to_dict(self) -> dict[str, Any]:
        floor = None if self.floor is None else self.floor.to_dict()
        return {"eta": number(self.eta), "t": number(self.t), "floor": floor}

    @classmethod
    def from_dict(cls, data: Any) -> EtaNode:
        require(isinstance(data, dict) and set(data) == {"eta", "t", "floor"}, "a node must have eta, t and floor")
        return cls(read_number(data["eta"]), read_number(data["t"]), _read_floor(data["floor"]))


@dataclass(frozen=True)
class Contact:
    """At eta: a point of the wrong side, and a floor of the right side."""

    point: Point
    floor: Floor

    def to_dict(self) -> dict[str, Any]:
        return {"point": self.point.to_dict(), "floor": self.floor.to_dict()}

    @classmethod
    def from_dict(cls, data: Any) -> Contact:
        require(isinstance(data, dict) and set(data) == {"point", "floor"}, "a contact must have a point and a floor")
        point, floor = read_step(data["point"]), _read_floor(data["floor"])
        if not isinstance(point, Point) or floor is None:
            raise CertificateError("a contact must have a point and a floor")
        return cls(point, floor)


def _read_floor(data: Any) -> Floor | None:
    if data is None:
        return None
    step = read_step(data)
    if not isinstance(step, Floor):
        raise CertificateError("this step must be a 'floor'")
    return step


def require(holds: bool, message: str) -> None:
    if not holds:
        raise CertificateError(message)


def lower_vertices(rules: Rules, alpha: Fraction, nodes: dict[int, list[EtaNode]]) -> list[Vertex]:
    """Vertices of a convex, piecewise linear lower bound of psi."""
    vertices: list[Vertex] = [(_ZERO, _ZERO)]
    for row in nodes.values():
        wrong = [_wrong_side(rules, node) for node in row]
        for (left, low), (right, high) in pairwise(zip(row, wrong, strict=True)):
            lines = [(_ZERO, _ZERO)]  # H is never negative
            for t in dict.fromkeys((left.t, right.t)):
                risks = [rules.upper_affine(node.eta, t) for node in (left, right)]
                lines.append((low - risks[0], high - risks[1]))
            vertices += vertices_of_largest(abs(left.eta - alpha), abs(right.eta - alpha), lines)
    return hull(vertices)


def _wrong_side(rules: Rules, node: EtaNode) -> Fraction:
    if node.floor is not None:
        assert node.floor.level is not None
        return node.floor.level
    exact = rules.exact_at(at(node.eta), _ZERO)
    return below(rules.enclosure(0, at(node.eta), _ZERO, _ZERO).lo) if exact is None else exact


def upper_vertices(alpha: Fraction, contacts: list[Contact]) -> list[Vertex]:
    """Vertices of a convex, piecewise linear upper bound of psi, up to the last contact."""
    found: dict[Fraction, Fraction] = {_ZERO: _ZERO}
    for contact in contacts:
        assert contact.floor.level is not None
        eps = abs(contact.floor.eta - alpha)
        gap = max(contact.point.value - contact.floor.level, _ZERO)
        found[eps] = min(gap, found.get(eps, gap))
    return hull(list(found.items()))


_ONE = Fraction(1)
_FIELDS = {"alpha", "affine", "rows", "above", "below", "contacts"}


def check_psi(rules: Rules, table: Any, claim: Claim, method: str) -> None:
    """Check every row of a psi table, or raise :class:`CertificateError`."""
    fields = ", ".join(sorted(_FIELDS))
    require(isinstance(table, dict) and set(table) == _FIELDS, f"a psi table must have the fields {fields}")
    try:
        _check(rules, table, claim, method)
    except CertificateError as error:
        raise CertificateError(f"psi table: {error}") from None
    except Undefined:
        raise CertificateError("psi table: a risk is not finite") from None


def _check(rules: Rules, table: dict[str, Any], claim: Claim, method: str) -> None:
    alpha = read_number(table["alpha"])
    require(0 < alpha < 1, "alpha must lie strictly between 0 and 1")
    require(type(table["affine"]) is bool, "'affine' must be true or false")
    if table["affine"]:
        shown = method in ("convex", "tangential") and claim.kind == "calibrated"
        require(shown and claim.only.exact == alpha, "'affine' needs a proof that the wrong-side risk is C(eta, 0)")
    nodes: dict[int, list[EtaNode]] = {}
    for name, side in SIDES.items():
        require(isinstance(table[name], list) and len(table[name]) >= 2, "each side of alpha needs at least two nodes")
        nodes[side] = [EtaNode.from_dict(data) for data in table[name]]
        _check_nodes(rules, nodes[side], side, alpha, affine=table["affine"])
    require(isinstance(table["contacts"], list), "contacts must be a list")
    contacts = [Contact.from_dict(data) for data in table["contacts"]]
    for contact in contacts:
        _check_contact(rules, contact, alpha)
    lower, upper = lower_vertices(rules, alpha, nodes), upper_vertices(alpha, contacts)
    require(isinstance(table["rows"], list), "rows must be a list")
    for row in table["rows"]:
        require(isinstance(row, dict) and set(row) == {"eps", "lower", "upper"}, "a row must have eps, lower and upper")
        eps, least, most = (read_number(row[name]) for name in ("eps", "lower", "upper"))
        require(0 <= eps <= upper[-1][0], f"eps = {number(eps)} lies beyond the contacts")
        require(0 <= least <= on_hull(lower, eps), f"the lower bound at eps = {number(eps)} is not shown")
        require(most >= on_hull(upper, eps), f"the upper bound at eps = {number(eps)} is not shown")


def _check_nodes(rules: Rules, nodes: list[EtaNode], side: int, alpha: Fraction, *, affine: bool) -> None:
    """The nodes must go from alpha to 1 (side 1) or to 0, in order, each with its floor."""
    etas = [node.eta for node in nodes]
    require(etas[0] == alpha and etas[-1] == (_ONE if side > 0 else _ZERO), "the nodes must reach from alpha to 0 or 1")
    require(all((b - a) * side > 0 for a, b in pairwise(etas)), "the nodes must be in order")
    for node in nodes:
        if affine:
            require(node.floor is None, "a node must have no floor if the wrong side is affine")
            continue
        require(node.floor is not None, "a node must have a floor")
        assert node.floor is not None
        _require_floor(node.floor, node.eta, -side)
        node.floor.check(rules)


def _require_floor(floor: Floor, eta: Fraction, side: int) -> None:
    good = floor.weights == at(eta) and floor.side == side and floor.level is not None and floor.start == 0
    require(good, "a floor must have the weights and the side of its eta")


def _check_contact(rules: Rules, contact: Contact, alpha: Fraction) -> None:
    eta = contact.floor.eta
    require(0 <= eta <= 1 and eta != alpha, "the eta of a contact must lie in [0, 1] and differ from alpha")
    side = 1 if eta > alpha else -1
    _require_floor(contact.floor, eta, side)
    wrong = contact.point.weights == at(eta) and contact.point.decides(-side, rules)
    require(wrong, "its point must lie on the wrong side")
    contact.floor.check(rules)
    contact.point.check(rules)
