"""What adversarial testing found once, and must not find again."""

from __future__ import annotations

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
