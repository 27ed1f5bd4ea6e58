"""The promise of UnevenSVC: the objective is within tol of its optimum, or the fit says how far it may be.

The optimum comes from an interior point method, and objectives are computed again in extended precision, from the
kernel's definition.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from mean_regret import mean_regret, regrets
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import uneven
from uneven.errors import CostError

LONG = np.longdouble


@dataclass
class Case:
    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None
    parameters: dict[str, Any]


def drawn(seed: int, most: int) -> Case:
    """A random problem: duplicates, rare classes, weights of 0, all scales."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, most + 1)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, d))
    shape = rng.integers(4)
    if shape == 1:
        X = rng.integers(0, 3, size=(n, d)).astype(float)
    elif shape == 2:
        X = X[rng.integers(0, n, n)]
    elif shape == 3:
        X = X * 10.0 ** rng.integers(-3, 3) + rng.integers(0, 2) * 100
    y = rng.integers(0, 2, n) if rng.integers(3) else np.zeros(n, dtype=int)  # one example of a class
    y[:2] = 0, 1
    weight = None
    if rng.integers(2):
        weight = 10.0 ** rng.uniform(-3, 3, n) * (rng.random(n) > 0.3)
        weight[:2] = np.maximum(weight[:2], 0.1)
    parameters = {
        "kernel": ["linear", "rbf", "rbf", "poly"][rng.integers(4)],
        "gamma": ["scale", 10.0 ** rng.uniform(-3, 3)][rng.integers(2)],
        "C": 10.0 ** rng.uniform(-6, 6),
        "fp_cost": 10.0 ** rng.uniform(-2, 2),
        "fn_cost": 10.0 ** rng.uniform(-2, 2),
        "margin_gamma": 10.0 ** rng.uniform(-2, 2),
        "degree": int(rng.integers(1, 4)),
        "coef0": float(rng.integers(0, 3)),
        "tol": 10.0 ** rng.integers(-5, 0),
    }
    if parameters["kernel"] == "poly":
        parameters["gamma"], parameters["C"] = "scale", 10.0 ** rng.uniform(-6, 2)
    costs = {name: parameters[name] for name in ("fp_cost", "fn_cost")}
    parameters["C"] *= mean_regret(y, sample_weight=weight, **costs)
    return Case(X, y, weight, parameters)


def kernel_of(model: uneven.UnevenSVC, X: np.ndarray) -> np.ndarray:
    """The kernel of all pairs in extended precision, from its definition."""
    own = model._kernel
    X = X.astype(LONG)
    if own.name == "rbf":
        return np.exp(-LONG(own.width) * np.square(X[:, None, :] - X[None, :, :]).sum(axis=-1))
    products = X @ X.T
    return products if own.name == "linear" else (LONG(own.width) * products + own.offset) ** int(own.degree)


@dataclass
class Truth:
    """The problem of a fitted model, written down again."""

    K: np.ndarray
    margins: np.ndarray
    signs: np.ndarray
    upper: np.ndarray

    @classmethod
    def of(cls, model: uneven.UnevenSVC, case: Case, K: np.ndarray | None = None) -> Truth:
        positive = case.y == 1
        costs = {"fp_cost": model.fp_cost, "fn_cost": model.fn_cost}
        upper = model.C * regrets(case.y, **costs) / mean_regret(case.y, sample_weight=case.weight, **costs)
        upper = upper if case.weight is None else upper * case.weight
        margins = np.where(positive, 1.0, -1.0 / model.margin_gamma)
        K = kernel_of(model, case.X) if K is None else K
        return cls(K, margins, np.where(positive, 1.0, -1.0), upper)

    def primal(self, b: np.ndarray, intercept: float | None) -> float:
        """The objective; with the best intercept if none is given: it is at one of the kinks."""
        b = b.astype(LONG)
        short = self.margins - self.K @ b
        intercepts = short if intercept is None else np.array([LONG(intercept)])
        losses = self.upper * np.maximum(self.signs * (short[None, :] - intercepts[:, None]), 0)
        return float(0.5 * b @ self.K @ b + losses.sum(axis=1).min())

    def dual(self, b: np.ndarray) -> float:
        b = b.astype(LONG)
        return float(self.margins @ b - 0.5 * b @ self.K @ b)


