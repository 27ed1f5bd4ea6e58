"""Fewer members on request: which are kept, and what that costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from skops import io

import uneven
from uneven.costs import RowCosts
from uneven.errors import ParameterError
from uneven.learners.ensemble import final_models, latency
from uneven.learners.ensemble.latency import Limits, Times
from uneven.learners.ensemble.pruning import cost_at_alpha, prune
from uneven.learners.ensemble.weights import WEIGHTINGS
from uneven.metrics.expected_cost import cost_of_decisions

MATRIX = uneven.CostMatrix([[0, 1, 2], [4, 0, 1], [9, 3, 0]])
ACTIONS = uneven.Actions(clear=(9, 0), review=(3, 0.5), block=(0, 2))


def drawn(seed: int, members: int, rows: int = 80) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, RowCosts]:
    random = np.random.default_rng(seed)
    eta = random.random(rows)
    probabilities = {
        f"m{k}": np.clip(eta + random.normal(scale=random.uniform(0.05, 0.6), size=rows), 0, 1) for k in range(members)
    }
    costs = RowCosts(rows, random.uniform(0.1, 2, rows), random.lognormal(1, 1, rows))
    return probabilities, random.random(rows) < eta, random.integers(1, 4, rows).astype(float), costs


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6), st.sampled_from(sorted(WEIGHTINGS)), st.booleans())
def test_laws(seed: int, members: int, weighting: str, of_actions: bool) -> None:
    """Never more members than asked; a limit of 1 is the best member alone; the price is never negative and falls."""
    probabilities, is_positive, weight, costs = drawn(seed, members)
    rows = np.flatnonzero(np.random.default_rng(seed).random(80) < 0.8)
    cost_of = cost_at_alpha(is_positive, weight, costs, ACTIONS if of_actions else None)
    prices = []
    for most in range(1, members + 2):
        weights, pruning = prune(probabilities, is_positive, weight, WEIGHTINGS[weighting], rows, cost_of, Limits(most))
        used = {name: one for name, one in weights.items() if one > 0}
        assert list(weights) == list(probabilities)
        assert len(used) == pruning.members <= most
        assert sum(used.values()) == pytest.approx(1, abs=1e-12)
        mixture = sum(one * probabilities[name][rows] for name, one in used.items())
        assert pruning.cost == pytest.approx(cost_of(mixture, rows), abs=1e-12)
        assert pruning.price >= 0
        prices.append(pruning.price)
        if most == 1:
            alone = [cost_of(probability[rows], rows) for probability in probabilities.values()]
            assert pruning.cost == min(alone)
            assert list(used.values()) == [1.0]
    assert prices[-1] == 0


def test_cost_is_that_of_the_decisions() -> None:
    probabilities, is_positive, weight, costs = drawn(0, 1)
    rows, p = np.arange(80), probabilities["m0"]
    by_hand = weight @ costs.paid(is_positive, costs.prefers_positive(p)) / weight.sum()
    assert cost_at_alpha(is_positive, weight, costs)(p, rows) == pytest.approx(by_hand)
    two = uneven.Actions(no=(9, 0), yes=(0, 2))
    same = RowCosts(80, 2.0, 9.0)
    expected = cost_of_decisions(same, is_positive, same.prefers_positive(p), weight)
    assert cost_at_alpha(is_positive, weight, same, two)(p, rows) == pytest.approx(expected)


def data() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.normal(size=(240, 3))
    return X, (random.random(240) < 1 / (1 + np.exp(1 - 2 * X[:, 0] * X[:, 1]))).astype(int)


def fitted(y: Any = None, /, **more: Any) -> uneven.UnevenEnsembleClassifier:
    X, labels = data()
    members = {
        "line": LogisticRegression(),
        "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
        "bayes": GaussianNB(),
    }
    return uneven.UnevenEnsembleClassifier(**({"fn_cost": 6, "members": members, "cv": 3} | more)).fit(
        X, labels if y is None else y
    )


@pytest.mark.parametrize("more", [{}, {"fn_cost": 1, "actions": ACTIONS}], ids=["costs", "actions"])
def test_one_member_is_the_best_one(more: dict[str, Any]) -> None:
    model = fitted(members_at_most=1, **more)
    (name,) = (name for name, weight in model.weights_.items() if weight > 0)
    assert list(model.members_) == [name]
    assert model.member_costs_[name] == min(model.member_costs_.values()) == model.pruning_.cost
    assert "1 of 3 members: out of fold they cost" in model.pruning_.in_words("EUR")


def test_an_ensemble_with_a_limit() -> None:
    whole, two = fitted(), fitted(members_at_most=2)
    assert whole.pruning_ is None
    assert len(two.members_) == 2
    assert two.guarantee_.choices > whole.guarantee_.choices  # which members are left out depends on the rows
    many = fitted(members_at_most=3)
    assert many.weights_ == whole.weights_
    assert many.pruning_.price == 0
    again = io.loads(io.dumps(fitted(members_at_most=1)), trusted=uneven.trusted_types())
    assert again.pruning_ == fitted(members_at_most=1).pruning_


def test_the_estimate_chooses_without_the_fold() -> None:
    """Labels are noise: chosen with the fold it decides about, the best of many members would look useful."""
    random = np.random.default_rng(3)
    X, y = random.normal(size=(200, 4)), random.integers(0, 2, 200)
    members = {f"tree {k}": DecisionTreeClassifier(max_depth=3, random_state=k, max_features=1) for k in range(12)}
    model = uneven.UnevenEnsembleClassifier(members=members, members_at_most=1, cv=5, method="none").fit(X, y)
    assert model.pruning_.cost == min(model.member_costs_.values())
    assert model.out_of_fold_cost_.cost > model.pruning_.cost


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "2"])
def test_a_limit_that_is_none(wrong: Any) -> None:
    with pytest.raises(ParameterError, match="members_at_most must be"):
        fitted(members_at_most=wrong)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6), st.sampled_from(sorted(WEIGHTINGS)), st.floats(0.01, 60))
def test_laws_of_a_limit_on_time(seed: int, members: int, weighting: str, most: float) -> None:
    """The time is kept, or the fastest is alone; the price is never negative; who is too slow alone plays no part."""
    probabilities, is_positive, weight, costs = drawn(seed, members)
    random, rows = np.random.default_rng(seed), np.arange(80)
    views = {name: ["linear", "trees"][random.integers(2)] for name in probabilities}
    times = Times(
        {name: float(random.uniform(0.1, 20)) for name in probabilities}, {"linear": 1.0, "trees": 3.0}, views
    )
    limits = Limits(None, most, times)
    cost_of = cost_at_alpha(is_positive, weight, costs)
    weights, pruning = prune(probabilities, is_positive, weight, WEIGHTINGS[weighting], rows, cost_of, limits)
    used = [name for name, one in weights.items() if one > 0]
    alone = {name: times.members[name] + times.views[views[name]] for name in probabilities}
    assert pruning.price >= 0
    assert pruning.members == len(used)
    if min(alone.values()) > most:
        assert used == [min(alone, key=alone.__getitem__)]
        return
    assert times.of(used) <= most
    fast = {name: probabilities[name] for name in probabilities if alone[name] <= most}
    again, _ = prune(fast, is_positive, weight, WEIGHTINGS[weighting], rows, cost_of, limits)
    if limits.allow(list(fast)):
        assert {name: one for name, one in weights.items() if one > 0} == {
            n: one for n, one in again.items() if one > 0
        }


CLOCK = {"line": 1.0, "tree": 2.0, "bayes": 4.0}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Members take the times of CLOCK, whatever the machine does."""

    def time_members(members: Any, view_of: Any, X: Any) -> Times:
        return Times({name: CLOCK[name] for name in members})

    monkeypatch.setattr(final_models, "time_members", time_members)


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("classes", [2, 3])
def test_an_ensemble_with_a_limit_on_time(classes: int) -> None:
    more: dict[str, Any] = {} if classes == 2 else {"fn_cost": 1, "costs": MATRIX}
    y = data()[1] if classes == 2 else np.digitize(data()[0][:, 0] + data()[0][:, 1] ** 2, [0.2, 1.2])
    whole, free, short, least = (fitted(y, max_latency=limit, **more) for limit in (None, 7.0, 3.5, 1.0))
    assert whole.latency_ is None
    assert free.weights_ == whole.weights_
    assert (free.pruning_.price, free.latency_.price, free.latency_.expected) == (0, 0, 7.0)
    assert "bayes" not in short.members_
    assert short.latency_.expected <= 3.5
    assert short.latency_.price == short.pruning_.price
    assert list(least.members_) == ["line"]
    assert least.latency_.members == CLOCK
    assert least.latency_.of_all == 7.0
    assert "the limit is 1 ms for 1,000 rows, and all members would take 7 ms" in least.latency_.in_words()
    assert least.guarantee_.choices > whole.guarantee_.choices
    with pytest.warns(UserWarning, match=r"is less than any member takes; the fastest, 'line', takes 1 ms and is used"):
        assert list(fitted(y, max_latency=0.5, **more).members_) == ["line"]


