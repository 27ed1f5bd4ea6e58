"""Bounds of psi: their parts, and why they hold.

Lower bound: between two nodes of eta, the wrong-side risk is concave, so it lies above the chord of its floors. (For a
loss that is calibrated by theorem 4 or theorem T it is C(eta, 0), which is affine.) The optimal risk lies below the
risk of any one t, which is affine in eta. The difference is a lower bound of H.

Upper bound: at a contact, H is at most the risk of a t on the wrong side minus a floor of the right side.

The lower convex hulls of these bounds of H bound psi. All numbers are rational.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from uneven.calibration.proof.numbers import number, read_number
from uneven.calibration.proof.psi_hull import Vertex, hull, vertices_of_largest
from uneven.calibration.proof.rules import Rules, at
from uneven.calibration.proof.steps import Floor, Point, read_step
from uneven.errors import CertificateError
from uneven.ops.balls import below

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
