"""scikit-learn's contract of the classifier for several classes: its own checks, containers, labels, routing, files."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import skops.io
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import uneven
from uneven import CostMatrix
from uneven import UnevenMultinomialClassifier as Multinomial
from uneven.errors import CostError, LossError

LABELS = np.array(["harmless", "infection", "stroke"])
COSTS = {
    "harmless": {"home": 0, "ward": 5, "operate": 40, "second test": 3},
    "infection": {"home": 30, "ward": 0, "operate": 25, "second test": 4},
    "stroke": {"home": 1000, "ward": 200, "operate": 0, "second test": 60},
}


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    X = random.normal(size=(200, 4))
    return X, LABELS[(X @ random.normal(size=(4, 3)) + random.gumbel(size=(200, 3))).argmax(axis=1)]


@parametrize_with_checks([Multinomial(), Multinomial("hinge"), Multinomial("squared_hinge")])
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_containers_give_the_same(data: tuple[np.ndarray, np.ndarray], loss: str) -> None:
    X, y = data
    model = Multinomial(loss, costs=COSTS).fit(X, y)
    frame = pd.DataFrame(X, columns=list("abcd"))
    for rows in (frame, sp.csr_matrix(X), np.asfortranarray(X), X.astype(np.float32)):
        other = Multinomial(loss, costs=COSTS).fit(rows, pd.Series(y))
        assert np.allclose(other.coef_, model.coef_, atol=2e-3)
        assert np.mean(other.predict(rows) == model.predict(X)) > 0.98
    with pytest.raises(ValueError, match="feature names"):
        Multinomial(loss, costs=COSTS).fit(frame, y).predict(frame[list("dcba")])
    tables = [CostMatrix(COSTS), pd.DataFrame(COSTS).T, np.array([list(row.values()) for row in COSTS.values()])]
    for table in tables:
        other = Multinomial(loss, costs=table).fit(X, y)
        assert np.array_equal(other.coef_, model.coef_)
        number = {action: k for k, action in enumerate(model.actions_)}
        taken = other.predict(X)
        assert np.array_equal([number.get(a, a) for a in taken], [number[a] for a in model.predict(X)])


def test_files_hold_the_model(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    for loss in ("logistic", "hinge"):
        model = Multinomial(loss, costs=CostMatrix(COSTS)).fit(X, y)
        model.costs.psi(0.1)  # what a matrix remembers of its theory is not in the file
        loaded = skops.io.loads(skops.io.dumps(model), trusted=uneven.trusted_types())
        for other in (loaded, pickle.loads(pickle.dumps(model))):
            assert np.array_equal(other.predict(X), model.predict(X))
            assert other.costs_ == model.costs_
        assert clone(model).costs == model.costs


def test_costs_of_the_constructor_and_of_predict(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    model = Multinomial(costs=COSTS).fit(X, y)
    assert np.array_equal(model.predict(X), CostMatrix(COSTS).decide(model.predict_proba(X)))
    other = CostMatrix(1 - np.eye(3), list(LABELS))
    assert np.array_equal(model.predict(X, costs=other), LABELS[model.predict_proba(X).argmax(axis=1)])
    assert np.array_equal(model.predict_proba(X), Multinomial().fit(X, y).predict_proba(X))
    of_rows = CostMatrix(COSTS).with_costs_of_rows({("stroke", "home"): np.linspace(0, 9999, len(y))})
    assert np.array_equal(model.predict(X, costs=of_rows), of_rows.decide(model.predict_proba(X)))
    paid = of_rows.paid(y, model.predict(X, costs=of_rows))
    assert model.score(X, y, costs=of_rows) == pytest.approx(-paid.mean())
    weight = np.arange(len(y)) + 1.0
    assert model.score(X, y, weight, costs=of_rows) == pytest.approx(-np.average(paid, weights=weight))


def test_costs_of_rows_of_a_phi(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    same = np.broadcast_to(CostMatrix(COSTS).costs, (len(y), 3, 4))
    one = Multinomial("squared_hinge", costs=COSTS, tol=1e-10).fit(X, y)
    each = Multinomial("squared_hinge", tol=1e-10).fit(X, y, costs=CostMatrix(same, list(COSTS), one.actions_.tolist()))
    assert np.allclose(one.coef_, each.coef_, atol=1e-5)
    assert np.array_equal(one.predict(X), each.predict(X))
    # A row that counts twice is a row whose costs are doubled.
    weight = np.where(np.arange(len(y)) % 2, 2.0, 1.0)
    double = CostMatrix(same * weight[:, None, None], list(COSTS), one.actions_.tolist())
    unit = np.average(np.sum(same[0], axis=1)[np.searchsorted(LABELS, y)], weights=weight) / np.mean(
        np.sum(same[0], axis=1)[np.searchsorted(LABELS, y)] * weight
    )
    weighted = Multinomial("squared_hinge", costs=COSTS, tol=1e-10, C=1.0).fit(X, y, weight)
    costed = Multinomial("squared_hinge", tol=1e-10, C=float(1 / unit)).fit(X, y, costs=double)
    assert np.allclose(weighted.coef_, costed.coef_, atol=1e-5)
    with pytest.raises(CostError, match="the fit had costs of each row"):
        costed.score(X, y)
    assert costed.score(X, y, costs=double) <= 0


def test_searches_and_routing(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    search = GridSearchCV(
        make_pipeline(StandardScaler(), Multinomial(costs=COSTS)),
        {"unevenmultinomialclassifier__loss": ["logistic", "hinge"], "unevenmultinomialclassifier__C": [0.1, 1]},
        cv=3,
    ).fit(X, y)
    assert search.best_score_ < 0
    of_rows = np.broadcast_to(CostMatrix(COSTS).costs, (len(y), 3, 4)).copy()
    with config_context(enable_metadata_routing=True):
        model = Multinomial().set_fit_request(costs=True).set_score_request(costs=True)
        routed = cross_validate(model, X, y, cv=3, params={"costs": of_rows})["test_score"]
    plain = cross_validate(Multinomial(costs=of_rows[0]), X, y, cv=3)["test_score"]
    assert np.allclose(routed, plain)


def test_what_is_refused_and_why(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    with pytest.raises(LossError, match=r"'perceptron' has a kink at t = 0, and is therefore not calibrated"):
        Multinomial("perceptron").fit(X, y)
    with pytest.raises(LossError, match="'ramp' is not known to be convex"):
        Multinomial("ramp").fit(X, y)
    with pytest.raises(LossError, match="does not fall at t = 0"):
        Multinomial("exp(t)").fit(X, y)
    with pytest.raises(CostError, match="costs have no row for the class 'stroke'"):
        Multinomial(costs={label: COSTS[label] for label in LABELS[:2]}).fit(X, y)
    with pytest.raises(CostError, match="costs have 2 rows without names, but y has 3 classes"):
        Multinomial(costs=[[0, 1], [1, 0]]).fit(X, y)
    with pytest.raises(CostError, match="no action is cheaper than 'nothing'"):
        Multinomial("hinge", costs={label: {"nothing": 0, "test": 1} for label in LABELS}).fit(X, y)
    with pytest.raises(CostError, match="costs of the learner itself must be one matrix"):
        Multinomial(costs=np.ones((len(y), 3, 3))).fit(X, y)
    with pytest.raises(CostError, match="one class only: 'stroke'"):
        Multinomial().fit(X, np.full(len(y), "stroke"))
    with pytest.raises(CostError, match="sample_weight is 0 for every example of class 'stroke'"):
        Multinomial().fit(X, y, np.where(y == "stroke", 0.0, 1.0))
    hinge = Multinomial("hinge", costs=COSTS).fit(X, y)
    with pytest.raises(LossError, match="decides for the costs of its fit only"):
        hinge.predict(X, costs=COSTS)
    assert not hasattr(hinge, "predict_proba")
