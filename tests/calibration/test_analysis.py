"""Laws of sections 2 and 3: theorem 1, hulls, identities, verdicts, tightness."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from registered import CALIBRATED
from strategies import alphas, gammas, registered

import uneven
from uneven.calibration import FiniteDistribution
from uneven.errors import LossError, UnevenError


def smooth(t: np.ndarray) -> np.ndarray:
    return np.log1p(np.exp(-np.abs(t))) + np.maximum(-t, 0)


def mirrored(t: np.ndarray) -> np.ndarray:
    return smooth(-2 * t) / 2


def trial_losses() -> list[tuple[object, float]]:
    """Calibrated and miscalibrated losses, weighted and not, with the alpha asked for."""
    cases: list[tuple[object, float]] = []
    for name in uneven.losses.names():
        for gamma, alpha in ((1.0, 0.5), (3.0, 0.2), (0.25, 0.7)):
            cases.append((uneven.UnevenMarginLoss(name, gamma=gamma, alpha=alpha), alpha))
    cases += [(uneven.UnevenMarginLoss(name, gamma=2.0), 0.3) for name in ("hinge", "logistic", "sigmoid")]
    cases += [(uneven.cost_loss(0.3), 0.3), (uneven.cost_loss(0.7), 0.7)]
    cases += [(uneven.Loss("exp(-t)", "relu(1 + t)**2"), 0.4), (uneven.Loss(smooth, mirrored), 0.5)]
    return cases


@pytest.mark.parametrize(("loss", "alpha"), trial_losses(), ids=lambda x: repr(x)[:60])
def test_theorem_1_on_random_finite_distributions(loss: uneven.Loss, alpha: float) -> None:
    """1,000 distributions of up to six points for each of 55 losses; f and eta include the adversarial choices."""
    rng = np.random.default_rng(7)
    trials, m = 1000, 6
    a = uneven.analyze(loss, alpha)
    weights = rng.dirichlet(np.full(m, 0.5), size=trials)
    special_eta = np.array([0, 1, alpha, min(2 * alpha, 1), max(2 * alpha - 1, 0)])
    eta = np.where(rng.random((trials, m)) < 0.4, rng.choice(special_eta, (trials, m)), rng.random((trials, m)))
    special_f = np.array([0.0, 1e-9, -1e-9, 1.0, -0.5, 20.0, -20.0])
    f = np.where(rng.random((trials, m)) < 0.5, rng.choice(special_f, (trials, m)), rng.normal(size=(trials, m)))
    wrong = (f > 0) != (eta > alpha)
    cost = (weights * np.abs(eta - alpha) * wrong).sum(axis=1)
    both = np.minimum(alpha * (1 - eta), (1 - alpha) * eta)
    by_definition = (weights * (np.where(f > 0, alpha * (1 - eta), (1 - alpha) * eta) - both)).sum(axis=1)
    assert np.allclose(cost, by_definition, atol=1e-14)
    excess = loss.conditional_risk(eta, f) - a.optimal_risk(eta)
    surrogate = (weights * excess).sum(axis=1)
    scale = 1 + np.abs(loss.conditional_risk(eta, f)).max()
    assert np.all(a.psi(np.minimum(cost, a.largest_regret)) <= surrogate + 1e-12 * scale)


@pytest.mark.parametrize(("loss", "alpha"), trial_losses(), ids=lambda x: repr(x)[:60])
def test_psi_is_the_convex_hull(loss: uneven.Loss, alpha: float) -> None:
    a = uneven.analyze(loss, alpha)
    eps = np.union1d(np.linspace(0, a.largest_regret, 801), [1 - a.largest_regret])
    nu, mu, psi = a.nu(eps), a.mu(eps), a.psi(eps)
    top = 1e-12 * (1 + nu.max())
    assert psi[0] == 0
    assert psi[-1] == pytest.approx(nu[-1], abs=top)
    assert np.all(np.diff(psi) >= -top)
    slopes = np.diff(psi) / np.diff(eps)
    assert np.all(np.diff(slopes) >= -4 * top / np.diff(eps).min())
    assert np.all(psi <= mu + top)
    assert np.all(mu <= nu + top)
    # Largest convex minorant: between samples of nu no chord lies below psi.
    hull = np.interp(eps, *lower_hull(eps, nu))
    assert np.all(psi <= hull + top)
    hull_of_mu = np.interp(eps, *lower_hull(eps, mu))
    assert np.all(psi <= hull_of_mu + top)
    assert np.max(hull - psi) <= 2e-4 * (1 + nu.max())


def lower_hull(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    hull: list[int] = []
    for k in range(len(x)):
        while len(hull) >= 2 and (x[hull[-1]] - x[hull[-2]]) * (y[k] - y[hull[-2]]) <= (y[hull[-1]] - y[hull[-2]]) * (
            x[k] - x[hull[-2]]
        ):
            hull.pop()
        hull.append(k)
    return x[hull], y[hull]


@given(registered, gammas, alphas)
@settings(max_examples=40)
def test_theorem_3_identity(name: str, gamma: float, alpha: float) -> None:
    """H of L_alpha at alpha is w(eta) H_L(theta(eta))."""
    plain = uneven.UnevenMarginLoss(name, gamma=gamma)
    eta = np.array([0.0, 0.1, 0.45, 0.8, 1.0])
    w = (1 - alpha) * eta + alpha * (1 - eta)
    left = uneven.analyze(plain.weighted(alpha)).H(eta)
    right = w * uneven.analyze(plain, 0.5).H((1 - alpha) * eta / w)
    assert np.allclose(left, right, rtol=1e-9, atol=1e-12 * (1 + 1 / gamma))


@pytest.mark.slow
@given(registered, gammas, alphas)
@settings(max_examples=40)
def test_symmetry_and_scaling(name: str, gamma: float, alpha: float) -> None:
    eta = np.array([0.0, 0.2, 0.5, 0.9, 1.0])
    one = uneven.analyze(uneven.UnevenMarginLoss(name, gamma=gamma), alpha)
    other = uneven.analyze(uneven.UnevenMarginLoss(name, gamma=1 / Fraction(gamma)), 1 - Fraction(alpha))
    assert np.allclose(other.H(eta), gamma * one.H(1 - eta), rtol=1e-8, atol=1e-11 * (1 + gamma))
    tripled = uneven.Loss(f"3*({uneven.phi(name).text})", "exp(t)", alpha=alpha)
    single = uneven.Loss(uneven.phi(name).text, "exp(t)/3", alpha=alpha)
    assert np.allclose(uneven.analyze(tripled).H(eta), 3 * uneven.analyze(single).H(eta), rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@given(registered, gammas, alphas)
@settings(max_examples=25)
def test_h_vanishes_between_alpha_and_the_implied_alpha(name: str, gamma: float, alpha: float) -> None:
    loss = uneven.UnevenMarginLoss(name, gamma=gamma)
    implied = uneven.implied_alpha(loss)
    if implied.interval is None:
        assert name not in CALIBRATED
        return
    a = uneven.analyze(loss, alpha)
    low, high = implied.interval
    between = alpha + ((low if alpha < low else high) - alpha) * np.array([0.1, 0.5, 0.9])
    if not low <= alpha <= high:
        assert np.all(a.H(between) == 0)
        assert a.verdict.status == "not calibrated"
        assert a.H(a.verdict.witness) == 0
        assert a.verdict.witness != alpha


def test_verdicts_of_the_registry() -> None:
    for name in uneven.losses.names():
        verdict = (
            uneven.analyze(uneven.calibrated_loss(name, alpha=0.2, gamma=1)).verdict
            if name in CALIBRATED
            else (uneven.analyze(name).verdict)
        )
        if name not in CALIBRATED:
            assert verdict.status == "not calibrated"
        else:
            assert verdict.status == "calibrated", (name, verdict)
            assert verdict.witness is None
            assert verdict.extra_regret == 0
    assert "kink at t = 0" in uneven.analyze("perceptron").verdict.reason


@pytest.mark.parametrize(("name", "gamma"), [("sigmoid", 3), ("probit", 2), ("savage", 10), ("tangent", 20)])
def test_an_irrational_alpha_is_met_up_to_rounding(name: str, gamma: int) -> None:
    """The alpha of these losses is irrational: yours differs by rounding, and what that can cost is proved."""
    loss = uneven.calibrated_loss(name, alpha=0.1, gamma=gamma)
    verdict = uneven.analyze(loss).verdict
    assert verdict.status == "calibrated up to rounding"
    assert 0 < verdict.extra_regret < 1e-12
    assert "cost regret" in verdict.reason
    far = uneven.analyze(loss, 0.1 + 1e-9).verdict
    assert far.status == "not calibrated"
    assert uneven.analyze(loss, 0.1 + 1e-9).H(far.witness) == 0


def test_convex_verdicts_are_exact() -> None:
    for gamma in (0.1, 3, 1e-8, 1e8):
        assert (
            uneven.analyze(uneven.UnevenMarginLoss("logistic", gamma=gamma, alpha=0.3)).verdict.status == "calibrated"
        )
    floats = uneven.UnevenMarginLoss("logistic", gamma=0.1, beta=10.0, alpha=0.3)
    assert uneven.analyze(floats).verdict.status == "not calibrated"  # 0.1 * 10.0 is not 1
    decimal = uneven.UnevenMarginLoss("logistic", gamma="0.1", beta=10, alpha=0.3)
    assert uneven.analyze(decimal).verdict.status == "calibrated"
    kinked = uneven.analyze("max(1 - 2*t, 1 - t, 0)")
    assert kinked.verdict.status == "not calibrated"
    assert kinked.H(kinked.verdict.witness) == 0
    assert kinked.verdict.witness != 0.5
    assert uneven.analyze(uneven.Loss("exp(-t)", "exp(2*t)"), "2/3").verdict.status == "calibrated"
    assert uneven.analyze(uneven.Loss("exp(-t)", "exp(2*t)"), 2 / 3).verdict.status == "not calibrated"
    assert uneven.analyze(uneven.Loss("exp(t)", "exp(2*t)"), 0.5).verdict.witness == 1.0


def test_theorem_9_part_2_needs_calibration() -> None:
    """Convex but not calibrated: mu and nu differ (correction B1)."""
    a = uneven.analyze(uneven.Loss("relu(1 + t)", "relu(1 - t)"), "1/10")
    assert a.nu([0.1, 0.2, 0.3, 0.4, 0.9]) == pytest.approx([0, 0.4, 0.2, 0, 0], abs=1e-12)
    assert a.mu([0.1, 0.2, 0.3]) == pytest.approx([0, 0, 0], abs=1e-9)
    b = uneven.analyze(uneven.Loss("0", "relu(1 - t)"), "1/10")
    assert b.nu([0.1, 0.2, 0.5, 0.9]) == pytest.approx([0, 0.7, 0.4, 0], abs=1e-12)
    assert b.mu([0.2, 0.5]) == pytest.approx([0, 0], abs=1e-9)


@pytest.mark.parametrize("name", ["hinge", "squared"])
@pytest.mark.parametrize(("alpha", "gamma"), [("1/4", 2), ("1/4", "1/2"), ("4/5", 3), ("1/2", 10), ("9/20", 10)])
def test_explicit_psi(name: str, alpha: str, gamma: object) -> None:
    """docs/theory.md, nu and psi in closed form: psi of the hinge and of the squared error in closed form."""
    a = uneven.analyze(uneven.UnevenMarginLoss(name, gamma=gamma, alpha=alpha))
    al, g = float(Fraction(alpha)), float(Fraction(str(gamma)))
    b, end = min(al, 1 - al), max(al, 1 - al)
    eps = np.linspace(0, end, 301)
    if name == "hinge":
        s0 = min(1, 1 / g)
        top = end if al < 0.5 else end / g if al > 0.5 else s0 * end
        beyond = s0 * b + (top - s0 * b) * (eps - b) / max(end - b, 1e-300)
        expected = np.where(eps <= b, s0 * eps, beyond)
    else:
        K, kappa = al * (1 - al) * (1 + g), (1 - al) - g * al
        k = abs(kappa)
        if (al - 0.5) * (al - 1 / (1 + g)) >= 0:
            expected = eps**2 / (K + k * eps)
        else:
            y0 = b * b / (K + k * b)
            e1 = min(end, K * b / (K + 2 * b * k - np.sqrt(2 * b * k * (K + b * k))))
            y1 = e1 * e1 / (K - k * e1)
            chord = y0 + (eps - b) * (y1 - y0) / (e1 - b)
            expected = np.where(eps <= b, eps**2 / (K + k * eps), np.where(eps <= e1, chord, eps**2 / (K - k * eps)))
    assert np.allclose(a.psi(eps), expected, rtol=1e-11, atol=1e-13)


def test_sigmoid_psi_at_gamma_2() -> None:
    alpha = (3 + 4 * np.sqrt(2)) / 23
    a = uneven.analyze(uneven.UnevenMarginLoss("sigmoid", gamma=2), alpha)
    z = 2 + 2 * np.sqrt(2) - np.sqrt(11 + 8 * np.sqrt(2))
    slope = 1 / (1 + z) - z**2 / (2 * (1 + z**2)) - 0.25
    assert a.psi(0.1) == pytest.approx(0.1 * slope, rel=1e-10)
    assert a.psi(0.5) == pytest.approx(0.25 + (0.5 - alpha) / (4 * (1 - 2 * alpha)), rel=1e-12)


ENCLOSED = [
    ("hinge", 2, 0.25), ("logistic", 0.5, 0.1), ("exponential", 10, 0.45), ("squared", 3, 0.8), ("sigmoid", 2, 0.3),
    ("savage", 2, 0.2), ("perceptron", 1, 0.3), ("zero_one", 2, 0.3), ("ramp", 3, 0.2),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("name", "gamma", "alpha"), ENCLOSED)
def test_enclosure_contains_psi_and_bounds_are_bounds(name: str, gamma: float, alpha: float) -> None:
    a = uneven.analyze(uneven.UnevenMarginLoss(name, gamma=gamma, alpha=alpha))
    eps = np.array([0.0, 1e-6, 0.01, 0.1, alpha, 0.4, a.largest_regret])
    lower, upper = a.psi_bounds(eps)
    psi = a.psi(eps)
    assert np.all(lower <= psi * (1 + 1e-12) + 1e-15)
    assert np.all(psi <= upper * (1 + 1e-12) + 1e-15)
    assert np.all(lower <= upper)
    assert np.all(upper - lower <= 0.05 * a.psi(a.largest_regret) + 1e-12)
    r = np.array([0.0, 1e-9, 1e-3, 0.05, 1.0, np.inf])
    bound = a.regret_bound(r)
    assert np.all(bound >= a.psi_inverse(r) * (1 - 1e-12) - 1e-12)
    assert np.all(bound <= a.largest_regret * (1 + 3e-16))
    assert bound[-1] == pytest.approx(a.largest_regret, rel=1e-15)
    assert np.all(bound[1:] > 0)
    if a.verdict.status == "calibrated":
        assert bound[0] == 0


def test_bounds_of_losses_that_jump() -> None:
    """Slopes say nothing across a jump; the enclosure must not use them there."""
    a = uneven.analyze(uneven.cost_loss("3/10"))
    eps = np.array([0.1, 0.3, 0.5, 0.7])
    lower, upper = a.psi_bounds(eps)
    assert np.all(lower <= a.psi(eps) + 1e-15)
    assert np.all(upper >= a.psi(eps) - 1e-15)
    jump = uneven.Loss("where(t < 0.5, 1 - t/10, 0)", "where(t < 0.25, 0, 1)")
    b = uneven.analyze(jump, 0.4)
    low, high = b.psi_bounds([0.1, 0.3, 0.5])
    assert np.all(low <= b.psi([0.1, 0.3, 0.5]) + 1e-12)
    assert np.all(b.psi([0.1, 0.3, 0.5]) <= high + 1e-12)


def test_a_hull_of_samples_is_not_a_bound() -> None:
    """The lower hull of samples lies above psi, so its inverse promises too much; ours does not."""
    a = uneven.analyze(uneven.UnevenMarginLoss("logistic", gamma=2, alpha=0.3))
    eps = np.linspace(0, a.largest_regret, 11)
    hull_x, hull_y = lower_hull(eps, a.nu(eps))
    r = 0.5 * (hull_y[2] + hull_y[3])
    assert np.interp(r, hull_y, hull_x) < a.psi_inverse(r) < a.regret_bound(r)


@pytest.mark.parametrize("name", CALIBRATED)
@pytest.mark.parametrize(("gamma", "alpha"), [(1.0, 0.5), (3.0, 0.2), (0.25, 0.9)])
def test_tightness(name: str, gamma: float, alpha: float) -> None:
    loss = uneven.calibrated_loss(name, alpha=alpha, gamma=gamma)
    a = uneven.analyze(loss)
    for share in (0.0, 0.03, 0.3, 0.7, 1.0):
        eps = share * a.largest_regret
        tight = a.tight_distribution(eps)
        world = FiniteDistribution(tight.weights, tight.etas)
        assert len(tight.weights) <= 2
        assert world.cost_regret(tight.decisions, alpha=alpha) == pytest.approx(eps, abs=1e-12)
        assert world.surrogate_regret(loss, tight.decisions) <= a.psi(eps) + 1e-9


def test_implied_alphas() -> None:
    assert uneven.implied_alpha(uneven.Loss("10*softplus(-t)", "softplus(t)")).exact == Fraction(1, 11)
    found = uneven.implied_alpha(uneven.UnevenMarginLoss("sigmoid", gamma=2))
    true = (3 + 4 * 2**0.5) / 23
    assert found.interval[0] <= true <= found.interval[1]
    assert found.interval[1] - found.interval[0] < 1e-9
    assert uneven.implied_alpha(uneven.UnevenMarginLoss("sigmoid", gamma=3)).alpha == pytest.approx(4 / 13, rel=1e-12)
    assert uneven.implied_alpha(uneven.UnevenMarginLoss("ramp", gamma=2)).exact == Fraction(2, 5)
    assert uneven.implied_alpha(uneven.Loss("exp(-t)", "pi*exp(t)")).alpha == pytest.approx(np.pi / (1 + np.pi))
    assert uneven.implied_alpha(uneven.Loss(smooth, mirrored)).alpha == pytest.approx(0.5, abs=1e-6)
    assert uneven.implied_alpha(uneven.cost_loss("1/5")).exact == Fraction(1, 5)
    for loss in ("perceptron", uneven.Loss("exp(t)", "exp(-t)")):
        assert uneven.implied_alpha(loss).alpha is None


def test_callables_to_nine_digits() -> None:
    by_function = uneven.analyze(uneven.Loss(smooth, mirrored, alpha=0.3))
    by_formula = uneven.analyze(uneven.UnevenMarginLoss("logistic", gamma=2, alpha=0.3))
    eta = np.array([0.0, 0.01, 0.2, 0.35, 0.7, 1.0])
    assert np.allclose(by_function.optimal_risk(eta), by_formula.optimal_risk(eta), rtol=1e-9, atol=1e-12)
    assert np.allclose(by_function.H(eta), by_formula.H(eta), rtol=1e-8, atol=1e-12)
    assert np.allclose(by_function.psi([0.1, 0.5]), by_formula.psi([0.1, 0.5]), rtol=1e-9)
    assert by_function.verdict.status == "undecided"
    with pytest.raises(LossError, match="as expressions"):
        by_function.regret_bound(0.1)


def test_calibration_functions() -> None:
    a = uneven.analyze(uneven.UnevenMarginLoss("squared", gamma=2, alpha=0.3))
    assert a.calibration_function(0.1, 0.35) == np.inf
    assert a.calibration_function(0.1, 0.5) == a.H(0.5)
    assert a.calibration_function([0.1, 0.3], [[0.5], [0.9]]).shape == (2, 2)
    assert a.uniform_calibration_function(0.8) == np.inf
    assert a.uniform_calibration_function([0.2, 0.7]) == pytest.approx(a.mu([0.2, 0.7]))


@pytest.mark.slow
def test_ends_are_exact() -> None:
    for name in uneven.losses.names():
        a = uneven.analyze(uneven.UnevenMarginLoss(name, gamma=2, alpha=0.1))
        assert a.psi(0.0) == a.nu(0.0) == a.mu(0.0) == a.H(0.1) == 0.0
        assert a.psi(a.largest_regret) == pytest.approx(a.H(1.0), rel=1e-15)
        assert a.optimal_risk([0.0, 1.0]) == pytest.approx([0.0, 0.0], abs=1e-300)
        assert a.psi_inverse(np.inf) == a.largest_regret


def test_the_jump_is_taken_on_the_safe_side() -> None:
    """1 - 0.9 is not 0.1 in floats: a hair beyond b still counts as b."""
    a = uneven.analyze(uneven.UnevenMarginLoss("hinge", gamma=0.5, alpha=0.9))
    assert a.nu(0.1) == pytest.approx(0.1, rel=1e-12)
    assert a.nu(1 - 0.9) == pytest.approx(0.1, rel=1e-12)
    assert a.nu(0.1001) == pytest.approx(0.2002, rel=1e-12)


def test_report_and_dict() -> None:
    for loss in (uneven.UnevenMarginLoss("hinge", gamma=2, alpha=0.1), "perceptron", uneven.cost_loss(0.3)):
        a = uneven.analyze(loss)
        text = a.report()
        assert a.verdict.status.upper() in text
        assert a.implied_alpha.in_words(reason=False) in text
        data = json.loads(json.dumps(a.to_dict(), allow_nan=False))
        assert data["verdict"]["status"] == a.verdict.status
        assert len(data["psi"]) == 7


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda a: a.H(1.5), r"eta must lie in \[0, 1\], got 1.5"),
        (lambda a: a.H(np.nan), "eta must not contain NaN"),
        (lambda a: a.psi(0.9), r"eps must lie in \[0, 0.75\]"),
        (lambda a: a.nu(-0.1), "eps must lie in"),
        (lambda a: a.psi("big"), "eps must hold numbers"),
        (lambda a: a.regret_bound(-1.0), "surrogate_regret must be at least 0, got -1.0"),
        (lambda a: a.psi_inverse(np.nan), "must not contain NaN"),
        (lambda a: a.tight_distribution(2.0), "eps must lie in"),
        (lambda a: uneven.analyze(a.loss, 1.0), "alpha must lie strictly between 0 and 1, got 1.0"),
        (lambda a: uneven.analyze(a.loss, np.nan), "alpha must be a finite number"),
        (lambda a: uneven.analyze(3), "a phi is a registered name or an expression"),
        (lambda a: FiniteDistribution([1, 1], [0.5]), "lists of the same length"),
        (lambda a: FiniteDistribution([-1, 1], [0.5, 0.2]), "nonnegative"),
        (lambda a: FiniteDistribution([1], [0.5]).cost_regret([1, 2], alpha=0.5), "decisions must be 1 numbers"),
    ],
)
def test_bad_input(ask: object, says: str) -> None:
    a = uneven.analyze(uneven.UnevenMarginLoss("hinge", alpha=0.25))
    with pytest.raises(UnevenError, match=says):
        ask(a)  # type: ignore[operator]


@pytest.mark.slow
@given(st.floats(1e-12, 1 - 1e-9), st.sampled_from([1e-8, 1.0, 1e8]), registered)
@settings(max_examples=40)
def test_extreme_parameters_never_give_nan(alpha: float, gamma: float, name: str) -> None:
    a = uneven.analyze(uneven.UnevenMarginLoss(name, gamma=gamma, alpha=alpha))
    eta = np.array([0.0, 1e-300, alpha / 2, alpha, 0.5, 1.0])
    for values in (a.H(eta), a.optimal_risk(eta), a.wrong_side_risk(eta)):
        assert not np.isnan(values).any()
    assert not np.isnan(a.nu([0.0, alpha / 3, a.largest_regret])).any()


@given(st.lists(st.tuples(st.floats(0.01, 1), st.floats(0, 1), st.floats(-2, 2)), min_size=1, max_size=6), alphas)
@settings(max_examples=60)
def test_cost_regret_is_risk_minus_optimal_risk(points: list[tuple[float, float, float]], alpha: float) -> None:
    weights, etas, decisions = map(np.array, zip(*points, strict=True))
    world = FiniteDistribution(weights, etas)
    difference = world.cost_risk(decisions, alpha=alpha) - world.optimal_cost_risk(alpha=alpha)
    assert world.cost_regret(decisions, alpha=alpha) == pytest.approx(difference, abs=1e-14)
