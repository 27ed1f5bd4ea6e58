"""LIBSVM, by way of scikit-learn's SVC, as a solver of the uneven kernel SVM."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from uneven.solvers.hinge_identity import HingeIdentity
from uneven.solvers.kernel.gram import KernelFunction
from uneven.solvers.kernel.smo import Dual, KernelSolution, solution_from

#: A coefficient closer to its bound than this, relatively, is at its bound.
_ROUNDING = 1e-12


def solve(
    dual: Dual,
    X: Any,
    kernel: KernelFunction,
    identity: HingeIdentity,
    *,
    tol: float,
    max_iter: int = -1,
    cache_size: float = 200.0,
) -> KernelSolution:
    """Solve the ordinary weighted SVM with C/a by LIBSVM, and translate its solution by f = a h + c.

    ``tol`` is in units of the ordinary score h, as in SVC.
    """
    from sklearn.svm import SVC

    # LIBSVM drops rows without weight and renumbers the others.
    rows = np.flatnonzero(dual.upper)
    if rows.size < dual.upper.size:
        X = X[np.ix_(rows, rows)] if kernel.name == "precomputed" else X[rows]
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
    found = peer.dual_coef_.toarray() if hasattr(peer.dual_coef_, "toarray") else peer.dual_coef_
    b = np.zeros(dual.signs.size)
    b[rows[peer.support_]] = identity.a * np.asarray(found).ravel()
    # Multiplying by a may move a coefficient slightly off its bound.
    b = np.clip(b, dual.low, dual.high)
    at_bound = np.abs(b) > dual.upper * (1 - _ROUNDING)
    b[at_bound] = (dual.signs * dual.upper)[at_bound]
    gradient = dual.margins - dual.gram.times(b)
    steps = int(np.max(peer.n_iter_))
    return solution_from(dual, b, gradient, converged=peer.fit_status_ == 0, iterations=steps)
