"""UnevenSVC: optimality of the uneven problem itself, LIBSVM and the linear learner as independent checks."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import skops.io
from mean_regret import mean_regret, regrets
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import uneven
from uneven.errors import CostError, LossError, ParameterError
from uneven.solvers.kernel.kernel_matrix import KERNELS, KernelFunction, gram
from uneven.solvers.kernel.smo import Dual

GAMMAS = [0.25, 1, 4]


def laplacian(X: Any, Z: Any) -> np.ndarray:
    return np.exp(-0.1 * np.abs(np.asarray(X)[:, None, :] - np.asarray(Z)[None, :, :]).sum(axis=2))


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(200, 6, n_informative=4, weights=[0.8], flip_y=0.1, class_sep=0.7, random_state=3)
    return X, y


@parametrize_with_checks(
    [
        uneven.UnevenSVC(tol=1e-10),  # equality with repeated rows is checked to seven digits
        uneven.UnevenSVC(tol=1e-9, kernel="linear", warm_start=True),  # rows at 100: no proof to 1e-10
    ]
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def problem(clf: uneven.UnevenSVC, X: np.ndarray, y: np.ndarray, weight: Any = None) -> Dual:
    """The uneven dual, written down again from its definition."""
    positive = y == 1
    weight = np.ones(y.size) if weight is None else weight
    costs = {"fp_cost": clf.fp_cost, "fn_cost": clf.fn_cost}
    return Dual(
        gram(KernelFunction("precomputed"), clf_kernel(clf, X)),
        np.where(positive, 1.0, -1.0 / clf.margin_gamma),
        np.where(positive, 1.0, -1.0),
        clf.C * weight * regrets(y, **costs) / mean_regret(y, sample_weight=weight, **costs),
    )


def clf_kernel(clf: uneven.UnevenSVC, X: np.ndarray) -> np.ndarray:
    """The kernel by scikit-learn, or the user's own."""
    from sklearn.metrics.pairwise import pairwise_kernels

    if callable(clf.kernel):
        return clf.kernel(X, X)
    width = {} if clf.kernel == "linear" else {"gamma": 1 / (X.shape[1] * X.var())}
    more = {"coef0": clf.coef0} if clf.kernel in ("poly", "sigmoid") else {}
    if clf.kernel == "poly":
        more["degree"] = clf.degree
    return pairwise_kernels(X, metric=clf.kernel, **width, **more)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", laplacian])
@pytest.mark.parametrize("gamma", GAMMAS)
def test_optimality_of_the_uneven_problem(data: tuple[np.ndarray, np.ndarray], gamma: float, kernel: Any) -> None:
    """Dual feasibility, stationarity and complementarity, from the definition and a kernel matrix of its own."""
    X, y = data
    tol = 1e-5
    clf = uneven.UnevenSVC(
        fp_cost=1,
        fn_cost=6,
        margin_gamma=gamma,
        C=0.7 * mean_regret(y, fn_cost=6),
        kernel=kernel,
        coef0=1.0,
        degree=2,
        tol=tol,
    ).fit(X, y)
    dual = problem(clf, X, y)
    b = np.zeros(y.size)
    b[clf.support_] = clf.dual_coef_[0]
    # Dual feasibility: alpha within its box, sum of y alpha = 0.
    alpha = dual.signs * b
    assert (alpha >= 0).all()
    assert (alpha <= dual.upper * (1 + 1e-12)).all()
    assert abs(b.sum()) < 1e-9 * dual.upper.sum()
    # Stationarity: w = sum b_i phi(x_i) is built into the score.
    f = dual.gram.whole() @ b + clf.intercept_[0]
    np.testing.assert_allclose(clf.decision_function(X), f, rtol=1e-9, atol=1e-9)
    # Complementarity: alpha = 0 beyond the margin, alpha = u inside it, between only on it.
    short = dual.signs * (dual.margins - f)  # what is missing to the margin 1 or 1/gamma
    slack = 2 * tol * max(1, 1 / gamma)
    assert (short[alpha == 0] <= slack).all()
    assert (short[alpha >= dual.upper * (1 - 1e-12)] >= -slack).all()
    free = (alpha > 0) & (alpha < dual.upper * (1 - 1e-12))
    assert free.any()
    assert np.abs(short[free]).max() <= slack
    # The objective and its gap, from the definition of the loss.
    losses = np.where(y == 1, clf.fn_cost * np.maximum(0, 1 - f), clf.fp_cost / gamma * np.maximum(0, 1 + gamma * f))
    losses = losses / mean_regret(y, fn_cost=6)
    value = 0.5 * b @ dual.gram.whole() @ b + clf.C * losses.sum()
    assert clf.objective_ == pytest.approx(value, rel=1e-9)
    below = dual.margins @ b - 0.5 * b @ dual.gram.whole() @ b
    assert clf.duality_gap_ == pytest.approx(value - below, abs=1e-9 * value)
    assert -1e-9 * value <= clf.duality_gap_ <= 1e-3 * value


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid", laplacian])
@pytest.mark.parametrize("gamma", GAMMAS)
def test_libsvm_agrees(data: tuple[np.ndarray, np.ndarray], gamma: float, kernel: Any) -> None:
    X, y = data
    C = mean_regret(y, fn_cost=3)
    ours = uneven.UnevenSVC(fn_cost=3, margin_gamma=gamma, kernel=kernel, tol=1e-8, gamma=0.05, C=C).fit(X, y)
    value, score = by_libsvm(ours, X, y)
    assert ours.objective_ == pytest.approx(value, rel=1e-6)
    if kernel != "sigmoid":  # not positive definite: the minimum need not be unique
        np.testing.assert_allclose(ours.decision_function(X), score, atol=1e-4)


