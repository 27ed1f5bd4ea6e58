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
    # Whether the peer fits no intercept at all.
    without_intercept: bool = False
    # The package to import, unless it is scikit-learn.
    package: str = "sklearn"


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


def _liblinear(kind: int, free_intercept: bool = False) -> Fit:
    def fit(data: Any, y: np.ndarray, C: float, tol: float) -> tuple[np.ndarray, float]:
        from liblinear.liblinearutil import parameter, train

        fp_cost, fn_cost = costs(y)
        free = "-R" if free_intercept else ""
        model = train(data, parameter(f"-s {kind} -c {C} -e {tol} -w1 {fn_cost} -w-1 {fp_cost} -B 1 {free} -q"))
        w, b = model.get_decfun(label_idx=0)
        sign = 1 if model.get_labels()[0] == 1 else -1
        return sign * np.asarray(w), sign * float(b)

    return fit


def _saga(X: Any, y: np.ndarray, C: float, tol: float) -> tuple[np.ndarray, float]:
    model = LogisticRegression(C=C, l1_ratio=1.0, class_weight="balanced", solver="saga", tol=tol, max_iter=3000)
    return _read(model.fit(X, y))


def _skglm(X: Any, y: np.ndarray, C: float, tol: float) -> tuple[np.ndarray, float]:
    from skglm import SparseLogisticRegression

    model = SparseLogisticRegression(alpha=1 / (C * y.size), tol=tol, max_iter=200, max_epochs=10_000)
    return _read(model.fit(X, np.where(y == 1, 1.0, -1.0)))


def _celer(X: Any, y: np.ndarray, C: float, tol: float) -> tuple[np.ndarray, float]:
    from celer import LogisticRegression as CelerLogisticRegression

    model = CelerLogisticRegression(C=C, tol=tol, max_iter=200).fit(X, np.where(y == 1, 1.0, -1.0))
    return np.ravel(model.coef_).astype(float), 0.0


def _columns_first(X: Any, y: np.ndarray) -> Any:
    """X stored by columns."""
    return np.asfortranarray(X) if isinstance(X, np.ndarray) else sp.csc_matrix(X)


_TIGHT = tuple(10.0**-k for k in (1, 2, 3, 4, 5, 6, 8, 10))
#: scikit-learn's newton-cholesky factors a square matrix of this many columns at most: with 3,000 columns a fit took
#: longer than a minute.
_MOST_COLUMNS = 2000


def peers(loss: str, X: Any, penalty: str = "l2") -> list[Peer]:
    """The installed peers for a loss, a matrix and a penalty."""
    found = _sparse_models(loss) if penalty == "l1" else _ridge(loss, X)
    for peer in found:
        if not find_spec(peer.package):
            print(f"    {peer.name} is not installed")
    return [peer for peer in found if find_spec(peer.package)]


def _ridge(loss: str, X: Any) -> list[Peer]:
    sparse, wide = not isinstance(X, np.ndarray), X.shape[0] < X.shape[1]
    epochs = (5.0, 20.0, 80.0)

    def liblinear(name: str, kind: int, settings: tuple[float, ...] = _TIGHT) -> Peer:
        return Peer(name, _liblinear(kind), settings, True, _liblinear_problem, package="liblinear")

    if loss == "logistic":
        solvers = ["lbfgs", *(["newton-cg"] if sparse else [])]
        if not sparse and X.shape[1] <= _MOST_COLUMNS:
            solvers.append("newton-cholesky")
        found = [Peer(f"scikit-learn {solver}", _logistic(solver), _TIGHT) for solver in solvers]
        found.append(Peer("scikit-learn SGD", _sgd("log_loss"), epochs))
        found.append(Peer("glum", _glum, _TIGHT, package="glum"))
        dual = sparse or wide
        found.append(Peer("snapml", _snapml("logistic", dual=dual), _TIGHT, True, with_ones, package="snapml"))
        found.append(liblinear("LIBLINEAR", 0))
        if wide:
            found.append(liblinear("LIBLINEAR dual", 7))
    elif loss == "squared_hinge":
        found = [Peer("scikit-learn LinearSVC", _linear_svc("squared_hinge", dual=False), _TIGHT, True)]
        found.append(liblinear("LIBLINEAR", 2))
        if wide:
            found.append(Peer("LinearSVC dual", _linear_svc("squared_hinge", dual=True), _TIGHT[:6], True))
            found.append(liblinear("LIBLINEAR dual", 1, _TIGHT[:6]))
    else:
        found = [Peer("scikit-learn LinearSVC", _linear_svc("hinge", dual=True), _TIGHT[:6], True)]
        found.append(Peer("scikit-learn SGD", _sgd("hinge"), epochs))
        found.append(Peer("snapml", _snapml("hinge", dual=True), _TIGHT, True, with_ones, package="snapml"))
        found.append(liblinear("LIBLINEAR", 3, _TIGHT[:6]))
    return found


def _sparse_models(loss: str) -> list[Peer]:
    if loss == "logistic":
        return [
            Peer("scikit-learn saga", _saga, _TIGHT),
            Peer("skglm", _skglm, _TIGHT, prepare=_columns_first, package="skglm"),
            Peer(
                "celer, no intercept", _celer, _TIGHT, prepare=_columns_first, without_intercept=True, package="celer"
            ),
            Peer("LIBLINEAR", _liblinear(6, True), _TIGHT, prepare=_liblinear_problem, package="liblinear"),
        ]
    if loss == "squared_hinge":
        return [Peer("LIBLINEAR", _liblinear(5, True), _TIGHT, prepare=_liblinear_problem, package="liblinear")]
    return []


warnings.filterwarnings("ignore")  # peers that stop early warn; the benchmark measures what they reached
