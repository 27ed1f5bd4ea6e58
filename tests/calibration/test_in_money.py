"""Costs of each row, on finite distributions: calibrated decisions, and the bound of the regret in money.

Points x have a share p, a probability eta and regrets c0 (false positive) and c1 (false negative) of their own. The
loss of a row is weighted by the regret of its mistake. So at x the loss sees the probability q = eta c1 / m with the
mass m = eta c1 + (1 - eta) c0. Everything is written out from the definitions; the package gives phi, psi and the
bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import uneven
from uneven import UnevenLinearClassifier as Linear
from uneven.calibration import Analysis, analyze
from uneven.calibration.in_money import AnalysisInMoney

TRIALS, POINTS = 20_000, 5
LOSSES = ["logistic", "hinge", "squared_hinge", "exponential", "sigmoid", "savage"]
GAMMAS = [Fraction(1, 4), Fraction(1), Fraction(3)]
HALF = Fraction(1, 2)
Q = np.linspace(0, 1, 401)
T = np.concatenate([np.linspace(-8, 8, 3201), -np.geomspace(8, 200, 40), np.geomspace(8, 200, 40)])


@dataclass(frozen=True)
class Worlds:
    """Random distributions, one in each row. ``number`` is that of q in Q; eta follows from q and the costs.

    A finished loss holds costs a and 1 - a itself, by which the weights of the two classes are divided.
    """

    p: np.ndarray
    number: np.ndarray
    c0: np.ndarray
    c1: np.ndarray
    a: float | None = None

    @property
    def inside(self) -> tuple[float, float]:
        return (1.0, 1.0) if self.a is None else (self.a, 1 - self.a)

    @property
    def eta(self) -> np.ndarray:
        q = Q[self.number]
        positive, negative = q * self.c0 / self.inside[0], (1 - q) * self.c1 / self.inside[1]
        return positive / (positive + negative)

    @property
    def mass(self) -> np.ndarray:
        """The weights of a point's rows, times their probabilities."""
        return self.eta * self.c1 / self.inside[1] + (1 - self.eta) * self.c0 / self.inside[0]

    @property
    def W(self) -> np.ndarray:  # noqa: N802 - the symbol of the theorem
        """The expected weight of a row."""
        return (self.p * self.mass).sum(axis=1)

    def money(self, said_positive: np.ndarray) -> np.ndarray:
        """Expected cost of decisions above that of the cheapest ones."""
        gain = self.eta * self.c1 - (1 - self.eta) * self.c0
        return (self.p * np.where(said_positive == (gain > 0), 0.0, np.abs(gain))).sum(axis=1)

    def surrogate(self, where: np.ndarray, losses: tuple[np.ndarray, np.ndarray], least: np.ndarray) -> np.ndarray:
        """Expected weighted loss at decision values T[where], above the smallest one."""
        q = Q[self.number]
        attained = q * losses[0][where] + (1 - q) * losses[1][where]
        return (self.p * self.mass * (attained - least[self.number])).sum(axis=1)


def drawn(seed: int, a: float | None = None) -> Worlds:
    """Points of every share, probabilities from 0 to 1, costs over four orders of magnitude."""
    random = np.random.default_rng(seed)
    shape = (TRIALS, POINTS)
    p = random.exponential(size=shape) ** 2
    c0, c1 = 10.0 ** random.uniform(-2, 2, size=(2, *shape))
    return Worlds(p / p.sum(axis=1, keepdims=True), random.integers(0, Q.size, size=shape), c0, c1, a)


def decision_values(seed: int) -> np.ndarray:
    """Numbers of T, half of them near 0, where the bound is tight."""
    random = np.random.default_rng(seed)
    where = random.integers(0, T.size, size=(TRIALS, POINTS))
    near = random.random(where.shape) < 0.5
    where[near] = np.abs(T).argsort()[random.integers(0, 100, size=int(near.sum()))]
    return where


