"""Cost priors: each closed form and each quadrature against Gauss's rule; the prior as a loss of the language."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import uneven
from uneven import CostPrior
from uneven.errors import CostError, ExpressionError, LossError, ParameterError

Array = np.ndarray
#: For each prior, the density of u = ln(ratio), up to a factor, and points where it changes.
Density = Callable[[Array], Array]


def soft_range(u: Array) -> Array:
    h, low, high = 1 / 4, math.log(5), math.log(50)
    below = (1 + np.exp(u)) / 6 * np.exp((u - low) / h)
    above = (1 + np.exp(-u)) / 1.02 * np.exp((high - u) / h)
    return np.where(u < low, below, np.where(u > high, above, 1.0))


def inside(low: float, high: float, density: Density) -> Density:
    return lambda u: np.where((math.log(low) <= u) & (u <= math.log(high)), density(u), 0.0)


def of_ratio(density: Density) -> Density:
    return lambda u: density(np.exp(u)) * np.exp(u)


def of_alpha(density: Callable[[Array, Array], Array]) -> Density:
    def value(u: Array) -> Array:
        c, rest = 1 / (1 + np.exp(u)), 1 / (1 + np.exp(-u))
        return density(c, rest) * c * rest

    return value


PRIORS: dict[str, tuple[Callable[..., CostPrior], Density, list[float]]] = {
    "range": (lambda **w: CostPrior.range(5, 50, **w), inside(5, 50, np.ones_like), [5, 50]),
    "range below 1": (
        lambda **w: CostPrior.range("1/7", "3.5", **w),
        inside(1 / 7, 3.5, np.ones_like),
        [1 / 7, 3.5],
    ),
    "soft range": (lambda **w: CostPrior.range(5, 50, softness="1/4", **w), soft_range, [5, 50]),
    "log normal": (
        lambda **w: CostPrior.log_normal(median=20, factor=3, **w),
        lambda u: np.exp(-(((u - math.log(20)) / math.log(3)) ** 2) / 2),
        [20],
    ),
    "beta": (lambda **w: CostPrior.beta(3, 20, **w), of_alpha(lambda c, d: c**2 * d**19), [6]),
    "beta, no whole orders": (
        lambda **w: CostPrior.beta("5/2", "1/3", **w),
        of_alpha(lambda c, d: c**1.5 * d ** (-2 / 3)),
        [0.1],
    ),
    "density of the ratio": (
        lambda **w: CostPrior.density("ratio**2*exp(-ratio/10)", **w),
        of_ratio(lambda r: r**2 * np.exp(-r / 10)),
        [30],
    ),
    "density of alpha": (
        lambda **w: CostPrior.density("alpha*(1 - alpha)", unit="alpha", between=("1/10", "1/2"), **w),
        inside(1, 9, of_alpha(lambda c, d: c * d)),
        [1, 9],
    ),
    "density with a kink": (
        lambda **w: CostPrior.density("relu(1 - abs(ratio - 10)/5)", between=(1, 100), **w),
        of_ratio(lambda r: np.maximum(1 - abs(r - 10) / 5, 0)),
        [5, 10, 15],
    ),
}
each_prior = pytest.mark.parametrize("name", PRIORS)
each_weight = pytest.mark.parametrize("weight", ["unit", "money"])
P = [1e-12, 1e-4, 0.01, 0.02, 0.05, 0.16, 0.3, 0.5, 0.9, 0.9999]


NODES, WEIGHTS = np.polynomial.legendre.leggauss(30)


def integral(function: Density, low: float, high: float, corners: list[float]) -> float:
    """From one log-ratio to another by Gauss's rule on narrow panels; all terms are positive, so digits are kept."""
    places = [low, high, *np.arange(-120, 120, 0.125), *map(math.log, corners)]
    edges = np.unique([place for place in places if low <= place <= high])
    half = np.diff(edges) / 2
    return float(np.sum(half * (function(edges[:-1, None] + np.multiply.outer(half, NODES + 1)) @ WEIGHTS)))


@each_prior
@each_weight
def test_mean_costs_are_the_integrals(name: str, weight: str) -> None:
    make, density, corners = PRIORS[name]
    prior = make(weight=weight)
    miss: Density = np.exp if weight == "money" else lambda u: 1 / (1 + np.exp(-u))
    alarm: Density = np.ones_like if weight == "money" else lambda u: 1 / (1 + np.exp(u))
    total = integral(density, -120, 120, corners)
    for p in P:
        u = math.log1p(-p) - math.log(p)
        positive = integral(lambda x: density(x) * miss(x), -120, u, corners) / total
        negative = integral(lambda x: density(x) * alarm(x), u, 120, corners) / total
        assert prior.positive_cost(p) == pytest.approx(positive, rel=1e-10, abs=1e-300), p
        assert prior.negative_cost(p) == pytest.approx(negative, rel=1e-10, abs=1e-300), p
        assert prior.cdf(math.exp(u)) == pytest.approx(
            integral(density, -120, u, corners) / total, rel=1e-10, abs=1e-13
        )