@np.errstate(all="ignore")
def optimum(truth: Truth) -> tuple[float, float]:
    """Upper and (but for rounding) lower bound of the optimum, by Mehrotra's interior point method.

    The unknowns t are the coefficients as shares of their upper bounds: minimise t'St/2 - p't with e't = 0 and t
    between 0 and 1.
    """
    keep = truth.upper > 0
    truth = Truth(truth.K[np.ix_(keep, keep)], truth.margins[keep], truth.signs[keep], truth.upper[keep])
    e = truth.signs * truth.upper
    square, p = np.asarray(truth.K, dtype=float) * np.outer(e, e), truth.margins * e
    n, scale = e.size, np.abs(p).max()
    square, p, e = square / scale, p / scale, e / np.abs(e).max()
    positive = truth.signs > 0
    sums = truth.upper[positive].sum(), truth.upper[~positive].sum()
    t = np.where(positive, min(1, sums[1] / sums[0]), min(1, sums[0] / sums[1])) / 2
    low, high, y = np.ones(n), np.ones(n), 0.0
    for _ in range(100):
        rest, mean = square @ t - p + e * y - low + high, (t @ low + (1 - t) @ high) / (2 * n)
        if mean < 1e-16:
            break
        system = np.zeros((n + 1, n + 1))
        system[:n, :n], system[:n, n], system[n, :n] = square + np.diag(low / t + high / (1 - t)), e, e
        root = np.append(1 / np.sqrt(np.diag(system)[:n]), 1.0)
        aims = (-t * low, -(1 - t) * high)
        for corrected in (False, True):
            right = np.append(-rest + aims[0] / t - aims[1] / (1 - t), -e @ t) * root
            try:
                found = np.linalg.solve(system * np.outer(root, root), right) * root
            except np.linalg.LinAlgError:
                found = np.full(n + 1, math.nan)
            dt, dlow, dhigh = found[:n], (aims[0] - low * found[:n]) / t, (aims[1] + high * found[:n]) / (1 - t)
            pairs = ((t, dt), (1 - t, -dt), (low, dlow), (high, dhigh))
            step = min([1.0, *(float((-v[dv < 0] / dv[dv < 0]).min()) for v, dv in pairs if (dv < 0).any())])
            if not corrected:
                after = ((t + step * dt) @ (low + step * dlow) + (1 - t - step * dt) @ (high + step * dhigh)) / (2 * n)
                aim = (after / mean) ** 3 * mean
                aims = (aim - t * low - dt * dlow, aim - (1 - t) * high + dt * dhigh)
        if not np.isfinite(found).all() or step < 1e-10:
            break
        step *= 0.99
        t, y, low, high = t + step * dt, y + step * found[n], low + step * dlow, high + step * dhigh
    b = truth.signs * truth.upper * t
    return truth.primal(b, None), truth.dual(b)


def fitted(case: Case, **more: Any) -> tuple[uneven.UnevenSVC, bool]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model = uneven.UnevenSVC(**{**case.parameters, **more}).fit(case.X, case.y, sample_weight=case.weight)
    return model, bool(caught)


def coefficients(model: uneven.UnevenSVC, n: int) -> np.ndarray:
    b = np.zeros(n)
    b[model.support_] = model.dual_coef_[0]
    return b


