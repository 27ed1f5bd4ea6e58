"""What adversarial testing found once, and must not find again."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import uneven
from uneven.expression import parse, simplify, to_text
from uneven.ops.balls import Undefined, enclose_interval, interval

P = uneven.phi


def normal(text: str) -> str:
    return to_text(simplify(parse(text)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sqrt(expit(t))*sqrt(expit(t))*expit(-t)/expit(t)", "expit(-t)"),
        ("expit(t)*sqrt(expit(t))*sqrt(expit(t))", "expit(t)**2"),
        ("1**(-0.5)", "1"),
        ("sqrt(4*t**2)", "2*abs(t)"),
        ("(t**4)**0.25", "abs(t)"),
        ("abs(3/2*t)**(-2)", "4/9/t**2"),
    ],
)
def test_simplification(text: str, expected: str) -> None:
    assert normal(text) == expected
    assert normal(expected) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (lambda: P("-log(sqrt(expit(t)))").slope(0.0), -0.25),
        (lambda: P("5+(t**2-t+1)*expit(t)/(t**2-t+1) - expit(-t)/(t**2-t+1)")(2.0), 5.841062770637176),
        (lambda: P("where(exp(-2*t) < exp(-t), 1, 2)")(800.0), 1.0),
        (lambda: P("where(exp(t) - exp(t/2) > 0, 1, 2)")(2000.0), 1.0),
        (lambda: P("1+step(exp(t) - exp(t/2))")(2000.0), 2.0),
        (lambda: P("log(2 + exp(-t))")(-1000.0), 1000.0),
        (lambda: P("sqrt(1 + t**2)")(1e200), 1e200),
        (lambda: P("-log(erfc(-t/sqrt(2))/2)")(-40.0), 804.6084420137538),
        (lambda: P("sqrt(exp(-t))")(-1000.0), 1.4035922178528375e217),
        (lambda: P("1-log1p(tanh(t))")(-30.0), 60.30685281944005),
        (lambda: P("exp(relu(-t) - relu(t))").slope(0.0), -1.0),
        (lambda: P("(relu(1-t)-relu(t-1)-3)**2").slope(1.0), 6.0),
        (lambda: P("2+t**9007199254740993/(1+t**9007199254740994)")(-1.0), 1.5),
        (lambda: P("(2+exp(-t))/(1+exp(-t))")(0.0), 1.5),
        (lambda: P("exp(-t)/(2+exp(-t))")(np.inf), 0.0),
        (lambda: P("1/(1+log1p(relu(t)))")(np.inf), 0.0),
        (lambda: P("relu(1 - t)**1.5").curvature(2.0), 0.0),
        (lambda: P("sqrt(relu(1 - t))").slope(2.0), 0.0),
        (lambda: P("abs(t)**pi")(2.0), 2**np.pi),
    ],
)
def test_values(value: object, expected: float) -> None:
    assert value() == pytest.approx(expected, rel=1e-13)  # type: ignore[operator]


def test_enclosures_do_not_forget_that_a_logarithm_ends() -> None:
    for text, lo, hi in (("atan(log(t))", 0.0, 1.0), ("log1p(t)", -1.0, 0.0)):
        with pytest.raises(Undefined):
            enclose_interval(parse(text), interval(lo, hi))


def test_text_of_numbers_beyond_doubles_parses_back() -> None:
    for text in ("min(exp(-t), 1e200*1e200)", "exp(-t) + 1e-308*1e-308", "1e308 + abs(t) - 0.5"):
        phi = P(text)
        assert P(phi.text) == phi
        assert eval(repr(phi), {"uneven": uneven}) == phi


def test_losses_weighted_twice_are_equal_to_their_repr() -> None:
    for loss in (uneven.UnevenMarginLoss("hinge", alpha=0.2), uneven.Loss("exp(-t)", "exp(2*t)", alpha=0.3)):
        twice = loss.weighted(0.1)
        assert eval(repr(twice), {"uneven": uneven}) == twice


def test_frozen_against_deletion_too() -> None:
    for thing, name in ((uneven.UnevenMarginLoss("hinge"), "phi"), (P("hinge"), "tree")):
        with pytest.raises(AttributeError):
            delattr(thing, name)


def test_a_declared_minimum_is_a_number() -> None:
    with pytest.raises(uneven.errors.LossError, match="depends on t"):
        uneven.losses.register("odd_minimum", "exp(-t)", minimum="t")


@pytest.mark.parametrize("phi", ["softplus(-t) + 1e-80*abs(t)", "exp(-t) + 1e-90*relu(t)"])
def test_no_kink_is_too_small_for_a_verdict(phi: str) -> None:
    assert uneven.analyze(phi, 0.3).verdict.status == "not calibrated"
    with pytest.raises(uneven.errors.LossError, match="kink at t = 0"):
        uneven.calibrated_loss(phi, alpha=0.3)


def test_exact_parameters_reach_the_verdict() -> None:
    loss = uneven.UnevenMarginLoss(uneven.phi("ramp", cap="5/3"), gamma=2)
    assert uneven.implied_alpha(loss).exact == Fraction(5, 14)
    assert uneven.analyze(loss, "5/14").verdict.status == "calibrated"


@pytest.mark.parametrize(
    ("loss", "alpha"),
    [
        (uneven.Loss("softplus(-t) + 0.001*abs(t)", "softplus(t)"), 0.5),
        (uneven.Loss("softplus(-t) + 0.00001*abs(t)", "1.3*softplus(t)"), 0.7),
        (uneven.Loss("softplus(-t) + 0.00001*abs(t)", "1.3*softplus(t)"), 0.5),
    ],
)
def test_a_witness_lies_where_both_sides_tie(loss: uneven.Loss, alpha: float) -> None:
    verdict = uneven.analyze(loss, alpha).verdict
    assert verdict.status == "not calibrated"
    assert verdict.witness != alpha
    assert uneven.analyze(loss, alpha).H(verdict.witness) < 1e-20


def test_no_witness_where_no_double_fits() -> None:
    alpha = Fraction(1, 3) + Fraction(1, 10**30)
    assert uneven.analyze(uneven.Loss("softplus(-t)", "softplus(t)/2"), alpha).verdict.witness is None


@pytest.mark.slow
def test_tails_that_cancel_and_values_beyond_reason() -> None:
    loss = uneven.Loss("t**2 - 2*t + 3 + atan(t)", "t**2 + 2*t + 3 - atan(t)")
    low, high = uneven.implied_alpha(loss).interval
    assert low <= 0.5 <= high
    assert high - low < 1e-9
    assert uneven.analyze(uneven.Loss("exp(exp(-t))", "exp(exp(t))"), 0.5).regret_bound(0.2) < 0.3
    assert uneven.analyze(uneven.UnevenMarginLoss("exponential", gamma=1e-8, alpha=0.3)).regret_bound(0.01) < 0.1


def test_infima_beside_a_jump() -> None:
    assert uneven.analyze(uneven.Loss("1 - 0.9*step(t - 2)", "expit(t)"), 0.5).optimal_risk(0.9) == pytest.approx(
        0.9 * 0.1 + 0.1 / (1 + np.exp(-2)), rel=1e-9
    )


def test_facts_declared_at_run_time_do_not_decide() -> None:
    uneven.losses.register("well", "softplus(-t)*(1-0.99*exp(-1000*(t+50.3)**2))", convex=True)
    try:
        assert uneven.analyze("well", 0.5).verdict.status == "undecided"
    finally:
        uneven.losses.unregister("well")


@pytest.mark.slow
def test_powers_that_have_no_curvature_somewhere() -> None:
    a = uneven.analyze(uneven.Loss("abs(1 - t)**1.5", "abs(1 + t)**1.5"), 0.5)
    assert a.verdict.status == "calibrated"
    assert 0 < a.psi_inverse(0.1) <= a.regret_bound(0.1) < 0.2


def test_the_cost_loss_weighted_again_has_its_ties_where_its_weights_put_them() -> None:
    loss = uneven.cost_loss(0.3).weighted(0.1)
    a = uneven.analyze(loss, 0.01)
    assert a.verdict.status == "not calibrated"
    assert a.H(a.verdict.witness) == 0