@each_prior
@each_weight
def test_the_ends_and_the_middle_are_consistent(name: str, weight: str) -> None:
    prior = PRIORS[name][0](weight=weight)
    p = np.concatenate([[0.0, 5e-324, 1e-300], np.geomspace(1e-30, 0.5, 60), 1 - np.geomspace(0.5, 1e-16, 40), [1.0]])
    positive, negative = prior.positive_cost(p), prior.negative_cost(p)
    assert np.isfinite(positive).all()
    assert np.isfinite(negative).all()
    assert (np.diff(positive) <= 1e-14 * positive[0]).all()
    assert (np.diff(negative) >= -1e-14 * negative[-1]).all()
    assert positive[-1] == 0 == negative[0]
    whole = negative[-1] if weight == "money" else negative[-1] + positive[0]
    assert whole == pytest.approx(1, rel=1e-12)  # the prior is a probability
    shares = np.linspace(0, 1, 101)
    ratios = prior.quantile(shares)
    assert (np.diff(ratios) >= 0).all()
    assert (ratios[0], ratios[-1]) == prior.support
    assert np.allclose(prior.cdf(ratios[1:-1]), shares[1:-1], atol=1e-11)
    assert np.allclose(prior.alpha_quantile(1 - shares), 1 / (1 + ratios), rtol=1e-12)


@each_prior
@each_weight
def test_the_estimate_that_is_the_truth_is_the_best(name: str, weight: str) -> None:
    prior = PRIORS[name][0](weight=weight)
    eta = np.array([0.0, 0.01, 0.03, 0.07, 0.15, 0.4, 1.0])
    p = np.concatenate([np.linspace(0, 1, 201), eta])
    best = prior.mean_cost(eta, eta)
    assert (prior.mean_cost(p[:, None], eta) >= best - 1e-13).all()


def sentences(weight: str) -> list[tuple[CostPrior, dict[str, Any]]]:
    """Priors whose losses are expressions."""
    kinds: list[CostPrior] = [
        CostPrior.range(5, 50, weight=weight),
        CostPrior.range("1/7", "7/2", softness="1/4", weight=weight),
        CostPrior.range(5, 50, softness="0.6", weight=weight),
        CostPrior.beta(2, 5, weight=weight),
        CostPrior.beta(4, 4, weight=weight),
        CostPrior.discrete({5: 1, 20: "1/2", 50: 2}, weight=weight),
    ]
    if weight == "money":
        kinds.append(CostPrior.log_normal(median=20, factor=3, weight="money"))
    cases: list[tuple[CostPrior, dict[str, Any]]] = [(prior, {"at": at}) for prior in kinds for at in (None, 15)]
    polynomial = CostPrior.density("alpha**2*(1 - alpha)", unit="alpha", weight=weight)
    return [*cases, (polynomial, {})]


@pytest.mark.slow
@each_weight
def test_the_loss_is_the_mean_cost_as_a_sentence(weight: str) -> None:
    t = np.concatenate([np.linspace(-12, 12, 97), [-700.0, -60.0, 60.0]])
    for prior, how in sentences(weight):
        loss = prior.loss(**how)
        assert loss.symbolic, prior
        log_odds = t - math.log(how.get("at") or 1)
        p = 1 / (1 + np.exp(-log_odds))
        scale = prior.positive_cost(0.0)
        near = np.abs(log_odds) < 20  # where 1 - p keeps its digits
        assert np.allclose(loss.positive(t)[near], prior.positive_cost(p)[near], rtol=1e-9, atol=1e-14 * scale)
        assert np.allclose(loss.negative(t)[near], prior.negative_cost(p)[near], rtol=1e-9, atol=1e-14)
        assert loss.positive(-1e308) == pytest.approx(scale, rel=1e-12)
        assert loss.negative(1e308) == pytest.approx(prior.negative_cost(1.0), rel=1e-12)
        assert loss.positive(1e308) == pytest.approx(0, abs=1e-15)
        assert loss.negative(-1e308) == pytest.approx(0, abs=1e-15)


