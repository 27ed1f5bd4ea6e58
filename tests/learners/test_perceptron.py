"""UnevenPerceptron: the bound on its updates, streams, averages, and what its docs promise."""

from __future__ import annotations

import pickle
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
import skops.io
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import uneven
from uneven.errors import CostError, LossError, ParameterError

NOT_A_SUM = (
    "a row of weight 2 makes one step of twice the length, two rows make two steps: the order of rows matters to a "
    "perceptron"
)


@parametrize_with_checks(
    [uneven.UnevenPerceptron(), uneven.UnevenPerceptron(average=False)],
    expected_failed_checks=lambda estimator: {
        "check_sample_weight_equivalence_on_dense_data": NOT_A_SUM,
        "check_sample_weight_equivalence_on_sparse_data": NOT_A_SUM,
    },
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def separable(seed: int, gap: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 4))
    direction = rng.normal(size=4)
    direction /= np.linalg.norm(direction)
    score = X @ direction
    X += np.outer(np.where(score > 0.7, gap, -gap), direction)
    return X, (score > 0.7).astype(int)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("gamma", "fp_cost", "fn_cost", "eta0"), [(1, 1, 1, 1), (4, 1, 1, 1), (0.25, 1, 10, 0.5), (2, 3, 1, 0.1)]
)
def test_updates_respect_the_bound_on_separable_data(
    seed: int, gamma: float, fp_cost: float, fn_cost: float, eta0: float
) -> None:
    """Costs of all updates <= (max |x|^2 + R^2 + 2 max(1, 1/gamma)/eta) / Gamma^2, Gamma of any separator."""
    X, y = separable(seed, gap=0.4)
    clf = uneven.UnevenPerceptron(
        fp_cost=fp_cost, fn_cost=fn_cost, margin_gamma=gamma, eta0=eta0, tol=None, max_iter=100_000, random_state=seed
    ).fit(X, y)
    # A separator (u, v) of unit size |u|^2 + v^2/R^2: the hard-margin SVM.
    radius, signs = clf.radius_, np.where(y == 1, 1, -1)
    machine = SVC(kernel="linear", C=1e6).fit(X, y)
    size = np.hypot(np.linalg.norm(machine.coef_), machine.intercept_[0] / radius)
    largest = (signs * machine.decision_function(X)).min() / size
    assert largest > 0
    bound = ((X**2).sum(axis=1).max() + radius**2 + 2 * max(1, 1 / gamma) / eta0) / largest**2
    least_cost = min(fp_cost, fn_cost) / max(fp_cost, fn_cost)
    assert 0 < clf.n_updates_ * least_cost <= bound
    # Settled: every row has its margin.
    f = clf.decision_function(X)
    assert (f[y == 1] > 1).all()
    assert (f[y == 0] < -1 / gamma).all()


