"""Losses as objects: composition, exactness, identity, bad input."""

from __future__ import annotations

import pickle
import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from strategies import alphas, gammas, registered

import uneven
from uneven.errors import LossError, ParameterError, UnevenError
from uneven.expression import substitute, to_text
from uneven.expression.algebra import mul
from uneven.expression.tree import Number, T


def squared_distance(t: np.ndarray) -> np.ndarray:
    return (t - 1) ** 2


def test_beta_none_means_exactly_one_over_gamma() -> None:
    exact = uneven.UnevenMarginLoss("hinge", gamma=0.1)
    floats = uneven.UnevenMarginLoss("hinge", gamma=0.1, beta=10.0)
    assert exact.exact_beta * exact.exact_gamma == 1
    assert floats.exact_beta * floats.exact_gamma != 1
    assert exact.beta is None
    assert exact != floats
    assert uneven.UnevenMarginLoss("hinge", gamma="0.1", beta=10).exact_beta == Fraction(10)
    assert uneven.UnevenMarginLoss("hinge", gamma=Decimal("0.1")).exact_beta == 10


@given(registered, gammas, alphas)
def test_values_follow_the_definition(name: str, gamma: float, alpha: float) -> None:
    phi = uneven.phi(name)
    loss = uneven.UnevenMarginLoss(name, gamma=gamma, alpha=alpha)
    t = np.array([-3.0, -0.2, 0.0, 0.4, 2.0])
    y = np.array([1, -1, 1, -1, 1])
    expected = np.where(y == 1, (1 - alpha) * phi(t), alpha / gamma * phi(-gamma * t))
    assert np.allclose(loss(y, t), expected, rtol=1e-13, atol=1e-300)
    assert eval(repr(loss), {"uneven": uneven}) == loss
    assert pickle.loads(pickle.dumps(loss)) == loss
    assert hash(pickle.loads(pickle.dumps(loss))) == hash(loss)


def test_weighted_is_theorem_threes_reweighting() -> None:
    loss = uneven.UnevenMarginLoss("logistic", gamma=2)
    t = np.linspace(-2, 2, 5)
    assert loss.weighted(0.3) == uneven.UnevenMarginLoss("logistic", gamma=2, alpha=0.3)
    twice = loss.weighted(0.3).weighted(0.25)
    assert np.allclose(twice.positive(t), 0.75 * 0.7 * loss.positive(t), rtol=1e-14)
    assert np.allclose(twice.negative(t), 0.25 * 0.3 * loss.negative(t), rtol=1e-14)
    assert twice.alpha == 0.25
    assert eval(repr(twice), {"uneven": uneven}).positive(0.3) == pytest.approx(twice.positive(0.3), rel=1e-15)
    general = uneven.Loss("relu(1 - t)", "relu(1 + 2*t)").weighted("1/4")
    assert general == uneven.Loss("relu(1 - t)", "relu(1 + 2*t)", alpha=0.25)
    assert eval(repr(general), {"uneven": uneven}) == general
    # (L_{1-alpha})_alpha = alpha (1 - alpha) L
    both = loss.weighted("7/10").weighted("3/10")
    assert np.allclose(both(-1, t), 0.21 * loss(-1, t), rtol=1e-14)


def test_cost_loss_is_u_alpha_with_sign_of_zero_negative() -> None:
    loss = uneven.cost_loss(0.3)
    t = np.array([-np.inf, -1e-300, 0.0, 1e-300, np.inf])
    assert np.array_equal(loss.positive(t), [0.7, 0.7, 0.7, 0.0, 0.0])
    assert np.array_equal(loss.negative(t), [0.0, 0.0, 0.0, 0.3, 0.3])
    assert loss.alpha == 0.3
    assert eval(repr(loss), {"uneven": uneven}) == loss


def test_callables_are_losses_too() -> None:
    loss = uneven.Loss(squared_distance, "exp(t)", alpha=0.2)
    assert loss.positive(3.0) == pytest.approx(0.8 * 4)
    assert loss.conditional_risk(1.0, [0.0, 1.0]) == pytest.approx([0.8, 0.0])
    assert pickle.loads(pickle.dumps(loss)) == loss
    assert loss.weighted(0.5).positive(0.0) == pytest.approx(0.4)
    for ask in (lambda: loss.slope(1, 0.0), lambda: loss.inverse_link(0.0)):
        with pytest.raises(LossError, match="as an expression it has one"):
            ask()


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda t: t, "is never negative or NaN, but the given function returns -2.0 at t = -2"),
        (lambda t: np.zeros(3), r"shape \(5,\)"),
        (lambda t: "no", r"shape \(5,\)"),
        (lambda t: t * np.nan, "returns nan"),
        (lambda t: 1 / np.abs(t), "finite at t = 0"),
        (3, "must be an expression, a phi or a function"),
    ],
)
def test_bad_callables_are_refused(function: object, says: str) -> None:
    with pytest.raises((LossError, ParameterError), match=says):
        uneven.Loss(function, "exp(t)")  # type: ignore[arg-type]


