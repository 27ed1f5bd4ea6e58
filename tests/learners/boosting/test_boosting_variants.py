"""The literature's variants: weights by their own update rules are slopes of the loss, and its costs are as stated."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import uneven
from uneven.errors import LossError, ParameterError
from uneven.zoo.boosting_variants import VARIANTS, variant

NAMES = [one.name for one in VARIANTS]
STEP, COSTS = 0.25, {1: 3.0, -1: 2.0}  # of a false negative and of a false positive

#: Each variant's factor of a row in a round, as its paper has it: y h, cost, y, step. Summed votes have step 1.
RULES: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray, float], np.ndarray]] = {
    "AdaMEC": lambda yh, c, y, a: np.exp(-a * yh),
    "CGAda": lambda yh, c, y, a: np.exp(-a * yh),
    "CSAda": lambda yh, c, y, a: np.exp(-c * a * yh),
    "AsymBoost": lambda yh, c, y, a: np.exp(-a * yh) * np.where(y == 1, 1.5, 1.0) ** (1 / 100),
    "AdaC1": lambda yh, c, y, a: np.exp(-a * c * yh),
    "AdaC2": lambda yh, c, y, a: c * np.exp(-a * yh),
    "AdaC3": lambda yh, c, y, a: c * np.exp(-a * c * yh),
    "CSB0": lambda yh, c, y, a: np.where(yh > 0, 1.0, c),
    "CSB1": lambda yh, c, y, a: np.where(yh > 0, 1.0, c) * np.exp(-yh),
    "CSB2": lambda yh, c, y, a: np.where(yh > 0, 1.0, c) * np.exp(-a * yh),
    "AdaCost": lambda yh, c, y, a: np.exp(-a * yh * np.where(yh > 0, 0.5 - 0.5 * c, 0.5 + 0.5 * c)),
}
FROM_COSTS = ("CGAda", "CSAda", "AdaCost")  # weights at the start, or those that trees are chosen with
ROUNDS = 6


def simulated(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, scores and weights after some rounds of random votes."""
    random = np.random.default_rng(0)
    y = random.choice([-1, 1], 60)
    cost = np.where(y == 1, COSTS[1], COSTS[-1])
    step = 1.0 if name in ("CSB0", "CSB1") else STEP
    weight = cost.copy() if name in FROM_COSTS else np.ones(60)
    score = np.zeros(60)
    for _ in range(ROUNDS):
        vote = random.choice([-1, 1], 60)
        weight = weight * RULES[name](y * vote, cost, y, step)
        score += step * vote
    return y, score, weight


def test_every_variant_has_a_rule_here() -> None:
    assert sorted(RULES) == sorted(NAMES)


@pytest.mark.parametrize("name", [one.name for one in VARIANTS if one._weights is not None])
def test_weights_are_slopes_of_the_loss(name: str) -> None:
    y, score, weight = simulated(name)
    loss = variant(name).loss(fp_cost=2, fn_cost=3, rounds=ROUNDS, step="1/4")
    slope = np.abs(loss.slope(y, score))
    np.testing.assert_allclose(weight / weight.sum(), slope / slope.sum(), rtol=1e-10)


def test_weights_that_are_slopes_of_no_loss() -> None:
    y, score, weight = simulated("CSB2")
    alike = (y == 1) & np.isclose(score, score[y == 1][0])
    assert np.ptp(weight[alike]) < 1e-9 * weight.max()  # one step for all rounds: wrong votes are known from the score
    random = np.random.default_rng(0)
    votes = random.choice([-1, 1], (2000, 6))
    steps = np.array([0.1, 0.2, 0.3, 0.1, 0.2, 0.3])
    sums = votes @ steps
    weights = np.prod(RULES["CSB2"](votes, np.array(3.0), np.array(1), 1.0) * np.exp(votes * (1 - steps)), axis=1)
    same = np.isclose(sums, 0.4)
    assert np.ptp(weights[same]) > 0.5 * weights[same].min()  # the same score, other weights
    y, _, weight = simulated("CSB0")
    assert set(np.round(np.log(weight[y == 1]) / np.log(3), 9) % 1) == {0}  # a power of the cost: 1 gives no change
    for name in ("CSB0", "CSB2"):
        with pytest.raises(LossError, match=f"{name} descends no loss of the score"):
            variant(name).loss(fp_cost=1, fn_cost=3, rounds=3)


def ratio_meant(name: str, k: float, t: int, step: float) -> float:
    """The ratio that the table states, for costs k and 1."""
    return {
        "AdaMEC": 1.0,
        "CGAda": k,
        "CSAda": k,
        "AsymBoost": k ** (t / 100),
        "AdaC1": 1.0,
        "AdaC2": k**t,
        "AdaC3": k**t,
        "CSB1": k ** (t / 2),
        "AdaCost": k * math.exp((k - 1) * t * step / 2),
    }[name]


@pytest.mark.parametrize("name", [one.name for one in VARIANTS if one._weights is not None])
@pytest.mark.parametrize("rounds", [1, 3, 10])
def test_our_verdict_on_it(name: str, rounds: int) -> None:
    one = variant(name)
    loss = one.loss(fp_cost=1, fn_cost=5, rounds=rounds)
    implied = uneven.implied_alpha(loss)
    assert implied.alpha is not None
    assert (1 - implied.alpha) / implied.alpha == pytest.approx(ratio_meant(name, 5, rounds, 0.5), rel=1e-9)
    status = uneven.analyze(loss, alpha="1/6").verdict.status
    right = one.calibrated or (name in ("AdaC2", "AdaC3") and rounds == 1)
    assert status == ("calibrated" if right else "not calibrated")
    if one.calibrated:
        assert uneven.certify(loss, alpha="1/6").status == "proved"


def test_the_step_of_adac1_descends_the_other_loss() -> None:
    """It minimises a bound of exp(-c y f), which is right for the costs; the weights are slopes of another loss."""
    random = np.random.default_rng(0)
    agreement, cost = random.choice([-1, 1, 1], 50), random.choice([0.2, 1.0], 50)  # costs are at most 1 in its paper
    weight = random.dirichlet(np.ones(50))
    right, wrong = (float(weight[agreement == sign] @ cost[agreement == sign]) for sign in (1, -1))
    step = 0.5 * np.log((1 + right - wrong) / (1 - right + wrong))
    steps = step + np.linspace(-1, 1, 201)[:, None]
    share = (1 + cost * agreement) / 2
    bound = (share * np.exp(-steps) + (1 - share) * np.exp(steps)) @ weight
    assert int(np.argmin(bound)) == 100
    assert (bound >= np.exp(-steps * cost * agreement) @ weight).all()
    assert uneven.analyze(uneven.Loss("exp(-5*t)", "exp(t)"), alpha="1/6").verdict.status == "calibrated"
    assert uneven.implied_alpha(variant("AdaC1").loss(fp_cost=1, fn_cost=5, rounds=7)).exact == 1 / 2


def test_unknown_names_and_rounds() -> None:
    with pytest.raises(ParameterError, match="no variant is called 'AdaC4'; there are AdaMEC, CGAda"):
        variant("AdaC4")
    with pytest.raises(ParameterError, match="rounds must be a whole number of at least 0, got -1"):
        variant("AdaC2").loss(fp_cost=1, fn_cost=2, rounds=-1)
