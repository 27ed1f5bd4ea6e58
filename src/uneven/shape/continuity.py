"""Is a tree continuous? A yes is certain; a no means that the rules cannot tell."""

from __future__ import annotations

from uneven.expression import Node, affine
from uneven.expression.algebra import is_positive, subtract
from uneven.expression.functions import FUNCTIONS
from uneven.expression.tree import Call, Number, Pow, Where
from uneven.ops.rationals import exact_value


def is_continuous(tree: Node) -> bool:
    """True only if the tree surely has no jump: no step, and where joins its branches at a rational point.

    Examples
    --------
    >>> from uneven.expression import parse
    >>> from uneven.shape.continuity import is_continuous
    >>> is_continuous(parse("where(t < -1, -4*t, relu(1 - t)**2)")), is_continuous(parse("1 - step(t)"))
    (True, False)
    """
    for node in tree.walk():
        match node:
            case Call(name, _) if FUNCTIONS[name].jumps:
                return False
            case Pow(base, exponent) if not (isinstance(exponent, Number) or is_positive(base)):
                return False  # 0**0 is 1, beside it are other values
            case Where(_, left, right, yes, no):
                line = affine(subtract(left, right))
                if line is None or line[0] == 0:
                    return False
                point = -line[1] / line[0]
                value = exact_value(yes, point)
                if value is None or value != exact_value(no, point):
                    return False
    return True
