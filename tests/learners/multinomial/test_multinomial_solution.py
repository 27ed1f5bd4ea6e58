"""The solution of the classifier for several classes: proved gaps, two classes, permutations, units."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression

import uneven
from uneven import UnevenLinearClassifier, phi
from uneven import UnevenMultinomialClassifier as Multinomial
from uneven.losses import names

CALIBRATED = [name for name in names() if phi(name).convex and name != "perceptron"]
LOSSES = ["logistic", phi("logistic"), *(name for name in CALIBRATED if name != "logistic")]


def problem(seed: int, n: int = 120, d: int = 3, classes: int = 4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * 10.0 ** random.uniform(-1, 1, size=d) + random.normal(size=d)
    w = random.normal(size=(d, classes)) / np.std(X, axis=0)[:, None]
    y = (X @ w + random.gumbel(size=(n, classes))).argmax(axis=1)
    y[:classes] = np.arange(classes)
    return X, y, random.random((classes, classes + 1)) * (1 - np.eye(classes, classes + 1)) * 5


def objective(model: Multinomial, X: Any, y: np.ndarray, weight: np.ndarray, w: np.ndarray, b: np.ndarray) -> float:
    """The objective of the docstring, written again."""
    z = X @ w.T + b
    C, places = float(model.C), np.searchsorted(model.classes_, y)
    if model.loss == "logistic":
        loss = logsumexp(z, axis=1) - z[np.arange(len(y)), places]
        return float((w**2).sum() * (1 if len(w) == 2 else 0.5) + C * weight @ loss)
    z = z - z.mean(axis=1, keepdims=True)
    regrets = model.costs_.costs - model.costs_.costs.min(axis=1, keepdims=True)
    costs = regrets[places] / np.average(regrets[places].sum(axis=1), weights=weight)
    return float(0.25 * (w**2).sum() + C * weight @ (costs * phi(model.loss)(-z)).sum(axis=1))


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_the_gap_is_a_bound(loss: Any) -> None:
    """No other point is lower than the objective less its gap: random ones, and those of an independent solver."""
    for seed, C in ((0, 1.0), (1, 0.01), (2, 100.0)):
        X, y, costs = problem(seed)
        random = np.random.default_rng(seed)
        weight = random.integers(0, 4, size=len(y)) + (np.arange(len(y)) < 9)
        model = Multinomial(loss, costs=costs, C=C).fit(X, y, weight)
        assert model.duality_gap_ <= 1e-6 * model.objective_
        at = objective(model, X, y, weight, model.coef_, model.intercept_)
        assert model.objective_ == pytest.approx(at, rel=1e-10)
        shape, least = (len(model.coef_), X.shape[1] + 1), model.objective_ - model.duality_gap_

        def at_theta(theta: np.ndarray, fitted=model, rows=(X, y, weight), shape=shape) -> float:  # type: ignore[no-untyped-def]
            full = theta.reshape(shape) - theta.reshape(shape).mean(axis=0)
            return objective(fitted, *rows, full[:, :-1], full[:, -1])

        now = np.column_stack([model.coef_, model.intercept_]).ravel()
        for size in 10.0 ** random.uniform(-6, 1, size=60):
            assert at_theta(now + size * random.normal(size=now.size)) >= least
        method = "Powell" if not isinstance(loss, str) or phi(loss).kinks else "L-BFGS-B"
        if seed == 0:
            found = minimize(
                at_theta, now + 0.01 * random.normal(size=now.size), method=method, options={"maxiter": 200}
            )
            assert least <= found.fun
            if method == "L-BFGS-B":
                assert found.fun <= model.objective_ * (1 + 1e-4)


def test_logistic_is_that_of_scikit_learn() -> None:
    X, y, _ = problem(5, n=300)
    for C in (0.01, 1.0, 100.0):
        ours = Multinomial(C=C, tol=1e-10).fit(X, y)
        theirs = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-10, max_iter=1000).fit(X, y)
        assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_two_classes_give_the_binary_learner(loss: Any) -> None:
    random = np.random.default_rng(4)
    X = random.normal(size=(150, 3))
    y = (X @ [1, -1, 0.5] + random.logistic(size=150) > 0.5).astype(int)
    weight = random.integers(1, 4, size=150).astype(float)
    for fp, fn in ((1, 1), (1, 8)):
        costs = [[0, fp], [fn, 0]]
        ours = Multinomial(loss, costs=costs, C=0.7, tol=1e-9).fit(X, y, weight)
        if loss == "logistic":  # learns probabilities: the binary learner with equal costs, decided at these
            binary = UnevenLinearClassifier(loss, C=0.7, tol=1e-9, pos_label=1).fit(X, y, weight)
            assert np.allclose(ours.predict_proba(X), binary.predict_proba(X), atol=1e-4)
            said = binary.predict(X, fp_cost=fp, fn_cost=fn)
            score = np.diff(ours.coef_, axis=0)[0]
        else:
            binary = UnevenLinearClassifier(loss, fp_cost=fp, fn_cost=fn, C=0.7, tol=1e-9, pos_label=1).fit(
                X, y, weight
            )
            said, score = binary.predict(X), ours.coef_[1]
        assert ours.objective_ == pytest.approx(binary.objective_, rel=1e-7)
        assert np.allclose(score, binary.coef_[0], atol=2e-3)
        assert np.mean(ours.predict(X) == said) > 0.98


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge"])
def test_labels_units_and_constants_change_nothing(loss: str) -> None:
    X, y, costs = problem(6)
    model = Multinomial(loss, costs=costs, tol=1e-9).fit(X, y)
    turn = np.array([2, 0, 3, 1])
    other = Multinomial(loss, costs=100 * costs[np.argsort(turn)] + np.arange(4)[:, None], tol=1e-9).fit(X, turn[y])
    assert other.objective_ == pytest.approx(model.objective_, rel=1e-8)
    assert np.mean(other.predict(X) == model.predict(X)) > 0.98  # actions keep their names
    sparse = Multinomial(loss, costs=costs, tol=1e-9).fit(sp.csr_matrix(X), y)
    assert sparse.objective_ == pytest.approx(model.objective_, rel=1e-8)


def test_classes_that_the_model_can_tell_apart_cost_little() -> None:
    """On data that linear scores can separate, every loss pays what Bayes pays."""
    random = np.random.default_rng(0)
    centres = 8 * np.array([[1, 0], [-0.5, 0.9], [-0.5, -0.9]])
    y = random.integers(0, 3, size=400)
    X = centres[y] + random.normal(size=(400, 2))
    for loss in LOSSES:
        model = Multinomial(loss, costs=[[0, 3, 9, 1], [1, 0, 4, 1], [9, 2, 0, 1]]).fit(X, y)
        assert -model.score(X, y) < 0.1


def test_an_action_between_classes_is_taken_where_it_pays() -> None:
    """Where both classes are as likely, asking a person is the cheapest; all losses find it for one constant column."""
    X, y = np.zeros((100, 1)), np.repeat([0, 1], 50)
    costs = uneven.CostMatrix({0: {"no": 0, "yes": 10, "ask": 2}, 1: {"no": 10, "yes": 0, "ask": 2}})
    for loss in LOSSES:
        assert Multinomial(loss, costs=costs, C=100).fit(X, y).predict(X[:1]).tolist() == ["ask"]


def test_many_columns_and_no_intercept() -> None:
    random = np.random.default_rng(1)
    X = sp.random(300, 1500, density=0.02, format="csr", random_state=0)
    y = np.asarray((X @ random.normal(size=(1500, 3)) + 0.1 * random.gumbel(size=(300, 3))).argmax(axis=1))
    for loss in ("logistic", "squared_hinge"):
        for intercept in (True, False):
            model = Multinomial(loss, fit_intercept=intercept).fit(X, y)
            assert model.duality_gap_ <= 1e-6 * model.objective_
            assert intercept or not model.intercept_.any()


def test_a_step_limit_is_told() -> None:
    X, y, costs = problem(0)
    with pytest.warns(UserWarning, match="did not reach tol=1e-06: stopped after 1 steps"):
        Multinomial("squared_hinge", costs=costs, max_iter=1).fit(X, y)


def test_rows_in_the_order_of_their_class_and_one_dear_row() -> None:
    X, y, costs = problem(3, n=6000)
    order = np.argsort(y)
    one, other = (Multinomial(costs=costs).fit(X[rows], y[rows]) for rows in (order, np.arange(len(y))))
    assert one.objective_ == pytest.approx(other.objective_, rel=2e-6)
    weight = np.ones(len(y))
    weight[0] = 1e6
    for loss in ("logistic", "hinge"):
        model = Multinomial(loss, costs=costs).fit(X[:500], y[:500], weight[:500])
        assert model.duality_gap_ <= 1e-6 * model.objective_
