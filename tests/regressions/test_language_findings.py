"""Texts that once hung, were refused with an untrue reason, or were not recognised."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_poly

import uneven
from uneven.errors import ExpressionError, UnevenError
from uneven.expression import parse, simplify, to_text
from uneven.expression.tree import T
from uneven.shape.polynomials import closeness, is_nonnegative_polynomial, real_roots, sturm_roots
from uneven.shape.zeros import zeros

TINY = "1/((t - 1/3)**2 + 1e-900)"


def nested(wrapper: str, inner: str, times: int) -> str:
    for _ in range(times):
        inner = wrapper.replace("{}", inner)
    return inner


SLOW_ONCE = {
    "roots 1e-450 apart": TINY,
    "roots 1e-450 apart, degree 40": "1/((t**20 - 1/3)**2 + 1e-900)",
    "many close roots": "+".join(f"relu((t**{k} - 1/3)**2 + 1e-900)" for k in range(1, 40)),
    "many large coefficients": "+".join(f"relu(t**{k} - 1e-{10 * k}*t + 1e-900)" for k in range(1, 36)),
    "a square under a logarithm": "*".join(["1/(1 + abs(log(1e300 + (t - 1/3)**2)))"] * 30),
    "nested exponentials": nested("exp(-{})", "t", 55),
    "nested products of exponentials": nested("abs(exp(t*({})))", "t", 20),
    "nested absolute values": nested("abs(2*{} - 1)", "t", 14),
    "nested minima": "min(" * 58 + "t" + "".join(f",{k} + t)" for k in range(58)),
    "a sum of softplus": "+".join(f"softplus(-{k}*t)" for k in range(1, 90)),
}


@pytest.mark.parametrize("text", SLOW_ONCE.values(), ids=SLOW_ONCE)
def test_an_answer_comes_soon(text: str) -> None:
    """Each takes well under two seconds; some took minutes, inside a library that cannot be interrupted."""
    assert len(text) <= 2000
    start = time.thread_time()
    try:
        phi = uneven.phi(text)
    except UnevenError as error:
        assert str(error)  # a refusal is an answer
    else:
        phi.kinks  # noqa: B018 - must end as well
    assert time.thread_time() - start < 5.0


def test_a_polynomial_with_close_complex_roots_is_positive() -> None:
    phi = uneven.phi(TINY)
    assert phi(0.0) == pytest.approx(9)
    assert is_nonnegative_polynomial(simplify(parse("(t - 1/3)**2 + 1e-900")))
    assert not is_nonnegative_polynomial(simplify(parse("(t - 1/3)**2 - 1e-900")))


def test_a_refusal_for_close_roots_says_so() -> None:
    with pytest.raises(ExpressionError, match=r"degree 40 .* too close together"):
        uneven.phi("1/((t**20 - 1/3)**2 + 1e-900)")


def test_a_certificate_with_close_roots_is_checked_at_once() -> None:
    certificate = uneven.certify(uneven.Loss("exp(-t)", "exp(t)"), alpha="1/2").to_json()
    forged = certificate.replace("exp(-t)", TINY)
    assert forged != certificate
    start = time.thread_time()
    try:
        valid = bool(uneven.verify(forged))
    except UnevenError:
        valid = False
    assert not valid
    assert time.thread_time() - start < 5.0


@pytest.mark.parametrize(
    "coefficients", [[-2, 0, 1], [1, -3, 0, 1], [1, 0, -10, 0, 1], [3, -(10**200), 0, 0, 0, 1], [1, 0, -(2**2001)]]
)
def test_sturm_finds_the_roots_that_flint_finds(coefficients: list[int]) -> None:
    polynomial = fmpq_poly(coefficients)
    expected = sorted(float(point) for point, _ in real_roots(polynomial))
    assert sturm_roots(polynomial.numer()) == pytest.approx(expected, rel=1e-15)


def test_two_roots_between_neighbouring_doubles_are_one() -> None:
    t = fmpq_poly([0, 1])
    squared = (t - fmpq(1, 3)) ** 2
    assert sturm_roots((squared - fmpq(2, 10**900)).numer()) == [1 / 3]
    assert sturm_roots((squared + fmpq(2, 10**900)).numer()) == []


def test_closeness_counts_the_bits_in_which_roots_agree() -> None:
    t = fmpq_poly([0, 1])
    for digits in (20, 100, 400):
        close = closeness(((t - fmpq(1, 3)) ** 2 + fmpq(1, 10**digits)).numer())
        assert close == pytest.approx(digits / 2 * np.log2(10), abs=5)
    assert closeness((t**40 - 10**900 * t + 1).numer()) < 10  # roots of very different sizes, none close


def test_zeros_of_nested_absolute_values_are_exact_while_they_are_few() -> None:
    tree = simplify(parse(nested("abs(2*{} - 1)", "t", 6)))
    found = {zero.point for zero in zeros(tree)}
    assert all(zero.exact for zero in zeros(tree))
    assert found == {Fraction(k, 64) for k in range(1, 64, 2)}


def test_a_power_tower_is_refused_for_its_digits() -> None:
    with pytest.raises(ExpressionError, match=r"exponent .* more than about 900 digits"):
        uneven.phi("t**2**2**2**2**2")
    assert uneven.phi("abs(t)**2**2**2**2**2")(0.0) == 0
    assert uneven.phi("abs(t)**(2**(1/3))")(8.0) == pytest.approx(8 ** (2 ** (1 / 3)))


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("e**(-t)", "exp(-t)"),
        ("e", "exp(1)"),
        ("e**2*e**t", "exp(2 + t)"),
        ("log(e)", "1"),
        ("1/(1 + e**t)", "expit(-t)"),
        ("exp(t)**t", "exp(t**2)"),
        ("sqrt(exp(t)**3)", "sqrt(exp(3*t))"),
        ("pi**t", "pi**t"),
        ("2**t", "2**t"),
    ],
)
def test_powers_of_e_are_exponentials(text: str, normal: str) -> None:
    assert to_text(simplify(parse(text))) == normal
    assert simplify(parse(normal)) == simplify(parse(text))


def test_the_exponential_loss_written_with_e_is_the_exponential_loss() -> None:
    assert uneven.phi("e**(-t)").tree == uneven.phi("exponential").tree
    assert uneven.phi("e + t**2").latex() == "e + t^{2}"
    assert simplify(parse("e**t")).children == (T,)
