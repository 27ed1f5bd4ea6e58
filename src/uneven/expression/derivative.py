"""Exact symbolic differentiation with respect to t."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from uneven.expression.algebra import add, call, inv, mul, neg, number, power, subtract, where
from uneven.expression.tree import (
    ONE,
    ZERO,
    Add,
    Call,
    Inv,
    Mul,
    Neg,
    Node,
    Number,
    Pow,
    Symbol,
    Where,
    depends_on_t,
)


@lru_cache(maxsize=4096)
def derivative(node: Node) -> Node:
    """Derivative of a tree in normal form, in normal form.

    At a kink the value is a fixed element between the one-sided slopes: relu and abs have slope 0 where
    their argument is 0, step has slope 0 everywhere, and ``where``, ``max`` and ``min`` take the slope of
    the branch they select (max and min: of the first argument in a tie).

    Examples
    --------
    >>> from uneven.expression import derivative, parse, simplify, to_text
    >>> to_text(derivative(simplify(parse("relu(1 - t)**2"))))
    '-2*relu(1 - t)'
    """
    match node:
        case Symbol("t"):
            return ONE
        case Symbol() | Number():
            return ZERO
        case Add():
            return add(*map(derivative, node.children))
        case Neg(argument):
            return neg(derivative(argument))
        case Mul():
            factors = node.children
            return add(*(mul(*factors[:i], derivative(factors[i]), *factors[i + 1 :]) for i in range(len(factors))))
        case Inv(argument):
            return neg(mul(derivative(argument), power(argument, Number(-2))))
        case Pow(base, exponent):
            return _power_rule(base, exponent)
        case Where(op, left, right, yes, no):
            return where(op, left, right, derivative(yes), derivative(no))
        case Call("max" | "min" as name, (left, right)):
            return where(">=" if name == "max" else "<=", left, right, derivative(left), derivative(right))
        case Call("sqrt", (Call("relu", (u,)),)):
            return _where_positive(u, mul(Number(Fraction(1, 2)), inv(call("sqrt", u))))
        case Call(name, (argument,)):
            inner = derivative(argument)
            return ZERO if inner == ZERO else mul(_outer(name, argument), inner)
    raise TypeError(node)


def _power_rule(base: Node, exponent: Node) -> Node:
    match base, exponent:
        case Call("relu", (u,)), Number(k) if k.denominator != 1:
            return _where_positive(u, mul(exponent, power(u, number(k - 1))))
    if isinstance(exponent, Number):
        lowered = power(base, number(exponent.value - 1))
        return mul(exponent, lowered, derivative(base))
    if not depends_on_t(exponent):
        return mul(exponent, power(base, add(exponent, Number(-1))), derivative(base))
    logarithm = add(
        mul(derivative(exponent), call("log", base)),
        mul(exponent, derivative(base), inv(base)) if depends_on_t(base) else ZERO,
    )
    return mul(power(base, exponent), logarithm)


def _where_positive(u: Node, outer: Node) -> Node:
    """Slope of a root of relu(u): 0 where u is not positive, where the power of u would not be defined."""
    return where(">", u, ZERO, mul(outer, derivative(u)), ZERO)


def _outer(name: str, u: Node) -> Node:
    """Derivative of a function at u, in the form that keeps relative accuracy in the tails."""
    two_u = mul(Number(2), u)
    match name:
        case "exp" | "expm1":
            return call("exp", u)
        case "log":
            return inv(u)
        case "log1p":
            return inv(add(ONE, u))
        case "sqrt":
            return mul(Number(Fraction(1, 2)), inv(call("sqrt", u)))
        case "abs":
            return subtract(call("step", u), call("step", neg(u)))
        case "tanh":  # 1 - tanh(u)**2, without the cancellation
            return mul(Number(4), call("expit", two_u), call("expit", neg(two_u)))
        case "atan":
            return inv(add(ONE, power(u, Number(2))))
        case "erf" | "erfc":
            sign = Number(2 if name == "erf" else -2)
            return mul(sign, inv(call("sqrt", Symbol("pi"))), call("exp", neg(power(u, Number(2)))))
        case "expit":
            return mul(call("expit", u), call("expit", neg(u)))
        case "softplus":
            return call("expit", u)
        case "relu":
            return call("step", u)
        case "step":
            return ZERO
    raise TypeError(name)
