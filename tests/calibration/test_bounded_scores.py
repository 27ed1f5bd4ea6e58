"""Scores within [-bound, bound]: Theorem L, its closed forms, published tables and extreme bounds."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from registered import CALIBRATED

import uneven
from uneven.calibration import FiniteDistribution
from uneven.calibration.half_lines import HalfLineSolver
from uneven.errors import ParameterError

BOUNDS = ("1/10", "7/10", 1, 3, 50)
CONVEX = tuple(name for name in uneven.losses.names() if uneven.phi(name).convex and name != "perceptron")


def smooth(t: np.ndarray) -> np.ndarray:
    return np.logaddexp(0, -t)


def mirrored(t: np.ndarray) -> np.ndarray:
    return smooth(-2 * t) / 2


def trial_cases() -> list[tuple[uneven.Loss, float, float]]:
    """Losses, calibrated or not, with an alpha and a bound."""
    rng = np.random.default_rng(3)
    cases = []
    for name in uneven.losses.names():
        for gamma, alpha in ((1.0, 0.5), (3.0, 0.2), (0.25, 0.7)):
            bound = float(np.exp(rng.normal()))
            cases.append((uneven.UnevenMarginLoss(name, gamma=gamma, alpha=alpha), alpha, bound))
    cases += [(uneven.Loss("exp(-t)", "relu(1 + t)**2"), 0.4, 0.6), (uneven.Loss(smooth, mirrored), 0.5, 1.5)]
    return cases


@pytest.mark.slow
@pytest.mark.parametrize(("loss", "alpha", "bound"), trial_cases(), ids=lambda x: repr(x)[:40])
def test_the_bound_holds_on_random_finite_distributions(loss: uneven.Loss, alpha: float, bound: float) -> None:
    """At least 20,000 distributions of up to six points; the regret is against the best score within the bound."""
    rng = np.random.default_rng(11)
    trials, m = 400, 6
    a = uneven.analyze(loss, alpha, score_bound=bound)
    weights = rng.dirichlet(np.full(m, 0.5), size=trials)
    special = np.array([0, 1, alpha, min(2 * alpha, 1), max(2 * alpha - 1, 0)])
    eta = np.where(rng.random((trials, m)) < 0.4, rng.choice(special, (trials, m)), rng.random((trials, m)))
    corners = np.array([0.0, 1e-9, -1e-9, bound, -bound])
    f = np.where(
        rng.random((trials, m)) < 0.6, rng.choice(corners, (trials, m)), rng.uniform(-bound, bound, (trials, m))
    )
    cost = (weights * np.abs(eta - alpha) * ((f > 0) != (eta > alpha))).sum(axis=1)
    # The best score within the bound, by a grid instead of the engine: its risk is too high, and so is the regret.
    grid = np.concatenate([np.linspace(-bound, bound, 2001), [1e-12, -1e-12]])
    at_grid = loss(1, grid), loss(-1, grid)
    best = np.min(np.multiply.outer(eta, at_grid[0]) + np.multiply.outer(1 - eta, at_grid[1]), axis=-1)
    assert np.all(a.optimal_risk(eta) <= best * (1 + 1e-12) + 1e-12)
    assert np.all(a.optimal_risk(eta) >= best - 1e-3 * (1 + best))
    surrogate = (weights * (loss.conditional_risk(eta, f) - a.optimal_risk(eta))).sum(axis=1)
    scale = 1 + np.abs(loss.conditional_risk(eta, f)).max()
    assert np.all(a.psi(np.minimum(cost, a.largest_regret)) <= surrogate + 1e-12 * scale)


def test_there_are_20000_distributions() -> None:
    assert 400 * len(trial_cases()) >= 20_000


@pytest.mark.parametrize("name", CONVEX)
def test_a_bound_that_depends_on_x(name: str) -> None:
    """For convex losses the smallest bound is enough, if scores are compared with the best ones within their own."""
    rng = np.random.default_rng(9)
    loss = uneven.UnevenMarginLoss(name, gamma=2, alpha=0.3)
    smallest = uneven.analyze(loss, score_bound=0.5)
    trials, m = 2500, 4
    bounds = rng.choice([0.5, 0.8, 2.0], size=(trials, m))
    eta, weights = rng.random((trials, m)), rng.dirichlet(np.ones(m), size=trials)
    corners, inner = rng.choice([-1.0, 0.0, 1e-9, 1.0], (trials, m)), rng.uniform(-1, 1, (trials, m))
    f = np.where(rng.random((trials, m)) < 0.5, corners, inner) * bounds
    best = np.zeros((trials, m))
    for bound in np.unique(bounds):
        best[bounds == bound] = uneven.analyze(loss, score_bound=bound).optimal_risk(eta[bounds == bound])
    cost = (weights * np.abs(eta - 0.3) * ((f > 0) != (eta > 0.3))).sum(axis=1)
    surrogate = (weights * (loss.conditional_risk(eta, f) - best)).sum(axis=1)
    assert np.all(smallest.psi(cost) <= surrogate + 1e-12)


def closed_form(name: str, gamma: float, a: np.ndarray, b: np.ndarray, bound: float) -> np.ndarray:
    """H of (phi(t), phi(-gamma t)/gamma) for scores within a bound, as docs/theory.md has it."""
    with np.errstate(divide="ignore"):
        ratio = np.log(a / b)
    if name in ("hinge", "absolute"):
        return np.where(a >= b, min(1, bound), min(1 / gamma, bound)) * np.abs(a - b)
    if name in ("squared", "squared_hinge"):
        inside = np.abs(a - b) <= bound * (a + gamma * b)
        return np.where(inside, (a - b) ** 2 / (a + gamma * b), 2 * bound * np.abs(a - b) - bound**2 * (a + gamma * b))
    if name == "exponential":
        t = np.clip(ratio / (1 + gamma), -bound, bound)
        return -a * np.expm1(-t) - b / gamma * np.expm1(gamma * t)
    assert gamma == 1
    if name == "logistic":
        t = np.clip(ratio, -bound, bound)
        return (a + b) * math.log(2) - a * np.logaddexp(0, -t) - b * np.logaddexp(0, t)
    if name == "sigmoid":
        return np.abs(a - b) * math.tanh(bound / 2) / 2
    assert name == "savage"
    x = math.tanh(bound)
    d = np.abs(a - b)
    return np.where(d <= x * (a + b), d**2 / (4 * (a + b)), (2 * x * d - x**2 * (a + b)) / 4)


FORMS = [(name, gamma) for name in ("hinge", "absolute", "squared", "squared_hinge", "exponential")
         for gamma in (1.0, 2.0, 0.25)] + [(name, 1.0) for name in ("logistic", "sigmoid", "savage")]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("name", "gamma"), FORMS)
def test_closed_forms(name: str, gamma: float) -> None:
    """H against the formula, and psi inside its proved bounds."""
    rng = np.random.default_rng(5)
    for alpha in (0.5, 0.1, 1e-6):
        for bound in BOUNDS:
            a = uneven.analyze(uneven.UnevenMarginLoss(name, gamma=gamma, alpha=alpha), score_bound=bound)
            eta = np.concatenate([rng.random(60), [0.0, 1.0]])
            eta = eta[np.abs(eta - alpha) > 1e-3]
            expected = closed_form(name, gamma, (1 - alpha) * eta, alpha * (1 - eta), float(Fraction(bound)))
            assert np.allclose(a.H(eta), expected, rtol=1e-10, atol=0)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "gamma"), [form for form in FORMS if form[0] not in ("sigmoid", "savage")])
def test_psi_lies_between_its_proved_bounds(name: str, gamma: float) -> None:
    for alpha, bound in (("1/2", "7/10"), ("1/10", 3)):
        a = uneven.analyze(uneven.UnevenMarginLoss(name, gamma=gamma, alpha=alpha), score_bound=bound)
        eps = np.array([0.0, 0.01, 0.2, 0.7, 1.0]) * a.largest_regret
        low, high = a.psi_bounds(eps)
        psi = a.psi(eps)
        assert np.all(low <= psi * (1 + 1e-12))
        assert np.all(psi <= high * (1 + 1e-12))
        assert np.all(high - low <= 0.02 * high)
        # What is printed as a bound of the cost regret is never below the inverse of psi.
        assert np.all(a.regret_bound(psi[1:4]) >= eps[1:4] * (1 - 1e-9))
        assert a.regret_bound([0.0, math.inf]).tolist() == [0.0, a.largest_regret]


def published(name: str, x: np.ndarray, bound: float) -> np.ndarray:
    """Awasthi, Mao, Mohri, Zhong (2022) for linear functions with bias within the bound, each mistake costing 1.

    They state the transformations in base 2 for the logistic loss and with 1 - tanh(k t) for the sigmoid.
    """
    e = math.exp(bound)
    with np.errstate(divide="ignore", invalid="ignore"):
        if name == "hinge":
            return min(bound, 1) * x
        if name == "logistic":
            inside = (x + 1) / 2 * np.log2(x + 1) + np.where(x < 1, (1 - x) / 2 * np.log2(1 - x), 0)
            beyond = 1 - (x + 1) / 2 * math.log2(1 + 1 / e) - (1 - x) / 2 * math.log2(1 + e)
            return math.log(2) * np.where(x <= (e - 1) / (e + 1), inside, beyond)
        if name == "exponential":
            beyond = 1 - (x + 1) / 2 / e - (1 - x) / 2 * e
            return np.where(x <= (e**2 - 1) / (e**2 + 1), 1 - np.sqrt(1 - x**2), beyond)
        if name == "squared_hinge":
            return np.where(x <= bound, x**2, 2 * bound * x - bound**2)
    assert name == "sigmoid"  # phi(t) = 1/(1 + e^t) is (1 - tanh(t/2))/2
    return math.tanh(bound / 2) * x / 2


@pytest.mark.parametrize("name", ["hinge", "logistic", "exponential", "squared_hinge", "sigmoid"])
def test_published_tables_at_equal_costs(name: str) -> None:
    x = np.linspace(0, 1, 41)
    for bound in (0.3, 1.0, 2.5):
        psi = uneven.analyze(name, score_bound=bound).psi(x / 2)
        assert np.allclose(psi, published(name, x, bound), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("name", CONVEX)
@pytest.mark.parametrize("gamma", [1, "5/2"])
def test_H_is_that_of_all_scores_up_to_the_bound_and_a_line_beyond(name: str, gamma: object) -> None:  # noqa: N802
    loss = uneven.UnevenMarginLoss(name, gamma=gamma, alpha="1/5")
    free, bounded = uneven.analyze(loss), uneven.analyze(loss, score_bound="3/5")
    eta = np.linspace(0, 1, 401)
    ends = loss.conditional_risk(eta, 0.6), loss.conditional_risk(eta, -0.6)
    line = loss.conditional_risk(eta, 0.0) - np.where(eta > 0.2, *ends)
    H, H_free = bounded.H(eta), free.H(eta)  # noqa: N806
    on_line = np.isclose(H, line, rtol=1e-9, atol=1e-12)
    same = np.isclose(H, H_free, rtol=1e-9, atol=1e-12)
    assert np.all(on_line | same)
    assert on_line.any()
    assert np.all(H_free * (1 + 1e-12) + 1e-13 >= H)
    # Once H has left the curve, it stays on the line, on either side of alpha.
    for side in (eta[eta < 0.2][::-1], eta[eta > 0.2]):
        left = np.flatnonzero(~same[np.searchsorted(eta, side)])
        if left.size:
            assert np.all(on_line[np.searchsorted(eta, side)][left[0] :])


@pytest.mark.slow
@pytest.mark.parametrize("name", CONVEX)
def test_a_larger_bound_gives_a_larger_psi_with_the_unbounded_one_as_limit(name: str) -> None:
    loss = uneven.UnevenMarginLoss(name, gamma="3/2", alpha="1/4")
    eps = np.linspace(0, 0.75, 31)
    values = [uneven.analyze(loss, score_bound=bound).psi(eps) for bound in ("1/10", "1/2", 1, 2, 30)]
    for small, large in zip(values, [*values[1:], uneven.analyze(loss).psi(eps)], strict=True):
        assert np.all(small <= large * (1 + 1e-9) + 1e-13)
    inner = eps < 0.7  # near the end a minimiser may be infinite
    assert np.allclose(values[-1][inner], uneven.analyze(loss).psi(eps)[inner], rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("name", uneven.losses.names())
def test_without_a_bound_nothing_changes_and_a_huge_bound_is_none(name: str) -> None:
    loss = uneven.UnevenMarginLoss(name, gamma=2, alpha=0.3)
    eps = np.linspace(0, 0.7, 15)
    free, huge = uneven.analyze(loss), uneven.analyze(loss, score_bound=1e8)
    assert np.allclose(huge.psi(eps), free.psi(eps), rtol=1e-7, atol=1e-12)
    assert np.allclose(huge.mu(eps), free.mu(eps), rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("name", [*CONVEX, "perceptron"])
@pytest.mark.parametrize("bound", [1e-8, "1/3", 1, 1e300])
def test_a_bound_changes_no_verdict_about_a_convex_loss(name: str, bound: object) -> None:
    for gamma, beta in ((1, None), (0.001, None), (3, "1/2")):
        loss = uneven.UnevenMarginLoss(name, gamma=gamma, beta=beta, alpha="1/12")
        free, bounded = uneven.analyze(loss), uneven.analyze(loss, score_bound=bound)
        assert (bounded.verdict, bounded.implied_alpha) == (free.verdict, free.implied_alpha)


@pytest.mark.slow
def test_the_prover_agrees_on_the_clipped_loss() -> None:
    """Theorem L in short; here the same verdicts by proofs about the clipped losses themselves."""
    for name in CONVEX:
        for bound in ("1/3", 2):
            clipped = uneven.UnevenMarginLoss(name, gamma="3/2", alpha="1/4").clipped(bound)
            assert uneven.verify(uneven.certify(clipped, "1/4")).claim.status == "calibrated"


@pytest.mark.parametrize("bound", [0.5, 2.0, 6.0])
def test_a_bound_moves_the_alpha_of_a_loss_that_is_not_convex(bound: float) -> None:
    loss = uneven.UnevenMarginLoss("sigmoid", gamma=2)
    found = uneven.analyze(loss, score_bound=bound).implied_alpha
    low, high = found.interval
    eta = np.array([low, high])
    t = np.linspace(0, bound, 200_001)
    sides = [np.min(np.outer(eta, loss(1, s * t)) + np.outer(1 - eta, loss(-1, s * t)), axis=1) for s in (1.0, -1.0)]
    assert np.allclose(sides[0], sides[1], rtol=1e-9)  # both decisions tie there
    assert low > (3 + 4 * math.sqrt(2)) / 23 + 1e-4  # the alpha of all scores is smaller
    remedy = uneven.analyze(loss, "1/4", score_bound=bound).prescription
    assert remedy.status == "calibrated up to rounding"
    assert uneven.analyze(remedy.loss, "1/4", score_bound=bound).verdict.status == remedy.status


def test_a_bound_can_make_a_loss_calibrated() -> None:
    loss = uneven.UnevenMarginLoss("savage", gamma=5)
    assert uneven.analyze(loss).verdict.status == "not calibrated"
    assert uneven.analyze(loss, score_bound="1/4").verdict.status == "calibrated"


@pytest.mark.parametrize("name", [name for name in CALIBRATED if name != "zero_one"])
def test_a_tight_distribution_stays_within_the_bound(name: str) -> None:
    loss = uneven.UnevenMarginLoss(name, alpha="1/5")
    a = uneven.analyze(loss, score_bound="2/5")
    for eps in (0.05, 0.3, 0.8):
        world = a.tight_distribution(eps)
        assert np.abs(world.decisions).max() <= 0.4
        assert world.cost_regret == pytest.approx(eps, abs=1e-9)
        again = FiniteDistribution(world.weights, world.etas)
        assert again.surrogate_regret(loss.clipped("2/5"), world.decisions) == pytest.approx(a.psi(eps), abs=1e-9)


def test_a_minimum_beside_a_flat_piece_is_found() -> None:
    """The slope is 0 beyond t = 1, so it does not change its sign around a minimum just before 1."""
    loss = uneven.Loss("where(t < 1, (1 - t)**2, 0)", "(1 + min(t, 1))**2")
    solver = HalfLineSolver(loss)
    eta = np.linspace(0.9, 0.999, 50)
    found = solver.minimum(1, eta, 1 - eta)
    assert np.allclose(found.at, 2 * eta - 1, rtol=1e-9)
    assert np.allclose(found.value, 4 * eta * (1 - eta), rtol=1e-12)


def test_a_convex_loss_on_a_large_scale_keeps_its_digits_near_alpha() -> None:
    """Where values tie up to rounding, t = 0 is the minimiser unless the slope says otherwise."""
    a = uneven.analyze(uneven.UnevenMarginLoss("hinge", gamma=0.001, alpha=0.5), score_bound=0.5)
    assert a.nu(5e-10) == pytest.approx(0.25e-9, rel=1e-6, abs=0)


@pytest.mark.parametrize("bound", [1e-8, 1e8, 5e-324, 1e308])
@pytest.mark.parametrize("alpha", [1e-12, 0.5])
@pytest.mark.parametrize("gamma", [1e-8, 1, 1e8])
@pytest.mark.parametrize("name", ["hinge", "logistic", "squared", "beta"])
def test_extreme_numbers(name: str, gamma: float, alpha: float, bound: float) -> None:
    a = uneven.analyze(uneven.UnevenMarginLoss(name, gamma=gamma, alpha=alpha), score_bound=bound)
    eps = np.array([0.0, 1e-9, 0.5, 1.0]) * a.largest_regret
    for values in (a.psi(eps), a.nu(eps), a.H([0.0, alpha, 0.3, 1.0])):
        assert np.all(values >= 0)
        assert not np.isnan(values).any()


def test_clipped_losses() -> None:
    t = np.array([-1e308, -4.0, -2.0, -0.3, 0.0, 0.4, 2.0, 5.0, np.inf])
    for name in uneven.losses.names():
        loss = uneven.UnevenMarginLoss(name, gamma="3/2", alpha="1/4")
        clipped = loss.clipped(2)
        for y in (1, -1):
            assert np.allclose(clipped(y, t), loss(y, np.clip(t, -2, 2)), rtol=1e-14)
        assert pickle.loads(pickle.dumps(clipped)) == clipped
        assert clipped.exact_alpha == Fraction(1, 4)
    functions = uneven.Loss(smooth, mirrored).clipped(2)
    assert np.allclose(functions(1, t), smooth(np.clip(t, -2, 2)))
    # Where a condition changes outside, at, or inside the range.
    for at in (-3, -2, -1, 1, 2, 3):
        for op in ("<", "<=", ">", ">="):
            loss = uneven.Loss(f"where(t {op} {at}, 1, 2)", "1")
            assert loss.clipped(2)(1, t).tolist() == loss(1, np.clip(t, -2, 2)).tolist()


@pytest.mark.parametrize("bound", [0, -1, math.nan, math.inf, "wide", True])
def test_a_bound_is_a_positive_number(bound: object) -> None:
    with pytest.raises(ParameterError, match="score_bound must be"):
        uneven.analyze("hinge", score_bound=bound)


def test_what_is_printed_names_the_bound() -> None:
    a = uneven.analyze("logistic", score_bound="1/3")
    assert repr(a) == "uneven.analyze(uneven.UnevenMarginLoss('logistic', gamma=1.0), alpha=0.5, score_bound='1/3')"
    assert "Scores    from -0.333333 to 0.333333" in a.report()
    assert "of scores in this range" in a.report()
    assert "from -0.333333" in a._repr_html_()
    assert a.to_dict()["score_bound"] == pytest.approx(1 / 3)
    assert "score_bound" not in uneven.analyze("logistic").to_dict()
