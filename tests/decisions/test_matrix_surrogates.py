"""Theorem S: what the sum of costs times a convex phi guarantees, on random finite distributions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import uneven
from uneven.decisions.matrix_surrogates import bound_of_phi, largest_pair
from uneven.errors import LossError
from uneven.losses import Phi, names, phi

CALIBRATED = [name for name in names() if phi(name).convex and name != "perceptron"]
#: Random finite distributions for each phi; there are eight.
CASES = 3000


def best_move(f: Phi, low: np.ndarray, high: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """How much the risk falls if b, at -s_b = x, gives its best amount to a, at -s_a = y: a concave function."""

    def gain(v: np.ndarray) -> np.ndarray:
        return np.asarray(high * (f(x) - f(x + v)) - low * (f(y - v) - f(y)))

    left, right = np.zeros_like(x), np.full_like(x, 40.0) + 2 * np.abs(x)
    with np.errstate(all="ignore"):
        for _ in range(110):
            third = (right - left) / 3
            up = gain(left + third) < gain(right - third)
            left, right = np.where(up, left + third, left), np.where(up, right, right - third)
        return np.maximum(gain((left + right) / 2), 0.0)


def worlds(f: Phi, random: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cost regret, a lower bound of the surrogate regret, and M of random finite distributions."""
    regrets, risks, sizes = np.zeros(count), np.zeros(count), np.zeros(count)
    owner, parts = [], []
    for case in range(count):
        classes, actions = random.integers(2, 6), random.integers(2, 7)
        table = random.random((classes, actions)) ** random.integers(1, 6) * 10.0 ** random.integers(-1, 3)
        table -= table.min(axis=1, keepdims=True)
        sizes[case] = float(largest_pair([list(map(Fraction, row)) for row in table.tolist()]))
        masses = random.dirichlet(np.ones(random.integers(1, 4)))
        for mass in masses:
            cost = random.dirichlet(np.full(classes, 0.5)) @ table
            scores = random.normal(size=actions) * 10.0 ** random.uniform(-2, 0.5)
            if random.random() < 0.5:  # the worst case: the cheapest action is as good as the decision
                scores[cost.argmin()] = scores.max()
            scores -= scores.mean()
            a, best = cost.argmin(), np.flatnonzero(scores >= scores.max() - 1e-12)
            b = best[cost[best].argmax()]
            owner.append(case)
            parts.append((mass, cost[a], cost[b], -scores[b], -scores[a]))
    mass, low, high, x, y = np.array(parts).T
    np.add.at(regrets, owner, mass * (high - low))
    np.add.at(risks, owner, mass * best_move(f, low, high, x, y))
    return regrets, risks, sizes


@pytest.mark.slow
@pytest.mark.parametrize("name", CALIBRATED)
def test_theorem_s(name: str) -> None:
    regrets, risks, sizes = worlds(phi(name), np.random.default_rng(7), CASES)
    assert len(CALIBRATED) * CASES >= 20_000
    psi = uneven.analyze(name, 0.5).psi
    needed = sizes * psi(regrets / (2 * sizes))
    assert (needed <= risks * (1 + 1e-9) + 1e-9 * sizes).all()
    assert (regrets > 1e-3 * sizes).mean() > 0.2  # decisions that cost something


@pytest.mark.parametrize("name", CALIBRATED)
def test_the_bound_is_attained_by_two_actions_of_equal_costs(name: str) -> None:
    costs = uneven.CostMatrix([[0, 3], [3, 0]])
    for share in (0.55, 0.7, 0.95):
        regret = 3 * (2 * share - 1)
        t = np.linspace(-6, 6, 240_001)  # with the kinks
        risk = 3 * (share * phi(name)(t) + (1 - share) * phi(name)(-t))
        found = costs.regret_bound(3 * float(phi(name)(0.0)) - risk.min(), loss=name)
        assert regret * (1 - 1e-9) <= found <= regret * 1.005  # the inverse of psi is rounded to the safe side


@pytest.mark.parametrize("name", CALIBRATED)
def test_one_over_the_slope_is_convex(name: str) -> None:
    """The condition of the theorem, at random pairs of points where phi falls."""
    f, random = phi(name), np.random.default_rng(0)
    a, b = random.uniform(-8, 3, size=(2, 4000))
    slopes = [f.slope(t) for t in (a, b, (a + b) / 2)]
    falls = (slopes[0] < 0) & (slopes[1] < 0)
    left, right, middle = (-1 / slope[falls] for slope in slopes)
    assert (middle <= (left + right) / 2 * (1 + 1e-12)).all()
    assert falls.sum() > 500


def test_a_kink_left_of_zero_is_not_calibrated() -> None:
    """The example of the proof: the lowest risk is at a tie of two actions whose costs are 1 and 2."""
    f = phi("relu(3 - t) + 5*relu(-1 - t)")
    cost, scores = np.array([1.0, 2.0, 4.0]), np.array([1.0, 1.0, -2.0])
    lowest = cost @ f(-scores)
    random = np.random.default_rng(0)
    other = scores + random.normal(size=(20_000, 3)) * 10.0 ** random.uniform(-4, 1, size=(20_000, 1))
    other -= other.mean(axis=1, keepdims=True)
    assert (f(-other) @ cost >= lowest - 1e-9).all()
    wrong = scores + np.array([-1e-9, 1e-9, 0])
    assert wrong.argmax() == 1
    assert cost @ f(-wrong) <= lowest + 1e-7
    X, y = np.eye(3).repeat(2, axis=0), [0, 0, 1, 1, 2, 2]
    with pytest.raises(LossError, match="has a kink at t = -1"):
        uneven.UnevenMultinomialClassifier("relu(3 - t) + 5*relu(-1 - t)").fit(X, y)


def test_units_and_what_is_refused() -> None:
    costs = uneven.CostMatrix([[0, 1, 2], [5, 0, 1], [20, 5, 0]])
    larger = uneven.CostMatrix(100 * costs.costs + 7)
    small, large = costs.regret_bound([0.1, 2.0], loss="logistic"), larger.regret_bound([10, 200], loss="logistic")
    assert large == pytest.approx(100 * small)
    assert costs.regret_bound(1e9, loss="hinge") == costs.regret_bound(np.inf, loss="hinge") == 20
    assert bound_of_phi([[Fraction(0)] * 2] * 2, "hinge", 3.0) == 0
    with pytest.raises(LossError, match="no bound is proved for costs times 'perceptron'"):
        costs.regret_bound(0.1, loss="perceptron")
    with pytest.raises(LossError, match="a surrogate regret is at least 0"):
        costs.regret_bound(-0.1, loss="hinge")


@pytest.mark.parametrize("loss", ["hinge", "logistic", "log"])
def test_costs_that_are_no_doubles_do_not_make_a_bound_too_small(loss: str) -> None:
    """Without any knowledge the bound is the largest cost regret, which is 2/3 and not the double below it."""
    costs = uneven.CostMatrix([[0, "1/3", "2/3"], ["1/3", 0, "1/3"], ["2/3", "1/3", 0]])
    assert Fraction(float(costs.regret_bound(np.inf, loss=loss))) >= Fraction(2, 3) > Fraction(2 / 3)
