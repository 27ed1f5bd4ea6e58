"""Estimate the work of checking a certificate before doing it."""

from __future__ import annotations

from typing import Any

from uneven.calibration.proof.rules import Rules
from uneven.errors import CertificateError
from uneven.ops.balls import Undefined
from uneven.shape.piece_on_cell import conditions

_MOST_EFFORT = 250_000  # cells times parts of the formulas, at low precision: takes a few seconds
_PER_STEP = 8  # cost of a step besides its cells, in cells
_SWITCHED = 4  # cost of a formula with cases, relative to a smooth one: its pieces are found again on each cell
_MOST_FLAT = 16  # cells with the rule 'flat', which is slow: it differentiates up to eight times
_MOST_NODES = 2_000  # nodes, contacts and rows of a psi table: about 2 ms each, however small the formulas


def require_affordable(document: dict[str, Any], rules: Rules) -> None:
    """Raise :class:`CertificateError` for a certificate whose check would take more than a few seconds.

    The cost of a cell grows with the size of the formulas of F, F' and F'', and with the precision. Cells and steps are
    only counted here, not read.
    """
    cells, flat, nodes = _counted([document["steps"], document["psi"]])
    if nodes > _MOST_NODES:
        raise CertificateError(f"a psi table has at most {_MOST_NODES} nodes, contacts and rows, this has {nodes}")
    if flat > _MOST_FLAT:
        raise CertificateError(f"at most {_MOST_FLAT} cells may have the rule 'flat', this certificate has {flat}")
    thousands = rules.bits / 1000
    effort = cells * _parts(rules) * (1 + thousands + thousands**2 / 4)
    if effort > _MOST_EFFORT:
        raise CertificateError(
            f"checking its {cells} cells and steps at {rules.bits} bits would take too long for formulas of this size"
        )


def _counted(data: Any) -> tuple[int, int, int]:
    """Cells, with steps in units of cells; cells with the rule 'flat'; nodes, contacts and rows of a psi table.

    The data may be of any form and depth.
    """
    cells = flat = nodes = 0
    pending = [data]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            cells += _PER_STEP if "step" in item else 1
            nodes += "step" not in item
            pending.extend(item.values())
        elif isinstance(item, list):
            cells += 1
            pending.extend(item)
        else:
            flat += item == "flat"
    return cells, flat, nodes


def _parts(rules: Rules) -> int:
    """Number of parts of the formulas of both partial losses and their first two derivatives."""
    total = 0
    for order in (0, 1, 2):
        try:
            trees = rules.trees(order)
        except Undefined:  # too large: no rule can use it
            break
        total += sum(len(set(tree.walk())) * (_SWITCHED if any(conditions(tree)) else 1) for tree in trees)
    return total
