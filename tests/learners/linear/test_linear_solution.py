"""The linear learner minimises what it says: peers, identities, optimality, the meaning of tol, the proved gap."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from linear_data import binary, gradient, objective
from mean_regret import mean_regret
from registered import CALIBRATED
from scipy.optimize import linprog
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import SVC, LinearSVC

import uneven
from uneven import UnevenLinearClassifier as Linear

X, Y = binary()
WEIGHT = np.random.default_rng(0).uniform(0.2, 3, size=Y.size)
C = 0.2 * mean_regret(Y, fn_cost=7, sample_weight=WEIGHT)
CONVEX = [name for name in CALIBRATED if uneven.phi(name).convex]
SMOOTH = [name for name in CONVEX if not uneven.phi(name).kinks]
KINKED = [name for name in CONVEX if uneven.phi(name).kinks]
NOT_CONVEX = [name for name in CALIBRATED if not uneven.phi(name).convex]


def class_weight(fp_cost: float, fn_cost: float, weight: np.ndarray | None = None) -> dict[int, float]:
    """The costs as scikit-learn takes them: over the mean regret."""
    mean = mean_regret(Y, fp_cost=fp_cost, fn_cost=fn_cost, sample_weight=weight)
    return {0: fp_cost / mean, 1: fn_cost / mean}


def close(ours: Linear, coef: np.ndarray, intercept: float, tolerance: float = 1e-6) -> None:
    assert np.allclose(ours.coef_.ravel(), np.ravel(coef), rtol=tolerance, atol=tolerance)
    assert np.allclose(ours.intercept_, intercept, rtol=tolerance, atol=tolerance)


# -- peers at gamma = 1 ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_logistic_regression(weight: np.ndarray | None) -> None:
    theirs = LogisticRegression(C=0.7, class_weight=class_weight(1.5, 8, weight), solver="newton-cholesky", tol=1e-12)
    theirs.fit(X, Y, sample_weight=weight)
    ours = Linear(C=0.7, fp_cost=1.5, fn_cost=8, tol=1e-13).fit(X, Y, sample_weight=weight)
    close(ours, theirs.coef_, theirs.intercept_[0])


def test_squared_hinge_without_an_intercept_is_linear_svc() -> None:
    """LinearSVC penalises its intercept, so the comparison leaves it out."""
    arguments = {"fit_intercept": False, "dual": False, "tol": 1e-12, "max_iter": 100_000}
    theirs = LinearSVC(C=0.3, class_weight=class_weight(1, 5), **arguments)
    theirs.fit(X, Y)
    close(Linear("squared_hinge", C=0.3, fn_cost=5, fit_intercept=False, tol=1e-13).fit(X, Y), theirs.coef_, 0.0)


def test_squared_hinge_with_an_intercept_is_linear_svc_in_the_limit() -> None:
    """A large intercept_scaling makes the penalty of LinearSVC's intercept vanish."""
    arguments = {"dual": False, "tol": 1e-13, "intercept_scaling": 1e4, "max_iter": 10**6}
    theirs = LinearSVC(C=0.3, class_weight=class_weight(1, 5), **arguments)
    theirs.fit(X, Y)
    ours = Linear("squared_hinge", C=0.3, fn_cost=5, tol=1e-13).fit(X, Y)
    close(ours, theirs.coef_, theirs.intercept_[0], 1e-5)


def test_squared_is_ridge_with_weights() -> None:
    """phi(t) = (1-t)^2 on labels -1 and 1 is weighted least squares; Ridge's alpha is 1/(2C)."""
    weight = np.where(Y == 1, 5.0, 1.0) * WEIGHT / mean_regret(Y, fn_cost=5, sample_weight=WEIGHT)
    theirs = Ridge(alpha=1 / (2 * 0.3), solver="cholesky").fit(X, 2 * Y - 1, sample_weight=weight)
    ours = Linear("squared", C=0.3, fn_cost=5, tol=1e-13).fit(X, Y, sample_weight=WEIGHT)
    close(ours, theirs.coef_, theirs.intercept_)


