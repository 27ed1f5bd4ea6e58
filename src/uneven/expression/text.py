"""Tree to canonical text, which parses back to the same tree."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from uneven.expression.tree import Add, Call, Inv, Mul, Neg, Node, Number, Pow, Symbol, Where

_SUM, _PRODUCT, _ATOM = 0, 1, 3


@lru_cache(maxsize=16384)
def to_text(node: Node) -> str:
    """Write a tree as text of the little language.

    Examples
    --------
    >>> from uneven.expression import parse, to_text
    >>> to_text(parse("1/(1+exp(t))"))
    '1/(1 + exp(t))'
    """
    match node:
        case Number(value):
            return number_text(value)
        case Symbol(name):
            return name
        case Add():
            first, *rest = node.children
            text = to_text(first)
            return (f"({text})" if isinstance(first, Add) else text) + "".join(map(_term, rest))
        case Neg(argument):
            return "-" + _wrap(argument, _PRODUCT)
        case Mul():
            first, *rest = node.children
            return _first_factor(first) + "".join(map(_factor, rest))
        case Inv():
            return _first_factor(node)
        case Pow(base, exponent):
            return f"{_wrap(base, _ATOM)}**{_wrap(exponent, _ATOM)}"
        case Call(name, arguments):
            return f"{name}({', '.join(map(to_text, arguments))})"
        case Where(op, left, right, yes, no):
            return f"where({to_text(left)} {op} {to_text(right)}, {to_text(yes)}, {to_text(no)})"
    raise TypeError(node)


def number_text(value: Fraction) -> str:
    """The shortest way to write a rational: an integer, a short decimal, else p/q."""
    sign, value = ("-" if value < 0 else ""), abs(value)
    numerator, denominator = value.numerator, value.denominator
    if denominator == 1 and numerator < 10**16:
        return f"{sign}{numerator}"
    return sign + (_decimal(value) or f"{numerator}/{denominator}")


def _decimal(value: Fraction) -> str | None:
    """Scientific or plain notation with at most 17 digits, if that is exact."""
    numerator, denominator = value.numerator, value.denominator
    twos = (denominator & -denominator).bit_length() - 1
    rest, fives = denominator >> twos, 0
    while rest % 5 == 0 and fives <= 1100:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        return None
    exponent = -max(twos, fives)
    digits = numerator * 2 ** (-exponent - twos) * 5 ** (-exponent - fives)
    while digits and digits % 10 == 0:
        digits, exponent = digits // 10, exponent + 1
    if digits >= 10**17:
        return None
    text = str(digits)
    if -20 <= exponent < 0:
        text = text.rjust(1 - exponent, "0")
        return f"{text[:exponent]}.{text[exponent:]}"
    return f"{text}e{exponent}"


def _wrap(node: Node, level: int) -> str:
    text = to_text(node)
    return text if _level(node) >= level else f"({text})"


def _level(node: Node) -> int:
    match node:
        case Number(value):
            return _SUM if value < 0 else _PRODUCT if "/" in number_text(value) else _ATOM
        case Add() | Neg():
            return _SUM
        case Mul() | Inv():
            return _PRODUCT
        case Pow():
            return _ATOM - 1
    return _ATOM


def _term(term: Node) -> str:
    match term:
        case Number(value) if value < 0:
            return f" - {number_text(-value)}"
        case Neg(argument):
            return f" - {_wrap(argument, _PRODUCT)}"
        case Add():
            return f" + ({to_text(term)})"
    return f" + {to_text(term)}"


def _first_factor(factor: Node) -> str:
    match factor:
        case Inv(argument):
            return f"1/{_wrap(argument, _ATOM - 1)}"
        case Number(value) if value >= 0:
            return number_text(value)
    return _wrap(factor, _ATOM - 1)


def _factor(factor: Node) -> str:
    if isinstance(factor, Inv):
        return f"/{_wrap(factor.argument, _ATOM - 1)}"
    return f"*{_wrap(factor, _ATOM - 1)}"
