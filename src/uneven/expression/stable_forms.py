"""Shapes that lose digits or overflow in floating point, and the stable primitive that equals each.

``log(1 + exp(x))`` overflows at x = 1000, ``1 - expit(x)`` cancels, ``log(1/(1 + exp(-t)))`` is minus
infinity at -1000. Each rule here is an identity on the whole real line. The functions receive operands
in normal form (see ``algebra``) and return operands in normal form.
"""

from __future__ import annotations

from fractions import Fraction

from uneven.expression import algebra
from uneven.expression.tree import ONE, ZERO, Add, Call, Inv, Mul, Neg, Node, Number, Pow

Terms = dict[Node, Fraction]


def rewrite_sum(terms: Terms) -> Terms:
    """Shapes within a sum given as ``{rest: coefficient}``."""
    for rest in list(terms):
        if isinstance(rest, Call) and rest in terms:
            terms = _with_constant(terms, rest) or _with_argument(terms, rest) or terms
    return _logistic_difference(terms) or terms


def _logistic_difference(terms: Terms) -> Terms | None:
    """r*expit(x) - r*expit(-x) = r*tanh(x/2), which does not cancel near x = 0; also a share of unequal terms."""
    powers = {rest: _powers(rest) for rest in terms if _has_expit(rest)}
    for rest, up in powers.items():
        for other, down in powers.items():
            if rest is other or terms[rest] < 0 or terms[other] > 0:
                continue
            change = {base: up.get(base, Fraction(0)) - down.get(base, Fraction(0)) for base in up | down}
            changed = [base for base in change if change[base]]
            plus = [base for base in changed if change[base] == 1]
            if len(changed) != 2 or len(plus) != 1 or sum(change.values(), Fraction(0)) or not _is_expit(plus[0]):
                continue
            x = plus[0].arguments[0]  # type: ignore[attr-defined]
            minus = Call("expit", algebra.neg(x))
            if minus in changed:
                half = algebra.mul(Number(Fraction(1, 2)), x)
                new = algebra.mul(rest, Inv(plus[0]), algebra.call("tanh", half))
                shared = min(terms[rest], -terms[other])
                return _replace(terms, {rest: shared, other: -shared}, new, shared)
    return None


def _powers(rest: Node) -> dict[Node, Fraction]:
    """Exponents of the factors; u beside 1/u counts as a base of its own."""
    powers: dict[Node, Fraction] = {}
    for factor in _factors(rest):
        base, exponent = algebra.base_and_exponent(factor)
        if base in powers:
            base, exponent = factor, Fraction(1)
        powers[base] = exponent
    return powers


def _is_expit(node: Node) -> bool:
    return isinstance(node, Call) and node.name == "expit"


def _factors(node: Node) -> tuple[Node, ...]:
    return node.args if isinstance(node, Mul) else (node,)


def _has_expit(rest: Node) -> bool:
    return any(_is_expit(algebra.base_and_exponent(factor)[0]) for factor in _factors(rest))


def _with_constant(terms: Terms, rest: Call) -> Terms | None:
    """1 - expit(x), 1 +- tanh(x), 1 +- erf(x), exp(x) - 1: the constant is absorbed."""
    constant, coefficient = terms.get(ONE, Fraction(0)), terms[rest]
    if constant == 0:
        return None
    x = rest.arguments[0]
    same = constant == coefficient
    if abs(constant) != abs(coefficient):
        return None
    match rest.name:
        case "expit" if not same:
            new = algebra.call("expit", algebra.neg(x))
        case "tanh":
            double = algebra.mul(Number(2), x)
            new = algebra.mul(Number(2), algebra.call("expit", double if same else algebra.neg(double)))
        case "erf":
            new = algebra.call("erfc", algebra.neg(x) if same else x)
        case "exp" if not same:
            new, constant = algebra.call("expm1", x), coefficient
        case _:
            return None
    return _replace(terms, {rest: coefficient, ONE: terms[ONE]}, new, constant)


def _with_argument(terms: Terms, rest: Call) -> Terms | None:
    """softplus(x) - x = softplus(-x) and x + abs(x) = 2 relu(x): the argument is absorbed."""
    if rest.name not in ("softplus", "abs"):
        return None
    coefficient = terms[rest]
    x = rest.arguments[0]
    for sign in (-1,) if rest.name == "softplus" else (1, -1):
        removed = {part: sign * coefficient * value for part, value in algebra.terms_of(x).items()}
        if all(terms.get(part) == value for part, value in removed.items()):
            signed = x if sign > 0 else algebra.neg(x)
            if rest.name == "softplus":
                new, factor = algebra.call("softplus", signed), coefficient
            else:
                new, factor = algebra.call("relu", signed), 2 * coefficient
            return _replace(terms, {rest: coefficient, **removed}, new, factor)
    return None


def _replace(terms: Terms, removed: Terms, new: Node, coefficient: Fraction) -> Terms:
    result = dict(terms)
    for part, value in removed.items():
        result[part] -= value
    for part, value in algebra.terms_of(new).items():
        result[part] = result.get(part, Fraction(0)) + coefficient * value
    return {part: value for part, value in result.items() if value}


