"""Tree to LaTeX."""

from __future__ import annotations

import math
from fractions import Fraction

from uneven.expression.functions import FUNCTIONS
from uneven.expression.tree import ONE, Add, Call, Inv, Mul, Neg, Node, Number, Pow, Symbol, Where
from uneven.inputs import to_float

_COMPARISONS = {"<": "<", "<=": r"\le", ">": ">", ">=": r"\ge"}
_GREEK = {"alpha", "beta", "gamma", "eta", "pi", "rho", "sigma", "tau"}


def to_latex(node: Node) -> str:
    """Write a tree as LaTeX; a fraction with more than ten digits is rounded to double precision.

    Examples
    --------
    >>> from uneven.expression import parse
    >>> from uneven.expression.latex import to_latex
    >>> print(to_latex(parse("expit(-2*t)**2/3")))
    \\frac{\\sigma(-2 t)^{2}}{3}
    """
    match node:
        case Number(value):
            return _number(value)
        case Symbol(name):
            if name in _GREEK:
                return "\\" + name
            return name if len(name) == 1 else r"\mathrm{" + name.replace("_", r"\_") + "}"
        case Add():
            first, *rest = node.children
            return _in_sum(first) + "".join(_term(term) for term in rest)
        case Neg(argument):
            return "-" + _factor(argument)
        case Mul() | Inv():
            return _product(node.children if isinstance(node, Mul) else (node,))
        case Pow(base, exponent):
            return _power(base, to_latex(exponent))
        case Call(name, arguments):
            return _call(name, arguments)
        case Where(op, left, right, yes, no):
            condition = f"{to_latex(left)} {_COMPARISONS[op]} {to_latex(right)}"
            return (
                rf"\begin{{cases}} {to_latex(yes)}, & {condition} \\ {to_latex(no)}, & "
                r"\text{otherwise} \end{cases}"
            )
    raise TypeError(node)


def _number(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value.numerator)
    nearest = to_float(value)
    if value.denominator >= 10**10 and nearest and math.isfinite(nearest):
        digits, _, exponent = repr(nearest).partition("e")  # 0.1, not 3602879701896397/36028797018963968
        return rf"{digits} \cdot 10^{{{int(exponent)}}}" if exponent else digits
    sign = "-" if value < 0 else ""
    return rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def _parenthesise(node: Node) -> str:
    return rf"\left({to_latex(node)}\right)"


def _in_sum(term: Node) -> str:
    return _parenthesise(term) if isinstance(term, Add) else to_latex(term)


def _term(term: Node) -> str:
    match term:
        case Number(value) if value < 0:
            return f" - {_number(-value)}"
        case Neg(argument):
            return f" - {_factor(argument)}"
    return f" + {_in_sum(term)}"


def _factor(node: Node) -> str:
    negative = isinstance(node, Number) and node.value < 0
    return _parenthesise(node) if isinstance(node, Add | Neg) or negative else to_latex(node)


def _product(factors: tuple[Node, ...]) -> str:
    above = [factor for factor in factors if not isinstance(factor, Inv)]
    below = [factor.argument for factor in factors if isinstance(factor, Inv)]
    if not below:
        return _join(above)
    return rf"\frac{{{_join(above) or '1'}}}{{{_join(below)}}}"


def _join(factors: list[Node]) -> str:
    if len(factors) == 1:
        return to_latex(factors[0])
    text = ""
    for factor in factors:
        part = _factor(factor)
        # Two digits side by side would read as one number.
        text += (r" \cdot " if text and part[0].isdigit() else " " if text else "") + part
    return text


def _power(base: Node, exponent: str) -> str:
    match base:
        case Symbol():
            return f"{to_latex(base)}^{{{exponent}}}"
        case Number(value) if value >= 0 and value.denominator == 1:
            return f"{value}^{{{exponent}}}"
        case Call(name, _) if FUNCTIONS[name].takes_exponent:
            return f"{to_latex(base)}^{{{exponent}}}"
    return f"{_parenthesise(base)}^{{{exponent}}}"


def _call(name: str, arguments: tuple[Node, ...]) -> str:
    if name == "exp" and arguments == (ONE,):
        return "e"
    text = FUNCTIONS[name].latex
    for place, argument in enumerate(arguments, start=1):
        text = text.replace(f"#{place}", to_latex(argument))
    return text
