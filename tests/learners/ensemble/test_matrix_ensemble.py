"""A cost for every confusion in the ensemble: two classes as ever, and members that learn several."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks
from small_members import use_small_members

import uneven
from uneven.errors import CostError, ParameterError

Ensemble = uneven.UnevenEnsembleClassifier
DEAR = uneven.CostMatrix([[0, 1, 2, 0.4], [5, 0, 1, 0.4], [20, 5, 0, 0.4]], actions=[0, 1, 2, "ask"])
OBEDIENT = {"bayes": GaussianNB(), "logistic": LogisticRegression(max_iter=1000)}


def few(count: int = 200, classes: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(count) % classes
    return rng.normal(size=(count, 4)) + 1.2 * np.eye(classes, 4)[y] + 0.3 * y[:, None], y


def _known(estimator: Any) -> dict[str, str]:
    own = {"check_classifiers_train": "predict has shifts, so it need not be the likeliest class"}
    if isinstance(estimator.members, dict):
        return own
    reason = "columns are scaled without regard to the weights, and the solver stops early"
    return own | {"check_sample_weight_equivalence_on_dense_data": reason}


@pytest.mark.slow
@parametrize_with_checks(
    [Ensemble(members={"bayes": GaussianNB()}, cv=3, costs="equal"), Ensemble(members=["linear"], cv=3, costs="equal")],
    expected_failed_checks=_known,
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_two_classes_are_those_of_four_costs() -> None:
    X, y = few(200, 2)
    one = Ensemble(costs=uneven.CostMatrix([[0, 1], [7, 0]]), members=OBEDIENT).fit(X, y)
    other = Ensemble(fp_cost=1, fn_cost=7, members=OBEDIENT).fit(X, y)
    assert (one.shift_, one.weights_, one.member_costs_) == (other.shift_, other.weights_, other.member_costs_)
    assert one.out_of_fold_cost_ == other.out_of_fold_cost_
    assert one.constant_costs_ == other.constant_costs_
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


@pytest.mark.slow
def test_every_member_that_learns_several_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    use_small_members(monkeypatch)
    X, y = few(200, 5)
    names = ["linear", "kernel", "svc", "extra_trees", "lightgbm", "xgboost", "forest", "catboost", "histogram"]
    labels = np.array(["e", "b", "d", "a", "c"])
    costs = uneven.CostMatrix(
        np.random.default_rng(0).integers(1, 9, (5, 5)) * (1 - np.eye(5)), classes=labels.tolist()
    )
    model = Ensemble(costs=costs, members=names, cv=3).fit(X, labels[y])
    assert model.left_out_ == {"svc": "knows two classes only"}
    assert set(model.member_costs_) == set(names) - {"svc"}
    assert sum(model.weights_.values()) == pytest.approx(1)
    cheapest = min(one.cost for one in model.constant_costs_.values())
    assert model.out_of_fold_cost_.cost < cheapest
    probability = model.predict_proba(X)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    assert (model.classes_[probability.argmax(axis=1)] == labels[y]).mean() > 0.6  # by chance: .2
    tilted = probability * np.exp(-model.shifts_)
    said = model.costs_.decide(tilted / tilted.sum(axis=1, keepdims=True))
    assert model.predict(X).tolist() == said.tolist()
    again = skops.io.loads(skops.io.dumps(model), trusted=uneven.trusted_types())
    np.testing.assert_array_equal(again.predict_proba(X), probability)
    assert again.predict(X).tolist() == model.predict(X).tolist()


def test_actions_other_costs_and_scores() -> None:
    X, y = load_iris(return_X_y=True)
    model = Ensemble(costs=DEAR, members=OBEDIENT).fit(X, y)
    assert model.score(X, y) == pytest.approx(-DEAR.paid(y, model.predict(X)).mean())
    assert model.decide(X).action.tolist() == model.predict(X).tolist()
    equal = uneven.CostMatrix(1 - np.eye(3))
    other = clone(model).set_params(costs=equal).fit(X, y)
    np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
    assert other.predict(X).tolist() == model.predict(X, costs=equal).tolist()
    assert model.with_costs(costs=equal).predict(X).tolist() == other.predict(X).tolist()
    importances = model.permutation_importance(X, y, n_repeats=2).importances_mean
    assert importances.shape == (4,)
    assert importances.max() > 0


def test_a_row_of_weight_two_is_two_rows() -> None:
    X, y = few(180, 3)
    twice = np.arange(180) % 4 == 0
    rows = np.concatenate([np.arange(180), np.flatnonzero(twice)])
    fold = np.arange(180) % 4
    parts = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(4)]
    repeated = [(np.flatnonzero(fold[rows] != k), np.flatnonzero(fold[rows] == k)) for k in range(4)]
    costs = uneven.CostMatrix([[0, 1, 3], [2, 0, 1], [9, 4, 0]])
    ensemble = Ensemble(costs=costs, members={"bayes": GaussianNB()})
    weighted = clone(ensemble).set_params(cv=parts).fit(X, y, sample_weight=np.where(twice, 2.0, 1.0))
    plain = clone(ensemble).set_params(cv=repeated).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.predict_proba(X), plain.predict_proba(X), rtol=1e-6)
    assert weighted.out_of_fold_cost_.cost == pytest.approx(plain.out_of_fold_cost_.cost)
    assert weighted.predict(X).tolist() == plain.predict(X).tolist()


def test_tables_with_words_and_a_class_that_a_fold_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    use_small_members(monkeypatch)
    X, y = few(200, 4)
    y[y == 3] = 2
    y[-1] = 3  # one row: a fold cannot learn it
    table = pd.DataFrame(X, columns=list("abcd"))
    table["city"] = np.array(["Ulm", "Bonn", "Kiel"])[y % 3]
    members = ["linear", "extra_trees", "lightgbm", "xgboost"]
    model = Ensemble(costs="ordinal", members=members, cv=3).fit(table, y)
    assert np.isfinite(model.predict_proba(table)).all()
    assert set(model.predict(table)) <= {0, 1, 2, 3}
    timed = Ensemble(costs="ordinal", members=OBEDIENT, cv=TimeSeriesSplit(3)).fit(X[:-1], y[:-1])
    assert timed.out_of_fold_cost_.cost < min(one.cost for one in timed.constant_costs_.values())


def test_a_matrix_for_each_row() -> None:
    X, y = few(200, 3)
    base = uneven.CostMatrix([[0, 1, 3], [2, 0, 1], [9, 4, 0]])
    same = np.repeat(base.costs[None], 200, axis=0)
    one = Ensemble(costs=base, members=OBEDIENT).fit(X, y, costs=same)
    other = Ensemble(costs=base, members=OBEDIENT).fit(X, y)
    np.testing.assert_array_equal(one.shifts_, other.shifts_)
    assert one.predict(X, costs=same).tolist() == other.predict(X).tolist()
    assert one.out_of_fold_cost_.cost == pytest.approx(other.out_of_fold_cost_.cost)


def test_bad_input_gets_one_sentence() -> None:
    X, y = load_iris(return_X_y=True)
    names = np.array(["home", "lab", "ward"])
    wanted = (
        r"UnevenEnsembleClassifier\(costs=uneven.CostMatrix\(\[\[0, 1, 1\], .*classes=\['home', 'lab', 'ward'\]\)\)"
    )
    with pytest.raises(CostError, match=wanted):
        Ensemble(members=OBEDIENT).fit(X, names[y])
    with pytest.raises(ParameterError, match="none of the members svc learns several classes; linear, kernel"):
        Ensemble(costs="equal", members=["svc"]).fit(X, y)
    with pytest.raises(ParameterError, match="monotone is for two classes"):
        Ensemble(costs="equal", members=["linear"], monotone={0: 1}).fit(X, y)