def by_hand(X: np.ndarray, y: np.ndarray, clf: uneven.UnevenPerceptron, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Last and mean weights of one pass in order, written down from the algorithm."""
    w, b = np.zeros(X.shape[1]), 0.0
    seen = []
    worst = max(clf.fp_cost, clf.fn_cost)
    for x, label in zip(X, y, strict=True):
        sign, margin, cost = (1, 1, clf.fn_cost) if label == 1 else (-1, 1 / clf.margin_gamma, clf.fp_cost)
        if sign * (x @ w + b) <= margin:
            w = w + clf.eta0 * cost / worst * sign * x
            b = b + clf.eta0 * cost / worst * sign * radius**2
        seen.append(np.append(w, b))
    return seen[-1], np.mean(seen, axis=0)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("thin", [False, True])
def test_a_pass_is_the_algorithm(average: bool, thin: bool) -> None:
    X, y = make_classification(300, 5, weights=[0.7], flip_y=0.1, random_state=1)
    clf = uneven.UnevenPerceptron(fp_cost=2, fn_cost=5, margin_gamma=3, eta0=0.1, average=average)
    clf.partial_fit(sparse.csr_matrix(X) if thin else X, y)
    expected = by_hand(X, y, clf, np.linalg.norm(X, axis=1).max())[average]
    np.testing.assert_allclose(np.append(clf.coef_[0], clf.intercept_), expected, rtol=1e-9, atol=1e-9)
    assert clf.n_iter_ == 1
    assert clf.t_ == 300


def test_a_stream_is_one_long_pass() -> None:
    X, y = make_classification(400, 5, random_state=2)
    X[0] *= 100  # the radius is that of the first call
    whole = uneven.UnevenPerceptron(fn_cost=3, margin_gamma=2).partial_fit(X, y)
    stream = uneven.UnevenPerceptron(fn_cost=3, margin_gamma=2)
    size = None
    for lo in range(0, 400, 50):
        stream.partial_fit(X[lo : lo + 50], y[lo : lo + 50], classes=[0, 1])
        now = len(pickle.dumps(stream))
        assert size is None or abs(now - size) < 50  # memory does not grow
        size = now
    np.testing.assert_allclose(stream.coef_, whole.coef_, rtol=1e-12)
    assert stream.t_ == whole.t_ == 400


def test_batches_of_one_class_and_strange_labels() -> None:
    X = np.array([[1.0], [2.0]])
    clf = uneven.UnevenPerceptron(pos_label="bad", fn_cost=2)
    clf.partial_fit(X, ["good", "good"], classes=["good", "bad"])
    clf.partial_fit(-X, ["bad", "bad"])
    assert clf.classes_.tolist() == ["bad", "good"]
    with pytest.raises(CostError, match=r"y must hold the classes \['bad', 'good'\] of the first call, got .*ugly"):
        clf.partial_fit(X, ["ugly", "good"])
    with pytest.raises(CostError, match="classes must stay those of the first call"):
        clf.partial_fit(X, ["bad", "good"], classes=["good", "ugly"])
    with pytest.raises(CostError, match="two classes, got one class only"):
        uneven.UnevenPerceptron().partial_fit(X, [1, 1])


def test_its_mean_comes_near_the_minimum_of_the_hinge_and_costs_matter() -> None:
    """Not separable: small steps, averaged, end near the calibrated minimum; the last weights need not."""
    X, y = make_classification(3000, 4, n_informative=3, n_redundant=0, weights=[0.8], flip_y=0.1, random_state=0)
    X = np.column_stack([X, np.ones(len(X))]) / 3

    def loss(f: np.ndarray) -> float:
        return float(np.where(y == 1, 5 * np.maximum(0, 1 - f), np.maximum(0, 1 + 2 * f) / 2).mean())

    exact = uneven.UnevenLinearClassifier("hinge", fn_cost=5, margin_gamma=2, C=100).fit(X, y)
    clf = uneven.UnevenPerceptron(fn_cost=5, margin_gamma=2, eta0=0.01).fit(X, y)
    assert loss(clf.decision_function(X)) < 1.03 * loss(exact.decision_function(X))
    said = [clone(clf).set_params(fn_cost=cost, margin_gamma=1).fit(X, y).predict(X).mean() for cost in (0.2, 1, 5, 25)]
    assert said == sorted(said)
    assert said[-1] > 2 * said[0]


def test_the_docs_say_the_truth_about_the_plain_perceptron() -> None:
    loss = uneven.UnevenMarginLoss("perceptron", alpha=0.2)
    assert uneven.analyze(loss).verdict.status == "not calibrated"
    assert uneven.implied_alpha(loss).alpha is None
    clf = uneven.UnevenPerceptron(fn_cost=4, margin_gamma=3).fit([[0.0], [1.0]], [0, 1])
    assert clf.analysis_.verdict.status == "calibrated"  # the margin version is a hinge


def test_shuffling_weights_labels_and_copies() -> None:
    X, y = make_classification(200, 5, flip_y=0.2, random_state=3)
    one, same, other = (uneven.UnevenPerceptron(random_state=seed).fit(X, y) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.coef_, same.coef_)
    assert not np.allclose(one.coef_, other.coef_)
    weight = np.random.default_rng(0).integers(0, 2, 200)
    weight[np.linalg.norm(X, axis=1).argmax()] = 1  # the radius is the same without the rows of weight 0
    part = uneven.UnevenPerceptron(shuffle=False, average=False).fit(X, y, sample_weight=weight)
    kept = uneven.UnevenPerceptron(shuffle=False, average=False).fit(X[weight == 1], y[weight == 1])
    np.testing.assert_allclose(part.coef_, kept.coef_)
    words = np.where(y == 1, "bad", "good")
    named = uneven.UnevenPerceptron(fn_cost=3, pos_label="bad").fit(X, words)
    plain = uneven.UnevenPerceptron(fn_cost=3).fit(X, y)
    np.testing.assert_array_equal(named.predict(X) == "bad", plain.predict(X) == 1)
    np.testing.assert_allclose(named.coef_, -plain.coef_)
    again = pickle.loads(pickle.dumps(plain)).partial_fit(X, y)
    assert again.t_ == plain.t_ + 200
    dumped = skops.io.dumps(plain)
    loaded = skops.io.loads(dumped, trusted=skops.io.get_untrusted_types(data=dumped))
    np.testing.assert_array_equal(loaded.predict(X), plain.predict(X))


def test_what_never_settles_is_announced() -> None:
    X, y = make_classification(100, 3, n_redundant=0, flip_y=0.5, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"did not settle in max_iter=3 passes: the last one made \d+ updates"):
        uneven.UnevenPerceptron(tol=None, max_iter=3).fit(X, y)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"eta0": 0}, "eta0 must be positive, got 0"),
        ({"tol": -1}, "tol must be positive, got -1"),
        ({"max_iter": 0}, "max_iter must be a positive integer, got 0"),
        ({"n_iter_no_change": 1.5}, "n_iter_no_change must be a positive integer, got 1.5"),
        ({"margin_gamma": 0}, "margin_gamma must be positive, got 0"),
        ({"fn_cost": -1}, "fn_cost must be positive, got -1"),
    ],
    ids=str,
)
def test_bad_parameters(change: dict[str, Any], says: str) -> None:
    with pytest.raises((LossError, ParameterError, CostError), match=says):
        uneven.UnevenPerceptron(**change).fit([[0.0], [1.0]], [0, 1])


def test_a_stream_of_single_rows_with_costs_of_their_own() -> None:
    random = np.random.default_rng(3)
    X, y = random.normal(size=(40, 2)), np.tile([1, 0, 0, 1], 10)
    costs = {"fp_cost": random.uniform(0.5, 1, 40), "fn_cost": random.uniform(0.5, 1, 40)}
    costs["fp_cost"][[2, 5]] = 0.0, -0.5  # costs nothing, pays
    costs["fn_cost"][0], X[0] = 1.0, [9.0, 0.0]  # so that scale and radius are those of all rows
    row_by_row = uneven.UnevenPerceptron()
    for k in range(40):
        one = {name: cost[k : k + 1] for name, cost in costs.items()}
        with pytest.warns(UserWarning, match="in 1 of 1 rows") if k == 5 else nullcontext():
            row_by_row.partial_fit(X[k : k + 1], y[k : k + 1], classes=[0, 1], **one)
    with pytest.warns(UserWarning, match="in 1 of 40 rows"):
        at_once = uneven.UnevenPerceptron().partial_fit(X, y, **costs)
    np.testing.assert_allclose(row_by_row.coef_, at_once.coef_, rtol=1e-12)
    assert row_by_row.predict(X, **costs).tolist() == at_once.predict(X, **costs).tolist()
