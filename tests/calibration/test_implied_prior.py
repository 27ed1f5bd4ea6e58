"""The cost ratios that a loss averages over: closed forms, round trips, proved bounds, and losses that have none."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta as beta_distribution

import uneven
from uneven import CostPrior, Loss, UnevenMarginLoss, implied_prior
from uneven.errors import LossError, ParameterError

C = np.array([1e-6, 1e-3, 0.02, 0.1, 0.3, 0.5, 0.77, 0.95, 1 - 1e-4])


def test_the_hinge_and_the_sigmoid_are_one_ratio() -> None:
    for name in ("hinge", "sigmoid", "ramp", "absolute", "probit", "zero_one"):
        points = implied_prior(UnevenMarginLoss(name, alpha="1/11")).points
        assert list(points) == pytest.approx([10]), name
        assert list(points.values()) == pytest.approx([1]), name


def test_the_cost_itself_is_its_own_ratio() -> None:
    prior = implied_prior(uneven.cost_loss("1/8"))
    assert list(prior.points) == pytest.approx([7])
    assert prior.total == pytest.approx(1)
    assert prior.quantile(0.5) == pytest.approx(7)


def test_the_logistic_loss_has_every_factor_alike() -> None:
    prior = implied_prior("logistic")
    assert np.allclose(prior.alpha_density(C), 1 / (C * (1 - C)), rtol=1e-9)
    assert prior.mass(5, 50) == pytest.approx(math.log(10), rel=1e-12)
    assert math.isinf(prior.total)
    with pytest.raises(LossError, match="infinite weight"):
        prior.cdf(3)


def test_the_modified_huber_loss_is_uniform_in_alpha() -> None:
    for name in ("modified_huber", "squared", "squared_hinge", "tangent"):
        prior = implied_prior(name)
        assert np.allclose(prior.alpha_density(C), 1, rtol=1e-9), name
        assert prior.total == pytest.approx(8, rel=1e-12), name


@given(st.floats(0.05, 20))
@settings(max_examples=20)
@pytest.mark.slow
def test_gamma_is_the_asymmetry_of_the_beta_family(gamma: float) -> None:
    """c^(-(2+gamma)/(1+gamma)) (1-c)^(-(1+2gamma)/(1+gamma))/(1+gamma): Beta(a, b) with a + b = -1 for every gamma."""
    prior = implied_prior(UnevenMarginLoss("exponential", gamma=gamma))
    first, second = -(2 + gamma) / (1 + gamma), -(1 + 2 * gamma) / (1 + gamma)
    expected = C**first * (1 - C) ** second / (1 + gamma)
    assert np.allclose(prior.alpha_density(C), expected, rtol=1e-8)
    assert (first + 1) + (second + 1) == pytest.approx(-1)


@pytest.mark.parametrize("order", [1, 2, 8, 33])
def test_the_window_is_a_beta_distribution(order: int) -> None:
    prior = implied_prior(uneven.phi("beta", order=order))
    law = beta_distribution(order, order)
    assert np.allclose(prior.alpha_density(C), law.pdf(C), rtol=1e-8)
    assert np.allclose(prior.cdf((1 - C) / C), law.sf(C), rtol=1e-8, atol=1e-14)
    assert prior.proved


def test_weights_tilt_the_distribution() -> None:
    """A weight w on the positives moves odds by 1/w; the mass of a ratio is then w (1 - c) + c of what it was."""
    plain, tilted = implied_prior(uneven.phi("beta", order=3)), implied_prior(Loss("10*window(-t, 3)", "window(t, 3)"))
    odds = C / (1 - C)
    before = 10 * odds / (1 + 10 * odds)  # the alpha that has moved to C
    jacobian = 10 / (1 + 9 * C) ** 2
    expected = plain.alpha_density(before) * plain.total * jacobian * (10 * (1 - before) + before)
    assert np.allclose(tilted.alpha_density(C) * tilted.total, expected, rtol=1e-8)


ROUND_TRIPS: dict[str, Any] = {
    "range": lambda weight: CostPrior.range(5, 50, weight=weight),
    "soft range": lambda weight: CostPrior.range(5, 50, softness="1/4", weight=weight),
    "softer range": lambda weight: CostPrior.range("1/7", "7/2", softness="0.8", weight=weight),
    "beta": lambda weight: CostPrior.beta(2, 5, weight=weight),
    "discrete": lambda weight: CostPrior.discrete({5: 1, 20: "1/2", 50: 2}, weight=weight),
    "polynomial": lambda weight: CostPrior.density("alpha**2*(1 - alpha)", unit="alpha", weight=weight),
}


@pytest.mark.slow
@pytest.mark.parametrize("weight", ["unit", "money"])
@pytest.mark.parametrize("at", [None, 15])
@pytest.mark.parametrize("name", ROUND_TRIPS)
def test_a_prior_comes_back_from_its_loss(name: str, weight: Any, at: int | None) -> None:
    if name == "polynomial" and at is not None:
        pytest.skip("shifted, this loss is a Python function")
    prior = ROUND_TRIPS[name](weight)
    implied = implied_prior(prior.loss(at=at), weight=weight)
    assert implied.total == pytest.approx(1, rel=1e-9)
    ratios = np.concatenate([np.geomspace(1e-3, 1e4, 41), prior.quantile(np.linspace(0.01, 0.99, 21)) * (1 + 1e-9)])
    assert np.allclose(implied.cdf(ratios), prior.cdf(ratios), atol=1e-8)
    shares = np.array([0.01, 0.05, 0.3, 0.5, 0.9, 0.99])
    assert np.allclose(implied.quantile(shares), prior.quantile(shares), rtol=1e-6)
    if name == "discrete":
        assert list(implied.points) == pytest.approx([5, 20, 50])
        assert list(implied.points.values()) == pytest.approx([2 / 7, 1 / 7, 4 / 7])
        return
    step = 1e-5
    places = prior.quantile(np.array([0.11, 0.4, 0.83]))
    slopes = (prior.cdf(places * (1 + step)) - prior.cdf(places * (1 - step))) / (2 * step * places)
    assert np.allclose(implied.density(places), slopes, rtol=1e-5)


def finite_priors() -> list[Any]:
    losses = [UnevenMarginLoss(name, gamma=gamma) for name in uneven.losses.names() for gamma in (1, 2)]
    return [prior for prior in map(implied_prior, losses) if prior.exists and prior.proved and prior.total < math.inf]


@pytest.mark.slow
def test_proved_bounds_hold_the_floats() -> None:
    priors = finite_priors()
    assert len(priors) >= 12
    for prior in priors:
        for ratio in ("1/9", "3/4", "5"):
            low, high = prior.cdf_bounds(ratio)
            found = prior.cdf(float(Fraction(ratio)))
            assert low - 1e-12 <= found <= high + 1e-12, prior.loss
            assert 0 <= low <= high <= 1
            assert high - low < 1e-9, prior.loss
    window = implied_prior(uneven.phi("beta", order=8))
    for share in ("0.05", "1/2", "0.95"):
        low, high = window.quantile_bounds(share)
        assert low <= beta_distribution(8, 8).isf(float(Fraction(share))) ** -1 - 1 <= high
        assert high / low < 1 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("weight", ["unit", "money"])
@pytest.mark.parametrize("name", ["range", "soft range", "beta"])
def test_priors_written_as_losses_are_proved(name: str, weight: Any) -> None:
    """Formulas change at irrational scores; that those of both labels change at the same ones is proved."""
    prior = ROUND_TRIPS[name](weight)
    implied = implied_prior(prior.loss(at=15), weight=weight)
    assert implied.proved
    for ratio in ("3/2", 6, 20, 49):
        low, high = implied.cdf_bounds(ratio)
        assert low <= prior.cdf(float(Fraction(ratio))) * (1 + 1e-12) + 1e-14
        assert prior.cdf(float(Fraction(ratio))) * (1 - 1e-12) - 1e-14 <= high
        assert high - low < 1e-9


def test_ends_that_floats_cannot_tell_apart_are_not_proved_to_be_one() -> None:
    """The losses of both labels stop at scores that differ by 1e-15: between the two the probability is 0 or 1."""
    almost = Loss("min(relu(exp(-t) - 5), 45)", "min(relu(t + log(50)), log(10.00000000000001))")
    assert implied_prior(Loss("min(relu(exp(-t) - 5), 45)", "min(relu(t + log(50)), log(10))")).proved
    assert not implied_prior(almost).proved


def test_bounds_at_a_point_mass_leave_it_open() -> None:
    low, high = implied_prior("hinge").cdf_bounds(1)
    assert (low, high) == (0, 1)
    assert implied_prior("hinge").cdf_bounds("1.001")[0] == pytest.approx(1)


def test_bounds_are_refused_without_a_proof() -> None:
    prior = implied_prior("tangent")
    assert not prior.proved
    with pytest.raises(LossError, match="not proved"):
        prior.cdf_bounds(2)


@pytest.mark.slow
def test_the_loss_is_the_mean_cost_over_its_distribution() -> None:
    """L1(t) - L1(end) is the integral of (1 - c) dmu over c >= q(t), by quadrature of the density."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    for name, gamma in (("savage", 1), ("modified_huber", 2), ("smoothed_hinge", 1), ("squared", 2), ("tangent", 1)):
        loss = UnevenMarginLoss(name, gamma=gamma)
        prior = implied_prior(loss)
        end = prior._measure.ends[1]
        last = loss.positive(end)
        for t in (-0.4, -0.1, 0.05, 0.3):
            rising, falling = loss.slope(-1, t), -loss.slope(1, t)
            q = rising / (rising + falling)
            u = (nodes + 1) / 2
            c = q + (1 - q) * u * u * (3 - 2 * u)  # dense near both ends
            jacobian = (1 - q) * 6 * u * (1 - u) / 2
            mean = np.sum(weights * jacobian * (1 - c) * prior.alpha_density(c) * prior.total)
            assert mean == pytest.approx(loss.positive(t) - last, rel=5e-3), (name, t)


