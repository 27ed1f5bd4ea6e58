"""Bounds of psi in a certificate: what they are made of, and how they are checked.

Below: between two nodes of eta the wrong-side risk is concave, so it lies above the chord of its floors (for a
loss that is calibrated by theorem 4 or theorem T it is the affine C(eta, 0) itself), and the optimal risk lies
below the affine risk of any t. Above: at a contact, H is at most the risk of a t on the wrong side minus a floor
of the right side. Lower hulls of the vertices bound psi; everything is rational.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from uneven.calibration.certificate.document import ClaimData, number, read_number
from uneven.calibration.proof.psi_hull import Vertex, hull, on_hull, vertices_of_largest
from uneven.calibration.proof.rules import Rules, at
from uneven.calibration.proof.steps import Floor, Point, read_step
from uneven.errors import CertificateError
from uneven.ops.balls import Undefined, below

_ZERO, _ONE = Fraction(0), Fraction(1)
_FIELDS = {"alpha", "affine", "rows", "above", "below", "contacts"}
SIDES = {"above": 1, "below": -1}


@dataclass(frozen=True)
class EtaNode:
    """At eta: a floor of the wrong-side risk (None: it is C(eta, 0)), and a t whose risk bounds the optimal one."""

    eta: Fraction
    t: Fraction
    floor: Floor | None

    def to_dict(self) -> dict[str, Any]:
        floor = None if self.floor is None else self.floor.to_dict()
        return {"eta": number(self.eta), "t": number(self.t), "floor": floor}

    @classmethod
    def from_dict(cls, data: Any) -> EtaNode:
        _require(isinstance(data, dict) and set(data) == {"eta", "t", "floor"}, "a node has an eta, a t and a floor")
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
        _require(isinstance(data, dict) and set(data) == {"point", "floor"}, "a contact has a point and a floor")
        point, floor = read_step(data["point"]), _read_floor(data["floor"])
        if not isinstance(point, Point) or floor is None:
            raise CertificateError("a contact has a point and a floor")
        return cls(point, floor)


def _read_floor(data: Any) -> Floor | None:
    if data is None:
        return None
    step = read_step(data)
    if not isinstance(step, Floor):
        raise CertificateError("a step 'floor' is needed")
    return step


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise CertificateError(message)


def lower_vertices(rules: Rules, alpha: Fraction, nodes: dict[int, list[EtaNode]]) -> list[Vertex]:
    """Vertices of a convex function below psi."""
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
    """Vertices of a convex function above psi, as far as the contacts reach."""
    found: dict[Fraction, Fraction] = {_ZERO: _ZERO}
    for contact in contacts:
        assert contact.floor.level is not None
        eps = abs(contact.floor.eta - alpha)
        gap = max(contact.point.value - contact.floor.level, _ZERO)
        found[eps] = min(gap, found.get(eps, gap))
    return hull(list(found.items()))


def check_psi(rules: Rules, table: Any, claim: ClaimData, method: str) -> None:
    """Check every row of a psi table, or raise :class:`CertificateError`."""
    _require(isinstance(table, dict) and set(table) == _FIELDS, f"a psi table has the fields {sorted(_FIELDS)}")
    try:
        _check(rules, table, claim, method)
    except CertificateError as error:
        raise CertificateError(f"psi table: {error}") from None
    except Undefined:
        raise CertificateError("psi table: a risk is not finite") from None


def _check(rules: Rules, table: dict[str, Any], claim: ClaimData, method: str) -> None:
    alpha = read_number(table["alpha"])
    _require(0 < alpha < 1, "alpha must lie strictly between 0 and 1")
    _require(type(table["affine"]) is bool, "'affine' is true or false")
    if table["affine"]:
        shown = method in ("convex", "tangential") and claim["kind"] == "calibrated"
        _require(shown and read_number(claim["alpha"]) == alpha, "the wrong-side risk is not known to be C(eta, 0)")
    nodes: dict[int, list[EtaNode]] = {}
    for name, side in SIDES.items():
        _require(isinstance(table[name], list) and len(table[name]) >= 2, "two nodes are needed on each side of alpha")
        nodes[side] = [EtaNode.from_dict(data) for data in table[name]]
        _check_nodes(rules, nodes[side], side, alpha, affine=table["affine"])
    _require(isinstance(table["contacts"], list), "contacts are a list")
    contacts = [Contact.from_dict(data) for data in table["contacts"]]
    for contact in contacts:
        _check_contact(rules, contact, alpha)
    lower, upper = lower_vertices(rules, alpha, nodes), upper_vertices(alpha, contacts)
    _require(isinstance(table["rows"], list), "rows are a list")
    for row in table["rows"]:
        _require(isinstance(row, dict) and set(row) == {"eps", "lower", "upper"}, "a row has eps, lower and upper")
        eps, least, most = (read_number(row[name]) for name in ("eps", "lower", "upper"))
        _require(0 <= eps <= upper[-1][0], f"eps = {number(eps)} lies beyond the contacts")
        _require(0 <= least <= on_hull(lower, eps), f"the lower bound at eps = {number(eps)} is not shown")
        _require(most >= on_hull(upper, eps), f"the upper bound at eps = {number(eps)} is not shown")


def _check_nodes(rules: Rules, nodes: list[EtaNode], side: int, alpha: Fraction, *, affine: bool) -> None:
    """From alpha to 1 (side 1) or to 0, in order, each with its floor."""
    etas = [node.eta for node in nodes]
    _require(
        etas[0] == alpha and etas[-1] == (_ONE if side > 0 else _ZERO), "the nodes must reach from alpha to the end"
    )
    _require(all((b - a) * side > 0 for a, b in pairwise(etas)), "the nodes must be in order")
    for node in nodes:
        if affine:
            _require(node.floor is None, "an affine wrong side has no floors")
            continue
        _require(node.floor is not None, "a node without a floor")
        assert node.floor is not None
        _require_floor(node.floor, node.eta, -side)
        node.floor.check(rules)


def _require_floor(floor: Floor, eta: Fraction, side: int) -> None:
    good = floor.weights == at(eta) and floor.side == side and floor.level is not None and floor.start == 0
    _require(good, "a floor is not that of its eta and side")


def _check_contact(rules: Rules, contact: Contact, alpha: Fraction) -> None:
    eta = contact.floor.eta
    _require(0 <= eta <= 1 and eta != alpha, "a contact lies in [0, 1] and not at alpha")
    side = 1 if eta > alpha else -1
    _require_floor(contact.floor, eta, side)
    _require(contact.point.weights == at(eta) and contact.point.t * side <= 0, "its point lies on the wrong side")
    contact.floor.check(rules)
    contact.point.check(rules)
