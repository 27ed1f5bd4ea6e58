"""LIBSVM, by way of scikit-learn's SVC, as a solver of the uneven kernel SVM."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from uneven.solvers.hinge_identity import HingeIdentity
from uneven.solvers.kernel.gram import KernelFunction
from uneven.solvers.kernel.solution import Dual, KernelSolution, solution_from
from uneven.solvers.threads import single_threaded_blas

#: A coefficient closer to its bound than this, relatively, is at its bound.
_ROUNDING = 1e-12
#: Most fits until the gap is small enough; LIBSVM starts from 0 every time, and can run forever if tol is too small.
_FITS = 4
_SMALLEST_TOL = 1e-12


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

    ``tol`` is in units of the ordinary score h, as in SVC. If the relative gap is too large, LIBSVM gets a smaller tol.
    """
    # LIBSVM drops rows without weight and renumbers the others.
    rows = np.flatnonzero(dual.upper)
    if rows.size < dual.upper.size:
        X = X[np.ix_(rows, rows)] if kernel.name == "precomputed" else X[rows]
    aim, steps = tol, 0
    for fits in range(1, _FITS + 1):
        peer = _fitted(dual, X, kernel, identity, rows, tol=aim, max_iter=max_iter, cache_size=cache_size)
        b = _coefficients(dual, identity, rows, peer)
        steps += int(np.max(peer.n_iter_))
        with single_threaded_blas():
            g = dual.margins - dual.gram.times(b)
        found = solution_from(dual, b, g, iterations=steps)
        stopped = peer.fit_status_ == 0
        if found.within(gap) or not stopped or fits == _FITS or aim <= _SMALLEST_TOL:
            break
        aim = max(0.1 * aim * min(1.0, gap * found.value / found.duality_gap), _SMALLEST_TOL)
    return replace(found, converged=stopped and found.within(gap))


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
