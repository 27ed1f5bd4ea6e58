"""A fitted model at other costs, another share of positives, other actions and limits, without a new fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import skops.io
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import uneven
from tests.support.public_estimators import ESTIMATORS, FINE, FRAUD, make, of_dask, rows
from uneven.errors import CostError, ParameterError, UnevenError

NAMES = [one.__name__ for one in ESTIMATORS if not of_dask(one)]
ACTIONS = uneven.Actions(clear=(10, 0), review=(3, 1), block=(0, 4))


@pytest.fixture(scope="module")
def fitted() -> dict[str, Any]:
    X, y, _ = rows()
    return {
        one.__name__: make(one, pos_label=FRAUD, neg_label=FINE, fp_cost=1, fn_cost=5).fit(X, y)
        for one in ESTIMATORS
        if not of_dask(one)
    }


def threshold_model(method: str = "gibbs", **more: Any) -> Any:
    X, y, _ = rows()
    wrapped = uneven.UnevenThresholdClassifierCV(
        LogisticRegression(), pos_label=FRAUD, fn_cost=5, method=method, **more
    )
    return wrapped.fit(X, y)


def answers(model: Any, X: np.ndarray) -> list[np.ndarray]:
    methods = [name for name in ("predict", "decision_function", "predict_proba") if hasattr(model, name)]
    return [np.asarray(getattr(model, name)(X)) for name in methods]


@pytest.mark.filterwarnings("ignore:do not take predict_proba")
@pytest.mark.parametrize("name", NAMES)
def test_of_every_estimator(fitted: dict[str, Any], name: str) -> None:
    model, X = fitted[name], rows(120, 1)[0]
    before = answers(model, X)
    same = model.with_costs(fp_cost=1, fn_cost=5)
    assert all(map(np.array_equal, answers(same, X), before))
    assert type(same) is type(model)
    assert same is not model
    assert same.with_costs_
    try:
        expected = model.predict(X, fn_cost=40)
    except UnevenError:  # a loss without probabilities
        with pytest.raises(UnevenError):
            model.with_costs(fn_cost=40)
        return
    other = model.with_costs(fn_cost=40)
    assert np.array_equal(other.predict(X), expected)
    assert np.array_equal(other.predict(X), model.predict(X, fn_cost=40, fp_cost=1))
    assert np.array_equal(other.predict(X, fn_cost=5), model.predict(X))
    assert all(map(np.array_equal, answers(model, X), before))  # the old one did not change
    assert all(map(np.array_equal, answers(other.with_costs(fn_cost=5), X), before))
    read = skops.io.loads(skops.io.dumps(other), trusted=uneven.trusted_types())
    assert all(map(np.array_equal, answers(read, X), answers(other, X)))
    assert read.with_costs_ == other.with_costs_
    assert clone(other).get_params()["fn_cost"] == 40
    if hasattr(model, "predict_proba"):
        assert np.array_equal(model.predict_proba(X), other.predict_proba(X))


@pytest.mark.filterwarnings("ignore:do not take predict_proba")
@pytest.mark.parametrize("name", NAMES)
def test_prevalence_back_and_forth(fitted: dict[str, Any], name: str) -> None:
    model, X = fitted[name], rows(120, 1)[0]
    if not hasattr(model, "predict_proba"):
        with pytest.raises(UnevenError):
            model.with_costs(prevalence=0.01)
        return
    moved = model.with_costs(prevalence=0.01)
    assert moved.prevalence_ == 0.01
    told = uneven.Cost(fp_cost=1, fn_cost=5).for_prevalence(train=model.prevalence_, use=0.01)
    assert np.array_equal(moved.predict(X), model.predict(X, **told))
    positive = list(model.classes_).index(FRAUD)
    expected = told.probability(model.predict_proba(X)[:, positive])
    np.testing.assert_allclose(moved.predict_proba(X)[:, positive], expected, rtol=1e-9)
    assert moved.decide(X).action.tolist() == moved.predict(X).tolist()
    back = moved.with_costs(prevalence=model.prevalence_)
    assert all(map(np.array_equal, answers(back, X), answers(model, X)))
    both = model.with_costs(prevalence=0.01, fn_cost=40)
    assert all(map(np.array_equal, answers(moved.with_costs(fn_cost=40), X), answers(both, X)))


@pytest.mark.parametrize("method", ["gibbs", "isotonic", "none"])
def test_threshold_is_the_threshold(method: str) -> None:
    model, X = threshold_model(method), rows(200, 2)[0]
    for one in (model.with_costs(fn_cost=30), model.with_costs(prevalence=0.05), model.with_costs(prevalence=0.9)):
        said = one.predict(X) == FRAUD
        assert np.array_equal(said, one.predict_proba(X)[:, list(one.classes_).index(FRAUD)] > one.threshold_)


def test_cheapest_on_a_finite_world() -> None:
    """Four x with known probabilities: brute force over all 16 rules, at other costs and another share of positives."""
    p, X = np.array([0.05, 0.2, 0.5, 0.9]), np.repeat(np.eye(4), 2000, axis=0)
    y = np.concatenate([np.arange(2000) < 2000 * one for one in p]).astype(int)
    model = uneven.UnevenThresholdClassifierCV(LogisticRegression(C=1e6)).fit(X, y)
    for fn_cost, use in ((1, 0.05), (7, 0.05), (3, 0.3), (0.3, 0.8), (30, 0.01)):
        share = y.mean()
        weight = np.stack([(1 - p) * (1 - use) / (1 - share), p * use / share])
        rules = np.array(np.meshgrid(*[[0, 1]] * 4)).reshape(4, -1).T
        costs = [float(np.where(rule, weight[0], fn_cost * weight[1]).sum()) for rule in rules]
        chosen = model.with_costs(fn_cost=fn_cost, prevalence=use).predict(np.eye(4))
        assert np.where(chosen, weight[0], fn_cost * weight[1]).sum() == pytest.approx(min(costs))


def test_guarantee_and_costs_are_those_of_a_fit_at_the_new_costs() -> None:
    X, y, _ = rows()
    other, new = threshold_model().with_costs(fn_cost=30), threshold_model().set_params(fn_cost=30).fit(X, y)
    assert other.guarantee_ == new.guarantee_
    assert other.out_of_fold_cost_ == new.out_of_fold_cost_
    assert other.constant_costs_ == new.constant_costs_
    assert (other.threshold_, other.shift_) == (new.threshold_, new.shift_)
    assert other.score(X, y) == new.score(X, y)


def test_groups_of_the_fit_stay() -> None:
    X, y, _ = rows()
    group = np.arange(len(y)) // 3
    wrapped = uneven.UnevenThresholdClassifierCV(LogisticRegression(), pos_label=FRAUD, cv=3)
    other = clone(wrapped).fit(X, y, groups=group).with_costs(fn_cost=30)
    new = clone(wrapped).set_params(fn_cost=30).fit(X, y, groups=group)
    assert other.out_of_fold_cost_ == new.out_of_fold_cost_
    assert other.threshold_ == new.threshold_
    assert any("rows of one group are not independent" in note for note in other.with_costs_)
    with pytest.raises(AttributeError, match="not independent"):
        other.guarantee_  # noqa: B018 - the property raises


@pytest.mark.slow
def test_ensemble_has_costs_at_the_new_costs(fitted: dict[str, Any]) -> None:
    model = fitted["UnevenEnsembleClassifier"]
    other = model.with_costs(fn_cost=30)
    X, y, _ = rows()
    new = clone(other).fit(X, y)
    assert other.guarantee_.mean == new.guarantee_.mean
    assert other.out_of_fold_cost_.cost == pytest.approx(new.out_of_fold_cost_.cost)  # one member: nothing to choose
    found, expected = other.constant_costs_, new.constant_costs_
    assert {name: one.cost for name, one in found.items()} == pytest.approx(
        {name: one.cost for name, one in expected.items()}
    )
    with pytest.raises(AttributeError, match="not kept"):
        other.member_costs_  # noqa: B018 - the property raises
    assert model.with_costs(fn_cost=5).member_costs_ == model.member_costs_


def test_out_of_fold_cost_at_another_prevalence_counts_the_classes() -> None:
    model = threshold_model()
    moved = model.with_costs(prevalence=0.05)
    rows_, share = model._rows, model.prevalence_
    said = rows_.decide_out_of_fold(moved._row_costs, "gibbs", 8, model._fold, model._learnt) > 0
    weight = np.where(rows_.is_positive, 0.05 / share, 0.95 / (1 - share))
    paid = np.where(rows_.is_positive, 5.0 * ~said, 1.0 * said)
    assert moved.out_of_fold_cost_.cost == pytest.approx(np.average(paid, weights=weight))
    assert moved.constant_costs_["all negative"].cost == pytest.approx(5 * 0.05)
    assert "5 % positives" in moved.guarantee_.in_words()


@pytest.mark.slow
def test_few_groups_keep_the_fit_exactly() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(20_500, 1))
    y = (X[:, 0] + random.logistic(size=len(X)) > 1).astype(int)
    model = uneven.UnevenThresholdClassifierCV(LogisticRegression(), fn_cost=5, cv=2).fit(X, y)
    other = model.with_costs(fn_cost=30)
    assert any("keep_training_rows=True" in note for note in other.with_costs_)
    with pytest.raises(AttributeError):
        other.guarantee_  # noqa: B018 - the property raises
    with pytest.raises(AttributeError):
        other.out_of_fold_cost_  # noqa: B018 - the property raises
    back = other.with_costs(fn_cost=5)
    assert back.threshold_ == model.threshold_
    assert back.guarantee_ == model.guarantee_
    read = skops.io.loads(skops.io.dumps(back), trusted=uneven.trusted_types())
    assert read.guarantee_ == model.guarantee_


@pytest.mark.slow
def test_actions(fitted: dict[str, Any]) -> None:
    X, y, _ = rows()
    new = threshold_model().set_params(fn_cost=1, actions=ACTIONS).fit(X, y)
    other = threshold_model().with_costs(actions=ACTIONS)
    assert other.action_thresholds_ == new.action_thresholds_
    assert other.decide(X).action.tolist() == new.decide(X).action.tolist()
    assert other.score(X, y) == new.score(X, y)
    assert other.guarantee_ == new.guarantee_
    assert other.out_of_fold_cost_ == new.out_of_fold_cost_
    assert clone(other).fit(X, y).action_thresholds_ == new.action_thresholds_
    assert np.array_equal(new.with_costs(fn_cost=5, fp_cost=1).predict(X), new.predict(X, fn_cost=5, fp_cost=1))
    linear = fitted["UnevenLinearClassifier"]
    assert (
        linear.with_costs(actions=ACTIONS).decide(X).action.tolist()
        == linear.decide(X, actions=ACTIONS).action.tolist()
    )


def test_actions_at_another_prevalence_are_cheapest() -> None:
    """At each break the two neighbouring actions cost the same in use, up to the correction: brute force on a grid."""
    p, X = np.linspace(0.05, 0.95, 10), np.repeat(np.eye(10), 400, axis=0)
    y = np.concatenate([np.arange(400) < 400 * one for one in p]).astype(int)
    model = uneven.UnevenThresholdClassifierCV(LogisticRegression(C=1e6), actions=ACTIONS).fit(X, y)
    moved = model.with_costs(prevalence=0.1)
    in_use = uneven.undo_resampling(p, train=y.mean(), use=0.1)
    margin = np.sort(ACTIONS.expected_costs(in_use), axis=1)
    clear = margin[:, 1] - margin[:, 0] > 0.05
    assert clear.sum() > 6
    assert moved.decide(np.eye(10)).action[clear].tolist() == np.asarray(ACTIONS.choose(in_use))[clear].tolist()


def test_limits() -> None:
    model, X = threshold_model(), rows(100, 3)[0]
    limited = model.with_costs(at_most=7)
    assert limited.decide(X).action.tolist() == model.decide(X, at_most=7).action.tolist()
    assert limited.decide(X, at_most=3).action.tolist() == model.decide(X, at_most=3).action.tolist()
    assert (
        limited.with_costs(fn_cost=50).decide(X).action.tolist()
        == model.decide(X, fn_cost=50, at_most=7).action.tolist()
    )
    assert np.array_equal(limited.predict(X), model.predict(X))
    assert any("at_most=7" in note for note in limited.with_costs_)


def test_a_new_fit_forgets_the_change() -> None:
    X, y, _ = rows()
    model = threshold_model().with_costs(fn_cost=30, prevalence=0.01, at_most=3)
    again = model.fit(X, y)
    expected = clone(model).fit(X, y)
    assert not hasattr(again, "with_costs_")
    assert all(map(np.array_equal, answers(again, X), answers(expected, X)))
    assert again.threshold_ == expected.threshold_


def test_inside_a_pipeline_of_a_search() -> None:
    X, y, _ = rows()
    learner = make_pipeline(StandardScaler(), uneven.UnevenLinearClassifier("logistic", pos_label=FRAUD, fn_cost=5))
    search = uneven.UnevenClassifierCV(learner, margin_gammas=[1.0]).fit(X, y)
    assert np.array_equal(search.with_costs(fn_cost=40).predict(X), search.predict(X, fn_cost=40))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "something to change"),
        ({"fn_cost": [1, 2, 3]}, r"predict\(X, fn_cost=...\)"),
        ({"fn_cost": -1}, "must not be negative"),
        ({"fp_cost": 0, "fn_cost": 0}, "one of the costs must be positive"),
        ({"fn_cost": "many"}, "fn_cost"),
        ({"prevalence": 0}, "prevalence"),
        ({"prevalence": 1.5}, "prevalence"),
        ({"actions": "block"}, "uneven.Actions"),
        ({"actions": ACTIONS, "fn_cost": 3}, "not both"),
        ({"at_most": -3}, "at_most"),
        ({"per": "day"}, "per="),
        ({"per": [1, 2], "at_most": 3}, "column of X"),
        ({"recall_at_least": 2}, "recall_at_least"),
        ({"budget": (5, [1, 2])}, "budget"),
    ],
)
def test_what_cannot_be(given: dict[str, Any], said: str) -> None:
    model = threshold_model()
    with pytest.raises((CostError, ParameterError), match=said):
        model.with_costs(**given)


def test_costs_of_each_row_in_the_fit() -> None:
    X, y, amount = rows()
    model = uneven.UnevenThresholdClassifierCV(LogisticRegression(), pos_label=FRAUD).fit(X, y, fn_cost=amount)
    with pytest.raises(CostError, match="the fit had fn_cost of each row"):
        model.with_costs(fp_cost=2)
    assert np.array_equal(model.with_costs(fn_cost=3).predict(X), model.predict(X, fn_cost=3))
    learnt = uneven.UnevenLinearClassifier("logistic", pos_label=FRAUD).fit(X, y, fn_cost=amount)
    with pytest.raises(CostError, match="learnt with the costs of each row"):
        learnt.with_costs(fn_cost=3)