def by_libsvm(clf: uneven.UnevenSVC, X: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    """The objective and the scores that scikit-learn's SVC finds for the same problem.

    A score f = a h + c of the uneven hinge belongs to a score h of the ordinary one with C/a, and the objective is a^2
    times as large.
    """
    a, c = (1 + 1 / clf.margin_gamma) / 2, (1 - 1 / clf.margin_gamma) / 2
    costs = {0: clf.fp_cost, 1: clf.fn_cost}
    factor = clf.C / mean_regret(y, fp_cost=clf.fp_cost, fn_cost=clf.fn_cost)
    peer = SVC(C=factor / a, class_weight=costs, kernel=clf.kernel, gamma=clf.gamma, tol=clf.tol).fit(X, y)
    h, b = peer.decision_function(X), peer.dual_coef_[0]
    slack = np.maximum(0, 1 - np.where(y == 1, h, -h))
    squared = max(float(b @ (h[peer.support_] - peer.intercept_[0])), 0.0)  # "sigmoid" is not positive semidefinite
    return a * a * (0.5 * squared + factor / a * float(np.where(y == 1, costs[1], costs[0]) @ slack)), a * h + c


def test_at_gamma_1_it_is_the_weighted_svc_of_scikit_learn(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    ours = uneven.UnevenSVC(fp_cost=2, fn_cost=5, tol=1e-8).fit(X, y)
    mean = mean_regret(y, fp_cost=2, fn_cost=5)
    peer = SVC(class_weight={0: 2 / mean, 1: 5 / mean}, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(ours.support_, np.sort(peer.support_))
    np.testing.assert_array_equal(ours.n_support_, peer.n_support_)


@pytest.mark.parametrize("gamma", GAMMAS)
def test_it_is_the_linear_learners_hinge(data: tuple[np.ndarray, np.ndarray], gamma: float) -> None:
    X, y = data
    common = {"fp_cost": 1, "fn_cost": 4, "margin_gamma": gamma, "C": 0.3}
    kernel = uneven.UnevenSVC(kernel="linear", tol=1e-8, **common).fit(X, y)
    linear = uneven.UnevenLinearClassifier("hinge", tol=1e-9, **common).fit(X, y)
    assert kernel.objective_ == pytest.approx(linear.objective_, rel=1e-7)
    np.testing.assert_allclose(kernel.coef_, linear.coef_, atol=2e-3)


def test_the_gamma_path_at_one_effective_c_is_one_fit(data: tuple[np.ndarray, np.ndarray]) -> None:
    """f = a h + c, with a = (1 + 1/gamma)/2, c = (1 - 1/gamma)/2 and C scaled by a."""
    X, y = data
    h = uneven.UnevenSVC(fn_cost=3, C=2, tol=1e-8).fit(X, y).decision_function(X)
    for gamma in GAMMAS:
        a, c = (1 + 1 / gamma) / 2, (1 - 1 / gamma) / 2
        clf = uneven.UnevenSVC(fn_cost=3, C=2 * a, margin_gamma=gamma, tol=1e-8).fit(X, y)
        np.testing.assert_allclose(clf.decision_function(X), a * h + c, atol=1e-5)


def test_weights_are_repetitions(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    count = np.random.default_rng(0).integers(0, 4, y.size)
    common = {"fn_cost": 3, "margin_gamma": 2, "tol": 1e-8}
    weighted = uneven.UnevenSVC(**common).fit(X, y, sample_weight=count)
    repeated = uneven.UnevenSVC(**common).fit(np.repeat(X, count, axis=0), np.repeat(y, count))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-5)
    assert (count[weighted.support_] > 0).all()


@pytest.mark.parametrize("kernel", KERNELS)
def test_sparse_rows_give_what_dense_rows_give(data: tuple[np.ndarray, np.ndarray], kernel: str) -> None:
    X, y = data
    X = np.where(np.abs(X) > 0.5, X, 0)
    dense = uneven.UnevenSVC(kernel=kernel, fn_cost=2, margin_gamma=2, gamma=0.1, tol=1e-7).fit(X, y)
    thin = clone(dense).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(
        dense.decision_function(X),
        thin.decision_function(sparse.csr_matrix(X)),
        atol=1e-4 if kernel != "sigmoid" else 1,
    )
    assert dense.objective_ == pytest.approx(thin.objective_, rel=1e-6)
    assert sparse.issparse(thin.support_vectors_)


def test_precomputed_and_called_kernels(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    common = {"fn_cost": 2, "margin_gamma": 2, "tol": 1e-7}
    called = uneven.UnevenSVC(kernel=laplacian, **common).fit(X, y)
    given = uneven.UnevenSVC(kernel="precomputed", **common).fit(laplacian(X, X), y)
    np.testing.assert_allclose(called.decision_function(X), given.decision_function(laplacian(X, X)))
    np.testing.assert_array_equal(called.support_, given.support_)
    with pytest.raises(CostError, match="must be a square matrix"):
        uneven.UnevenSVC(kernel="precomputed").fit(X, y)
    with pytest.raises(CostError, match="must be a dense matrix, got a sparse one"):
        uneven.UnevenSVC(kernel="precomputed").fit(sparse.csr_matrix(laplacian(X, X)), y)
    with pytest.raises(ParameterError, match=r"must return a matrix of shape \(200, 200\), got shape \(200,\)"):
        uneven.UnevenSVC(kernel=lambda X, Z: X[:, 0]).fit(X, y)
    with pytest.raises(ParameterError, match="finite numbers, got NaN or inf"):
        uneven.UnevenSVC(kernel=lambda X, Z: np.full((len(X), len(Z)), np.nan)).fit(X, y)


def test_a_small_cache_changes_nothing_but_rounding(data: tuple[np.ndarray, np.ndarray]) -> None:
    """Two rows are the least a step needs; float32 rows move the solution within tol."""
    X, y = data
    whole = uneven.UnevenSVC(fn_cost=3, tol=1e-4).fit(X, y)
    for rows in (2, 17):
        little = uneven.UnevenSVC(fn_cost=3, tol=1e-4, cache_size=4 * rows * y.size / 2**20).fit(X, y)
        assert little.objective_ == pytest.approx(whole.objective_, rel=1e-5)
        np.testing.assert_allclose(little.decision_function(X), whole.decision_function(X), atol=2e-3)


def test_more_rows_than_are_made_at_once() -> None:
    """Rows of the kernel come one by one, in pieces of columns."""
    X, y = make_classification(2300, 5, weights=[0.9], random_state=0)
    ours = uneven.UnevenSVC(fn_cost=5, margin_gamma=2).fit(X, y)
    value, score = by_libsvm(ours, X, y)
    assert ours.objective_ - ours.duality_gap_ <= value <= ours.objective_ * (1 + 1e-3)
    np.testing.assert_allclose(ours.decision_function(X), score, atol=2e-2)


def test_warm_start(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    unit = mean_regret(y, fn_cost=3)
    clf = uneven.UnevenSVC(fn_cost=3, C=unit, tol=1e-6, warm_start=True).fit(X, y)
    cold = clf.n_iter_
    again = clf.fit(X, y).n_iter_
    assert again < 0.1 * cold
    for change in ({"C": 1.3 * unit}, {"margin_gamma": 2}, {"fn_cost": 2}):
        warm = clf.set_params(**change).fit(X, y)
        fresh = clone(clf).fit(X, y)
        assert warm.objective_ == pytest.approx(fresh.objective_, rel=1e-6)
    # Other rows or labels: as if there had been no fit before.
    other = clf.fit(X[:150], y[:150])
    np.testing.assert_allclose(other.dual_coef_, clone(clf).fit(X[:150], y[:150]).dual_coef_)
    other = clf.fit(X[:150], 1 - y[:150])
    np.testing.assert_allclose(other.dual_coef_, clone(clf).fit(X[:150], 1 - y[:150]).dual_coef_)


def test_labels_and_the_positive_class(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    words = np.where(y == 1, "fraud", "ok")
    clf = uneven.UnevenSVC(fn_cost=6, margin_gamma=2, pos_label="fraud").fit(X, words)
    plain = uneven.UnevenSVC(fn_cost=6, margin_gamma=2).fit(X, y)
    np.testing.assert_array_equal(clf.predict(X) == "fraud", plain.predict(X) == 1)
    np.testing.assert_allclose(clf.decision_function(X), -plain.decision_function(X))
    np.testing.assert_allclose(clf.dual_coef_, -plain.dual_coef_)
    np.testing.assert_array_equal(clf.n_support_, plain.n_support_[::-1])
    assert clf.classes_.tolist() == ["fraud", "ok"]
    with pytest.raises(CostError, match="pos_label must say which of the labels 'fraud' and 'ok'"):
        uneven.UnevenSVC(fn_cost=6).fit(X, words)


def test_it_says_what_it_is(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    clf = uneven.UnevenSVC(fn_cost=9, margin_gamma=3).fit(X, y)
    assert clf.loss_ == uneven.calibrated_loss("hinge", alpha="1/10", gamma=3)
    assert clf.analysis_.verdict.status == "calibrated"
    assert clf.fit_status_ == 0
    assert not hasattr(clf, "predict_proba")  # a hinge does not identify probabilities
    assert not hasattr(clf, "coef_")
    np.testing.assert_array_equal(clf.predict(X) == 1, clf.decision_function(X) > 0)


@pytest.mark.parametrize("copied", [lambda c: pickle.loads(pickle.dumps(c)), copy.deepcopy, "skops"])
def test_copies_predict_the_same(data: tuple[np.ndarray, np.ndarray], copied: Any) -> None:
    X, y = data
    clf = uneven.UnevenSVC(fn_cost=3, margin_gamma=2, warm_start=True).fit(X, y)
    if copied == "skops":
        dumped = skops.io.dumps(clf)
        other = skops.io.loads(dumped, trusted=skops.io.get_untrusted_types(data=dumped))
    else:
        other = copied(clf)
    np.testing.assert_array_equal(other.decision_function(X), clf.decision_function(X))
    assert other.loss_ == clf.loss_


def test_too_few_steps_are_announced(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    with pytest.warns(ConvergenceWarning, match=r"did not reach tol=0.001 in 5 steps .* raise max_iter"):
        clf = uneven.UnevenSVC(max_iter=5).fit(X, y)
    assert clf.fit_status_ == 1
    assert clf.duality_gap_ > 0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"C": 0}, "C must be positive, got 0"),
        ({"C": "much"}, "C must be a finite number, got 'much'"),
        ({"C": 1e308, "fn_cost": 1e10}, "C times the costs and weights must be finite"),
        ({"tol": -1}, "tol must be positive, got -1"),
        ({"cache_size": 0}, "cache_size must be positive, got 0"),
        ({"margin_gamma": -2}, "margin_gamma must be positive, got -2"),
        ({"fp_cost": 0}, "fp_cost must be positive, got 0"),
        ({"kernel": "gauss"}, "kernel must be one of linear, poly, rbf, sigmoid, precomputed, or a function"),
        ({"gamma": "wide"}, "gamma must be 'scale', 'auto' or a positive number, got 'wide'"),
        ({"gamma": 0.0}, "gamma must be positive, got 0.0"),
        ({"degree": 1.5}, "degree must be an integer of at least 0, got 1.5"),
        ({"coef0": None}, "coef0 must be a number, got None"),
        ({"max_iter": -2}, "max_iter must be -1"),
        ({"max_iter": True}, "max_iter must be -1"),
    ],
    ids=str,
)
def test_bad_parameters(data: tuple[np.ndarray, np.ndarray], change: dict[str, Any], says: str) -> None:
    with pytest.raises((LossError, ParameterError, CostError), match=says):
        uneven.UnevenSVC(**change).fit(*data)


def test_odd_but_good_parameters(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    exact = uneven.UnevenSVC(fp_cost="1/3", fn_cost="2/3", margin_gamma="5/2", gamma="auto").fit(X, y)
    floats = uneven.UnevenSVC(fp_cost=1 / 3, fn_cost=2 / 3, margin_gamma=2.5, gamma=1 / 6).fit(X, y)
    np.testing.assert_allclose(exact.decision_function(X), floats.decision_function(X), atol=1e-9)
    constant = uneven.UnevenSVC(fn_cost=3).fit(np.ones((10, 2)), [0] * 5 + [1] * 5)  # no spread at all
    assert constant.predict([[1.0, 1.0]]).tolist() == [1]


def test_progress(data: tuple[np.ndarray, np.ndarray], capsys: pytest.CaptureFixture[str]) -> None:
    X, y = data
    noisy = np.random.default_rng(0).integers(0, 2, y.size)
    uneven.UnevenSVC(kernel="linear", C=300, tol=1e-5, verbose=True).fit(X, noisy)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "[UnevenSVC] step " in captured.err
