"""The alpha that a family assumes, and the loss that is calibrated for yours."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from registered import CALIBRATED
from strategies import alphas, gammas, registered

import uneven
from uneven.calibration.calibrated_losses import own_alpha
from uneven.calibration.half_lines import HalfLineSolver
from uneven.calibration.search.prover import decide
from uneven.errors import LossError
from uneven.losses import declared


def sigmoid_odds(gamma: float) -> mpmath.mpf:
    """odds(alpha(gamma)) = (1/gamma) max over z in [0, 1] of (1 + z)/(1 + z^gamma), 40 digits (gamma > 1)."""
    with mpmath.workdps(60):
        g = mpmath.mpf(gamma)
        if g < 1:
            return 1 / sigmoid_odds_exact(1 / g)
        return sigmoid_odds_exact(g)


def sigmoid_odds_exact(g: mpmath.mpf) -> mpmath.mpf:
    # With z = e^-s the maximiser solves gamma e^{-(gamma-1) s} + (gamma-1) e^{-gamma s} = 1; bisection in s.
    def excess(s: mpmath.mpf) -> mpmath.mpf:
        return g * mpmath.exp(-(g - 1) * s) + (g - 1) * mpmath.exp(-g * s) - 1

    low, high = mpmath.mpf(0), mpmath.mpf(2) / (g - 1) * mpmath.log(4 * g)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    z = mpmath.exp(-low)
    return (1 + z) / (1 + z**g) / g


@pytest.mark.parametrize("gamma", [1e-8, 1e-3, 0.2, 0.999, 1.001, 1.5, 2.0, 3.0, 10.0, 1e3, 1e8])
def test_sigmoid_to_full_double_precision(gamma: float) -> None:
    got = own_alpha(uneven.phi("sigmoid"), Fraction(gamma)).odds
    with mpmath.workdps(60):
        error = abs(mpmath.mpf(got) / sigmoid_odds(gamma) - 1)
    assert error < 5e-16


def test_sigmoid_known_values() -> None:
    sigmoid = uneven.phi("sigmoid")
    assert own_alpha(sigmoid, Fraction(2)).alpha == pytest.approx((3 + 4 * 2**0.5) / 23, rel=1e-15)
    assert own_alpha(sigmoid, Fraction(3)).alpha == pytest.approx(4 / 13, rel=1e-15)
    assert own_alpha(sigmoid, Fraction(1)).exact == 1


def savage_odds(gamma: float) -> float:
    """(1/gamma) max (1+z)^2 (1 + 2 z^gamma)/(1 + z^gamma)^2, for gamma > 3 (limit against interior)."""
    z = np.linspace(0, 1, 2_000_001)
    return float(np.max((1 + z) ** 2 * (1 + 2 * z**gamma) / (1 + z**gamma) ** 2) / gamma)


@pytest.mark.parametrize("gamma", [3.5, 5.0, 10.0, 100.0])
def test_savage_above_three(gamma: float) -> None:
    assert own_alpha(uneven.phi("savage"), Fraction(gamma)).odds == pytest.approx(savage_odds(gamma), rel=1e-10)


@pytest.mark.parametrize(("gamma", "start"), [(15, 0.94), (20, 0.73), (100, 0.165)])
def test_tangent_beyond_its_tangential_range(gamma: int, start: float) -> None:
    """Both minima are interior: the system of three equations for the odds and the two minima, solved in mpmath."""
    f = lambda t: (2 * mpmath.atan(t) - 1) ** 2  # noqa: E731
    df = lambda t: 4 * (2 * mpmath.atan(t) - 1) / (1 + t**2)  # noqa: E731

    def system(w: mpmath.mpf, p: mpmath.mpf, m: mpmath.mpf) -> list[mpmath.mpf]:
        return [
            w * df(p) - df(-gamma * p),
            w * df(m) - df(-gamma * m),
            w * f(p) + f(-gamma * p) / gamma - w * f(m) - f(-gamma * m) / gamma,
        ]

    with mpmath.workdps(30):
        w = mpmath.findroot(system, (start, 0.4, -0.3 / gamma))[0]
    assert own_alpha(uneven.phi("tangent"), Fraction(gamma)).odds == pytest.approx(float(w), rel=1e-13)


@pytest.mark.slow
@given(registered, gammas)
@settings(max_examples=60)
def test_symmetry_of_the_own_alpha(name: str, gamma: float) -> None:
    """alpha_phi(1/gamma) = 1 - alpha_phi(gamma)."""
    exact = Fraction(gamma)
    try:
        one = own_alpha(uneven.phi(name), exact)
    except LossError:
        assert name not in CALIBRATED
        return
    other = own_alpha(uneven.phi(name), 1 / exact)
    assert one.odds * other.odds == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("name", [n for n in uneven.losses.names() if declared(n).own_odds is not None])
@pytest.mark.parametrize("gamma", [1, 2, Fraction(1, 2), Fraction(29, 10), 12])
def test_declared_odds_are_proved(name: str, gamma: Fraction) -> None:
    """What a file declares about its own alpha lies in the interval that the prover finds."""
    phi = uneven.phi(name)
    odds = declared(name).own_odds.odds(Fraction(gamma), phi.exact_parameters)
    only = decide(uneven.UnevenMarginLoss(phi, gamma=gamma)).claim.only
    assert only.interval is not None
    if odds is not None:
        alpha = Fraction(odds) / (1 + Fraction(odds))
        assert only.interval[0] <= alpha <= only.interval[1]
        assert isinstance(odds, float) or only.exact == alpha


CLOSED = [n for n in uneven.losses.names() if declared(n).closed_form is not None]


@pytest.mark.parametrize("name", CLOSED)
@given(gamma=gammas, alpha=alphas)
@settings(max_examples=25)
def test_closed_forms_are_reproduced_by_the_engine(name: str, gamma: float, alpha: float) -> None:
    phi = uneven.phi(name)
    form = declared(name).closed_form
    for g in (gamma, 1.0):
        if not form.holds(g, phi.parameters):
            continue
        solver = HalfLineSolver(uneven.UnevenMarginLoss(phi, gamma=g))
        a = np.array([0.0, 0.05, alpha, 0.5, 0.501, 0.9, 1.0])
        b = 1 - a
        sides = form.sides(a, b, a - b, g, phi.parameters)
        scale = 1e-12 * (1 + 1 / g)
        assert np.allclose(sides.positive, solver.minimum(1, a, b).value, rtol=1e-12, atol=scale)
        assert np.allclose(sides.negative, solver.minimum(-1, a, b).value, rtol=1e-12, atol=scale)
        assert np.allclose(sides.difference, sides.positive - sides.negative, rtol=0, atol=scale)


@pytest.mark.slow
@given(registered, gammas, alphas)
@settings(max_examples=60)
def test_the_calibrated_loss_prefers_the_right_side(name: str, gamma: float, alpha: float) -> None:
    try:
        loss = uneven.calibrated_loss(name, alpha=alpha, gamma=gamma)
    except LossError:
        assert name not in CALIBRATED
        return
    solver = HalfLineSolver(loss)
    eta = np.array([alpha * 0.9, alpha + 0.1 * (1 - alpha)])
    sides = [solver.minimum(side, eta, 1 - eta).value for side in (1, -1)]
    assert sides[0][0] > sides[1][0]
    assert sides[0][1] < sides[1][1]


def test_neutral_at_gamma_one() -> None:
    for name in CALIBRATED:
        assert uneven.calibrated_loss(name, alpha=0.3).beta is None


@pytest.mark.parametrize(
    ("phi", "says"),
    [
        ("perceptron", "kink at t = 0"),
        ("max(1 - 2*t, 1 - t, 0)", "kink at t = 0"),
        ("exp(t)", "slope of L1 is not negative at t = 0"),
        ("relu(-1 - t)", "slope of L1 is not negative at t = 0"),
        ("expit(t)", "calibrated for no alpha"),
        ("expit(-t)*expit(t)", "calibrated for no alpha"),
        ("min(1, relu(-t))", "calibrated for no alpha"),
    ],
)
def test_calibrated_for_no_alpha(phi: str, says: str) -> None:
    with pytest.raises(LossError, match=says):
        uneven.calibrated_loss(phi, alpha=0.3, gamma=2)


def test_a_users_smooth_nonconvex_loss() -> None:
    """The registered sigmoid, written by a user, gets the same reweighting from the engine."""
    own = uneven.calibrated_loss("1/(1 + exp(t))", alpha=0.2, gamma=5)
    registered_one = uneven.calibrated_loss("sigmoid", alpha=0.2, gamma=5)
    assert own.beta == pytest.approx(registered_one.beta, rel=1e-13)


def test_rational_odds_give_an_exactly_calibrated_loss() -> None:
    for gamma in (3, 5, "1/7"):
        loss = uneven.calibrated_loss("ramp", alpha="1/10", gamma=gamma)
        assert uneven.analyze(loss).verdict.status == "calibrated"
        assert eval(repr(loss), {"uneven": uneven}) == loss
