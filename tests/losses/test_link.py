"""The link: the decision value that stands for a probability, the other way round than the inverse link."""

from __future__ import annotations

import numpy as np
import pytest
from registered import NAMES

import uneven
from uneven.errors import LossError, UnevenError


def _identifies(name: str, gamma: float) -> bool:
    try:
        uneven.UnevenMarginLoss(name, gamma=gamma).inverse_link(0.0)
    except LossError:
        return False
    return True


GAMMAS = [0.1, 1.0, 7.0]
IDENTIFYING = [(name, gamma) for name in NAMES for gamma in GAMMAS if _identifies(name, gamma)]
PROBABILITIES = np.array([0.0, 1e-300, 1e-12, 1e-3, 0.2, 0.5, 0.7, 1 - 1e-3, 1 - 1e-12, 1 - 2.0**-53, 1.0])


@pytest.mark.parametrize(("name", "gamma"), IDENTIFYING)
def test_the_scores_above_it_are_those_of_larger_probabilities(name: str, gamma: float) -> None:
    """inverse_link(t) > p for t > link(p) and for no other t, up to the rounding of the inverse link next to it."""
    for loss in (uneven.UnevenMarginLoss(name, gamma=gamma), uneven.UnevenMarginLoss(name, gamma=gamma, alpha=0.1)):
        t = loss.link(PROBABILITIES)
        assert (np.diff(t) >= 0).all()
        inside = np.isfinite(t)
        assert inside[4]
        p, at = PROBABILITIES[inside], t[inside]
        assert (loss.inverse_link(at) <= p).all()
        assert (loss.inverse_link(np.nextafter(at, np.inf)) >= p * (1 - 1e-13)).all()
        step = 1e-6 * (1 + np.abs(at))
        assert (loss.inverse_link(at + step) > p).all()
        assert (loss.inverse_link(at - step) <= p).all()
        everywhere = np.concatenate([-np.geomspace(1e-9, 1e9, 60), [0.0], np.geomspace(1e-9, 1e9, 60)])
        values = loss.inverse_link(everywhere)
        for p, threshold in zip(PROBABILITIES, t, strict=True):
            np.testing.assert_array_equal(values > p, everywhere > threshold)


@pytest.mark.parametrize("name", ["logistic", "squared", "tangent"])
def test_one_probability_is_found_as_one_of_many(name: str) -> None:
    """The number of halvings in a pass depends on how many are asked for; what they find does not."""
    loss = uneven.UnevenMarginLoss(name, gamma=2.5, alpha=0.1)
    p = np.random.default_rng(0).random(400)
    np.testing.assert_array_equal(loss.link(p)[:20], [loss.link(one) for one in p[:20]])
    np.testing.assert_array_equal(loss.link(p)[:60], loss.link(p[:60]))


def test_closed_forms() -> None:
    p = np.array([1e-9, 0.01, 0.3, 0.5, 0.9, 1 - 1e-9])
    odds = np.log(p / (1 - p))
    np.testing.assert_allclose(uneven.UnevenMarginLoss("logistic").link(p), odds, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(uneven.UnevenMarginLoss("exponential").link(p), odds / 2, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(uneven.UnevenMarginLoss("squared").link(p), 2 * p - 1, rtol=1e-12, atol=1e-12)


def test_the_own_alpha_is_at_zero() -> None:
    """The threshold of the costs that a loss is calibrated for is 0."""
    for name, gamma in IDENTIFYING:
        if uneven.phi(name).convex or gamma == 1:
            loss = uneven.UnevenMarginLoss(name, gamma=gamma, alpha=0.2)
            assert loss.link(0.2) == pytest.approx(0.0, abs=1e-9)


def test_shapes_and_numbers() -> None:
    loss = uneven.UnevenMarginLoss("logistic")
    assert isinstance(loss.link(0.25), float)
    assert loss.link([[0.25, 0.5], [0.5, 0.75]]).shape == (2, 2)
    assert loss.link(np.empty(0)).shape == (0,)
    assert loss.link(0.0) == -np.inf or loss.inverse_link(loss.link(0.0)) == 0
    assert loss.link(1.0) == np.inf


@pytest.mark.parametrize("bad", [-0.1, 1.1, np.nan, np.inf, "much", None])
def test_what_is_no_probability_is_refused(bad: object) -> None:
    with pytest.raises(UnevenError, match="probability"):
        uneven.UnevenMarginLoss("logistic").link(bad)


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("name", NAMES)
def test_a_loss_that_does_not_identify_probabilities_says_so(name: str, gamma: float) -> None:
    if (name, gamma) not in IDENTIFYING:
        with pytest.raises(LossError, match="does not identify probabilities"):
            uneven.UnevenMarginLoss(name, gamma=gamma).link(0.5)