@dataclass(frozen=True)
class Facts:
    analysis: Analysis
    losses: tuple[np.ndarray, np.ndarray]
    on_grid: np.ndarray  # of each q in Q, the smallest risk on the grid T
    at: np.ndarray  # and the t that has it
    least: np.ndarray  # the true smallest risk


@cache
def facts(name: str, gamma: Fraction, a: Fraction | None = None) -> Facts:
    """A loss that rows with costs weight: without weights of its own, or finished for the alpha a."""
    loss = uneven.calibrated_loss(name, alpha=HALF if a is None else a, gamma=gamma)
    if a is None:
        loss = uneven.UnevenMarginLoss(loss.phi, gamma=loss.exact_gamma, beta=loss.exact_beta if loss.beta else None)
    analysis = analyze(loss, alpha=HALF if a is None else a)
    losses = np.asarray(loss.positive(T)), np.asarray(loss.negative(T))
    risks = Q[:, None] * losses[0] + (1 - Q[:, None]) * losses[1]
    at = risks.argmin(axis=1)
    return Facts(analysis, losses, risks.min(axis=1), T[at], np.asarray(analysis.optimal_risk(Q)))


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("name", LOSSES)
def test_the_minimiser_decides_for_the_cheaper_class_at_every_point(name: str, gamma: Fraction) -> None:
    """eta c1 l(+, t) + (1 - eta) c0 l(-, t) is smallest at a t whose sign is that of the cheaper decision."""
    worlds, known = drawn(1), facts(name, gamma)
    cheaper = worlds.eta * worlds.c1 > (1 - worlds.eta) * worlds.c0
    clear = np.abs(Q[worlds.number] - 0.5) > 0.004
    np.testing.assert_array_equal(known.at[worlds.number][clear] > 0, cheaper[clear])


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("name", LOSSES)
def test_the_bound_in_money(name: str, gamma: Fraction) -> None:
    """psi(money / (2 W)) <= surrogate / W at random decision values: 20,000 distributions, no violation."""
    worlds, known, where = drawn(2), facts(name, gamma), decision_values(3)
    assert (known.least <= known.on_grid + 1e-12).all()
    assert (known.on_grid - known.least).max() < 0.01  # the package's optimum is that of the grid
    left = worlds.money(T[where] > 0) / (2 * worlds.W)
    right = worlds.surrogate(where, known.losses, known.least) / worlds.W
    assert 0.2 < left.max() <= 0.5
    assert (np.asarray(known.analysis.psi(left)) <= right * (1 + 1e-9) + 1e-9).all()


@pytest.mark.parametrize("a", [Fraction(1, 10), Fraction(2, 3)])
@pytest.mark.parametrize(
    ("name", "gamma"), [("logistic", Fraction(2)), ("hinge", Fraction(1, 3)), ("sigmoid", Fraction(2))]
)
def test_the_bound_of_a_finished_loss(name: str, gamma: Fraction, a: Fraction) -> None:
    """With weights c1/(1-a) and c0/a, and W of these weights: psi at a of (money / W) <= surrogate / W."""
    worlds, known, where = drawn(4, float(a)), facts(name, gamma, a), decision_values(5)
    left = worlds.money(T[where] > 0) / worlds.W
    right = worlds.surrogate(where, known.losses, known.least) / worlds.W
    assert left.max() > 0.3
    assert (np.asarray(known.analysis.psi(left)) <= right * (1 + 1e-9) + 1e-9).all()