@pytest.mark.parametrize(("most", "first"), [(6, k) for k in range(0, 200, 50)] + [(50, k) for k in range(0, 100, 25)])
def test_the_promise_holds(most: int, first: int) -> None:
    """The true gap is never above the reported one, and never above tol without a warning."""
    count, warned, sharp = 50 if most == 6 else 25, 0, 0
    for seed in range(first, first + count):
        case = drawn(1000 * most + seed, most)
        model, warns = fitted(case)
        truth = Truth.of(model, case)
        value = truth.primal(coefficients(model, case.y.size), float(model.intercept_[0]))
        upper, lower = optimum(truth)
        sharp += upper - lower <= 1e-6 * upper
        warned += warns
        assert model.duality_gap_ >= 0
        assert value - upper <= model.duality_gap_, (most, seed)
        assert abs(value - model.objective_) <= model.duality_gap_, (most, seed)
        assert model.fit_status_ == int(warns)
        if not warns:
            assert value <= (1 + model.tol) * upper * (1 + 1e-15), (most, seed)
            assert model.objective_ <= (1 + model.tol) * (model.objective_ - model.duality_gap_) * (1 + 1e-15)
    assert sharp >= 0.9 * count  # the test has teeth
    assert warned <= 0.1 * count


def test_three_rows() -> None:
    """Once its violation was within tol and its objective at 12 times the optimum, without a word."""
    labels = np.array([0, 1, 0])
    C = 1e4 * mean_regret(labels, fn_cost=5)
    case = Case(np.array([[0.0], [1.0], [2.0]]), labels, None, {"fn_cost": 5, "C": C})
    model, warns = fitted(case)
    upper, lower = optimum(Truth.of(model, case))
    assert upper == pytest.approx(lower, rel=1e-9)
    assert not warns
    assert model.objective_ == pytest.approx(upper, rel=1e-3)


@pytest.mark.parametrize("gamma", [1e-3, 0.3, 1e3])
@pytest.mark.parametrize("C", [1e-6, 1e-3, 1, 1e3, 1e6])
def test_contradicting_duplicates(C: float, gamma: float) -> None:
    """The same row in both classes, ten times; then with one more row. The mean regret is 2."""
    for rows in ([[1.5, 2.0]] * 20, [[1.5, 2.0]] * 19 + [[-1.0, 0.0]]):
        case = Case(np.array(rows), np.arange(20) % 2, None, {"C": 2 * C, "gamma": gamma, "fn_cost": 3})
        model, warns = fitted(case)
        upper, lower = optimum(Truth.of(model, case))
        assert not warns
        assert lower * (1 - 1e-9) <= model.objective_ <= upper * (1 + 1e-3)


def test_no_coefficient_is_free() -> None:
    """Then the intercept can be anywhere in an interval; it is in the middle."""
    model = uneven.UnevenSVC(kernel="linear", C=1e-6, tol=1e-6).fit([[-1.0], [1.0]], [0, 1])
    assert np.abs(model.dual_coef_).tolist() == [[1e-6, 1e-6]]
    assert model.intercept_[0] == pytest.approx(0.0, abs=1e-12)
    # If the weights of both classes differ, the heavier class gets its margin.
    model = uneven.UnevenSVC(kernel="linear", C=1.5e-6, fn_cost=2).fit([[-1.0], [1.0]], [0, 1])
    assert model.intercept_[0] == pytest.approx(1.0, abs=1e-5)
    assert model.objective_ == pytest.approx(2e-6, rel=1e-3)


