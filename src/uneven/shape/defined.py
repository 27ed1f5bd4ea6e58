"""Is a tree defined on the whole line? A yes is certain; a no means that the rules cannot tell."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from uneven.expression.algebra import is_positive
from uneven.expression.calls import domain
from uneven.expression.tree import Call, Inv, Node, Number, Pow
from uneven.ops.balls import Undefined, enclose_interval, interval
from uneven.shape.signs import never_negative

_HALVES = ((-math.inf, Fraction(0)), (Fraction(0), math.inf))


@lru_cache(maxsize=1024)
def is_defined(tree: Node) -> bool:
    """True only if the tree has a value at every t.

    Each division, logarithm, root and power is defined by the structure of its argument, or an enclosure of the whole
    tree on each half line shows that it has a value there (which also sees the conditions of ``where``).

    Examples
    --------
    >>> from uneven.expression import parse, simplify
    >>> from uneven.shape.defined import is_defined
    >>> is_defined(simplify(parse("sqrt(1 - 2*atan(t)/pi)"))), is_defined(simplify(parse("log(2 - exp(t))")))
    (True, False)
    """
    return all(map(_has_good_argument, tree.walk())) or all(_has_enclosure(tree, *half) for half in _HALVES)


def _has_good_argument(node: Node) -> bool:
    """Whether a node is defined wherever its parts are, by their structure."""
    match node:
        case Inv(argument):
            return is_positive(argument)
        case Call() if (boundary := domain(node)) is not None:
            argument, closed = boundary
            return is_positive(argument) or (closed and never_negative(argument))
        case Pow(base, Number(exponent)):
            return (
                (exponent.denominator == 1 and exponent >= 0)
                or is_positive(base)
                or (exponent > 0 and never_negative(base))
            )
        case Pow(base, _):
            return is_positive(base)
    return True


def _has_enclosure(tree: Node, low: Fraction | float, high: Fraction | float) -> bool:
    try:
        enclose_interval(tree, interval(low, high), bits=96)
    except Undefined:
        return False
    return True