def test_members_at_most_of_several_classes() -> None:
    y = np.digitize(data()[0][:, 0] + data()[0][:, 1] ** 2, [0.2, 1.2])
    model = fitted(y, fn_cost=1, costs=MATRIX, members_at_most=1)
    (name,) = model.members_
    assert model.member_costs_[name] == min(model.member_costs_.values()) == model.pruning_.cost


def test_what_is_measured() -> None:
    """A member of a view pays for its model; the view is paid once; a batch is 1,000 rows."""
    members = ["linear", "extra_trees"]
    model = fitted(members=members, max_latency=1e9)
    assert set(model.latency_.members) == set(members)
    assert set(model.latency_.views) == {"linear", "trees"}
    assert min(*model.latency_.members.values(), *model.latency_.views.values(), model.latency_.one_row) > 0
    assert latency.take_batch(data()[0]).shape == (1_000, 3)
    assert model.latency_.expected == pytest.approx(model.latency_.of_all)
    again = io.loads(io.dumps(model), trusted=uneven.trusted_types())
    assert again.latency_ == model.latency_


@pytest.mark.parametrize("wrong", [0, -1, "fast", float("nan")])
def test_a_limit_on_time_that_is_none(wrong: Any) -> None:
    with pytest.raises(ParameterError, match="max_latency must"):
        fitted(max_latency=wrong)
