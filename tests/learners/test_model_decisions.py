"""``decide`` of fitted models: the decisions of predict, groups from a column, guarantees, the corrected threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from public_estimators import FRAUD, rows
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

import uneven
from uneven.errors import CostError, ParameterError

X, Y, AMOUNT = rows(600, seed=3)
COSTS: dict[str, Any] = {"fp_cost": 2.0, "fn_cost": 7.0, "tp_cost": 0.5, "tn_cost": -0.25, "pos_label": FRAUD}
LINEAR = uneven.UnevenLinearClassifier("logistic", **COSTS).fit(X, Y)
WRAPPED = uneven.UnevenThresholdClassifierCV(GaussianNB(), **COSTS).fit(X, Y)


@pytest.mark.parametrize("model", [LINEAR, WRAPPED], ids=["linear", "wrapped"])
def test_two_actions_are_predict(model: Any) -> None:
    for costs in ({}, {"fn_cost": 50}, {"fp_cost": 1, "fn_cost": 1 + AMOUNT}, {"fp_cost": AMOUNT - 1, "fn_cost": -2.0}):
        said = model.predict(X, **costs)
        np.testing.assert_array_equal(model.decide(X, **costs).action, said)
    named = uneven.Actions(leave=(9, 0.5), stop=(1, 2))
    costs = {"fn_cost": 9, "tn_cost": 0.5, "tp_cost": 1, "fp_cost": 2}
    found = model.decide(X, actions=named)
    assert set(found.action) == {"leave", "stop"}
    np.testing.assert_array_equal(found.action == "stop", model.predict(X, **costs) == FRAUD)


def test_money_is_that_of_the_probabilities_and_decisions_those_of_the_threshold() -> None:
    """A corrected threshold moves decisions, not probabilities: money that is said was up to three times off."""
    own = WRAPPED.predict_proba(X)[:, list(WRAPPED.classes_).index(FRAUD)]
    assert pytest.approx(2.25 / (2.25 + 6.5), rel=1e-3) != WRAPPED.threshold_
    actions = uneven.Actions(leave=(9, 0), ask=(2, 1), stop=(0, 6))
    for found in (WRAPPED.decide(X), WRAPPED.decide(X, fn_cost=500), WRAPPED.decide(X, actions=actions)):
        np.testing.assert_array_equal(found.probability, own)
        costs = found.actions.expected_costs(own)
        assert found.total_cost == pytest.approx(costs[np.arange(own.size), found.choice].sum())
        assert found.saving.sum() == pytest.approx(costs[:, 0].sum() - found.total_cost)
        assert found.recall == pytest.approx(own[found.flagged].sum() / own.sum())
        np.testing.assert_array_equal(found.gain > 0, found.flagged)
    kept = WRAPPED.decide(X, recall_at_least=0.95)
    assert own[kept.flagged].sum() >= 0.95 * own.sum() * (1 - 1e-12)


def test_groups_are_a_column_that_the_model_need_not_know() -> None:
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])], index=np.arange(600)[::-1])
    model = uneven.UnevenLinearClassifier("logistic", **COSTS).fit(frame, Y)
    days = np.array(["mon", "tue", "wed"])[np.arange(600) % 3]
    found = model.decide(frame.assign(day=days), at_most=7, per="day")
    again = model.decide(frame, at_most=7, per=days)
    np.testing.assert_array_equal(found.choice, again.choice)
    assert pd.Series(found.flagged).groupby(days).sum().max() == 7
    assert found.to_frame().index.tolist() == frame.index.tolist()
    with pytest.raises(ParameterError, match="per='week' must be a column"):
        model.decide(frame, at_most=7, per="week")


def test_a_guarantee_from_rows_and_labels() -> None:
    learn, past = np.arange(0, 300), np.arange(300, 600)
    forest = RandomForestClassifier(30, min_samples_leaf=5, random_state=0)
    model = uneven.UnevenThresholdClassifierCV(forest, fp_cost=1, fn_cost=1, pos_label=FRAUD).fit(X[learn], Y[learn])
    found = model.decide(X, recall_at_least=0.8, held_out=(X[past], Y[past]))
    assert found.guarantee is not None
    assert "(" + f"{int((Y[past] == FRAUD).sum()):,} positive)" in found.guarantee
    assert found.flagged[past][Y[past] == FRAUD].mean() >= 0.8
    with pytest.raises(CostError, match="labels of held_out must be"):
        model.decide(X, recall_at_least=0.8, held_out=(X[past], np.full(300, "no")))
    with pytest.raises(CostError, match="held_out needs those of its rows"):
        model.decide(X, recall_at_least=0.8, fn_cost=AMOUNT, held_out=(X[past], Y[past]))
    rich = model.decide(X, recall_at_least=0.8, fn_cost=AMOUNT, held_out=(X[past], Y[past], {"fn_cost": AMOUNT[past]}))
    assert rich.flagged[past][Y[past] == FRAUD].mean() >= 0.8


def test_words_of_bad_arguments() -> None:
    with pytest.raises(CostError, match="give actions or fn_cost, not both"):
        LINEAR.decide(X, actions=uneven.Actions(a=(1, 0), b=(0, 1)), fn_cost=3)
    with pytest.raises(CostError, match="actions must be"):
        LINEAR.decide(X, actions="review")
    with pytest.raises(CostError, match="costs of 2 rows, and there are 600"):
        LINEAR.decide(X, actions=uneven.Actions(a=([1, 2], 0), b=(0, 1), c=(0, 2)))
    hinge = uneven.UnevenLinearClassifier("hinge", **COSTS).fit(X, Y)
    assert not hasattr(hinge, "decide")