@pytest.mark.parametrize("name", ["sigmoid", "savage", "beta", "probit"])
def test_uneven_margins_of_bounded_losses_are_no_mean_of_costs(name: str) -> None:
    prior = implied_prior(UnevenMarginLoss(name, gamma=2))
    assert not prior.exists
    assert prior.proved
    assert "falls" in prior.in_words()
    with pytest.raises(LossError, match="assumes no distribution"):
        prior.cdf(1)


def test_label_smoothing_takes_weight_from_extreme_ratios() -> None:
    """c = (p - e/2)/(1 - e), dmu = (1 - e) dt: the total is (1 - e) times the range of log-odds, which is finite."""
    smooth = uneven.zoo.loss("torch.nn.CrossEntropyLoss", label_smoothing=0.1)
    prior = implied_prior(smooth)
    assert prior.proved
    assert prior.total == pytest.approx(0.9 * 2 * math.log(19), rel=1e-9)
    p = 0.05 + 0.9 * C
    assert np.allclose(prior.alpha_density(C) * prior.total, 0.81 / (p * (1 - p)), rtol=1e-8)


def test_a_python_function_has_no_implied_prior() -> None:
    with pytest.raises(LossError, match="implied prior"):
        implied_prior(Loss(lambda t: np.exp(-t), np.exp))
    with pytest.raises(ParameterError, match="weight must be one of"):
        implied_prior("hinge", weight="euro")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="ratio must be at least 0"):
        implied_prior("savage").cdf(-1)


