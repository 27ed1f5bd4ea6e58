"""Theorem P: the surrogate regret of a prior's loss is the cost regret averaged over the prior; and single ratios."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uneven
from uneven import CostPrior
from uneven.calibration import FiniteDistribution
from uneven.errors import LossError, ParameterError

PRIORS = [
    CostPrior.range(5, 50),
    CostPrior.range(5, 50, weight="money"),
    CostPrior.range(2, 9, softness="1/4"),
    CostPrior.range("1/3", 7, softness="1/2", weight="money"),
    CostPrior.beta(2, 5),
    CostPrior.log_normal(median=10, factor=2, weight="money"),
]

fractions = st.fractions(0, 1, max_denominator=60)


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.integers(1, 60), st.integers(1, 60), st.integers(1, 9)), min_size=1, max_size=6),
    st.lists(st.tuples(fractions, fractions, st.integers(1, 9)), min_size=1, max_size=6),
    st.booleans(),
)
def test_theorem_p_in_rational_numbers(
    ratios: list[tuple[int, int, int]], rows: list[tuple[Fraction, Fraction, int]], money: bool
) -> None:
    """Discrete measures and finite worlds, without rounding: mean of regrets = regret of means."""
    total = sum(weight for *_, weight in ratios)
    costs = []  # fp, fn, probability
    for a, b, weight in ratios:
        ratio = Fraction(a, b)
        unit = Fraction(1) if money else 1 / (1 + ratio)
        costs.append((unit, ratio * unit, Fraction(weight, total)))

    def loss(label: int, p: Fraction) -> Fraction:
        decided = [(fp, fn, w, p * (fp + fn) > fp) for fp, fn, w in costs]
        if label == 1:
            return sum((w * fn for fp, fn, w, positive in decided if not positive), Fraction(0))
        return sum((w * fp for fp, fn, w, positive in decided if positive), Fraction(0))

    surrogate = averaged = Fraction(0)
    for eta, p, mass in rows:
        risk = eta * loss(1, p) + (1 - eta) * loss(-1, p)
        best = eta * loss(1, eta) + (1 - eta) * loss(-1, eta)
        surrogate += mass * (risk - best)
        for fp, fn, w in costs:
            wrong = (p * (fp + fn) > fp) != (eta * (fp + fn) > fp)
            averaged += mass * w * wrong * abs(eta * (fp + fn) - fp)
    assert surrogate == averaged


@pytest.mark.slow
def test_theorem_p_on_20000_random_worlds() -> None:
    """Both sides by different ways: loss values against an average over 400 ratios of the paper's cost regret."""
    rng = np.random.default_rng(0)
    worlds, rows, kinds = 20_000, 5, 400
    shares = (np.arange(kinds) + 0.5) / kinds
    for k, prior in enumerate(PRIORS[:5]):
        count = worlds // 5
        mass = rng.dirichlet(np.ones(rows), count)
        eta, t = rng.beta(0.5, 1.5, (count, rows)), rng.normal(-2, 2, (count, rows))
        p = 1 / (1 + np.exp(-t))
        analysis = uneven.analyze(prior.loss(), prior)
        loss = prior.loss()
        best = np.log(eta) - np.log1p(-eta)
        regret = np.sum(mass * (loss.conditional_risk(eta, t) - loss.conditional_risk(eta, best)), axis=1)
        assert np.allclose(regret, np.sum(mass * analysis.mean_regret(p, eta), axis=1), atol=1e-12 * (1 + 50 * (k % 2)))
        averaged = np.zeros(count)
        for ratio in prior.quantile(shares):
            unit = 1.0 if prior.weight == "money" else 1 / (1 + ratio)
            c = 1 / (1 + ratio)
            wrong = (p > c) != (eta > c)
            averaged += np.sum(mass * wrong * np.abs(eta * (1 + ratio) - 1) * unit, axis=1) / kinds
        largest = analysis.largest_regret
        assert np.abs(regret - averaged).max() < 0.02 * largest, prior  # 400 ratios in place of all
        assert abs(np.mean(regret - averaged)) < 1e-3 * largest, prior


@pytest.mark.slow
def test_a_single_ratio_by_the_paper_and_by_the_measure() -> None:
    """H of the engine, for the loss with the ratio's score at 0, is the integral of (eta - s) dmu from c to eta."""
    eta = np.array([0.0, 0.01, 0.04, 0.1, 0.2, 0.5, 1.0])
    for prior in PRIORS:
        analysis = uneven.analyze(prior.loss(), prior)
        for ratio in (6, "15/2", 20):
            engine = analysis.at(ratio).H(eta)
            assert np.allclose(engine, analysis.H(eta, at=ratio), rtol=1e-6, atol=1e-9), (prior, ratio)


