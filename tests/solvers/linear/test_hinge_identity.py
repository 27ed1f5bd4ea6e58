"""The uneven hinge in the coordinates of the ordinary one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from linear_data import binary
from problems import linear_objective, settings

import uneven
from uneven.errors import ParameterError
from uneven.solvers.hinge_identity import HingeIdentity, is_hinge
from uneven.solvers.linear.proof import minimise


@pytest.mark.parametrize("gamma", [Fraction(1, 7), 1, 3, 50])
def test_the_identity_holds_at_every_score(gamma: Fraction) -> None:
    a, c = (1 + 1 / Fraction(gamma)) / 2, (1 - 1 / Fraction(gamma)) / 2
    identity = HingeIdentity.of(gamma)
    assert (identity.a, identity.c) == (float(a), float(c))
    for h in map(Fraction, np.linspace(-3, 3, 25)):
        f = a * h + c
        assert max(1 - f, 0) == a * max(1 - h, 0)
        assert max(1 + gamma * f, 0) / gamma == a * max(1 + h, 0)
        assert identity.score(float(h)) == pytest.approx(float(f), abs=1e-14)


@pytest.mark.parametrize("gamma", [0.25, 3.0])
def test_minimisers_are_translated_by_it(gamma: float) -> None:
    """With C/a, and a squared objective's factor; without a free intercept it fails."""
    X, y = binary(80, 2)
    identity = HingeIdentity.of(gamma)
    for fit_intercept in (True, False):
        common = {"alpha": 0.2, "fit_intercept": fit_intercept, "factor": 1}
        own = minimise(linear_objective("hinge", X, y, gamma=gamma, penalty=1.0, **common), settings(1e-10))
        # A penalty of a is a C of 1/a.
        ordinary = minimise(linear_objective("hinge", X, y, gamma=1.0, penalty=identity.a, **common), settings(1e-10))
        moved = np.append(identity.a * ordinary.theta[:-1], identity.score(ordinary.theta[-1]))
        close = np.allclose(own.theta, moved, atol=1e-4)
        assert close == fit_intercept
        if fit_intercept:
            # With C/a in front of the losses instead, all values are divided by a once more.
            assert own.value == pytest.approx(identity.a**2 * ordinary.value / identity.a, rel=1e-8)


def test_effective_c() -> None:
    assert HingeIdentity.of(1).own_c(0.3) == 0.3
    assert HingeIdentity.of(3).own_c("3/2") == pytest.approx(1.0)
    with pytest.raises(ParameterError, match="C must be positive"):
        HingeIdentity.of(3).own_c(0)
    with pytest.raises(ParameterError, match="margin_gamma must be positive"):
        HingeIdentity.of(-1)


@pytest.mark.parametrize(
    "written",
    [
        "hinge",
        " hinge ",
        "relu(1 - t)",
        "max(1 - t, 0)",
        "where(t < 1, 1 - t, 0)",
        "(abs(1 - t) + 1 - t)/2",
        uneven.phi("hinge"),
        uneven.phi("relu(1 - t)"),
    ],
)
def test_a_hinge_is_recognised_however_it_is_written(written: object) -> None:
    assert is_hinge(written)


@pytest.mark.parametrize(
    "written",
    [
        "squared_hinge",
        "absolute",
        "perceptron",
        "relu(2 - t)",
        "2*relu(1 - t)",
        "relu(1 - t) + 1",
        "relu(1 - 2*t)",
        "relu(1 - t) + relu(-t)",
        "step(1 - t)",
        "softplus(-t)",
        "1",
        "no_such_loss",
        "relu(",
        uneven.UnevenMarginLoss("hinge"),
        None,
        3,
    ],
)
def test_anything_else_is_not(written: object) -> None:
    assert not is_hinge(written)
