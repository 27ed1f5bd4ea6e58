"""Kinks, zeros and the question whether a text is a loss, on texts that once went wrong; and how long they take."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
import pytest

import uneven
from uneven.errors import ExpressionError
from uneven.expression import parse, simplify
from uneven.shape.bounds import negative_point
from uneven.shape.kinks import kinks, switch_points
from uneven.shape.pieces import Undecidable, sign_beside
from uneven.shape.polynomials import is_nonnegative_polynomial
from uneven.shape.zeros import zeros

ROOT = float(np.sqrt(2))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sqrt(4*t**2)", (0,)),
        ("(t**4)**0.25", (0,)),
        ("sqrt(abs(t*expm1(t)))", (0,)),
        ("sqrt(exp(t) - 1 - t)", (0,)),
        ("where(t < 0, -sqrt(abs(t)), sqrt(abs(t))) + 9", (0,)),  # a vertical tangent, the same on both sides
        ("abs((t-16)*(t-17))", (16, 17)),
        ("abs(exp(2*t) - 4*exp(t) + 3.99999)", (np.log(2 - 1e-5**0.5), np.log(2 + 1e-5**0.5))),
        ("relu((t-3.01)*(t-3.02))", (3.01, 3.02)),
        ("where((t-2.9)*(t-3) < 0, 1, 0)", (2.9, 3)),
        ("relu((t-15)*exp(-t))", (15,)),
        ("1e-7*abs(t**3-2)", (2 ** (1 / 3),)),
        ("1e-12*abs(t**2-2) + t**2", (-ROOT, ROOT)),
        ("step(t) + step(-t)", (0,)),
        ("step(t**2-2) + step(2-t**2)", (-ROOT, ROOT)),
        ("where(t**2 <= 0, 5, 1)", (0,)),
        ("relu(1e60 - t**2)", (-1e30, 1e30)),
        ("relu(t - 1e-9) + relu(t)", (0, 1e-9)),
        ("abs(t**2 - 2)", (-ROOT, ROOT)),
        ("1e12*relu(t**2 - 2)**2", ()),
        ("relu(t**9)", ()),
        ("max(exp(-t), exp(-t)+t**11)", ()),
        ("abs(t*erf(t))", ()),
        ("abs(exp(2*t) - 4*exp(t) + 4)", ()),
        ("abs(t)**1.1", ()),
        ("where(t > 0, exp(-1/t), 0)", ()),
        ("where(t**2 > 2, exp(-1/(t**2-2)), 0)", ()),
        ("max(softplus(-t), erfc(t))", (-1.844042236582242, 0.5108960427466204)),  # both underflow far out
    ],
)
def test_kinks(text: str, expected: tuple[float, ...]) -> None:
    found = kinks(simplify(parse(text)))
    assert len(found) == len(expected)
    assert found == pytest.approx(expected, rel=1e-12, abs=0)


def test_kinks_are_switch_points() -> None:
    tree = simplify(parse("abs(t**2 - 2) + relu(t**2 - 2) + abs(exp(t) - 3) + relu(3*t - 1)"))
    assert set(kinks(tree)) <= set(map(float, switch_points(tree)))
    assert Fraction(1, 3) in switch_points(tree)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("t**2 - 2*t + 1", [1]),
        ("where(t < 1, t, t**2) - 4", [2]),
        ("abs(t) - 3", [-3, 3]),
        ("max(t, 2*t) - 3", [1.5]),
        ("exp(t) - 1", [0]),
        ("t**50 - t", [0, 1]),
        ("1/(exp(t) - 2) + t**2/1e9", []),  # a change of sign at a pole is no zero
        ("exp(-t) + 1e-200", []),
        ("1e-300*t**2 - 3e308*t + t*2 - 1e300", [Fraction(-1, 3 * 10**8)]),  # the other is no double
        ("tanh(t - 1)*log(t**2 + 1 - 0.75)", [-(0.75**0.5), 0.75**0.5, 1]),
    ],
)
def test_zeros(text: str, expected: list[float]) -> None:
    found = [float(zero.point) for zero in zeros(simplify(parse(text)))]
    assert [x for x in found if x > -1e4] == pytest.approx(expected)  # the pole example has a zero far out


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1 - 1e-30*t", "never negative"),
        ("1/(1 - 1e-60*t**2)", "undefined at t = -1e+30"),
        ("sqrt(1e60 - t**2)", "undefined at t = "),
        ("1 - 8*expit(1000*(t - 3.3))*expit(-1000*(t - 3.3))", "never negative"),
        ("1 - 2*exp(-1e6*(t - 3.3)*(t - 3.3))", "never negative"),
        ("1 + tanh(log(relu(1 - t)))", "undefined at t = "),
        ("exp(log(abs(1 - t)))", "undefined at t = 1"),
        ("0*log(abs(exp(t) - 2))", "undefined at t = 0.69314718056"),
        ("1/(t**2 - 2)**2", "undefined at t = -1.41421"),
        ("1/(t - pi)**2", "undefined at t = 3.14159"),
        ("1/abs(t - e**e)", "undefined at t = 15.1542"),
        ("where((3*t - 1)**2 <= 0, -1, 1)", "is -1 at t = 0.333333333333"),
        ("where(t**2 <= 0, 1, log(-1))", "undefined at t = "),
    ],
)
def test_what_is_no_loss_is_refused(text: str, says: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        uneven.phi(text)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "where(t > 0, exp(-1/t), 0)",
        "where(abs(t) > 0, expm1(t)/t, 1)",
        "where(t <= 0, 1, log(1+t)/t)",
        "exp(t) + where(3*t > 1, exp(-1/(3*t - 1)), 0)",
        "where(t**2 > 2, exp(-1/(t**2 - 2)), 0)",
        "sqrt(t*t)",
        "sqrt(1 - 2*t + t**2)",
        "sqrt(1/9 - 2/3*t + t**2)",
        "sqrt(t + abs(t))",
        "(t*t)**1.5",
        "t/where(t < 0, -1, 1)",
        "-log(1/(1 + exp(-t)))",
        "-log(1 - expit(-t))",
        "1/(1e-40 + (t**2 - 2)**2)",
    ],
)
def test_what_is_a_loss_is_accepted(text: str) -> None:
    assert uneven.phi(text)(0.5) >= 0


def test_sign_beside_a_zero() -> None:
    zero = Fraction(0)
    for text, left, right in (("t**15", -1, 1), ("t*erf(t)", 1, 1), ("expm1(t) - t", 1, 1), ("1/t", -1, 1)):
        tree = simplify(parse(text))
        assert (sign_beside(tree, zero, -1), sign_beside(tree, zero, 1)) == (left, right)
    with pytest.raises(Undecidable):
        sign_beside(parse("log(2) + log(3) - log(6)"), zero, 1)


def test_negative_point() -> None:
    assert negative_point(parse("exp(-t)")) is None
    assert negative_point(parse("t**2 - 2*t + 1")) is None
    found = negative_point(parse("1e-3 - exp(-(1e4*(t - 77.7))**2)"))
    assert found == pytest.approx(77.7, abs=1e-3)


def test_polynomials_that_are_nowhere_negative() -> None:
    for text in ("t**4 - 4*t**2 + 4", "1 + t**2", "(t - 1)**2*(t**2 + 3)", "5", "(t + 1)**2 - 2*t"):
        assert is_nonnegative_polynomial(parse(text))
    for text in ("t", "t**2 - 2", "1 - t**2", "t**4 - 4*t**2 + 3", "exp(t)", "t**2*(t - 1)"):
        assert not is_nonnegative_polynomial(parse(text))


def _nested(text: str, times: int) -> str:
    inner = "t"
    for i in range(times):
        inner = text.format(x=inner, i=i)
    return inner


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        _nested("where({x} < {i}, {i}-t, t**2)", 48),
        " + ".join(f"abs(exp(-t)*({k} - t**2))" for k in range(1, 45)),
        "min(" + ", ".join(f"exp(t-{k})+exp({k}*t)" for k in range(-20, 20)) + ")",
        "+".join(f"step(exp(t)-{k})" for k in range(1, 100)),
        "*".join(f"abs(t**2-{k})" for k in range(2, 70)),
        _nested("abs(({x})**2 - 3)/2", 14),
        "+".join(f"sqrt(abs(t-{k}))*log(1+abs(t+{k}))" for k in range(1, 30)),
    ],
    ids=["where", "abs", "min", "step", "product", "iterated", "roots"],
)
def test_long_texts_take_about_a_second(text: str) -> None:
    assert len(text) <= 2000
    start = time.thread_time()
    uneven.phi(text).kinks  # noqa: B018 - computed at first use
    assert time.thread_time() - start < 4.0  # twice over for a slow machine, twice for a busy one


def test_an_ordinary_text_takes_no_time() -> None:
    uneven.phi("exp(-t)")  # imports
    start = time.thread_time()
    uneven.phi("log(1 + exp(-t)) + relu(-t)**2/2").kinks  # noqa: B018
    assert time.thread_time() - start < 1.0
