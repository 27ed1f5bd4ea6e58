"""What can be chosen on the page."""

from __future__ import annotations

from typing import Any

from uneven import __version__, losses
from uneven.explorer.answers.curves import ETAS
from uneven.explorer.answers.zoo import zoo_names
from uneven.expression.functions import FUNCTIONS
from uneven.expression.mathml import to_mathml
from uneven.expression.text import number_text
from uneven.expression.tree import MAX_CHARACTERS
from uneven.losses import phi
from uneven.losses.registry import declared


def choices(data: Any) -> dict[str, Any]:
    """Registered phis with their parameters, losses of other libraries, and words of the little language."""
    return {
        "version": __version__,
        "phis": [_phi(name) for name in losses.names()],
        "zoo": list(zoo_names()),
        "functions": [*FUNCTIONS, "where"],
        "longest": MAX_CHARACTERS,
        "etas": ETAS,
    }


def _phi(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "label": name.replace("_", " "),
        "mathml": to_mathml(phi(name).tree),
        "parameters": [
            {"name": each.name, "default": number_text(each.read(each.default)), "whole": each.whole}
            for each in declared(name).parameters
        ],
    }
