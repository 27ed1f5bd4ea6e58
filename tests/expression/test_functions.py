"""The record of each function: every fact is tried for falsity, and every arithmetic has an entry."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

import uneven
from uneven.expression import Node, derivative, parse, simplify, to_text
from uneven.expression.calculus import domain, pieces, vanishing
from uneven.expression.functions import CONCAVE, CONVEX, FALLING, FUNCTIONS, RISING, Function, only_at
from uneven.expression.latex import to_latex
from uneven.expression.tree import Add, Call, Number, T
from uneven.ops import balls, floats, kernels, precise
from uneven.ops.balls import Impossible, Undefined, enclose_interval, interval
from uneven.ops.floats import plain_values
from uneven.ops.rationals import exact_value
from uneven.shape.exact_limits import exact_limit
from uneven.shape.structure import curvature
from uneven.shape.structure import direction_by_structure as direction
from uneven.shape.zeros import zeros

ARITHMETICS = {"floats": floats.CALLS, "balls": balls.CALLS, "precise": precise.CALLS, "kernels": kernels.CALLS}
POINTS = np.array([-7.5, -3.25, -1.5, -0.75, -0.25, -0.125, 0.0, 0.125, 0.375, 0.875, 1.0, 1.625, 2.5, 6.0])
EVERY = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
UNARY = pytest.mark.parametrize(
    "function", [f for f in FUNCTIONS.values() if f.arity == 1], ids=[n for n, f in FUNCTIONS.items() if f.arity == 1]
)


def call_of(function: Function) -> Call:
    """The function at t; with two arguments at t and (1 - t)/2; of a family, the member of the third order."""
    return Call(function.name, *(T, parse("(1 - t)/2"))[: function.arity], *orders_of(function))


def orders_of(function: Function) -> list[Node]:
    return [] if function.orders is None else [Number(function.orders[2])]


def defined(function: Function, points: np.ndarray = POINTS) -> np.ndarray:
    condition = domain(call_of(function))
    if condition is None:
        return points
    inside = plain_values(condition[0], points)
    return points[inside >= 0 if condition[1] else inside > 0]


def values(function: Function, points: np.ndarray) -> np.ndarray:
    return plain_values(call_of(function), points)


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
def test_every_arithmetic_computes_every_function(arithmetic: str) -> None:
    assert ARITHMETICS[arithmetic].keys() == FUNCTIONS.keys()


@EVERY
def test_arithmetics_agree(function: Function) -> None:
    tree = call_of(function)
    for point in defined(function):
        y = float(plain_values(tree, np.array([point]))[0])
        enclosure = enclose_interval(tree, interval(point, point), bits=128)
        assert float(enclosure.lo) == pytest.approx(float(enclosure.hi), rel=1e-15)
        assert float(enclosure.lo) == pytest.approx(y, rel=1e-14)
        assert float(precise.value_at(tree, arb(point))) == pytest.approx(y, rel=1e-14)


def test_the_compiled_kernel_agrees() -> None:
    """One kernel for all functions, since each would be compiled: they differ in weight."""
    inner = parse("1.25 + t/8")  # inside every domain for the points below
    terms = [
        simplify(parse(f"{weight}*{function.name}({', '.join(written_arguments(function))})", ["x"]))
        for weight, function in enumerate(FUNCTIONS.values(), start=1)
    ]
    tree = uneven.expression.substitute(Add(*terms), {"x": inner})
    t = np.linspace(-5, 5, 101)
    value, slope = kernels.compile_kernel(tree).first(t)
    assert np.allclose(value, plain_values(tree, t), rtol=1e-13)
    assert np.allclose(slope, plain_values(derivative(tree), t), rtol=1e-12)


def written_arguments(function: Function) -> list[str]:
    return [*["x", "2 - x"][: function.arity], *map(to_text, orders_of(function))]


@EVERY
def test_latex_shows_every_argument(function: Function) -> None:
    assert all(f"#{place}" in function.latex for place in range(1, function.arity + 1))
    shown = to_latex(call_of(function))
    assert "#" not in shown
    assert shown.count("{") == shown.count("}")
    assert shown.count(r"\left") == shown.count(r"\right")


@EVERY
def test_slope(function: Function) -> None:
    assert (function.slope is None) == (function.arity == 2)
    tree, h = call_of(function), 1e-5
    points = defined(function, POINTS[(POINTS != 0) & (np.abs(POINTS - 1 / 3) > 0.01)])
    expected = (plain_values(tree, points + h) - plain_values(tree, points - h)) / (2 * h)
    assert np.allclose(plain_values(derivative(tree), points), expected, rtol=1e-6, atol=1e-8)


@EVERY
def test_pieces(function: Function) -> None:
    tree = call_of(function)
    written = pieces(tree)
    if written is None:
        assert function.pieces is None
        return
    points = np.append(POINTS, 1 / 3)
    expected = [
        plain_values(written.yes if holds else written.no, points[i : i + 1])[0]
        for i, holds in enumerate(_holds(written.op, *(plain_values(side, points) for side in written[1:3])))
    ]
    assert values(function, points).tolist() == expected


def _holds(op: str, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[op]


@EVERY
def test_jumps(function: Function) -> None:
    left, right = values(function, np.array([-1e-12, 1e-12]))
    jump = bool(abs(right - left) > 1e-5)  # False for NaN: outside the domain
    assert function.jumps == jump


@UNARY
def test_domain(function: Function) -> None:
    tree, condition = call_of(function), domain(call_of(function))
    for point in POINTS:
        inside = point in defined(function)
        try:
            enclose_interval(tree, interval(point, point))
        except Impossible:
            assert not inside
        else:
            assert inside
    if condition is not None:
        (end,) = zeros(condition[0])
        assert (math.isfinite(values(function, np.array([float(end.point)]))[0])) == condition[1]


@UNARY
def test_sign(function: Function) -> None:
    points = defined(function)
    y = values(function, points)
    if (y >= 0).all():
        assert function.sign == ("positive" if (y > 0).all() else "nonnegative")
    else:
        assert function.sign is None
    assert function.keeps_sign == bool((np.sign(y) == np.sign(points)).all())


@UNARY
def test_zeros(function: Function) -> None:
    if function.zeros is None:
        assert function.sign == "positive"
        return
    tree = call_of(function)
    inner = vanishing(tree)
    assert inner is not None
    (zero,) = zeros(inner)
    place = float(zero.point)
    assert values(function, np.array([place]))[0] == 0
    y = values(function, defined(function, np.append(POINTS, place)))
    assert (y == 0).sum() in ((1, 2) if function.pieces is None else range(len(y)))  # the place may be a point
    assert values(function, np.array([place + 1e-6]))[0] != 0


@EVERY
def test_direction(function: Function) -> None:
    points = defined(function)
    if function.arity == 2:
        y = plain_values(Call(function.name, T, parse("1/3")), points)
        assert (plain_values(Call(function.name, parse("1/3"), T), points) == y).all()  # the same in each argument
    else:
        y = values(function, points)
    rising, falling = bool((np.diff(y) >= 0).all()), bool((np.diff(y) <= 0).all())
    assert function.direction == (RISING if rising else FALLING if falling else None)
    assert direction(Call(function.name, T, *[parse("1/3")] * (function.arity - 1), *orders_of(function))) == (
        function.direction
    )


@EVERY
def test_curvature(function: Function) -> None:
    points = defined(function, np.linspace(-3, 3, 121))
    y = values(function, points)
    bend = np.diff(y, 2)
    bound = 1e-12 * (1 + np.abs(y[1:-1]))
    convex, concave = bool((bend >= -bound).all()), bool((bend <= bound).all())
    assert function.curvature == (CONVEX if convex else CONCAVE if concave else None)
    assert curvature(call_of(function)) == function.curvature


@UNARY
@pytest.mark.parametrize("side", [-1, 1])
def test_limits(function: Function, side: int) -> None:
    declared = exact_limit(call_of(function), side)
    if not defined(function, np.array([side * 1e300])).size:
        assert declared is None
        return
    near, far = values(function, side * np.array([1e6, 1e300]))
    if declared is None:
        assert Fraction(float(far)).limit_denominator(100) != Fraction(float(far))
    elif isinstance(declared, Fraction):
        assert far == declared
        assert near == pytest.approx(float(declared), abs=1e-5)
    else:
        assert np.sign(far) == np.sign(declared)
        assert math.isinf(near) or abs(far) > 10 * abs(near)
        assert function.slow_growth == bool(abs(far) < 1e-3 * 1e300)
    if function.pieces is None:
        assert function.limits[(side + 1) // 2] == declared


@UNARY
def test_symmetry(function: Function) -> None:
    y, mirrored = values(function, POINTS), values(function, -POINTS)
    assert function.odd == bool((mirrored == -y).all())
    assert function.even == bool((mirrored == y).all())


@UNARY
def test_exact_values(function: Function) -> None:
    tree = call_of(function)
    for point in [Fraction(p) for p in POINTS] + [Fraction(9, 4), Fraction(4), Fraction(-1)]:
        exact = exact_value(tree, point)
        try:
            enclosure = enclose_interval(tree, interval(point, point), bits=128)
        except Undefined:
            assert exact is None
            continue
        if exact is not None:
            assert enclosure.contains(exact)
        else:  # no value that is obviously rational is left out
            simple = Fraction(float(enclosure.lo)).limit_denominator(10)
            assert not enclosure.contains(simple)


@pytest.fixture
def asinh(monkeypatch: pytest.MonkeyPatch) -> Iterator[Function]:
    """A new function: one record, one entry in each arithmetic."""
    record = Function(
        name="asinh",
        latex=r"\operatorname{arsinh}\left(#1\right)",
        slope="1/sqrt(1 + x**2)",
        keeps_sign=True,
        zeros="x",
        direction=RISING,
        limits=(-math.inf, math.inf),
        slow_growth=True,
        odd=True,
        exact_value=only_at(0, 0),
    )

    monkeypatch.setitem(FUNCTIONS, "asinh", record)
    monkeypatch.setitem(floats.CALLS, "asinh", np.arcsinh)
    monkeypatch.setitem(balls.CALLS, "asinh", balls.increasing(lambda x: x.asinh() if x.is_finite() else x))
    monkeypatch.setitem(precise.CALLS, "asinh", lambda x: x.asinh())
    monkeypatch.setitem(kernels.CALLS, "asinh", kernels.library("asinh"))
    return record


def test_a_new_function_is_one_record_and_its_numerics(asinh: Function) -> None:
    for check in (
        test_arithmetics_agree, test_latex_shows_every_argument, test_slope, test_pieces, test_jumps, test_domain,
        test_sign, test_zeros, test_direction, test_curvature, test_symmetry, test_exact_values,
    ):  # fmt: skip
        check(asinh)
    for side in (-1, 1):
        test_limits(asinh, side)
    assert to_text(simplify(parse("asinh(-2*t) + asinh(2*t)"))) == "0"
    assert to_text(derivative(simplify(parse("asinh(t)**2")))) == "2*asinh(t)/sqrt(1 + t**2)"
    phi = uneven.phi("relu(asinh(1 - t))")
    assert phi.kinks == (1.0,)
    assert phi.limits == (math.inf, 0.0)
    assert phi(-1e308) == pytest.approx(math.asinh(1e308))
    assert values_of_kernel(phi.tree) == pytest.approx(np.arcsinh([3.0, 1.5, 0.0]))
    with pytest.raises(uneven.errors.ExpressionError, match="is never negative"):
        uneven.phi("asinh(t)")


def values_of_kernel(tree: Node) -> np.ndarray:
    return kernels.compile_kernel(tree).first(np.array([-2.0, -0.5, 2.0]))[0]


def test_other_names_are_suggested() -> None:
    seen: dict[str, str] = {name: name for name in FUNCTIONS}
    for function in FUNCTIONS.values():
        for other in function.also_called:
            assert seen.setdefault(other, function.name) == function.name
            with pytest.raises(uneven.errors.ExpressionError, match=f"no function {other!r} .did you mean") as error:
                parse(f"1 + {other}(t)")
            assert f"(did you mean {function.name!r}?), at column 5 of" in str(error.value)
    with pytest.raises(uneven.errors.ExpressionError, match=r"no function 'sin' \(allowed: exp, log, .*, where\)"):
        parse("sin(t)")
