"""Problems with an l1 penalty, and independent solutions of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from problems import LOSSES, linear_objective
from scipy.optimize import linprog, minimize

import uneven
from uneven.solvers.linear.objective import Objective

#: Every registered convex phi, and expressions with kinks: some not doubles, some between curved pieces.
CONVEX = [name for name in LOSSES if uneven.phi(name).convex]
EXPRESSIONS = ["relu(1 - t)**2 + relu(1 - t)", "max(0, 1 - t, 3 - 6*t)", "relu(1 - 3*t)", "max(softplus(-t), 1 - 2*t)"]


def l1_objective(loss: Any, X: Any, y: np.ndarray, *, l1: float = 1.0, **more: Any) -> Objective:
    """An objective with an l1 penalty, and no squared one unless it is given."""
    return replace(linear_objective(loss, X, y, **{"penalty": 0.0, **more}), l1=l1)


def dense(objective: Objective) -> np.ndarray:
    X = objective.design.X
    return np.asarray(X.todense() if sp.issparse(X) else X, dtype=np.float64)


def by_split_coefficients(objective: Objective) -> float:
    """The least value that scipy finds for w = p - n with p, n >= 0, where a smooth objective has no kink."""
    d = objective.design.d

    def value(split: np.ndarray) -> tuple[float, np.ndarray]:
        w = split[:d] - split[d : 2 * d]
        smooth = replace(objective, l1=0.0)
        found, gradient = smooth.value_and_gradient(np.append(w, split[-1]))
        slopes = np.concatenate([gradient[:-1], -gradient[:-1]]) + objective.l1
        return found + objective.l1 * float(split[:-1].sum()), np.append(slopes, gradient[-1])

    bounds = [(0, None)] * (2 * d) + [(None, None)]
    options = {"maxiter": 800, "maxfun": 1600, "ftol": 1e-15, "gtol": 1e-10, "maxcor": 30}
    start = np.zeros(2 * d + 1)
    return float(minimize(value, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).fun)


def by_linear_program(objective: Objective) -> float:
    """The exact optimum for a loss of straight pieces: each row's loss is the largest of its lines."""
    X = dense(objective)
    n, d = X.shape
    rows, limits = [], []
    for label, kernel in enumerate(objective.pair.kernels):
        points = np.array([-64.0, -0.7, 0.1, 0.9, 64.0])  # a point in each piece of the losses above
        values, slopes = kernel.first(points)
        scale, members = objective.pair.scales[label], np.flatnonzero(objective.y == label)
        for value, slope, point in zip(values, slopes, points, strict=True):
            scores = slope * scale * np.hstack([X[members], -X[members], np.ones((members.size, 1))])
            own = np.zeros((members.size, n))
            own[np.arange(members.size), members] = -1.0
            rows.append(np.hstack([scores, own]))
            limits.append(np.full(members.size, slope * point - value))
    costs = np.concatenate([np.full(2 * d, objective.l1), [0.0], objective.factors()])
    b = (None, None) if objective.fit_intercept else (0, 0)
    bounds = [(0, None)] * (2 * d) + [b] + [(None, None)] * n
    found = linprog(costs, A_ub=np.vstack(rows), b_ub=np.concatenate(limits), bounds=bounds, method="highs")
    assert found.success, found.message
    return float(found.fun)
