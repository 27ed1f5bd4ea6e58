"""Normal form: constructors that fold numbers, collect like terms and powers, and sort.

Every rule is an identity wherever the unsimplified tree is defined. A rule that could define a tree
where it was undefined (``t/t``, ``0*log(t)``) is harmless for losses, because whether a loss is defined
everywhere is decided on the tree as written.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from uneven.errors import ExpressionError
from uneven.expression import stable_forms
from uneven.expression.functions import FUNCTIONS
from uneven.expression.parse import ARGUMENTS, pieces_tree
from uneven.expression.text import to_text
from uneven.expression.tree import (
    CONSTANTS,
    MAX_BITS,
    MAX_NODES,
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
    put,
)

Terms = dict[Node, Fraction]
E = Call("exp", ONE)  # the normal form of the constant e, so that e**t is exp(t)


def simplify(node: Node) -> Node:
    """Normal form of a tree, with numerically delicate shapes replaced by stable primitives.

    Examples
    --------
    >>> from uneven.expression import parse, simplify, to_text
    >>> to_text(simplify(parse("-log(1/(1 + exp(-t)))")))
    'softplus(-t)'
    >>> to_text(simplify(parse("(1 - t + abs(1 - t))/2")))
    'relu(1 - t)'
    """
    return fill_symbols(node, {})


def fill_symbols(node: Node, values: dict[str, Node]) -> Node:
    """Normal form of a tree after symbols are replaced by trees that are in normal form already."""
    parts = [fill_symbols(child, values) for child in node.children]
    match node:
        case Symbol(name):
            return values.get(name, E if name == "e" else node)
        case Add():
            return add(*parts)
        case Mul():
            return mul(*parts)
        case Neg():
            return neg(*parts)
        case Inv():
            return inv(*parts)
        case Pow():
            return power(*parts)
        case Call(name):
            return call(name, *parts)
        case Where(op):
            return where(op, *parts)
    return node


def number(value: Fraction) -> Number:
    if value.numerator.bit_length() > MAX_BITS or value.denominator.bit_length() > MAX_BITS:
        raise ExpressionError("a number in the expression grows beyond about 900 digits; smaller numbers would work")
    return Number(value)


def split(node: Node) -> tuple[Fraction, Node]:
    """A term as coefficient times rest."""
    match node:
        case Number(value):
            return value, ONE
        case Neg(argument):
            coefficient, rest = split(argument)
            return -coefficient, rest
        case Mul() if isinstance(node.args[0], Number):
            others = node.args[1:]
            return node.args[0].value, others[0] if len(others) == 1 else Mul(*others)
    return Fraction(1), node


def scale_rest(coefficient: Fraction, rest: Node) -> Node:
    """Coefficient times rest, for a rest that carries no coefficient of its own."""
    if coefficient == 0:
        return ZERO
    if rest == ONE:
        return number(coefficient)
    if coefficient < 0:
        return Neg(scale_rest(-coefficient, rest))
    if coefficient == 1:
        return rest
    factors = rest.args if isinstance(rest, Mul) else (rest,)
    return Mul(number(coefficient), *factors)


def terms_of(node: Node) -> Terms:
    """A normal-form tree as a sum of coefficients times rests (numbers under ONE)."""
    terms: Terms = {}
    for term in node.args if isinstance(node, Add) else (node,):
        coefficient, rest = split(term)
        terms[rest] = terms.get(rest, Fraction(0)) + coefficient
    return terms


def from_terms(terms: Terms) -> Node:
    parts = [scale_rest(terms[rest], rest) for rest in sorted(terms, key=_term_order) if terms[rest]]
    if not parts:
        return ZERO
    return parts[0] if len(parts) == 1 else Add(*parts)


def _term_order(rest: Node) -> tuple[bool, int, str]:
    return (rest != ONE, rest.size, to_text(rest))


def add(*parts: Node) -> Node:
    """Sum in normal form: flat, like terms collected, number first."""
    terms: Terms = {}
    for part in parts:
        for rest, coefficient in terms_of(part).items():
            terms[rest] = terms.get(rest, Fraction(0)) + coefficient
    terms = {rest: coefficient for rest, coefficient in terms.items() if coefficient}
    return from_terms(stable_forms.rewrite_sum(terms))


def neg(node: Node) -> Node:
    return times(Fraction(-1), node)


def times(factor: Fraction, node: Node) -> Node:
    """A rational times a tree in normal form: only coefficients change."""
    return from_terms({rest: factor * coefficient for rest, coefficient in terms_of(node).items()})


def subtract(left: Node, right: Node) -> Node:
    return add(left, neg(right))


def mul(*parts: Node) -> Node:
    """Product in normal form: flat, number first, like powers collected where that changes no domain."""
    if len(parts) == 2 and isinstance(parts[0], Number):
        return times(parts[0].value, parts[1])
    coefficient = Fraction(1)
    factors: list[Node] = []
    pending = list(reversed(parts))
    while pending:
        part = pending.pop()
        match part:
            case Number(value):
                coefficient *= value
            case Neg(argument):
                coefficient = -coefficient
                pending.append(argument)
            case Inv(Number(value)) if value:
                coefficient /= value
            case Mul():
                pending.extend(reversed(part.args))
            case _:
                factors.append(part)
    if coefficient == 0:
        return ZERO
    factors = stable_forms.rewrite_product(collect_powers(factors))
    if len(factors) == 1 and isinstance(factors[0], Add | Neg | Number | Mul):
        # A sum takes the coefficient inside; the rest were produced by a rewrite and may carry one.
        return times(coefficient, factors[0])
    if any(isinstance(factor, Number | Neg | Mul) for factor in factors):
        return mul(number(coefficient), *factors)
    if not factors:
        return number(coefficient)
    factors.sort(key=lambda factor: (isinstance(factor, Inv), factor.size, to_text(factor)))
    return scale_rest(coefficient, factors[0] if len(factors) == 1 else Mul(*factors))


def collect_powers(factors: Sequence[Node]) -> list[Node]:
    """Join equal bases: x*x**2 -> x**3; across signs of the exponent only for bases that are never zero."""
    exponents: dict[tuple[Node, bool], Fraction] = {}
    for factor in factors:
        base, exponent = base_and_exponent(factor)
        positive = is_positive(base)
        if not positive and exponent.denominator != 1:
            base, exponent = factor, Fraction(1)
        key = (base, positive or exponent > 0)
        exponents[key] = exponents.get(key, Fraction(0)) + exponent
    joined = [power(base, number(exponent)) for (base, _), exponent in exponents.items() if exponent]
    # A power may itself simplify to a base that is already there: sqrt(u)**2 beside u.
    unchanged = len(joined) == len(list(factors)) and set(joined) == set(factors)
    return joined if unchanged else collect_powers(joined)


def base_and_exponent(factor: Node) -> tuple[Node, Fraction]:
    match factor:
        case Inv(argument):
            base, exponent = base_and_exponent(argument)
            return base, -exponent
        case Pow(base, Number(value)):
            return base, value
    return factor, Fraction(1)


def inv(node: Node) -> Node:
    return power(node, Number(-1))


def power(base: Node, exponent: Node) -> Node:
    """Power in normal form; negative exponents become ``Inv``."""
    if ONE in (exponent, base):
        return base
    if exponent == ZERO:
        return ONE
    if isinstance(base, Call) and base.name == "exp":
        return call("exp", mul(exponent, base.arguments[0]))
    if not isinstance(exponent, Number):
        return Pow(base, exponent)
    k = exponent.value
    whole = k.denominator == 1
    if k == Fraction(1, 2):
        return call("sqrt", base)
    match base:
        case Number(value) if whole and _small_power(value, k):
            return number(value ** int(k)) if value or k > 0 else Inv(ZERO)
        case Call("step", _) if k > 0:
            return base
        case Pow(inner, Number(j)) if whole and j.denominator == 1 and (k > 0 or is_positive(inner)):
            return power(inner, number(j * k))
        case Pow(inner, Number(j)) if not whole and j.denominator == 1 and j % 2 == 0 and j > 0:
            return power(call("abs", inner), number(j * k))
        case Inv(inner) if whole:
            return power(inner, number(-k))
        case Neg(inner) if whole:
            result = power(inner, exponent)
            return result if k % 2 == 0 else neg(result)
        case Call("abs", (inner,)) if whole and k % 2 == 0 and k > 0:
            return power(inner, exponent)
        case Add() if whole and k % 2 == 0:
            base = without_leading_minus(base)
        case Mul() if whole:
            return mul(*(power(factor, exponent) for factor in base.args))
        case Call("sqrt", (inner,)) if whole and k % 2 == 0 and is_positive(inner):
            return power(inner, number(k / 2))
    if k < 0:
        rewritten = stable_forms.rewrite_inverse(base)
        if rewritten is not None:
            return power(rewritten, number(-k))
        upright = power(base, number(-k))
        return Inv(upright) if upright in (base, Pow(base, number(-k))) else power(upright, Number(-1))
    return Pow(base, exponent)


def _small_power(value: Fraction, k: Fraction) -> bool:
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    return abs(k) <= MAX_BITS and bits * abs(k) <= MAX_BITS


def without_leading_minus(node: Node) -> Node:
    """The tree or its negative, whichever starts with a positive coefficient (for even functions)."""
    first = node.args[0] if isinstance(node, Add) else node
    if node.size > MAX_NODES // 5:  # the other sign may be longer; deep nests must not grow past the limits
        return node
    return neg(node) if split(first)[0] < 0 else node


def call(name: str, *arguments: Node) -> Node:
    """Function call in normal form."""
    function = FUNCTIONS[name]
    if all(isinstance(argument, Number) for argument in arguments):
        values = [argument.value for argument in arguments]  # type: ignore[attr-defined]
        if function.orders is not None:
            values[-1] = int(values[-1])
        exact = function.exact_value(*values)
        if exact is not None:
            return number(exact)
    argument = arguments[0]
    if function.odd and split(argument)[0] < 0 and not isinstance(argument, Add):
        return neg(call(name, neg(argument)))
    if function.even:
        arguments = (without_leading_minus(argument),)
    return _decide_piece(name, arguments) or stable_forms.rewrite_call(name, arguments) or Call(name, *arguments)


def _decide_piece(name: str, arguments: tuple[Node, ...]) -> Node | None:
    """The piece of a function that changes formula, if its argument has a known sign: relu(exp(t)) is exp(t)."""
    written = pieces_tree(FUNCTIONS[name])
    if written is None:
        return None
    values = dict(zip(ARGUMENTS, arguments, strict=False))
    left, right = fill_symbols(written.left, values), fill_symbols(written.right, values)
    known = (
        (written.op in ("<=", ">=") and left == right)
        or (written.op == ">" and right == ZERO and is_positive(left))
        or (written.op == ">=" and right == ZERO and is_nonnegative(left))
    )
    return fill_symbols(written.yes, values) if known else None


_COMPARE = {
    "<": Fraction.__lt__,
    "<=": Fraction.__le__,
    ">": Fraction.__gt__,
    ">=": Fraction.__ge__,
}


def holds(op: str, left: Fraction, right: Fraction) -> bool:
    """Whether a comparison of two rationals is true."""
    return bool(_COMPARE[op](left, right))


def where(op: str, left: Node, right: Node, yes: Node, no: Node) -> Node:
    if yes == no:
        return yes
    if isinstance(left, Number) and isinstance(right, Number):
        return yes if holds(op, left.value, right.value) else no
    return Where(op, left, right, yes, no)


def is_positive(node: Node) -> bool:
    """True only if the tree is positive wherever it is defined, by its structure."""
    match node:
        case Number(value):
            return value > 0
        case Symbol(name):
            return name in CONSTANTS
        case Call(name, arguments):
            function = FUNCTIONS[name]
            return function.sign == "positive" or (function.keeps_sign and is_positive(arguments[0]))
        case Mul():
            return all(map(is_positive, node.children))
        case Add():
            # Even powers and absolute values may vanish: one positive term beside them is enough.
            return all(map(is_nonnegative, node.children)) and any(map(is_positive, node.children))
        case Inv(argument):
            return is_positive(argument)
        case Pow(base, _):
            return is_positive(base)
    return False


def is_nonnegative(node: Node) -> bool:
    """True only if the tree is nonnegative wherever it is defined, by its structure."""
    match node:
        case Call(name, arguments):
            function = FUNCTIONS[name]
            return function.sign is not None or (function.keeps_sign and is_nonnegative(arguments[0]))
        case Pow(_, Number(value)) if value.denominator == 1 and value % 2 == 0:
            return True
        case Mul() | Add():
            return all(map(is_nonnegative, node.children))
    return is_positive(node)


def affine(node: Node) -> tuple[Fraction, Fraction] | None:
    """``(k, c)`` when the tree is k*t + c with rational k and c, else None."""
    terms = terms_of(node)
    if not set(terms) <= {Symbol("t"), ONE}:
        return None
    return terms.get(Symbol("t"), Fraction(0)), terms.get(ONE, Fraction(0))


def substitute(node: Node, values: dict[str, Node]) -> Node:
    """Replace symbols by trees; the result is in normal form."""
    return simplify(put(node, values))
