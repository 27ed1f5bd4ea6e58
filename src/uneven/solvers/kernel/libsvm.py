"""LIBSVM, by way of scikit-learn's SVC, as a solver of the uneven kernel SVM."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from uneven.solvers.hinge_identity import HingeIdentity
from uneven.solvers.kernel import smo
from uneven.solvers.kernel.gram import KernelFunction
from uneven.solvers.kernel.solution import Dual, KernelSolution, solution_from
from uneven.solvers.threads import single_threaded_blas

#: A coefficient closer to its bound than this, relatively, is at its bound.
_ROUNDING = 1e-12
#: LIBSVM keeps the kernel in float32, and can run forever if tol is smaller than its rounding errors.
_SMALLEST_TOL = 1e-10
#: By this share the violation may exceed tol because of those errors.
_SLACK = 1e-3


def solve(
    dual: Dual,
    X: Any,
    kernel: KernelFunction,
    identity: HingeIdentity,
    *,
    tol: float,
    gap: float = math.inf,
    max_iter: int = -1,
    cache_size: float = 200.0,
) -> KernelSolution:
    """Solve the ordinary weighted SVM with C/a by LIBSVM, and translate its solution by f = a h + c.

    ``tol`` is in units of the ordinary score h, as in SVC. LIBSVM promises no gap. If it is too large, our own steps
    finish the solution.
    """
    # LIBSVM drops rows without weight and renumbers the others.
    rows = np.flatnonzero(dual.upper)
    if rows.size < dual.upper.size:
        X = X[np.ix_(rows, rows)] if kernel.name == "precomputed" else X[rows]
    peer = _fitted(
        dual, X, kernel, identity, rows, tol=max(tol, _SMALLEST_TOL), max_iter=max_iter, cache_size=cache_size
    )
    b = _coefficients(dual, identity, rows, peer)
    steps = int(np.max(peer.n_iter_))
    with single_threaded_blas():
        g = dual.margins - dual.gram.times(b)
    found = solution_from(dual, b, g, iterations=steps)
    if peer.fit_status_ != 0:
        return found
    if found.within(gap) and found.violation <= identity.a * tol * (1 + _SLACK):
        return replace(found, converged=True)
    left = max_iter if max_iter < 0 else max(max_iter - steps, 0)
    finished = smo.solve(dual, tol=identity.a * tol, gap=gap, max_iter=left, cache_size=cache_size, start=b)
    return replace(finished, iterations=steps + finished.iterations)


def _fitted(
    dual: Dual,
    X: Any,
    kernel: KernelFunction,
    identity: HingeIdentity,
    rows: np.ndarray,
    *,
    tol: float,
    max_iter: int,
    cache_size: float,
) -> Any:
    from sklearn.svm import SVC

    peer = SVC(
        C=1.0,
        kernel=kernel.name,
        degree=int(kernel.degree),
        gamma=kernel.width,
        coef0=kernel.offset,
        tol=tol,
        cache_size=cache_size,
        max_iter=max_iter,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the learner warns by itself
        peer.fit(X, dual.signs[rows] > 0, sample_weight=dual.upper[rows] / identity.a)
    return peer


def _coefficients(dual: Dual, identity: HingeIdentity, rows: np.ndarray, peer: Any) -> np.ndarray:
    """Coefficients of the uneven SVM."""
    found = peer.dual_coef_.toarray() if hasattr(peer.dual_coef_, "toarray") else peer.dual_coef_
    b = np.zeros(dual.signs.size)
    b[rows[peer.support_]] = identity.a * np.asarray(found).ravel()
    # Multiplying by a may move a coefficient slightly off its bound.
    b = np.clip(b, dual.low, dual.high)
    at_bound = np.abs(b) > dual.upper * (1 - _ROUNDING)
    b[at_bound] = (dual.signs * dual.upper)[at_bound]
    return b