@pytest.mark.parametrize("eps", [0.05, 0.2, 0.45])
@pytest.mark.parametrize(
    ("name", "gamma"), [("logistic", Fraction(1)), ("hinge", Fraction(3)), ("sigmoid", Fraction(1, 2))]
)
def test_the_bound_is_attained(name: str, gamma: Fraction, eps: float) -> None:
    """The worst distribution for equal costs, whose eta is now q, at costs that differ from point to point."""
    analysis = facts(name, gamma).analysis
    tight = analysis.tight_distribution(eps)
    q, share = np.asarray(tight.etas), np.asarray(tight.weights)
    c0, c1 = np.geomspace(0.1, 7, q.size), np.geomspace(20, 3, q.size)
    eta = q * c0 / (q * c0 + (1 - q) * c1)
    mass = eta * c1 + (1 - eta) * c0
    p = share / mass / (share / mass).sum()
    t = np.asarray(tight.decisions)
    gain = eta * c1 - (1 - eta) * c0
    wrong = (t > 0) != (gain > 0)
    money, mean = float((p * np.abs(gain) * wrong).sum()), float((p * mass).sum())
    loss = analysis.loss
    attained = q * np.asarray(loss.positive(t)) + (1 - q) * np.asarray(loss.negative(t))
    surrogate = float((p * mass * (attained - np.asarray(analysis.optimal_risk(q)))).sum())
    assert money / (2 * mean) == pytest.approx(eps, rel=1e-6)
    bound = AnalysisInMoney(analysis, cost_scale=1 / mean, total_cost=None).cost_regret_bound(surrogate / mean)
    assert money <= bound * (1 + 1e-12)
    assert bound == pytest.approx(money, rel=1e-2)
    assert 2 * mean * analysis.psi_inverse(surrogate / mean) == pytest.approx(money, rel=1e-4)


# -- what a fitted learner says ---------------------------------------------------------------------------------------


def trained(factor: float = 1.0, **parameters: object) -> tuple[Linear, dict[str, np.ndarray]]:
    """A fit to twelve points that carry their own costs; rows are the two labels of each point."""
    random = np.random.default_rng(6)
    eta, share = random.random(12), random.random(12)
    world = {"eta": eta, "p": share / share.sum()}
    world |= {name: factor * 10.0 ** random.uniform(-1, 1, size=12) for name in ("c0", "c1")}
    X = np.repeat(np.column_stack([eta, random.normal(size=(12, 2))]), 2, axis=0)
    weight = np.stack([world["p"] * eta, world["p"] * (1 - eta)], axis=1).ravel()
    costs = {"fp_cost": np.repeat(world["c0"], 2), "fn_cost": np.repeat(world["c1"], 2)}
    model = Linear(**parameters).fit(X, np.tile([1, 0], 12), weight, **costs)
    return model, {**world, "X": X[::2]}


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge", "finished"])
def test_a_learners_bound_holds_for_its_training_rows(loss: str) -> None:
    given = uneven.UnevenMarginLoss("logistic", gamma=2, alpha="1/4") if loss == "finished" else loss
    model, world = trained(loss=given, C=0.3)
    a = None if loss != "finished" else 0.25
    inside = (1.0, 1.0) if a is None else (a, 1 - a)
    c1, c0 = world["eta"] * world["c1"], (1 - world["eta"]) * world["c0"]
    weights = c1 / inside[1], c0 / inside[0]
    mean = float(world["p"] @ (weights[0] + weights[1]))
    assert model.cost_scale_ == pytest.approx(1 / mean, rel=1e-12)
    least = (weights[0] + weights[1]) * np.asarray(model.analysis_.optimal_risk(weights[0] / (weights[0] + weights[1])))
    random = np.random.default_rng(7)
    for scale in (0.0, 0.01, 0.1, 1.0, 10.0):
        t = model.decision_function(world["X"]) + scale * random.normal(size=12)
        attained = weights[0] * model.loss_.positive(t) + weights[1] * model.loss_.negative(t)
        surrogate = float(world["p"] @ (attained - least)) / mean  # as in the objective: over the mean weight
        money = float(world["p"] @ (np.abs(c1 - c0) * ((t > 0) != (c1 > c0))))
        bound = model.analysis_.cost_regret_bound(surrogate)
        assert money <= bound * (1 + 1e-12)
        assert model.analysis_.cost_regret_bound(surrogate, mean_regret=2 * mean) >= bound


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["logistic", "hinge", "exponential", "savage"])
def test_a_bound_for_new_rows_that_cost_something_else(loss: str) -> None:
    """Training rows with equal costs given one by one, and new rows with any: the bound needs their mean regret."""
    random = np.random.default_rng(8)
    X, y = random.normal(size=(40, 2)), np.tile([1, 0], 20)
    model = Linear(loss, margin_gamma=2).fit(X, y, fp_cost=np.full(40, 2.0), fn_cost=np.full(40, 6.0))
    analysis, alpha, missed = model.analysis_, 0.25, 0
    for _ in range(500):
        eta, share = random.random(4), random.random(4)
        p, t = share / share.sum(), random.normal(scale=random.choice([0.01, 0.3, 2]), size=4)
        c0, c1 = 10.0 ** random.uniform(-2, 3, size=(2, 4))
        positive, negative = eta * c1, (1 - eta) * c0
        weights = positive / (1 - alpha), negative / alpha
        least = (weights[0] + weights[1]) * np.asarray(analysis.optimal_risk(weights[0] / (weights[0] + weights[1])))
        attained = weights[0] * model.loss_.positive(t) + weights[1] * model.loss_.negative(t)
        surrogate = model.cost_scale_ * float(p @ (attained - least))
        money = float(p @ (np.abs(positive - negative) * ((t > 0) != (positive > negative))))
        mean = float(p @ (positive + negative))
        assert money <= analysis.cost_regret_bound(surrogate, mean_regret=mean) * (1 + 1e-12)
        missed += money > analysis.cost_regret_bound(surrogate)
    assert missed > 0  # the costs of the training rows say nothing about these


