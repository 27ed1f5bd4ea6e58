"""Losses are made once and kept. What is registered anew under an old name is seen by every fit."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from linear_data import binary

import uneven
from uneven import UnevenClassifierCV, calibrated_loss
from uneven import UnevenLinearClassifier as Linear
from uneven.inputs import generator
from uneven.learners.base import with_parameters

X, Y = binary(200, 3)
NAME = "renewed"
#: Convex, which the structure of the formula does not show.
HIDDEN = "t**4 - 4*t**3 + 6*t**2 - 4*t + 1"


@pytest.fixture(autouse=True)
def _unregister() -> Iterator[None]:
    yield
    if NAME in uneven.losses.names():
        uneven.losses.unregister(NAME)


def register(sentence: str, convex: bool | None = None) -> None:
    if NAME in uneven.losses.names():
        uneven.losses.unregister(NAME)
    uneven.losses.register(NAME, sentence, convex=convex)


def test_a_loss_is_made_once() -> None:
    assert calibrated_loss("logistic", alpha=0.1, gamma=3) is calibrated_loss("logistic", alpha=0.1, gamma=3.0)
    assert calibrated_loss("logistic", alpha=0.1) is not calibrated_loss("logistic", alpha="1/10")


@pytest.mark.parametrize("margin_gamma", [1, 2])
def test_a_fit_sees_the_formula_registered_last(margin_gamma: float) -> None:
    for sentence in ("softplus(-t)", "relu(1 - t)**2", "softplus(-t)"):
        register(sentence)
        fitted = Linear(NAME, margin_gamma=margin_gamma).fit(X, Y)
        plain = Linear(sentence, margin_gamma=margin_gamma).fit(X, Y)
        np.testing.assert_array_equal(fitted.coef_, plain.coef_)
        assert fitted.loss_.phi == uneven.phi(NAME)


def test_a_search_sees_the_formula_registered_last() -> None:
    for sentence in ("softplus(-t)", "relu(1 - t)**2"):
        register(sentence)
        named, plain = (
            UnevenClassifierCV(Linear(loss, fn_cost=3), margin_gammas=[0.5, 2], cv=2).fit(X, Y)
            for loss in (NAME, sentence)
        )
        np.testing.assert_array_equal(named.best_estimator_.coef_, plain.best_estimator_.coef_)
        np.testing.assert_array_equal(named.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])


def test_what_is_declared_last_counts() -> None:
    """The same formula under the same name, but declared otherwise."""
    for convex in (None, True, None):
        register(HIDDEN, convex)
        assert calibrated_loss(NAME, alpha=0.3).phi.declaration.convex is convex
        model = Linear(NAME, solver="newton")
        if convex:
            model.fit(X, Y)
        else:
            with pytest.raises(uneven.errors.LossError, match="not known to be convex"):
                model.fit(X, Y)


def test_a_name_that_is_gone_is_refused() -> None:
    register("softplus(-t)")
    model = Linear(NAME).fit(X, Y)
    uneven.losses.unregister(NAME)
    with pytest.raises(uneven.errors.LossError, match="there is no phi named 'renewed'"):
        model.fit(X, Y)


@pytest.mark.parametrize("name", ["fp_cost", "margin_gamma", "C"])
def test_a_number_read_before_does_not_stand_for_true(name: str) -> None:
    Linear(**{name: 1}).fit(X, Y)
    with pytest.raises(uneven.errors.UnevenError, match=f"{name} must be a number, got True"):
        Linear(**{name: True}).fit(X, Y)


@pytest.mark.parametrize("name", ["fp_cost", "fn_cost", "margin_gamma"])
def test_a_parameter_that_cannot_be_hashed_is_refused_with_a_sentence(name: str) -> None:
    says = "must be a number, got [1]" if name == "margin_gamma" else "of the learner itself must be a number, got [1]"
    with pytest.raises(uneven.errors.UnevenError, match=re.escape(f"{name} {says}")):
        Linear(**{name: [1]}).fit(X, Y)


def test_a_copy_with_other_parameters_shares_nothing_that_a_fit_changes() -> None:
    learner = Linear(fn_cost=3)
    other = with_parameters(learner, {"margin_gamma": 2})
    other.fit(X, Y)
    assert (other.margin_gamma, other.fn_cost) == (2, 3)
    assert learner.margin_gamma == 1
    assert not hasattr(learner, "coef_")
    np.testing.assert_array_equal(other.coef_, Linear(fn_cost=3, margin_gamma=2).fit(X, Y).coef_)


def test_no_seed_is_always_the_same_seed() -> None:
    draws = [generator(None).random(3) for _ in range(2)]
    np.testing.assert_array_equal(*draws)
    np.testing.assert_array_equal(draws[0], np.random.default_rng(0).random(3))
