"""Costs of each row through scikit-learn: pipelines, searches, cross-validation, copies and files."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import skops.io
from linear_data import binary
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import uneven
from uneven import UnevenLinearClassifier as Linear

X, Y = binary(120, 3, seed=21)
AMOUNT = np.random.default_rng(2).exponential(size=Y.size) + 0.2
COSTS = {"fp_cost": 0.5 * AMOUNT + 0.1, "fn_cost": 4 * AMOUNT}
GRID = [0.5, 2.0]
FOLDS = KFold(3)


@pytest.fixture
def _routing() -> Iterator[None]:
    with config_context(enable_metadata_routing=True):
        yield


def requesting(learner: Any = None) -> Any:
    """A learner that asks for the costs in fit, score and predict."""
    learner = Linear() if learner is None else learner
    learner = learner.set_fit_request(fp_cost=True, fn_cost=True).set_score_request(fp_cost=True, fn_cost=True)
    return learner.set_predict_request(fp_cost=True, fn_cost=True)


def by_hand(rows: Any = slice(None), **parameters: Any) -> Linear:
    scaled = StandardScaler().fit_transform(X[rows])
    return Linear(**parameters).fit(scaled, Y[rows], **{name: cost[rows] for name, cost in COSTS.items()})


@pytest.mark.usefixtures("_routing")
def test_a_pipeline_passes_the_costs_that_are_requested() -> None:
    pipe = make_pipeline(StandardScaler(), requesting()).fit(X, Y, **COSTS)
    np.testing.assert_array_equal(pipe[-1].coef_, by_hand().coef_)
    np.testing.assert_array_equal(pipe.predict(X, **COSTS), by_hand().predict(StandardScaler().fit_transform(X)))
    numbers = make_pipeline(StandardScaler(), requesting()).fit(X, Y)  # not given: those of the constructor
    moved = numbers.predict(X, **COSTS)
    assert (moved != numbers.predict(X)).any()
    expected = numbers[-1].predict(numbers[:-1].transform(X), **COSTS)
    np.testing.assert_array_equal(moved, expected)


@pytest.mark.usefixtures("_routing")
@pytest.mark.parametrize(
    "learner", [Linear(), uneven.UnevenSVC(), uneven.UnevenPerceptron(), uneven.UnevenClassifierCV("svc")], ids=str
)
def test_every_learner_can_be_asked_to_request(learner: Any) -> None:
    asked = learner.set_fit_request(fp_cost=True, fn_cost=True, tp_cost=True, tn_cost=True, sample_weight=True)
    asked = asked.set_predict_request(fp_cost=True, fn_cost=True, tp_cost=True, tn_cost=True)
    request = clone(asked).get_metadata_routing()
    for method in ("fit", "predict"):
        assert all(getattr(request, method).requests[name] for name in ("fp_cost", "fn_cost", "tp_cost", "tn_cost"))


@pytest.mark.usefixtures("_routing")
def test_a_search_routes_the_rows_of_each_fold() -> None:
    pipe = make_pipeline(StandardScaler(), requesting())
    search = GridSearchCV(pipe, {"unevenlinearclassifier__margin_gamma": GRID}, cv=FOLDS).fit(X, Y, **COSTS)
    for k, (train, test) in enumerate(FOLDS.split(X)):
        steps = StandardScaler().fit(X[train])
        for number, gamma in enumerate(GRID):
            model = by_hand(train, margin_gamma=gamma)
            score = model.score(steps.transform(X[test]), Y[test], **{name: cost[test] for name, cost in COSTS.items()})
            assert search.cv_results_[f"split{k}_test_score"][number] == pytest.approx(score, abs=1e-12)
    best = search.best_params_["unevenlinearclassifier__margin_gamma"]
    np.testing.assert_array_equal(search.best_estimator_[-1].coef_, by_hand(margin_gamma=best).coef_)


@pytest.mark.usefixtures("_routing")
def test_cross_validate_routes_the_rows_of_each_fold() -> None:
    learner = requesting()
    found = cross_validate(learner, X, Y, params=COSTS, cv=FOLDS, return_estimator=True)
    for model, (train, _) in zip(found["estimator"], FOLDS.split(X), strict=True):
        expected = Linear().fit(X[train], Y[train], **{name: cost[train] for name, cost in COSTS.items()})
        np.testing.assert_array_equal(model.coef_, expected.coef_)
        assert model.analysis_.per_row


def test_without_routing_the_step_is_named() -> None:
    pipe = make_pipeline(StandardScaler(), Linear())
    named = {f"unevenlinearclassifier__{name}": cost for name, cost in COSTS.items()}
    np.testing.assert_array_equal(pipe.fit(X, Y, **named)[-1].coef_, by_hand().coef_)
    # Without routing no costs reach score, which needs them after such a fit.
    grid = {"unevenlinearclassifier__margin_gamma": GRID}
    search = GridSearchCV(pipe, grid, cv=FOLDS, scoring="accuracy").fit(X, Y, **named)
    best = search.best_params_["unevenlinearclassifier__margin_gamma"]
    np.testing.assert_array_equal(search.best_estimator_[-1].coef_, by_hand(margin_gamma=best).coef_)
    plain = GridSearchCV(Linear(), {"margin_gamma": GRID}, cv=FOLDS, scoring="accuracy").fit(X, Y, **COSTS)
    assert plain.best_estimator_.analysis_.per_row


@pytest.mark.parametrize(
    "learner",
    [
        Linear(),
        Linear("hinge", margin_gamma=2),
        Linear(uneven.UnevenMarginLoss("logistic", gamma=2, alpha="1/5"), fn_cost=4),
        uneven.UnevenSVC(margin_gamma=3),
        uneven.UnevenPerceptron(max_iter=2000),
        uneven.UnevenClassifierCV("linear", margin_gammas=GRID, cv=2, row_costs="learn"),
        uneven.UnevenClassifierCV("linear", margin_gammas=GRID, cv=2, row_costs="decide"),
    ],
    ids=str,
)
def test_copies_and_files(learner: Any) -> None:
    model = clone(learner).fit(X, Y, **COSTS)
    finished = isinstance(getattr(learner, "loss", None), uneven.Loss)
    copies = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    if not finished:  # a loss object is not among the types that skops stores
        stored = skops.io.dumps(model)
        copies.append(skops.io.loads(stored, trusted=skops.io.get_untrusted_types(data=stored)))
    for other in copies:
        np.testing.assert_array_equal(other.predict(X, **COSTS), model.predict(X, **COSTS))
        one, two = (getattr(each, "best_estimator_", each) for each in (model, other))
        assert one.loss_ == two.loss_
        assert one.analysis_.verdict == two.analysis_.verdict
        assert one.analysis_.per_row == two.analysis_.per_row
        assert one.cost_scale_ == two.cost_scale_
        assert one.analysis_.cost_regret_bound(0.1) == two.analysis_.cost_regret_bound(0.1)
        if hasattr(model, "predict_proba"):
            np.testing.assert_array_equal(other.predict_proba(X, **COSTS), model.predict_proba(X, **COSTS))
    fresh = clone(model)
    assert not hasattr(fresh, "classes_")
    again = fresh.fit(X, Y, **COSTS)
    np.testing.assert_array_equal(again.predict(X, **COSTS), model.predict(X, **COSTS))


def test_a_fit_with_numbers_forgets_the_rows_before() -> None:
    model = Linear(fn_cost=3).fit(X, Y, **COSTS)
    np.testing.assert_array_equal(model.fit(X, Y).coef_, Linear(fn_cost=3).fit(X, Y).coef_)
    assert not model.analysis_.per_row
    assert model.loss_ == Linear(fn_cost=3).fit(X, Y).loss_
    model.predict(X, fn_cost=5)