def test_slow_problems_end() -> None:
    """Overlapping classes and a huge C: steps of pairs alone are far from the optimum after ten million."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)) * 30, rng.integers(0, 2, 60)
    case = Case(X, y, None, {"kernel": "linear", "C": 1e5 * mean_regret(y, fn_cost=3), "fn_cost": 3})
    model, warns = fitted(case)
    assert not warns
    assert model.n_iter_ < 1_000_000
    assert model.objective_ <= optimum(Truth.of(model, case))[0] * 1.001


def test_a_limit_of_steps_is_reported_with_the_true_gap() -> None:
    rng = np.random.default_rng(1)
    case = Case(rng.normal(size=(50, 2)), rng.integers(0, 2, 50), None, {"max_iter": 3})
    with pytest.warns(ConvergenceWarning, match=r"proved to be at most [\d.]+ \(relative\) above the optimum"):
        uneven.UnevenSVC(max_iter=20).fit(case.X, case.y)
    for steps in (0, 3, 20):
        model, warns = fitted(case, max_iter=steps)
        upper, _ = optimum(Truth.of(model, case))
        assert warns
        assert model.objective_ - upper <= model.duality_gap_


def test_rounding_errors_are_admitted() -> None:
    """No proof to 1e-16 is possible in doubles, and with a huge kernel and C none at all."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    with pytest.warns(
        ConvergenceWarning, match=r"at most [\d.e-]+ \(relative\).*rounding errors allow no better proof"
    ):
        model = uneven.UnevenSVC(tol=1e-16).fit(X, y)
    assert model.fit_status_ == 1
    assert model.duality_gap_ < 1e-10 * model.objective_
    model = uneven.UnevenSVC(kernel="poly", degree=3, gamma=1.0, C=1e6)
    with pytest.warns(ConvergenceWarning, match=r"no lower bound.*rounding errors allow no better proof"):
        model.fit(1e6 * X, y)


def test_kernels_without_a_bound() -> None:
    """A kernel that is not positive semidefinite has no lower bound; the violation alone decides."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    for parameters in ({"kernel": "sigmoid"}, {"kernel": "poly", "coef0": -1.0}):
        model = uneven.UnevenSVC(**parameters).fit(X, y)
        assert model.duality_gap_ == math.inf
        assert model.fit_status_ == 0
    indefinite = X @ np.diag([1.0, 1.0, -3.0]) @ X.T
    assert uneven.UnevenSVC(kernel="precomputed").fit(indefinite, y).duality_gap_ == math.inf
    assert uneven.UnevenSVC(kernel="precomputed").fit(X @ X.T, y).duality_gap_ < 1


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_far_from_the_origin(kernel: str) -> None:
    """Rows are centred inside, so a large offset costs no digits of the fit."""
    rng = np.random.default_rng(4)
    X, y = np.round(rng.normal(size=(40, 2)), 3), rng.integers(0, 2, 40)
    near = uneven.UnevenSVC(kernel=kernel, gamma=0.5, tol=1e-6).fit(X, y)
    far = uneven.UnevenSVC(kernel=kernel, gamma=0.5, tol=1e-6).fit(X + 2.0**20, y)
    assert far.objective_ == pytest.approx(near.objective_, rel=1e-6)
    np.testing.assert_allclose(far.decision_function(X + 2.0**20), near.decision_function(X), atol=1e-4)


def test_a_kernel_out_of_range_is_refused() -> None:
    with pytest.raises(CostError, match="the kernel of a row with itself must be below 1e"):
        uneven.UnevenSVC(kernel="poly", gamma=1.0).fit([[1e150, 1.0], [0.0, -1e150]], [0, 1])


@pytest.mark.parametrize("form", ["sparse", "precomputed", "small cache"])
def test_the_promise_holds_in_every_form(form: str) -> None:
    """Sparse rows, a given matrix, and rows of the kernel in float32 that come and go."""
    for seed in range(60):
        case = drawn(90_000 + seed, 30)
        K = None
        if form == "sparse":
            given = Case(sparse.csr_matrix(case.X), case.y, case.weight, case.parameters)
        elif form == "precomputed":
            K = np.asarray(kernel_of(fitted(case)[0], case.X), dtype=float)
            given = Case(K, case.y, case.weight, {**case.parameters, "kernel": "precomputed"})
            K = K.astype(LONG)
        else:
            given = Case(case.X, case.y, case.weight, {**case.parameters, "cache_size": 1e-6})
        model, warns = fitted(given)
        truth = Truth.of(model, case, K)
        value = truth.primal(coefficients(model, case.y.size), float(model.intercept_[0]))
        upper, _ = optimum(truth)
        assert value - upper <= model.duality_gap_, seed
        if not warns:
            assert value <= (1 + model.tol) * upper * (1 + 1e-15), seed