def test_in_words() -> None:
    assert implied_prior("savage").in_words() == "90 % of its weight is on ratios fn_cost/fp_cost from 0.0526 to 19."
    mixed = Loss("relu(1 - t) + relu(1 - t)**2", "relu(1 + t) + relu(1 + t)**2")
    assert "%" in implied_prior(mixed).in_words()
    assert implied_prior("perceptron").in_words().startswith("It is no mean of costs")
    assert "large ratios (10 to 100 weighs 2.48 times 1 to 10)" in implied_prior("exponential").in_words()


def test_a_constant_for_the_mean_over_a_range() -> None:
    unit, money = CostPrior.range(5, 50), CostPrior.range(5, 50, weight="money")
    assert implied_prior("logistic").constant_for(unit) == pytest.approx(1 / math.log(10), rel=2e-3)
    assert implied_prior("logistic").constant_for(money) == pytest.approx(51 / math.log(10), rel=2e-3)
    exponential = implied_prior(UnevenMarginLoss("exponential", gamma=2))
    alpha = 1 / (1 + np.geomspace(5, 50, 500))
    largest = np.max(1 / (alpha * (1 - alpha)) / exponential.alpha_density(alpha)) / math.log(10)
    assert largest <= exponential.constant_for(unit) <= largest * 1.003


@pytest.mark.slow
def test_the_constant_holds_on_random_worlds_and_is_attained() -> None:
    """Mean regret over the range against the surrogate regret of other losses, at 20,000 pairs of probabilities."""
    rng = np.random.default_rng(3)
    eta, p = rng.beta(0.4, 3, 20_000), rng.beta(0.4, 3, 20_000)
    for prior in (CostPrior.range(5, 50), CostPrior.range(2, 9, weight="money")):
        averaged = prior.mean_cost(p, eta) - prior.mean_cost(eta, eta)
        for loss in (
            UnevenMarginLoss("logistic"),
            UnevenMarginLoss("exponential", gamma=3),
            UnevenMarginLoss("savage"),
        ):
            constant = implied_prior(loss).constant_for(prior)
            regret = loss.conditional_risk(eta, loss.link(p)) - loss.conditional_risk(eta, loss.link(eta))
            assert (averaged <= constant * regret + 1e-12).all(), (prior, loss)
            sure = regret > 1e-6
            assert (averaged[sure] / regret[sure]).max() > 0.5 * constant, (prior, loss)


@pytest.mark.parametrize(
    ("loss", "prior", "words"),
    [
        ("hinge", CostPrior.range(5, 50), "does not reach|not smooth"),
        ("tangent", CostPrior.range(5, 50), "not proved"),
        ("logistic", CostPrior.beta(2, 5), "range without softness"),
        ("modified_huber", CostPrior.range("1/2", 50), "."),
    ],
)
def test_where_there_is_no_constant(loss: str, prior: CostPrior, words: str) -> None:
    if loss == "modified_huber":  # uniform in alpha: sup of 1/(c (1 - c)) over the range
        assert implied_prior(loss).constant_for(prior) == pytest.approx(51 / 8 * 51 / 50 / math.log(100), rel=2e-3)
        return
    with pytest.raises(LossError, match=words):
        implied_prior(loss).constant_for(prior)