def rewrite_product(factors: list[Node]) -> list[Node]:
    """Shapes within a product: one exp; exp(x)*expit(-x) = expit(x); step(u)*relu(u) = relu(u)."""
    exponentials = [factor for factor in factors if isinstance(factor, Call) and factor.name == "exp"]
    if len(exponentials) > 1:
        joined = algebra.call("exp", algebra.add(*(factor.arguments[0] for factor in exponentials)))
        others = [factor for factor in factors if factor not in exponentials]
        return rewrite_product([*others, joined])
    bases = {algebra.base_and_exponent(factor) for factor in factors}
    if len(exponentials) == 1:
        x = exponentials[0].arguments[0]
        for base, exponent in bases:
            if _is_expit(base) and exponent >= 1 and base.args[1] == algebra.neg(x):
                others = [f for f in factors if f != exponentials[0] and algebra.base_and_exponent(f)[0] != base]
                left = algebra.power(base, algebra.number(exponent - 1))
                return rewrite_product(algebra.collect_powers([*others, left, algebra.call("expit", x)]))
    for base, exponent in bases:
        if isinstance(base, Call) and base.name == "expit" and exponent < 0:
            x = base.arguments[0]
            mirrored = Call("expit", algebra.neg(x))
            up = next((k for b, k in bases if b == mirrored and k > 0), None)
            if up is not None:  # expit(-x)/expit(x) = exp(-x)
                k = min(up, -exponent)
                others = [f for f in factors if algebra.base_and_exponent(f)[0] not in (base, mirrored)]
                rest = [
                    algebra.power(mirrored, algebra.number(up - k)),
                    algebra.power(base, algebra.number(exponent + k)),
                    algebra.call("exp", algebra.mul(algebra.number(-k), x)),
                ]
                return rewrite_product(algebra.collect_powers([*others, *(part for part in rest if part != ONE)]))
    gated = {base.arguments for base, k in bases if isinstance(base, Call) and base.name == "relu" and k > 0}
    return [f for f in factors if not (isinstance(f, Call) and f.name == "step" and f.arguments in gated)]


def rewrite_inverse(base: Node) -> Node | None:
    """1/(1 + exp(x)) = expit(-x); None for any other shape."""
    match base:
        case Add(args=(Number(value), Call("exp", (x,)))) if value == 1:
            return algebra.call("expit", algebra.neg(x))
    return None


def rewrite_call(name: str, arguments: tuple[Node, ...]) -> Node | None:
    """Shapes whose head is a function; None if there is nothing to rewrite."""
    argument = arguments[0]
    match name, argument:
        case "max" | "min", _ if ZERO in arguments:
            other = arguments[0] if arguments[1] == ZERO else arguments[1]
            if name == "max":
                return algebra.call("relu", other)
            return algebra.neg(algebra.call("relu", algebra.neg(other)))
        case "sqrt", _:
            return _root_of_even_power(argument)
        case "log", Call("exp", (x,)):
            return x
        case "log", Call("expit", (x,)):
            return algebra.neg(algebra.call("softplus", algebra.neg(x)))
        case "log", Inv(x):
            return algebra.neg(algebra.call("log", x))
        case "log", Add(args=(Number(value), *rest)) if value == 1:
            return algebra.call("log1p", algebra.add(*rest))
        case "log", Add(args=(Call("exp", (x,)), Call("exp", (y,)))):
            return algebra.add(x, algebra.call("softplus", algebra.subtract(y, x)))
        case "log", Mul() if any(isinstance(f, Call) and f.name in ("exp", "expit") for f in argument.args):
            if algebra.is_positive(argument):
                return algebra.add(*(algebra.call("log", factor) for factor in argument.args))
        case "log1p", Call("exp", (x,)):
            return algebra.call("softplus", x)
        case "log1p", Neg(Call("expit", (x,))):
            return algebra.neg(algebra.call("softplus", x))
        case "exp", Neg(Call("softplus", (x,))):
            return algebra.call("expit", algebra.neg(x))
        case "exp", Call("log", (x,)) if algebra.is_positive(x):
            return x
    return _log_of_power(name, argument)


def _root_of_even_power(argument: Node) -> Node | None:
    """sqrt(c*u**2) = sqrt(c)*abs(u), also for u**4."""
    coefficient, rest = algebra.split(argument)
    match rest:
        case Pow(base, Number(exponent)) if coefficient > 0 and exponent in (2, 4):
            root = algebra.call("sqrt", algebra.number(coefficient))
            return algebra.mul(root, algebra.power(algebra.call("abs", base), algebra.number(exponent / 2)))
    return None


def _log_of_power(name: str, argument: Node) -> Node | None:
    """log(u**k) = k log(u) for a u that is positive."""
    base, exponent = algebra.base_and_exponent(argument)
    if name == "log" and base != argument and algebra.is_positive(base):
        return algebra.mul(algebra.number(exponent), algebra.call("log", base))
    return None
