"""Other libraries (peers) that fit the same model, each with tolerances from loose to tight."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp
from linear_data import costs
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.svm import LinearSVC

#: Fit the prepared X and y with C and a tolerance; return the coefficients and the intercept.
Fit = Callable[[Any, np.ndarray, float, float], tuple[np.ndarray, float]]


def _as_it_is(X: Any, y: np.ndarray) -> Any:
    return X


@dataclass(frozen=True)
class Peer:
    name: str
    fit: Fit
    settings: tuple[float, ...]
    # Whether the peer penalises the intercept like a coefficient; it then has another objective.
    penalises_intercept: bool = False
    # Converts X to the peer's format; not timed.
    prepare: Callable[[Any, np.ndarray], Any] = _as_it_is


def weights(y: np.ndarray) -> np.ndarray:
    fp_cost, fn_cost = costs(y)
    return np.where(y == 1, fn_cost, fp_cost)


def _read(model: Any) -> tuple[np.ndarray, float]:
    return np.ravel(model.coef_).astype(float), float(np.ravel(model.intercept_)[0])


def _logistic(solver: str) -> Fit:
    def fit(X: Any, y: np.ndarray, C: float, tol: float) -> tuple[np.ndarray, float]:
        return _read(LogisticRegression(C=C, class_weight="balanced", solver=solver, tol=tol, max_iter=3000).fit(X, y))

    return fit


def _linear_svc(loss: str, dual: bool) -> Fit:
    def fit(X: Any, y: np.ndarray, C: float, tol: float) -> tuple[np.ndarray, float]:
        model = LinearSVC(loss=loss, C=C, class_weight="balanced", dual=dual, tol=tol, max_iter=2000)
        return _read(model.fit(X, y))

    return fit


def _sgd(loss: str) -> Fit:
    def fit(X: Any, y: np.ndarray, C: float, epochs: float) -> tuple[np.ndarray, float]:
        model = SGDClassifier(
            loss=loss, alpha=1 / (C * y.size), class_weight="balanced", max_iter=int(epochs), tol=None, average=True
        )
        return _read(model.fit(X, y))

    return fit


def _glum(X: Any, y: np.ndarray, C: float, tol: float) -> tuple[np.ndarray, float]:
    from glum import GeneralizedLinearRegressor

    weight = weights(y)
    solver = "irls-ls" if X.shape[1] <= 100 else "lbfgs"
    model = GeneralizedLinearRegressor(
        family="binomial", alpha=1 / (C * weight.sum()), l1_ratio=0, solver=solver, gradient_tol=tol, max_iter=1000
    )
    return _read(model.fit(X, y.astype(float), sample_weight=weight))


def with_ones(X: Any, y: np.ndarray | None = None) -> Any:
    """X with a column of ones, whose coefficient is a penalised intercept."""
    ones = np.ones((X.shape[0], 1))
    return np.hstack([X, ones]) if isinstance(X, np.ndarray) else sp.hstack([X, sp.csr_matrix(ones)], format="csr")


def _snapml(kind: str, dual: bool) -> Fit:
    def fit(X: Any, y: np.ndarray, C: float, tol: float) -> tuple[np.ndarray, float]:
        import snapml

        # The primal solver fits no intercept if the classes are weighted, so X gets a column of ones.
        shared = {"regularizer": 1 / C, "tol": tol, "max_iter": 3000, "n_jobs": 2, "fit_intercept": False}
        shared["class_weight"] = "balanced"
        model = (
            snapml.LogisticRegression(dual=dual, **shared)
            if kind == "logistic"
            else snapml.SupportVectorMachine(loss=kind, **shared)
        )
        model.fit(X, y.astype(np.float64))
        w = np.ravel(model.coef_).astype(float)
        return w[:-1], float(w[-1])

    return fit


def _liblinear_problem(X: Any, y: np.ndarray) -> Any:
    from liblinear.liblinearutil import problem

    return problem(np.where(y == 1, 1, -1), sp.csr_matrix(X), bias=1)


def _liblinear(kind: int) -> Fit:
    def fit(data: Any, y: np.ndarray, C: float, tol: float) -> tuple[np.ndarray, float]:
        from liblinear.liblinearutil import parameter, train

        fp_cost, fn_cost = costs(y)
        model = train(data, parameter(f"-s {kind} -c {C} -e {tol} -w1 {fn_cost} -w-1 {fp_cost} -B 1 -q"))
        w, b = model.get_decfun(label_idx=0)
        sign = 1 if model.get_labels()[0] == 1 else -1
        return sign * np.asarray(w), sign * float(b)

    return fit


def peers(loss: str, sparse: bool) -> list[Peer]:
    """The installed peers for a loss."""
    tight = tuple(10.0**-k for k in (1, 2, 3, 4, 5, 6, 8, 10))
    epochs = (5.0, 20.0, 80.0)
    if loss == "logistic":
        solvers = ("newton-cg",) if sparse else ("newton-cholesky", "lbfgs")
        found = [Peer(f"scikit-learn {solver}", _logistic(solver), tight) for solver in solvers]
        found.append(Peer("scikit-learn SGD", _sgd("log_loss"), epochs))
        found.append(Peer("glum", _glum, tight))
        found.append(Peer("snapml", _snapml("logistic", dual=sparse), tight, True, with_ones))
        found.append(Peer("LIBLINEAR", _liblinear(0), tight, True, _liblinear_problem))
    elif loss == "squared_hinge":
        found = [Peer("scikit-learn LinearSVC", _linear_svc("squared_hinge", dual=False), tight, True)]
        found.append(Peer("LIBLINEAR", _liblinear(2), tight, True, _liblinear_problem))
    else:
        found = [Peer("scikit-learn LinearSVC", _linear_svc("hinge", dual=True), tight[:5], True)]
        found.append(Peer("scikit-learn SGD", _sgd("hinge"), epochs))
        found.append(Peer("snapml", _snapml("hinge", dual=True), tight, True, with_ones))
        found.append(Peer("LIBLINEAR", _liblinear(3), tight[:6], True, _liblinear_problem))
    needs = {"glum": "glum", "snapml": "snapml", "LIBLINEAR": "liblinear"}
    return [peer for peer in found if peer.name not in needs or find_spec(needs[peer.name])]


warnings.filterwarnings("ignore")  # peers that stop early warn; the benchmark measures what they reached
