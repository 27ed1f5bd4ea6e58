"""scikit-learn's contract, and the laws that decisions by cost obey.

The laws are checked on members that obey them themselves: GaussianNB and LogisticRegression are the same for weights
and for repeated rows; a forest draws rows, and the scaling of "linear" does not know the weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks
from small_members import use_small_members

import uneven
from uneven.costs import RowCosts

Ensemble = uneven.UnevenEnsembleClassifier
OBEDIENT = {"bayes": GaussianNB(), "logistic": LogisticRegression(tol=1e-10)}


def _known(estimator: Any) -> dict[str, str]:
    own = {"check_classifiers_train": "predict compares predict_proba with threshold_, which need not be 1/2"}
    if isinstance(estimator.members, dict):
        return own
    reason = "columns are scaled without regard to the weights, and the solver stops early"
    return own | {"check_sample_weight_equivalence_on_dense_data": reason}


@pytest.mark.slow
@parametrize_with_checks(
    [Ensemble(members={"bayes": GaussianNB()}, cv=3), Ensemble(members=["linear"], cv=3)],
    expected_failed_checks=_known,
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def _data(count: int = 120) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    X = random.normal(size=(count, 4))
    y = (X[:, 0] + 0.5 * X[:, 1] ** 2 + random.normal(size=count) > 1.2).astype(int)
    return X, y


@pytest.mark.parametrize("unit", [0.01, 1000.0])
def test_the_unit_of_the_costs_does_not_matter(unit: float) -> None:
    X, y = _data()
    one = Ensemble(fp_cost=1, fn_cost=7, members=OBEDIENT).fit(X, y)
    other = Ensemble(fp_cost=unit, fn_cost=7 * unit, members=OBEDIENT).fit(X, y)
    assert other.weights_ == one.weights_
    np.testing.assert_allclose(other.shift_, one.shift_, rtol=1e-9)
    np.testing.assert_allclose(other.out_of_fold_cost_.cost, unit * one.out_of_fold_cost_.cost, rtol=1e-12)
    assert other.predict(X).tolist() == one.predict(X).tolist()


@pytest.mark.parametrize(
    "members",
    [
        OBEDIENT,
        {"tree": DecisionTreeClassifier(max_depth=3, random_state=0)},
        ["linear", "extra_trees", "svc"],
        ["lightgbm", "catboost", "xgboost"],
    ],
    ids=str,
)
def test_turning_labels_and_costs_turns_decisions(members: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = _data()
    use_small_members(monkeypatch)
    one = Ensemble(fp_cost=1, fn_cost=7, members=members, cv=3).fit(X, y)
    other = Ensemble(fp_cost=7, fn_cost=1, members=members, cv=3).fit(X, 1 - y)
    np.testing.assert_allclose(list(other.weights_.values()), list(one.weights_.values()), atol=1e-9)
    np.testing.assert_allclose(other.shift_, -one.shift_, atol=1e-3)
    np.testing.assert_allclose(other.decision_function(X), -one.decision_function(X), atol=1e-2)


def test_costs_of_each_row_that_are_equal_are_as_numbers() -> None:
    X, y = _data()
    numbers = Ensemble(fp_cost=1, fn_cost=7, members=OBEDIENT).fit(X, y)
    rows = Ensemble(members=OBEDIENT).fit(X, y, fp_cost=np.ones(120), fn_cost=np.full(120, 7.0))
    assert rows.shift_ == numbers.shift_
    assert rows.predict(X).tolist() == numbers.predict(X).tolist()
    given = numbers.predict(X, fp_cost=np.ones(120), fn_cost=np.full(120, 7.0))
    assert given.tolist() == numbers.predict(X).tolist()


def test_a_row_of_weight_two_is_two_rows() -> None:
    X, y = _data()
    twice = np.arange(120) % 3 == 0
    rows = np.concatenate([np.arange(120), np.flatnonzero(twice)])
    fold = np.arange(120) % 4
    parts = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(4)]
    repeated = [(np.flatnonzero(fold[rows] != k), np.flatnonzero(fold[rows] == k)) for k in range(4)]
    ensemble = Ensemble(fp_cost=1, fn_cost=7, members=OBEDIENT)
    weighted = clone(ensemble).set_params(cv=parts).fit(X, y, sample_weight=np.where(twice, 2.0, 1.0))
    plain = clone(ensemble).set_params(cv=repeated).fit(X[rows], y[rows])
    assert weighted.weights_ == plain.weights_
    np.testing.assert_allclose(weighted.shift_, plain.shift_, rtol=1e-6)
    np.testing.assert_allclose(weighted.predict_proba(X), plain.predict_proba(X), rtol=1e-5)
    np.testing.assert_allclose(weighted.out_of_fold_cost_.cost, plain.out_of_fold_cost_.cost, rtol=1e-12)


def test_predictions_follow_the_probabilities_at_the_threshold() -> None:
    X, y = _data()
    model = Ensemble(fp_cost=2, fn_cost=6, members=OBEDIENT).fit(X, y)
    probability = model.predict_proba(X)[:, 1]
    assert (model.predict(X) == (probability > model.threshold_)).all()
    assert ((model.decision_function(X) > 0) == (probability > model.threshold_)).all()
    (cut,) = set(model.thresholds(RowCosts.read(y.size, fp_cost=2, fn_cost=18)))
    assert (model.predict(X, fn_cost=18) == (probability > cut)).all()
    assert (model.predict_proba(X, fn_cost=18)[:, 1] == probability).all()


def test_the_number_of_threads_does_not_matter() -> None:
    X, y = _data()
    members = ["linear", "svc"]
    one = Ensemble(fp_cost=1, fn_cost=7, members=members, n_jobs=1).fit(X, y)
    two = Ensemble(fp_cost=1, fn_cost=7, members=members, n_jobs=2).fit(X, y)
    assert two.weights_ == one.weights_
    assert two.predict_proba(X).tolist() == one.predict_proba(X).tolist()