def test_zero_weight_never_meets_infinity() -> None:
    loss = uneven.UnevenMarginLoss("exponential")
    assert loss.conditional_risk(0.0, -1e6) == 0.0
    assert loss.conditional_risk(1.0, 1e6) == 0.0
    assert loss.conditional_risk([0.0, 1.0], [np.inf, -np.inf]).tolist() == [np.inf, np.inf]


def test_shapes_scalars_and_dtypes() -> None:
    loss = uneven.UnevenMarginLoss("logistic", gamma=2)
    assert isinstance(loss(1, 0), float)
    assert loss([1, -1], 0.0).shape == (2,)
    assert loss(1, np.zeros((2, 3))).shape == (2, 3)
    assert loss(np.array([[1], [-1]]), np.zeros(3)).shape == (2, 3)
    assert loss([1, -1], np.zeros(2, dtype=np.float32)).dtype == np.float32
    assert loss.conditional_risk(0.3, np.zeros(2, dtype=np.float32)).dtype == np.float32
    assert loss.conditional_risk(np.array([0.2, 0.4]), 1).shape == (2,)
    assert loss([], []).shape == (0,)
    assert loss.inverse_link(np.zeros(2, dtype=np.float32)).dtype == np.float32


def test_large_scale_products_do_not_overflow_alone() -> None:
    """gamma t overflows, or the value does before its small weight: the exact product does not."""
    loss = uneven.UnevenMarginLoss("logistic", gamma=1e8)
    assert loss.negative(1e308) == pytest.approx(1e308, rel=1e-15)
    assert loss.slope(-1, 1e308) == 1.0
    light = uneven.UnevenMarginLoss("exponential", alpha=1e-12)
    assert light.negative(720.0) == pytest.approx(float(np.exp(720 - np.log(1e12))), rel=1e-12)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: uneven.UnevenMarginLoss("hinge", gamma=0), "gamma must be positive, got 0"),
        (lambda: uneven.UnevenMarginLoss("hinge", gamma=-1.5), "gamma must be positive, got -1.5"),
        (lambda: uneven.UnevenMarginLoss("hinge", gamma=np.inf), "gamma must be a finite number, got inf"),
        (lambda: uneven.UnevenMarginLoss("hinge", gamma="wide"), "gamma must be a finite number, got 'wide'"),
        (lambda: uneven.UnevenMarginLoss("hinge", gamma="1e999999999"), "gamma must be 0 or within the range"),
        (lambda: uneven.UnevenMarginLoss("hinge", gamma=None), "gamma must be a number, got None"),
        (lambda: uneven.UnevenMarginLoss("hinge", gamma=True), "gamma must be a number, got True"),
        (lambda: uneven.UnevenMarginLoss("hinge", gamma=1j), "gamma must be a number, got 1j"),
        (lambda: uneven.UnevenMarginLoss("hinge", beta=np.nan), "beta must be a finite number, got nan"),
        (lambda: uneven.UnevenMarginLoss("hinge", alpha=1.0), "alpha must lie strictly between 0 and 1, got 1.0"),
        (lambda: uneven.calibrated_loss("hinge", alpha=0), "alpha must lie strictly between 0 and 1, got 0"),
        (lambda: uneven.cost_loss(2), "alpha must lie strictly between 0 and 1, got 2"),
        (lambda: uneven.UnevenMarginLoss(3), "a phi is a registered name or an expression in t, got 3"),
        (lambda: uneven.phi("softplus(-t)", cap=1), "parameters go with a registered name"),
        (lambda: uneven.phi(uneven.phi("ramp"), cap=1), "parameters go with a name"),
        (lambda: uneven.UnevenMarginLoss("hinge")(0, 1.0), "y must be -1 or \\+1 .*, got 0"),
        (lambda: uneven.UnevenMarginLoss("hinge")("pos", 1.0), "y must be -1 or \\+1 .*, got 'pos'"),
        (lambda: uneven.UnevenMarginLoss("hinge").positive(np.nan), "t must not contain NaN"),
        (lambda: uneven.UnevenMarginLoss("hinge").positive("far"), "t must hold numbers, got 'far'"),
        (lambda: uneven.UnevenMarginLoss("hinge").positive(None), "t must"),
        (lambda: uneven.UnevenMarginLoss("hinge").positive([1j]), "t must hold numbers"),
        (lambda: uneven.UnevenMarginLoss("hinge").conditional_risk(1.2, 0.0), r"eta must lie in \[0, 1\], got 1.2"),
        (lambda: uneven.UnevenMarginLoss("hinge").conditional_risk([0.1, 0.2], [1, 2, 3]), "do not broadcast"),
        (lambda: uneven.UnevenMarginLoss("hinge")([1, 1], [1.0, 2.0, 3.0]), "do not broadcast"),
        (lambda: uneven.UnevenMarginLoss("hinge").inverse_link(0.0), "does not identify probabilities"),
        (lambda: uneven.UnevenMarginLoss("sigmoid").inverse_link(0.0), "does not identify probabilities"),
    ],
)
def test_bad_input_gets_one_clear_sentence(make: object, says: str) -> None:
    with pytest.raises(UnevenError, match=says) as caught:
        make()  # type: ignore[operator]
    assert "\n" not in str(caught.value)


