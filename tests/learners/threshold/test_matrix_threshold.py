"""A cost for every confusion: two classes as ever, several classes by shifts, and scikit-learn's contract."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

import uneven
from uneven.errors import CostError, ParameterError

Threshold = uneven.UnevenThresholdClassifierCV
WINE = uneven.CostMatrix([[0, 1, 2], [5, 0, 1], [20, 5, 0]])
ASK = uneven.CostMatrix([[0, 1, 2, 0.3], [5, 0, 1, 0.3], [20, 5, 0, 0.3]], actions=[0, 1, 2, "ask"])


def few(count: int = 200, classes: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(count) % classes
    return rng.normal(size=(count, 4)) + 1.2 * np.eye(classes, 4)[y] + 0.3 * y[:, None], y


OTHER_LABELS = "its rows have labels that are not those of the matrix"
DEAR = "the cheapest class is not the likeliest one"


def _known(estimator: Any) -> dict[str, str]:
    if estimator.costs == "equal":
        return {"check_classifiers_train": "predict has shifts, so it need not be the likeliest class"}
    checks = ("check_dtype_object", "check_estimator_sparse_array", "check_estimator_sparse_matrix")
    known = dict.fromkeys((*checks, "check_classifiers_classes"), OTHER_LABELS)
    return known | dict.fromkeys(("check_classifiers_train", "check_decision_proba_consistency"), DEAR)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:no row is of the class")
@parametrize_with_checks(
    [Threshold(GaussianNB(), costs="equal", cv=3), Threshold(GaussianNB(), costs=WINE, cv=3)],
    expected_failed_checks=_known,
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("labels", [[0, 1], ["fraud", "ok"], ["ok", "fraud"]])
def test_two_classes_are_those_of_four_costs(labels: list[Any]) -> None:
    X, y = few(300, 2)
    y = np.array(labels)[y]
    matrix = uneven.CostMatrix([[0, 3], [20, -1]], classes=labels)
    one = Threshold(GaussianNB(), costs=matrix, pos_label=labels[1]).fit(X, y)
    other = Threshold(GaussianNB(), fp_cost=3, fn_cost=20, tp_cost=-1, pos_label=labels[1]).fit(X, y)
    assert (one.shift_, one.threshold_) == (other.shift_, other.threshold_)
    assert one.out_of_fold_cost_ == other.out_of_fold_cost_
    assert one.guarantee_ == other.guarantee_
    for name in ("predict", "predict_proba", "decision_function"):
        np.testing.assert_array_equal(getattr(one, name)(X), getattr(other, name)(X))
    assert one.score(X, y) == other.score(X, y)
    dearer = uneven.CostMatrix([[0, 1], [90, 0]], classes=labels)
    expected = other.predict(X, fp_cost=1, fn_cost=90, tp_cost=0, tn_cost=0)
    np.testing.assert_array_equal(one.predict(X, costs=dearer), expected)
    np.testing.assert_array_equal(one.with_costs(costs=dearer).predict(X), expected)
    assert one.score(X, y, costs=dearer) == other.score(X, y, fp_cost=1, fn_cost=90, tp_cost=0, tn_cost=0)
    decided = one.decide(X, costs=dearer, at_most=7)
    np.testing.assert_array_equal(
        decided.action, other.decide(X, fp_cost=1, fn_cost=90, tp_cost=0, tn_cost=0, at_most=7).action
    )
    unnamed = Threshold(GaussianNB(), costs=matrix).fit(X, y)  # the matrix says which cost is whose
    assert unnamed.score(X, y) == pytest.approx(one.score(X, y), abs=0.1)


def test_two_classes_and_several_actions_are_those_of_actions() -> None:
    X, y = few(300, 2)
    matrix = uneven.CostMatrix({0: {"clear": 0, "ask": 1, "block": 4}, 1: {"clear": 10, "ask": 3, "block": 0}})
    one = Threshold(GaussianNB(), costs=matrix).fit(X, y)
    other = Threshold(GaussianNB(), actions=uneven.Actions(clear=(10, 0), ask=(3, 1), block=(0, 4))).fit(X, y)
    np.testing.assert_array_equal(one.predict(X), other.decide(X).action)
    assert one.action_thresholds_ == other.action_thresholds_
    assert one.score(X, y) == pytest.approx(other.score(X, y), rel=1e-12)


def test_costs_of_each_row_with_two_classes_are_those_of_four_costs() -> None:
    X, y = few(300, 2)
    amount = np.random.default_rng(0).lognormal(2, 1, size=300)
    base = uneven.CostMatrix([[0, 3], [1, 0]])
    one = Threshold(GaussianNB(), costs=base).fit(X, y, costs=base.with_costs_of_rows({(1, 0): amount}))
    other = Threshold(GaussianNB()).fit(X, y, fp_cost=3, fn_cost=amount)
    assert one.shift_ == other.shift_
    array = base.with_costs_of_rows({(1, 0): amount}).costs
    np.testing.assert_array_equal(one.predict(X, costs=array), other.predict(X, fp_cost=3, fn_cost=amount))


def test_actions_of_several_classes() -> None:
    X, y = load_wine(return_X_y=True)
    model = Threshold(GaussianNB(), costs=ASK).fit(X, y)
    table = model.decide(X)
    assert set(model.predict(X).tolist()) <= {0, 1, 2, "ask"}
    assert table.action.tolist() == model.predict(X).tolist()
    tilted = model.predict_proba(X) * np.exp(-model.shifts_)
    assert model.predict(X).tolist() == ASK.decide(tilted / tilted.sum(axis=1, keepdims=True)).tolist()
    np.testing.assert_allclose(table.expected_costs, ASK.expected_cost(model.predict_proba(X)))
    assert model.score(X, y) == pytest.approx(-ASK.paid(y, model.predict(X)).mean())
    assert model.score(X, y, np.arange(178.0)) == pytest.approx(
        -np.average(ASK.paid(y, model.predict(X)), weights=np.arange(178.0))
    )
    assert model.out_of_fold_cost_.low <= model.out_of_fold_cost_.cost <= model.out_of_fold_cost_.high
    cheapest = min(one.cost for one in model.constant_costs_.values())
    assert cheapest == pytest.approx(min(ASK.paid(y, np.full(178, a, dtype=object)).mean() for a in ASK.actions))
    assert model.out_of_fold_cost_.cost < cheapest
    assert table.to_frame().shape == (178, 5)
    assert model.decision_function(X).shape == (178, 4)
    assert np.array_equal(np.array(ASK.actions, object)[model.decision_function(X).argmax(axis=1)], model.predict(X))


def test_other_costs_need_no_new_fit_and_leave_the_probabilities() -> None:
    X, y = load_iris(return_X_y=True)
    model = Threshold(LogisticRegression(max_iter=1000), costs="equal").fit(X, y)
    dear = uneven.CostMatrix([[0, 1, 1], [1, 0, 1], [50, 50, 0]])
    fitted = Threshold(LogisticRegression(max_iter=1000), costs=dear).fit(X, y)
    np.testing.assert_array_equal(fitted.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X, costs=dear), fitted.predict(X))
    changed = model.with_costs(costs=dear)
    np.testing.assert_array_equal(changed.predict(X), fitted.predict(X))
    assert changed.costs_ == dear
    assert changed.out_of_fold_cost_.cost == fitted.out_of_fold_cost_.cost
    assert (model.predict(X, costs=dear) == 2).sum() > (model.predict(X) == 2).sum()


def test_names_and_order_of_classes_do_not_matter() -> None:
    X, y = few(300, 3)
    names = np.array(["low", "mid", "high"])  # sorted: high, low, mid
    matrix = uneven.CostMatrix(WINE.costs, classes=names.tolist())
    one = Threshold(GaussianNB(), costs=WINE, cv=_folds(300)).fit(X, y)
    other = Threshold(GaussianNB(), costs=matrix, cv=_folds(300)).fit(X, names[y])
    np.testing.assert_array_equal(other.predict(X), names[one.predict(X)])
    np.testing.assert_allclose(other.predict_proba(X)[:, [1, 2, 0]], one.predict_proba(X), rtol=1e-9)
    assert other.out_of_fold_cost_.cost == pytest.approx(one.out_of_fold_cost_.cost)
    turned = uneven.CostMatrix(WINE.costs[::-1, ::-1], classes=[2, 1, 0])
    again = Threshold(GaussianNB(), costs=turned, cv=_folds(300)).fit(X, y)
    np.testing.assert_array_equal(again.predict(X), one.predict(X))
    assert other.costs_.classes == ("high", "low", "mid")
    assert other.costs_.decide(other.predict_proba(X)).shape == (300,)


def _folds(count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    fold = np.arange(count) % 5
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(5)]


def test_a_matrix_for_each_row() -> None:
    X, y = few(300, 3)
    amount = np.random.default_rng(0).lognormal(1, 1, size=300)
    of_rows = WINE.with_costs_of_rows({(2, 0): amount})
    same = Threshold(GaussianNB(), costs=WINE).fit(X, y, costs=np.repeat(WINE.costs[None], 300, axis=0))
    one = Threshold(GaussianNB(), costs=WINE).fit(X, y)
    np.testing.assert_array_equal(same.shifts_, one.shifts_)
    model = Threshold(GaussianNB(), costs=WINE).fit(X, y, costs=of_rows)
    with pytest.raises(CostError, match="a cost matrix for each row, so these rows need one, too"):
        model.predict(X)
    said = model.predict(X, costs=of_rows)
    assert model.score(X, y, costs=of_rows) == pytest.approx(-of_rows.paid(y, said).mean())
    alone = [model.predict(X[[k]], costs=of_rows.take([k]))[0] for k in range(20)]
    assert alone == said[:20].tolist()
    with pytest.raises(CostError, match="costs for 300 rows, but 7 rows"):
        model.predict(X[:7], costs=of_rows)


def test_few_rows_rare_classes_and_a_class_that_a_fold_lacks() -> None:
    X, y = few(200, 5)
    model = Threshold(GaussianNB(), costs="ordinal").fit(X, y)
    assert model.predict_proba(X).shape == (200, 5)
    y[y == 4] = 3
    y[:1] = 4  # a single row
    ordered = Threshold(GaussianNB(var_smoothing=0.1), costs="ordinal").fit(X, y)
    assert np.isfinite(ordered.predict_proba(X)).all()
    assert ordered.predict(X).shape == (200,)
    timed = Threshold(GaussianNB(var_smoothing=0.1), costs="ordinal", cv=TimeSeriesSplit(4)).fit(X, y)
    assert np.isnan(timed.out_of_fold_probability_[:20]).all()
    assert np.isfinite(timed.out_of_fold_cost_.cost)


def test_ten_classes_prefit_one_split_and_decision_values() -> None:
    X, y = few(600, 10)
    costs = uneven.CostMatrix(np.random.default_rng(0).integers(1, 9, size=(10, 10)) * (1 - np.eye(10)))
    fitted = GaussianNB().fit(X[:300], y[:300])
    before = Threshold(fitted, costs=costs, prefit=True).fit(X[300:], y[300:])
    assert before.estimator_ is fitted
    assert before.shifts_.shape == (10,)
    one = Threshold(GaussianNB(), costs=costs, cv=0.3, refit=False).fit(X, y)
    assert one.score(X, y) > -costs.paid(y, np.zeros(600, int)).mean()
    ridge = Threshold(RidgeClassifier(), costs=costs).fit(X, y)  # decision values only
    np.testing.assert_allclose(ridge.predict_proba(X).sum(axis=1), 1)


def test_frames_searches_and_routing() -> None:
    X, y = few(240, 3)
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = Threshold(GaussianNB(), costs=WINE)
    assert clone(model).get_params()["costs"] == WINE
    search = GridSearchCV(model, {"estimator__var_smoothing": [1e-9, 0.1]}, cv=3, error_score="raise").fit(frame, y)
    assert search.best_score_ < 0
    of_rows = np.repeat(WINE.costs[None], 240, axis=0)
    with config_context(enable_metadata_routing=True):
        asked = Threshold(GaussianNB(), costs=WINE).set_fit_request(costs=True).set_score_request(costs=True)
        routed = GridSearchCV(asked, {"order": [8]}, cv=3, error_score="raise", refit=False).fit(X, y, costs=of_rows)
    plain = GridSearchCV(model, {"order": [8]}, cv=3, error_score="raise", refit=False).fit(X, y)
    assert routed.best_score_ == pytest.approx(plain.best_score_)


@pytest.mark.parametrize("costs", [ASK, "equal"], ids=str)
def test_files_keep_the_model_and_hold_no_pickle(costs: Any) -> None:
    X, y = load_iris(return_X_y=True)
    model = Threshold(LogisticRegression(max_iter=1000), costs=costs).fit(X, y)
    model.predict(X, costs=WINE)
    again = skops.io.loads(skops.io.dumps(model), trusted=uneven.trusted_types())
    assert again.predict(X).tolist() == model.predict(X).tolist()
    assert again.predict(X, costs=WINE).tolist() == model.predict(X, costs=WINE).tolist()
    assert again.out_of_fold_cost_.cost == model.out_of_fold_cost_.cost


@pytest.mark.parametrize(
    ("params", "told", "message"),
    [
        (
            {},
            {},
            r"with UnevenThresholdClassifierCV\(costs=uneven.CostMatrix\(\[\[0, 1, 1\], \[1, 0, 1\], \[1, 1, 0\]\]",
        ),
        ({"costs": [[0, 1], [1, 0]]}, {}, "costs must be uneven.CostMatrix"),
        ({"costs": WINE, "fn_cost": 3}, {}, "costs stand in place of fn_cost, got fn_cost=3 as well"),
        ({"costs": WINE}, {"fp_cost": 3}, "costs stand in place of fp_cost"),
        ({"costs": uneven.CostMatrix([[0, 1], [1, 0]])}, {}, "y has the class 2, which is none of the cost matrix"),
        ({"costs": WINE}, {"costs": np.zeros((3, 3, 3))}, "there are costs for 3 rows, but 150 rows in X"),
    ],
)
def test_bad_input_gets_one_sentence(params: dict[str, Any], told: dict[str, Any], message: str) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(CostError, match=message):
        Threshold(GaussianNB(), **params).fit(X, y, **told)


def test_what_is_for_two_classes_says_so() -> None:
    X, y = load_iris(return_X_y=True)
    model = Threshold(GaussianNB(), costs="equal").fit(X, y)
    with pytest.raises(
        AttributeError, match="this is for two classes, and UnevenThresholdClassifierCV was fitted to 3"
    ):
        _ = model.threshold_
    with pytest.raises(ParameterError, match="a limit names its action"):
        model.decide(X, at_most=3)
    with pytest.raises(CostError, match="fn_cost is for two classes"):
        model.predict(X, fn_cost=3)
    with pytest.raises(ParameterError, match="method='platt' is for two classes"):
        Threshold(GaussianNB(), costs="equal", method="platt").fit(X, y)
    with pytest.raises(CostError, match="costs='ordinal' needs levels that are numbers"):
        Threshold(GaussianNB(), costs="ordinal").fit(X, np.array(["a", "b", "c"])[y])
    for attribute in (
        "shift_",
        "posterior_",
        "calibration_",
        "curve_",
        "out_of_fold_rows_",
        "prevalence_",
    ):
        assert not hasattr(model, attribute), attribute
    again = model.set_params(costs=None).fit(X, y == 2)
    assert again.threshold_ > 0
    assert not hasattr(again, "shifts_")