def test_hinge_is_the_cost_weighted_linear_svm() -> None:
    theirs = SVC(kernel="linear", C=0.3, class_weight=class_weight(1, 5), tol=1e-10).fit(X, Y)
    ours = Linear("hinge", C=0.3, fn_cost=5, tol=1e-12).fit(X, Y)
    close(ours, theirs.coef_, theirs.intercept_[0], 1e-4)
    assert ours.objective_ <= objective(ours, X, Y) * (1 + 1e-12)


# -- the uneven problem itself --------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [0.2, 3.0])
@pytest.mark.parametrize(("name", "power"), [("hinge", 1), ("squared_hinge", 2), ("squared", 2)])
def test_gamma_is_an_affine_map(name: str, power: int, gamma: float) -> None:
    """f = a g + c with a = (1 + 1/gamma)/2, c = (1 - 1/gamma)/2.

    Then phi(f) = a^p phi(g) and phi(-gamma f) = (gamma a)^p phi(-g), p = 1 or 2.

    So the uneven fit is an ordinary one in g, with C and the class weights that follow (docs/theory.md, hinge).
    """
    a, c = (1 + 1 / gamma) / 2, (1 - 1 / gamma) / 2
    uneven_fit = Linear(name, C=0.4, fp_cost=1, fn_cost=6, margin_gamma=gamma, tol=1e-13).fit(X, Y)
    costs = {"fp_cost": gamma ** (power - 1), "fn_cost": 6}
    own = 0.4 * a ** (power - 2) * mean_regret(Y, **costs) / mean_regret(Y, fp_cost=1, fn_cost=6)
    ordinary = Linear(name, C=own, **costs, tol=1e-13).fit(X, Y)
    close(uneven_fit, a * ordinary.coef_, a * ordinary.intercept_[0] + c)


@pytest.mark.parametrize("gamma", [0.2, 1.0, 5.0])
@pytest.mark.parametrize("name", SMOOTH)
def test_the_gradient_vanishes(name: str, gamma: float) -> None:
    model = Linear(name, fp_cost=1, fn_cost=7, margin_gamma=gamma, C=C, tol=1e-13).fit(X, Y, sample_weight=WEIGHT)
    value = objective(model, X, Y, WEIGHT)
    assert model.objective_ == pytest.approx(value, rel=1e-12)
    assert np.abs(gradient(model, X, Y, WEIGHT)).max() <= 1e-5 * value


@pytest.mark.parametrize("gamma", [0.2, 1.0, 5.0])
@pytest.mark.parametrize("name", KINKED)
def test_the_proved_gap_is_true(name: str, gamma: float) -> None:
    """No point the test can find lies below objective_ - duality_gap_, and the gap is as small as tol says."""
    model = Linear(name, fp_cost=1, fn_cost=7, margin_gamma=gamma, C=C, tol=1e-5).fit(X, Y, sample_weight=WEIGHT)
    assert 0 <= model.duality_gap_ <= 1e-5 * model.objective_
    assert model.objective_ == pytest.approx(objective(model, X, Y, WEIGHT), rel=1e-12)
    better = Linear(name, fp_cost=1, fn_cost=7, margin_gamma=gamma, C=C, tol=1e-10).fit(X, Y, sample_weight=WEIGHT)
    assert better.objective_ >= model.objective_ - model.duality_gap_
    random = np.random.default_rng(1)
    for scale in (1e-5, 1e-3, 1e-1):
        model.coef_ = better.coef_ + scale * random.normal(size=better.coef_.shape)
        model.intercept_ = better.intercept_ + scale * random.normal(size=1)
        assert objective(model, X, Y, WEIGHT) >= better.objective_ - better.duality_gap_


