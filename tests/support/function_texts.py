"""Expressions that call each function of the little language."""

from __future__ import annotations

from uneven.expression.functions import Function


def text_of(function: Function) -> str:
    """The function inside its domain: at 1.25 + t/8, and 2 minus it; of a family, the member of order 3."""
    given = ["1.25 + t/8", "0.75 - t/8"][: function.arity] + ([] if function.orders is None else ["3"])
    return f"{function.name}({', '.join(given)})"