@pytest.mark.slow
def test_a_prior_without_a_closed_form_is_a_loss_with_values() -> None:
    for prior in (
        CostPrior.log_normal(median=10, factor=2),
        CostPrior.beta("5/2", 3),
        CostPrior.density("exp(-ratio)"),
    ):
        loss = prior.loss(at=10)
        assert not loss.symbolic
        t = np.array([-1e308, -3.0, 0.0, 4.0, 1e308])
        with np.errstate(over="ignore"):
            assert np.allclose(loss.positive(t), prior.positive_cost(1 / (1 + 10 * np.exp(-t))), rtol=1e-12)
        assert pickle.loads(pickle.dumps(loss)) == loss
    loss = CostPrior.beta("5/2", 3).loss(at=10)
    assert uneven.implied_alpha(loss).alpha == pytest.approx(1 / 11, abs=1e-6)


def test_the_window_is_a_beta_prior() -> None:
    assert CostPrior.beta(8, 8).loss() == uneven.Loss("window(-t, 8)/2", "window(t, 8)/2")


@pytest.mark.slow
@each_weight
def test_slopes_are_a_density_of_decisions(weight: str) -> None:
    """c = L-1'/(L-1' - L1') is expit(t): both slopes vanish together, and the score stays the log-odds."""
    for prior, how in sentences(weight):
        loss = prior.loss(**how)
        t = np.linspace(-6.03, 6.01, 57)
        falling, rising = -loss.slope(1, t), loss.slope(-1, t)
        assert (falling >= 0).all()
        assert (rising >= 0).all()
        odds = np.exp(t) / (how.get("at") or 1)
        assert np.allclose(rising, odds * falling, rtol=1e-7, atol=1e-13)


@pytest.mark.slow
@settings(max_examples=25)
@given(
    st.fractions(Fraction(1, 50), 1000, max_denominator=50),
    st.fractions(Fraction(11, 10), 1000, max_denominator=20),
    st.floats(0, 1),
    st.sampled_from(["unit", "money"]),
    st.sampled_from([0, "1/3", "1/2"]),
)
def test_a_discrete_prior_approaches_a_range(low: Fraction, factor: Fraction, p: float, weight: Any, soft: Any) -> None:
    """The same integral by another way: the mean over 4,001 quantiles."""
    prior = CostPrior.range(low, low * factor, weight=weight, softness=soft)
    ratios = prior.quantile((np.arange(4001) + 0.5) / 4001)
    fn = ratios if weight == "money" else ratios / (1 + ratios)
    fp = np.ones(4001) if weight == "money" else 1 / (1 + ratios)
    missed = ratios * p <= 1 - p
    largest = prior.positive_cost(0.0)
    slack = 0.1 if soft and weight == "money" else 1e-3  # the mean of a heavy tail converges slowly
    assert prior.positive_cost(p) == pytest.approx(np.mean(fn * missed), abs=slack * largest)
    assert prior.negative_cost(p) == pytest.approx(np.mean(fp * ~missed), abs=1e-3)


def test_a_prior_is_a_value() -> None:
    pairs = [
        (CostPrior.range("5", 50), CostPrior.range(Decimal(5), 50.0)),
        (CostPrior.log_normal(median="10", factor=2), CostPrior.log_normal(median=10, factor="2")),
        (CostPrior.beta("1/3", 2), CostPrior.beta(Fraction(1, 3), 2)),
        (CostPrior.discrete({5: 1, 50: 3}), CostPrior.discrete({50: "3/4", "5": 0.25})),
        (CostPrior.density("1/ratio", between=(1, 9)), CostPrior.density("1/t", between=("1", 9.0))),
    ]
    for first, second in pairs:
        assert first == second
        assert hash(first) == hash(second)
        assert pickle.loads(pickle.dumps(first)) == first
        assert eval(repr(first), {"uneven": uneven}) == first
        with pytest.raises(AttributeError):
            first.weight = "money"  # type: ignore[misc]
    assert CostPrior.range(5, 50) != CostPrior.range(5, 50, weight="money")
    money = CostPrior.range(5, 50, weight="money", softness="1/4")
    assert eval(repr(money), {"uneven": uneven}) == money