def test_hinge_without_a_penalty_is_a_linear_program() -> None:
    few, labels = X[:120], Y[:120]
    weight = np.where(labels == 1, 4.0, 1.0) / mean_regret(labels, fn_cost=4)
    sign = 2 * labels - 1
    # Variables: w, b, slacks; slack >= 1 - sign * (x w + b), slack >= 0.
    n, d = few.shape
    rows = np.hstack([-sign[:, None] * few, -sign[:, None], -np.eye(n)])
    bounds = [(None, None)] * (d + 1) + [(0, None)] * n
    program = linprog(np.append(np.zeros(d + 1), weight), A_ub=rows, b_ub=-np.ones(n), bounds=bounds)
    model = Linear("hinge", fn_cost=4, penalty=None, tol=1e-6).fit(few, labels)
    assert program.fun <= model.objective_ * (1 + 1e-12)
    assert model.objective_ == pytest.approx(program.fun, rel=1e-6)


# -- what tol means -------------------------------------------------------------------------------------------------


def scaled(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Columns of different scale and strong correlation, few positives."""
    matrix, labels = binary(4000, 12, share=0.05, seed=8)
    matrix = matrix * np.exp(2 * np.random.default_rng(2).normal(size=12)) + 3.0
    return (sp.csr_matrix(matrix) if kind == "sparse" else matrix), labels


@pytest.mark.parametrize("solver", ["auto", "lbfgs"])
@pytest.mark.parametrize("gamma", [1.0, 4.0])
@pytest.mark.parametrize("name", CONVEX)
def test_tol_is_relative_suboptimality(name: str, gamma: float, solver: str) -> None:
    if solver == "lbfgs" and name in KINKED:
        solver = "lagrangian"
    matrix, labels = scaled("dense")
    for tol in (1e-3, 1e-6):
        arguments = {"fn_cost": 20, "margin_gamma": gamma, "C": 0.05 * mean_regret(labels, fn_cost=20)}
        value = Linear(name, **arguments, solver=solver, tol=tol).fit(matrix, labels).objective_
        best = Linear(name, **arguments, tol=1e-11 if name in SMOOTH else 1e-9, max_iter=10_000).fit(matrix, labels)
        assert value - best.objective_ <= tol * best.objective_


@pytest.mark.parametrize("name", ["logistic", "squared_hinge", "hinge"])
def test_tol_on_wide_sparse_data(name: str) -> None:
    """More columns than the solvers factor: diagonal metrics and conjugate gradients."""
    random = np.random.default_rng(4)
    matrix = sp.random(3000, 2500, density=0.01, format="csr", random_state=random)
    labels = (matrix @ random.normal(size=2500) + 0.3 * random.normal(size=3000) > 0.5).astype(int)
    for gamma in (1, 4):
        arguments = {"fn_cost": 5, "margin_gamma": gamma, "C": mean_regret(labels, fn_cost=5)}
        best = Linear(name, **arguments, tol=1e-8 if name == "hinge" else 1e-10, max_iter=10_000)
        best = best.fit(matrix, labels).objective_
        for tol in (1e-3, 1e-6):
            value = Linear(name, **arguments, tol=tol).fit(matrix, labels).objective_
            assert value - best <= tol * best


# -- losses that are not convex -------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("name", NOT_CONVEX)
def test_never_worse_than_the_convex_start(name: str, gamma: float) -> None:
    arguments = {"fp_cost": 1, "fn_cost": 9, "margin_gamma": gamma, "C": 0.5 * mean_regret(Y, fn_cost=9)}
    model = Linear(name, **arguments).fit(X, Y)
    found = model.objective_
    assert found == pytest.approx(objective(model, X, Y), rel=1e-12)
    start = Linear("logistic", **arguments).fit(X, Y)
    model.coef_, model.intercept_ = start.coef_, start.intercept_
    assert found <= objective(model, X, Y) * (1 + 1e-12)
    again = Linear(name, **arguments, random_state=7).fit(X, Y)
    assert np.array_equal(again.coef_, Linear(name, **arguments, random_state=7).fit(X, Y).coef_)


def test_descent_is_monotone(capsys: pytest.CaptureFixture[str]) -> None:
    Linear("savage", fn_cost=9, verbose=True).fit(X, Y)
    lines = [line for line in capsys.readouterr().err.splitlines() if "objective" in line]
    descents: list[list[float]] = []
    for line in lines:
        if "lbfgs 0:" in line:
            descents.append([])
        descents[-1].append(float(line.split("objective ")[1].split(",")[0]))
    assert max(map(len, descents)) > 3
    for values in descents:
        assert values == sorted(values, reverse=True)


# -- losses given in other ways -------------------------------------------------------------------------------------


def test_an_expression_is_as_good_as_a_name() -> None:
    for given in ("log(1 + exp(-t))", uneven.phi("logistic")):
        assert np.allclose(Linear(given, fn_cost=3).fit(X, Y).coef_, Linear(fn_cost=3).fit(X, Y).coef_, rtol=1e-9)


def test_a_slope_that_no_branch_has() -> None:
    """softplus(-abs(t)) + relu(-t) is the logistic loss, but at t = 0 each branch has another slope."""
    written = Linear("log1p(exp(-abs(t))) + max(-t, 0)", fn_cost=3).fit(X, Y)
    assert written.objective_ == pytest.approx(Linear(fn_cost=3).fit(X, Y).objective_, rel=1e-6)


def test_a_finished_loss_is_used_as_it_is() -> None:
    loss = uneven.UnevenMarginLoss("logistic", gamma=2, alpha=0.1)
    model = Linear(loss, fp_cost=1, fn_cost=9, C=10, tol=1e-10).fit(X, Y)
    assert model.loss_ == loss
    own = 10 * mean_regret(Y, fp_cost=0.1, fn_cost=0.9)  # a finished loss is not divided
    named = Linear("logistic", fp_cost="1/10", fn_cost="9/10", margin_gamma=2, C=own, tol=1e-10).fit(X, Y)
    assert np.allclose(model.coef_, named.coef_, rtol=1e-6)
    two = uneven.Loss("9*softplus(-t)", "exp(t)/2 - exp(t)/2 + softplus(t)")
    assert Linear(two, fp_cost=1, fn_cost=9).fit(X, Y).analysis_.verdict.status == "calibrated"


def test_two_different_formulas_for_the_two_classes() -> None:
    """exp(-t) for positives, (1 + t/2)^2 for negatives: slopes -1 and 1 at 0, calibrated for equal costs."""
    loss = uneven.Loss("exp(-t)", "(1 + t/2)**2")
    model = Linear(loss, tol=1e-12).fit(X, Y)
    score = X @ model.coef_[0] + model.intercept_[0]
    assert model.objective_ == pytest.approx(0.5 * model.coef_[0] @ model.coef_[0] + loss(2 * Y - 1, score).sum())
    slope = loss.slope(2 * Y - 1, score)
    assert np.abs(np.append(model.coef_[0] + X.T @ slope, slope.sum())).max() < 1e-4


@pytest.mark.parametrize(("phi", "hinge_c", "factor"), [("relu(1 - 3*t)", 9.0, 9.0), ("relu(1/3 - t)", 3.0, 9.0)])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_kink_that_is_no_double(phi: str, hinge_c: float, factor: float, sparse: bool) -> None:
    """With v = 3 w both are a hinge at another C: the same optimum, in other units."""
    data = sp.csr_array(X) if sparse else X
    fit = Linear(phi, C=1.0, tol=1e-9).fit(data, Y)
    reference = Linear("hinge", C=hinge_c, tol=1e-9).fit(data, Y)
    assert fit.objective_ == pytest.approx(reference.objective_ / factor, rel=1e-8)
    np.testing.assert_allclose(3 * fit.coef_, reference.coef_, rtol=1e-4, atol=1e-5)
