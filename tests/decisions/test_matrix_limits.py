"""Limits on actions with several classes: brute force over all decisions, prices, groups, learners, refusals."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

import uneven
from uneven.errors import CostError, ParameterError

ASK = uneven.CostMatrix([[0, 1, 2, 0.3], [5, 0, 1, 0.3], [20, 5, 0, 0.3]], actions=[0, 1, 2, "ask"])


def least_cost(cost: np.ndarray, most: dict[int, int]) -> float:
    """By trying all decisions."""
    count, width = cost.shape
    every = np.array(list(itertools.product(range(width), repeat=count)))
    kept = np.all([(every == a).sum(axis=1) <= k for a, k in most.items()], axis=0)
    return float(cost[np.arange(count), every[kept]].sum(axis=1).min())


def random_problem(rng: np.random.Generator) -> tuple[uneven.CostMatrix, np.ndarray]:
    classes, width = rng.integers(2, 5), rng.integers(2, 5)
    costs = uneven.CostMatrix(rng.integers(-3, 9, size=(classes, width)), actions=[f"a{k}" for k in range(width)])
    shares = rng.dirichlet(np.full(classes, 0.7), size=5)
    shares[1] = shares[0]  # ties
    return costs, shares


@pytest.mark.parametrize("limited", [1, 2, 3])
def test_no_decisions_within_the_limits_are_cheaper(limited: int) -> None:
    rng = np.random.default_rng(limited)
    bound = 0
    for _ in range(60 if limited > 1 else 200):
        costs, shares = random_problem(rng)
        places = rng.permutation(len(costs.actions))[: min(limited, len(costs.actions) - 1)]
        most = {int(a): int(rng.integers(0, 4)) for a in places}
        found = costs.decide_within(shares, at_most={costs.actions[a]: k for a, k in most.items()})
        cost = costs.expected_cost(shares)
        assert all((found.choice == a).sum() <= k for a, k in most.items())
        least = least_cost(cost, most)
        assert float(found.expected_cost.sum()) == pytest.approx(least, abs=1e-9)
        assert found.gap == pytest.approx(0, abs=1e-9)
        assert found.constraint_cost == pytest.approx(least - cost.min(axis=1).sum(), abs=1e-9)
        bound += found.constraint_cost > 1e-9
        prices = found.price_of_one_more
        for a, places_of_a in most.items():
            saved = least - least_cost(cost, {**most, a: places_of_a + 1})
            price = prices[costs.actions[a]] if len(most) > 1 else prices
            assert price == pytest.approx(saved, abs=1e-9) if len(most) == 1 else price >= saved - 1e-9
    assert bound > 15  # the limits did something


def test_groups_are_decided_by_themselves() -> None:
    rng = np.random.default_rng(0)
    shares, day = rng.dirichlet([1, 1, 1], size=60), rng.integers(0, 4, 60)
    for most in ({"ask": 2}, {"ask": 2, 1: 3}):
        found = ASK.decide_within(shares, at_most=most, per=day)
        total = 0.0
        for one in range(4):
            alone = ASK.decide_within(shares[day == one], at_most=most)
            assert found.choice[day == one].tolist() == alone.choice.tolist()
            assert (
                {name: found.price_of_one_more[name][one] for name in most} == alone.price_of_one_more
                if len(most) > 1
                else found.price_of_one_more[one] == alone.price_of_one_more
            )
            total += alone.constraint_cost
        assert found.constraint_cost == pytest.approx(total)
    shares_of_rows = ASK.decide_within(shares, at_most_share={"ask": 0.1}, per=day)
    sizes = np.bincount(day)
    assert (np.bincount(day[shares_of_rows.action == "ask"], minlength=4) == (0.1 * sizes).astype(int)).all()


def test_two_classes_agree_with_the_limit_of_two_classes() -> None:
    rng = np.random.default_rng(1)
    p = rng.random(80)
    actions = uneven.Actions(clear=(100, 0), review=(8, 5), block=(0, 20))
    costs = uneven.CostMatrix([[0, 5, 20], [100, 8, 0]], actions=["clear", "review", "block"])
    for most in (0, 7, 80):
        old = uneven.decide(p, actions=actions, at_most={"review": most})
        new = costs.decide_within(np.column_stack([1 - p, p]), at_most={"review": most})
        assert old.action.tolist() == new.action.tolist()
        assert old.price_of_one_more == pytest.approx(new.price_of_one_more)
        assert old.constraint_cost == pytest.approx(new.constraint_cost)


def few(count: int = 150) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(count) % 3
    X = rng.normal(size=(count, 3)) + np.eye(3)[y]
    return pd.DataFrame(X, columns=["a", "b", "c"]), y


def test_a_learner_within_limits() -> None:
    X, y = few()
    for method in ("gibbs", "none"):
        model = uneven.UnevenThresholdClassifierCV(GaussianNB(), costs=ASK, method=method).fit(X, y)
        free = model.decide(X)
        assert free.action.tolist() == model.predict(X).tolist()
        wide = model.decide(X, at_most={"ask": len(X)})
        assert (wide.choice == free.choice).all()
        assert wide.constraint_cost == 0
        assert wide.price_of_one_more == 0
        kept = model.decide(X.assign(day=np.arange(len(X)) % 2), at_most={"ask": 3}, per="day")
        asked = kept.action == "ask"
        assert [asked[0::2].sum(), asked[1::2].sum()] == [3, 3]
        assert free.counts["ask"] > 6
        assert "at most 6 ask in all 2 groups: this is expected to cost" in kept.summary("EUR")
        assert (kept.choice == free.choice)[~(free.action == "ask")].all()  # others need not move
    other = uneven.CostMatrix([[0, 9], [3, 0], [1, 4]], actions=["stay", "go"])
    assert (model.decide(X, costs=other, at_most={"go": 4}).action == "go").sum() == 4


def test_the_linear_learner_within_limits() -> None:
    X, y = few()
    model = uneven.UnevenMultinomialClassifier(costs=ASK).fit(X, y)
    assert model.decide(X).action.tolist() == model.predict(X).tolist()
    kept = model.decide(X, at_most={"ask": 2})
    again = ASK.decide_within(model.predict_proba(X), at_most={"ask": 2})
    assert kept.action.tolist() == again.action.tolist()
    assert kept.counts["ask"] == 2
    assert not hasattr(uneven.UnevenMultinomialClassifier("hinge", costs=ASK).fit(X, y), "decide")


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"at_most": 50}, "a limit names its action: at_most={'ask': 50} would work, got 50"),
        ({"at_most_share": 0.1}, r"at_most_share=\{'ask': 0.05\} would work"),
        ({"at_most": {"call": 5}}, "a limit can be on 0, 1, 2, ask, got 'call'"),
        ({"at_most": {"ask": -1}}, "at_most must be a whole number of at least 0"),
        ({"at_most": {"ask": 1}, "at_most_share": {"ask": 0.1}}, "give one of at_most and at_most_share"),
        ({"at_most_share": {"ask": 1.5}}, r"must lie in \[0, 1\]"),
        ({"per": ["a", "b"]}, "per= is for a limit in each group"),
        ({"at_most": {"ask": 1}, "per": ["a"]}, "per must have the group of each of the 2 rows"),
        ({"at_most": {0: 0, 1: 0, 2: 1, "ask": 0}}, "all actions have a limit, and these leave room for 1 of 2 rows"),
    ],
)
def test_bad_limits_get_one_sentence(limits: dict[str, Any], words: str) -> None:
    with pytest.raises((CostError, ParameterError), match=words):
        ASK.decide_within([[0.2, 0.3, 0.5], [0.5, 0.25, 0.25]], **limits)


def test_other_bad_input_gets_one_sentence() -> None:
    with pytest.raises(CostError, match="needs rows of probabilities, got one"):
        ASK.decide_within([0.2, 0.3, 0.5])
    with pytest.raises(ParameterError, match=r"CostMatrix\.decide_within"):
        uneven.decide([[0.2, 0.3, 0.5]], fp_cost=1, fn_cost=2)
    X, y = few()
    model = uneven.UnevenThresholdClassifierCV(GaussianNB(), costs=ASK).fit(X, y)
    with pytest.raises(ParameterError, match=r"recall_at_least is for two classes.*at_most=\{'ask': 50\}"):
        model.decide(X, recall_at_least=0.9)
    with pytest.raises(ParameterError, match="fp_cost is for two classes"):
        model.decide(X, fp_cost=3)