def test_the_integral_of_a_single_ratio() -> None:
    """For a range in unit weight the integral is elementary: (eta ln s + (1 - eta) ln(1 - s)) between logits."""
    prior = CostPrior.range(5, 50)
    analysis = uneven.analyze(prior.loss(), prior)
    for ratio, eta in ((10, 0.15), (20, 0.03), (7, 0.02)):
        c = 1 / (1 + ratio)
        exact = eta * math.log(eta / c) + (1 - eta) * math.log((1 - eta) / (1 - c))
        assert analysis.H(eta, at=ratio) == pytest.approx(exact / math.log(10), rel=1e-9)


@pytest.mark.slow
def test_single_ratio_bounds_hold_on_random_worlds() -> None:
    rng = np.random.default_rng(1)
    for prior in PRIORS[1:4]:
        analysis = uneven.analyze(prior.loss(at=15), prior)
        assert analysis.shift == 15
        for ratio in (6, 8):
            threshold = analysis.threshold(ratio)
            regrets, costs = [], []
            for _ in range(20):
                world = FiniteDistribution(rng.dirichlet(np.ones(3)), rng.beta(0.5, 2, 3))
                t = rng.normal(threshold, 2, 3)
                regrets.append(world.surrogate_regret(analysis.loss, t))
                costs.append(world.cost_regret(t - threshold, alpha=Fraction(1, 1 + ratio)))
            scale = 1 + ratio if prior.weight == "money" else 1
            bounds = analysis.regret_bound(np.array(regrets) + 1e-9, at=ratio)
            assert (np.array(costs) * scale <= bounds).all(), prior


@pytest.mark.slow
def test_the_mean_bound_is_the_regret_itself() -> None:
    prior = CostPrior.range(5, 50, weight="money")
    analysis = uneven.analyze(prior.loss(at=10), prior)
    assert np.array_equal(analysis.regret_bound([0.0, 0.25]), [0.0, 0.25])
    assert analysis.regret_bound(math.inf) == pytest.approx(analysis.largest_regret)
    assert "false alarms" in analysis.report()


@pytest.mark.slow
def test_calibrated_for_every_ratio_inside() -> None:
    for weight in ("unit", "money"):
        prior = CostPrior.range(5, 50, weight=weight)  # type: ignore[arg-type]
        analysis = uneven.analyze(prior.loss(), prior)
        for ratio in ("5.1", 15, "49.9"):
            assert analysis.at(ratio).verdict.status == "calibrated"
            assert analysis.regret_bound(0.0, at=ratio) == 0
        for ratio in (5, 50, 4, 60):
            assert analysis.at(ratio).verdict.status != "calibrated"
    soft = CostPrior.range(5, 50, softness="1/4")
    for ratio in (1, 30, 200):
        assert uneven.analyze(soft.loss(), soft).at(ratio).verdict.status == "calibrated"


@pytest.mark.parametrize(
    ("ask", "kind", "words"),
    [
        (lambda: uneven.analyze("logistic", CostPrior.range(5, 50)), LossError, "is not the loss of the prior"),
        (
            lambda: uneven.analyze(uneven.range_loss((5, 50), softness=0.25), CostPrior.range(5, 50)),
            LossError,
            "is not the loss of the prior",
        ),
        (
            lambda: uneven.analyze(uneven.range_loss((5, 50)), CostPrior.range(5, 50)).regret_bound(-1),
            ParameterError,
            "at least 0",
        ),
    ],
)
def test_wrong_questions(ask: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        ask()


@pytest.mark.parametrize("weight", ["unit", "money"])
def test_h_counts_a_mass_at_the_ratio_itself(weight: Any) -> None:
    """Exact sums over the masses between eta and c, both ends included; the analysis of the ratio says the same."""
    rng = np.random.default_rng(7)
    for _ in range(40):
        ratios = [Fraction(int(r)) for r in np.unique(rng.integers(1, 60, 3))]
        prior = CostPrior.discrete(dict.fromkeys(ratios, 1), weight=weight)
        analysis = uneven.analyze(prior.loss(), prior)
        masses = {1 / (1 + r): Fraction(1, len(ratios)) * (1 if weight == "unit" else 1 + r) for r in ratios}
        for ratio in ratios:
            c = 1 / (1 + ratio)
            for eta in [Fraction(0), Fraction(1), Fraction(rng.random()), c * Fraction(rng.random())]:
                low, high = min(c, eta), max(c, eta)
                exact = sum((m * abs(eta - s) for s, m in masses.items() if low <= s <= high), Fraction(0))
                assert analysis.H(float(eta), at=ratio) == pytest.approx(float(exact), abs=1e-12)


def test_a_mass_is_compared_with_p_without_rounding() -> None:
    """A double p near alpha = c is above it or not: the logarithms of both would often say the opposite."""
    for ratio in map(Fraction, range(1, 200)):
        c, prior = 1 / (1 + ratio), CostPrior.discrete({ratio: 1})
        for p in (float(c), math.nextafter(float(c), 0), math.nextafter(float(c), 1)):
            assert prior.positive_cost(p) == (0.0 if Fraction(p) > c else float(1 - c))
            assert prior.negative_cost(p) == (float(c) if Fraction(p) > c else 0.0)