def test_in_words() -> None:
    assert str(CostPrior.range(5, 50)) == "a miss costs 5 to 50 false alarms, every factor alike"
    assert (
        str(CostPrior.log_normal(median=10, factor=3))
        == "a miss costs about 10 false alarms, give or take a factor of 3"
    )
    assert str(CostPrior.beta(1, 1)) == "a miss costs 0.0526 to 19 false alarms with 90 % of the weight"
    assert str(CostPrior.discrete({7: 1})) == "a miss costs 7 false alarms"


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        (lambda: CostPrior.range(50, 5), CostError, "must be below the high end"),
        (lambda: CostPrior.range(5, 5), CostError, "one known ratio needs no prior"),
        (lambda: CostPrior.range(0, 5), CostError, "must be positive, got 0"),
        (lambda: CostPrior.range(1, 5, softness=1), ParameterError, "below 1, got 1"),
        (lambda: CostPrior.range(1, 5, weight="euro"), ParameterError, "one of unit, money"),
        (lambda: CostPrior.log_normal(median=5, factor=1), ParameterError, "factor must be above 1"),
        (
            lambda: CostPrior.log_normal(median=5, factor=1e30, weight="money"),
            ParameterError,
            "mean ratio must be finite",
        ),
        (lambda: CostPrior.beta(1, 2, weight="money"), ParameterError, "mean ratio must be finite"),
        (lambda: CostPrior.beta(0, 2), ParameterError, "a must be positive"),
        (lambda: CostPrior.discrete({}), CostError, "a dictionary of ratios"),
        (lambda: CostPrior.discrete({5: 0}), ParameterError, "must be positive, got 0"),
        (lambda: CostPrior.density("1/ratio"), ParameterError, r"limit it with between=\(low, high\)"),
        (lambda: CostPrior.density("ratio - 3", between=(1, 9)), ParameterError, "at least 0, but it is -"),
        (lambda: CostPrior.density("0", between=(1, 9)), ParameterError, "0 everywhere"),
        (lambda: CostPrior.density("log(ratio - 3)", between=(1, 9)), ParameterError, "at least 0|defined"),
        (
            lambda: CostPrior.density("ratio**-2", between=(1, math.inf), weight="money"),
            ParameterError,
            "must be finite",
        ),
        (lambda: CostPrior.density("cost", between=(1, 9)), ExpressionError, "cost"),
        (lambda: CostPrior.density("1/abs(ratio - 2)", between=(1, 3)), ParameterError, "too rough"),
        (lambda: CostPrior.density("1", between=(9, 1)), ParameterError, "between must hold"),
        (lambda: CostPrior.density("1", unit="alpha", between=(0, 2)), ParameterError, "from 0 to below 1"),
        (lambda: CostPrior.beta(2, 2).loss(softness=0.5), ParameterError, "only a range"),
        (lambda: uneven.range_loss(5), LossError, r"a pair such as \(5, 50\)"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_prior_is_refused(make: Callable[[], Any], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        make()


@pytest.mark.parametrize("weight", ["unit", "money"])
@pytest.mark.parametrize(
    ("low", "high"), [("1e-300", "1e300"), ("1", "1.000000000001"), ("1e-12", "2e-12"), ("1e12", "1e300")]
)
@pytest.mark.parametrize("softness", [0, "1e-8", "0.99"])
def test_extreme_ranges_are_finite(low: str, high: str, softness: Any, weight: Any) -> None:
    prior = CostPrior.range(low, high, softness=softness, weight=weight)
    p = np.array([0, 5e-324, 1e-300, 1e-12, 0.5, 1 - 1e-16, 1])
    for costs in (prior.positive_cost(p), prior.negative_cost(p), prior.cdf(p)):
        assert np.isfinite(costs).all()
    assert not np.isnan(prior.quantile(p)).any()
    middle = float(Fraction(low)) * 1.0000000000005 if high.startswith("1.0") else prior.quantile(0.5)
    assert prior.cdf(middle) == pytest.approx(0.5, abs=1e-3)
    loss = prior.loss()
    t = np.array([-1e308, -1e4, -30.0, 0.0, 30.0, 1e4, 1e308])
    assert np.isfinite(loss.positive(t)).all()
    assert np.isfinite(loss.negative(t)).all()
    if loss.symbolic:
        assert np.isfinite(loss.slope(-1, t)).all()


def test_large_orders_have_no_formula_and_take_no_time() -> None:
    for prior in (CostPrior.beta(1e8, 1e8), CostPrior.beta(1e8, 2, weight="money"), CostPrior.beta(80, 60)):
        assert not prior.loss().symbolic
    assert CostPrior.beta(64, 64).loss().symbolic
    assert CostPrior.beta(1e8, 1e8).quantile(0.5) == pytest.approx(1, rel=1e-9)


def test_a_narrow_density_is_integrated() -> None:
    """A normal density of the ratio with the standard deviation 1/sqrt(2e8) around 3."""
    prior = CostPrior.density("exp(-1e8*(ratio - 3)**2)", between=(1, 10))
    assert prior.quantile(0.5) == pytest.approx(3, rel=1e-9)
    assert prior.quantile(0.975) - 3 == pytest.approx(1.959964 / math.sqrt(2e8), rel=1e-5)