def test_the_bound_is_in_the_unit_of_the_costs() -> None:
    one, cents = trained()[0].analysis_, trained(128.0)[0].analysis_
    regrets = np.array([0.0, 1e-3, 0.1, 1.0, np.inf])
    np.testing.assert_allclose(cents.cost_regret_bound(regrets), 128 * one.cost_regret_bound(regrets), rtol=1e-12)
    assert one.cost_regret_bound(0.0) == 0.0
    assert (np.diff(one.cost_regret_bound(regrets)) >= 0).all()
    assert one.per_row
    assert one.verdict.status == "calibrated"
    assert one.alpha == 0.5
    assert one.to_dict()["cost_scale"] == one.cost_scale
    assert "costs of each row" in one.report()


def test_the_same_costs_in_all_rows_need_no_mean() -> None:
    """Theorem 1 at alpha, times the sum of the costs; the objective's losses are the weighted ones over the mean."""
    X, y = np.array([[-1.0], [0.2], [0.1], [1.0]]), np.array([0, 0, 1, 1])
    model = Linear("hinge", fp_cost=50, fn_cost=150, margin_gamma=2).fit(X, y)
    analysis = model.analysis_
    assert not analysis.per_row
    plain = analyze(uneven.UnevenMarginLoss("hinge", gamma=2, alpha="1/4"))
    regret = 0.05  # of the loss whose weights sum to 1
    assert analysis.cost_regret_bound(regret * 200 / 100) == pytest.approx(200 * plain.regret_bound(regret), rel=1e-9)
    assert analysis.regret_bound(regret) == plain.regret_bound(regret)


@pytest.mark.parametrize("bad", [-1, "much", np.nan])
def test_what_is_no_regret_is_refused(bad: object) -> None:
    analysis = trained()[0].analysis_
    with pytest.raises(uneven.errors.UnevenError, match="surrogate_regret"):
        analysis.cost_regret_bound(bad)
    for mean in (0, -1, np.inf, "much"):
        with pytest.raises(uneven.errors.UnevenError, match="mean_regret must be"):
            analysis.cost_regret_bound(0.1, mean_regret=mean)
