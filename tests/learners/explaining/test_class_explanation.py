"""Laws of explanations of several classes: sums are exact, values are Shapley's, changes change the decision."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import uneven
from uneven.errors import CostError, ParameterError

ASK = uneven.CostMatrix([[0, 1, 2, 0.3], [5, 0, 1, 0.3], [20, 5, 0, 0.3]], actions=[0, 1, 2, "ask"])
OTHER = uneven.CostMatrix([[0, 9], [3, 0], [1, 4]], actions=["stay", "go"])


def rows(count: int = 120, width: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(count) % 3
    return rng.normal(size=(count, width)) + np.eye(3, width)[y], y


def models() -> list[Any]:
    return [
        uneven.UnevenThresholdClassifierCV(GaussianNB(), costs=ASK),
        uneven.UnevenEnsembleClassifier(costs=ASK, members=["linear"]),
        uneven.UnevenMultinomialClassifier(costs=ASK),
    ]


@pytest.mark.parametrize("model", models(), ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("costs", [None, OTHER, "rows"])
def test_the_money_adds_up_to_what_the_decision_saves(model: Any, costs: Any) -> None:
    X, y = rows()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model.fit(frame, y)
    some, background = frame.iloc[:15], frame.iloc[40:60]
    matrix = ASK if costs is None else costs
    if costs == "rows":
        matrix = costs = ASK.with_costs_of_rows({(2, 0): np.linspace(1, 50, 15)})
    why = model.explain(some, background, costs=costs)
    assert why.action.tolist() == model.predict(some, costs=costs).tolist()
    expected = matrix.expected_cost(model.predict_proba(some))
    choice, other = (matrix.number_actions("them", labels) for labels in (why.action, why.other))
    place = np.arange(15)
    np.testing.assert_allclose(why.saving, expected[place, other] - expected[place, choice], atol=1e-9)
    np.testing.assert_allclose(why.base_saving + why.money.sum(axis=1), why.saving, atol=1e-9)
    expected[place, choice] = np.inf
    assert expected.min(axis=1) == pytest.approx(expected[place, other])
    for i in range(15):  # the base: the mean of the background at the costs of the row
        of_base = (matrix.take(np.full(20, i)) if matrix.per_row else matrix).expected_cost(
            model.predict_proba(background)
        )
        assert why.base_saving[i] == pytest.approx((of_base[:, other[i]] - of_base[:, choice[i]]).mean(), abs=1e-9)


def test_values_are_those_of_all_orders() -> None:
    X, y = rows()
    model = uneven.UnevenThresholdClassifierCV(GaussianNB(), costs=ASK).fit(X, y)
    background = X[50:58]
    why = model.explain(X[:4], background, n_draws=4000)

    def saved(table: np.ndarray, i: int) -> float:
        cost = ASK.expected_cost(model.predict_proba(table))
        choice, other = (ASK.number_actions("them", [labels[i]])[0] for labels in (why.action, why.other))
        return float((cost[:, other] - cost[:, choice]).mean())

    for i in range(4):
        values, orders = np.zeros(3), list(permutations(range(3)))
        for order in orders:
            mixed = background.copy()
            for j in order:
                before = saved(mixed, i)
                mixed[:, j] = X[i, j]
                values[j] += (saved(mixed, i) - before) / len(orders)
        assert why.money[i] == pytest.approx(values, abs=6 * float(why.standard_errors[i].max()) + 1e-9)
        assert why.standard_errors[i].max() < 0.1


def test_two_classes_have_what_flagging_saves() -> None:
    """The saving against the other action is, up to its sign, what flagging saves."""
    X, y = rows()
    two = (y == 2).astype(int)
    costs = uneven.CostMatrix([[0, 3], [8, 0]])
    model = uneven.UnevenMultinomialClassifier(costs=costs).fit(X, two)
    why, p = model.explain(X[:10], X), model.predict_proba(X[:10])[:, 1]
    assert why.saving * np.where(why.action == 1, 1, -1) == pytest.approx(8 * p - 3 * (1 - p))


def test_reasons_sentences_and_changes() -> None:
    X, y = rows()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = uneven.UnevenThresholdClassifierCV(GaussianNB(), costs=ASK).fit(frame, y)
    why = model.explain(frame.iloc[:20], frame)
    for i, reasons in enumerate(why.reasons(2)):
        assert [one.money for one in reasons] == sorted((m for m in why.money[i] if m > 0), reverse=True)[:2]
        assert all(one.value == frame[one.column].iloc[i] for one in reasons)
    changes, verified = why.counterfactuals(["a", "b"]), 0
    for i, found in enumerate(changes):
        for change in found:
            changed = frame.iloc[[i]].assign(**{change.column: change.new_value})
            assert model.predict(changed)[0] != why.action[i]
            verified += 1
    assert verified > 5
    sentence = why.sentences(1, unit="EUR")[0]
    assert sentence.startswith(f"{why.action[0]}: expected to cost ")
    assert f" less than {why.other[0]}. Mostly because of " in sentence
    assert list(why.to_frame(1).columns) == [
        "action",
        "other",
        "saving",
        "reason_1",
        "reason_1_value",
        "reason_1_money",
    ]
    assert why.to_frame().shape == (20, 3)


def test_a_pipeline_is_explained_in_its_own_columns() -> None:
    X, y = rows()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for last in (uneven.UnevenMultinomialClassifier(costs=ASK), models()[0]):
        model = make_pipeline(StandardScaler(), last).fit(frame, y)
        why = uneven.explain(model, frame.iloc[:5], frame)
        assert why.columns == ("a", "b", "c")
        assert why.action.tolist() == model.predict(frame.iloc[:5]).tolist()
        assert why.base_saving + why.money.sum(axis=1) == pytest.approx(why.saving, abs=1e-9)


def test_bad_input_gets_one_sentence() -> None:
    X, y = rows()
    model = models()[0].fit(X, y)
    with pytest.raises(ParameterError, match="fp_cost is for two classes"):
        model.explain(X, fp_cost=3)
    with pytest.raises(CostError):
        model.explain(X, costs=[[1, 2]])
    with pytest.raises(ParameterError, match="nothing to be compared with"):
        model.explain(X[:1])
    with pytest.raises(ParameterError, match="columns must be among"):
        model.explain(X[:2], X).counterfactuals(["z"])
    two = uneven.UnevenLinearClassifier().fit(X, y == 1)
    with pytest.raises(ParameterError, match="costs are for several classes"):
        uneven.explain(two, X, costs=ASK)
    assert not hasattr(uneven.UnevenMultinomialClassifier("hinge", costs=ASK).fit(X, y), "explain")
