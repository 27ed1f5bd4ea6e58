"""Losses given by their slopes."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uneven
from uneven.errors import LossError
from uneven.expression import derivative, parse, to_text
from uneven.losses.from_slopes import Integral, antiderivative
from uneven.ops.floats import values

T = np.concatenate([np.linspace(-9, 9, 73) + 0.003, [0.0]])
CLIPPED = "where(expit(t) > 0.05, (expit(t) - 0.05)**4/(1.05 - expit(t)), 0)*expit(t)*expit(-t)"
SLOPES = [
    "-expit(-t)**2",
    "-expit(-t)**5",
    "expit(t) - 0.3",
    "expit(t)**3*expit(-t)",
    "expit(t)*expit(-t)/(2 - expit(t))**2",
    "relu(expit(t) - 0.3)*expit(-t)",
    "where(expit(t) < 0.2, -1, 1)*expit(t)*expit(-t)",
    "expit(t)*expit(-t)/(1 + expit(t))**3 - expit(-t)**2",
    CLIPPED,
]


@pytest.mark.parametrize("slope", SLOPES)
def test_the_derivative_of_the_antiderivative(slope: str) -> None:
    found = antiderivative(parse(slope))
    assert found is not None
    np.testing.assert_allclose(values(derivative(found), T), values(parse(slope), T), rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@given(
    st.lists(st.integers(-4, 4), min_size=1, max_size=5),
    st.sampled_from(["1", "1 + expit(t)", "(3 - expit(t))**2", "2 - expit(-t)"]),
    st.fractions(min_value="1/20", max_value="19/20", max_denominator=20),
)
def test_any_piecewise_quotient(coefficients: list[int], denominator: str, switch: Fraction) -> None:
    polynomial = " + ".join(f"({c})*expit(t)**{k + 1}" for k, c in enumerate(coefficients))
    slope = f"where(expit(t) > {switch}, ({polynomial})*expit(-t)/({denominator}), expit(t)*expit(-t))"
    found = antiderivative(parse(slope))
    assert found is not None, slope
    np.testing.assert_allclose(values(derivative(found), T), values(parse(slope), T), rtol=1e-7, atol=1e-10)
    jump = values(
        found, np.array([np.log(float(switch / (1 - switch))) - 1e-9, np.log(float(switch / (1 - switch))) + 1e-9])
    )
    assert abs(jump[1] - jump[0]) < 1e-7  # it is continuous where the formula changes


@pytest.mark.parametrize("slope", SLOPES)
def test_exact_and_numeric_integrals_differ_by_a_constant(slope: str) -> None:
    partial = uneven.Loss.from_slopes(slope, slope).positive(T) if slope != "expit(t) - 0.3" else None
    numeric = Integral(slope)(T)
    assert (numeric >= 0).all()
    if partial is not None:
        np.testing.assert_allclose(partial - partial[0], numeric - numeric[0], rtol=0, atol=1e-11)


def test_known_losses_come_back() -> None:
    assert uneven.Loss.from_slopes("-expit(-t)", "expit(t)") == uneven.Loss("softplus(-t)", "softplus(t)")
    sigmoid = uneven.Loss.from_slopes("-expit(t)*expit(-t)", "expit(t)*expit(-t)")
    assert sigmoid == uneven.Loss("expit(-t)", "expit(t)")


def test_the_alpha_is_a_statement_about_the_slopes() -> None:
    loss = uneven.Loss.from_slopes("-expit(-t)**2", CLIPPED)
    assert uneven.implied_alpha(loss).exact == Fraction(6561, 94561)
    low = uneven.Loss.from_slopes("-3*expit(-t)**2", f"3*({CLIPPED})")
    assert uneven.implied_alpha(low).exact == Fraction(6561, 94561)


def test_a_slope_that_changes_its_sign_is_lifted() -> None:
    loss = uneven.Loss.from_slopes("expit(t)**2*expit(-t) - 0.2*expit(t)*expit(-t)", "expit(t)")
    assert (loss.positive(T) >= 0).all()
    np.testing.assert_allclose(
        loss.slope(1, T), values(parse("expit(t)**2*expit(-t) - 0.2*expit(t)*expit(-t)"), T), atol=1e-12
    )


def test_a_numeric_loss() -> None:
    loss = uneven.Loss.from_slopes("-expit(-t)**2.5", "expit(t)**2.5")
    assert not loss.symbolic
    assert pickle.loads(pickle.dumps(loss)).positive(0.5) == loss.positive(0.5)
    step = 1e-5
    slope = (loss.positive(T + step) - loss.positive(T - step)) / (2 * step)
    np.testing.assert_allclose(slope, values(parse("-expit(-t)**2.5"), T), atol=1e-8)
    implied = uneven.implied_alpha(loss)
    assert implied.alpha == pytest.approx(0.5, abs=1e-6)
    assert "without proof" in implied.reason


@pytest.mark.parametrize("slope", ["-1", "1", "-expit(t)", "-1/(1 + abs(t))"])
def test_a_loss_without_lower_bound_is_refused(slope: str) -> None:
    with pytest.raises(LossError, match="has no lower bound"):
        uneven.Loss.from_slopes(slope, "expit(t)")


def test_bad_slopes() -> None:
    with pytest.raises(LossError, match="is an expression in t"):
        uneven.Loss.from_slopes(3, "expit(t)")
    with pytest.raises(uneven.errors.ExpressionError):
        uneven.Loss.from_slopes("foo(t)", "expit(t)")
    with pytest.raises(uneven.errors.UnevenError):
        uneven.Loss.from_slopes("log(t)", "expit(t)")


def test_text_of_the_exact_one() -> None:
    assert to_text(antiderivative(parse("expit(t)**2"))) == "-expit(t) + softplus(t)"