def test_losses_are_frozen() -> None:
    loss = uneven.UnevenMarginLoss("hinge")
    for name in ("gamma", "phi", "_alpha", "new"):
        with pytest.raises(AttributeError):
            setattr(loss, name, 1)


def test_slopes_at_kinks_follow_the_stated_convention() -> None:
    assert uneven.phi("hinge").slope(1.0) == 0.0
    assert uneven.phi("absolute").slope(1.0) == 0.0
    assert uneven.phi("where(t < 0, -t, 2*t)").slope(0.0) == 2.0
    assert uneven.phi("max(2 - t, 1 - 2*t, 0)").slope(-1.0) == -1.0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hinge", "exponential", "squared", "sigmoid", "zero_one"])
def test_rho_is_gamma_on_another_scale(name: str) -> None:
    """phi((1 - rho) t), beta phi(-rho t), written out, has the values, the H and the verdict of the loss with gamma."""
    rng = random.Random(name)
    for _ in range(4):
        rho, alpha = Fraction(rng.randint(1, 29), 30), Fraction(rng.randint(1, 9), 10)
        beta = rng.choice([None, Fraction(rng.randint(1, 9), 4)])
        loss = uneven.UnevenMarginLoss.from_rho(name, rho=rho, beta=beta, alpha=alpha)
        assert loss == uneven.UnevenMarginLoss(name, gamma=rho / (1 - rho), beta=beta, alpha=alpha)
        assert loss.exact_rho == rho
        assert loss.exact_beta == ((1 - rho) / rho if beta is None else beta)
        parts = (
            mul(Number(factor), substitute(uneven.phi(name).tree, {"t": mul(Number(scale), T)}))
            for factor, scale in ((1 - alpha, 1 - rho), (alpha * loss.exact_beta, -rho))
        )
        written = uneven.Loss(*map(to_text, parts))
        t = np.array([rng.gauss(0, 3) for _ in range(50)] + [0.0])
        for label in (1, -1):
            assert written(label, t) == pytest.approx(loss(label, float(1 - rho) * t), rel=1e-12)
        eta = np.array([0.0, 0.1, 0.5, 0.77, 1.0])
        here, there = uneven.analyze(loss), uneven.analyze(written, alpha)
        assert there.H(eta) == pytest.approx(here.H(eta), rel=1e-9, abs=1e-12)
        assert there.verdict.status == here.verdict.status


def test_rho_exchanges_with_the_classes() -> None:
    one, other = (uneven.UnevenMarginLoss.from_rho("logistic", rho=rho) for rho in ("1/5", "4/5"))
    assert one.exact_gamma * other.exact_gamma == 1
    assert uneven.UnevenMarginLoss.from_rho("logistic", rho="1/2") == uneven.UnevenMarginLoss("logistic", gamma=1)
    assert uneven.UnevenMarginLoss.from_rho("hinge", rho="1e-12", alpha="1/3").exact_rho == Fraction(1, 10**12)
    for rho in (0, 1, -0.2, float("nan"), "half"):
        with pytest.raises(ParameterError, match="rho"):
            uneven.UnevenMarginLoss.from_rho("hinge", rho=rho)
