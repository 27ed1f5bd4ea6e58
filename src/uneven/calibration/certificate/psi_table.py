"""Check the table of bounds of psi in a certificate."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

from uneven.calibration.claim import Claim
from uneven.calibration.proof.numbers import number, read_number
from uneven.calibration.proof.psi import _ZERO, SIDES, Contact, EtaNode, lower_vertices, require, upper_vertices
from uneven.calibration.proof.psi_hull import on_hull
from uneven.calibration.proof.rules import Rules, at
from uneven.calibration.proof.steps import Floor
from uneven.errors import CertificateError
from uneven.ops.balls import Undefined

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
    require(contact.point.weights == at(eta) and contact.point.t * side <= 0, "its point must lie on the wrong side")
    contact.floor.check(rules)
    contact.point.check(rules)
