"""The exponential rate that is written in a product: tree = exp(-rate * t) * rest."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from uneven.expression.algebra import affine, call, inv, mul, neg, power
from uneven.expression.tree import ONE, Call, Inv, Mul, Neg, Node, Number, Pow


@lru_cache(maxsize=1024)
def decay(node: Node) -> tuple[Fraction, Node]:
    """A rate and a rest with tree = exp(-rate * t) * rest, an identity for every t.

    ``expit(u)`` is ``exp(u) * expit(-u)``; its rest ``expit(-u)`` tends to 1 where u tends to minus infinity. A tree
    without such a factor is its own rest, with rate 0.

    Examples
    --------
    >>> from uneven.expression import parse, simplify, to_text
    >>> from uneven.shape.decay import decay
    >>> rate, rest = decay(simplify(parse("expit(-2*t)**2*expit(2*t)")))
    >>> rate, to_text(rest)
    (Fraction(4, 1), 'expit(2*t)**3')
    """
    match node:
        case Neg(argument):
            rate, rest = decay(argument)
            return rate, neg(rest)
        case Mul():
            parts = [decay(factor) for factor in node.children]
            return sum((rate for rate, _ in parts), Fraction(0)), mul(*(rest for _, rest in parts))
        case Inv(argument):
            rate, rest = decay(argument)
            return -rate, inv(rest)
        case Pow(base, Number(exponent)) if exponent.denominator == 1:
            rate, rest = decay(base)
            return rate * exponent, power(rest, Number(exponent))
        case Call("exp" | "expit" as name, (argument,)):
            line = affine(argument)
            if line is not None and (name == "exp" or line[0] < 0):
                slope, offset = line
                rest = ONE if name == "exp" else call("expit", neg(argument))
                return -slope, mul(call("exp", Number(offset)), rest)
    return Fraction(0), node
