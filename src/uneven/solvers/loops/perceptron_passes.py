"""Compiled passes of the perceptron with uneven margins over dense and CSR rows.

A row whose signed score is at most its margin moves the weights: w += r x and b += r R^2, where r is the row's rate
with the sign of its class. ``moments`` holds the sum over updates of the time of the update times its step. The mean of
the weights over all rows seen follows from it, so that not every row has to touch every weight.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from uneven.solvers.loops.compile_options import ANY_ORDER


@njit(**ANY_ORDER)
def pass_dense(
    X: Any, order: Any, signs: Any, margins: Any, rates: Any, square: float, w: Any, moments: Any, clock: float
) -> Any:
    """One pass over dense rows in an order; w[-1] and moments[-1] belong to the intercept. Returns updates and loss."""
    updates, loss = 0, 0.0
    d = X.shape[1]
    for i in order:
        clock += 1.0
        if rates[i] == 0.0:
            continue
        row = X[i]
        score = w[d]
        for k in range(d):
            score += row[k] * w[k]
        short = margins[i] - signs[i] * score
        if short >= 0.0:
            updates += 1
            loss += rates[i] * short
            step = rates[i] * signs[i]
            for k in range(d):
                w[k] += step * row[k]
                moments[k] += clock * step * row[k]
            w[d] += step * square
            moments[d] += clock * step * square
    return updates, loss


@njit(**ANY_ORDER)
def pass_sparse(
    data: Any,
    indices: Any,
    indptr: Any,
    order: Any,
    signs: Any,
    margins: Any,
    rates: Any,
    square: float,
    w: Any,
    moments: Any,
    clock: float,
) -> Any:
    """The same for the rows of a CSR matrix."""
    updates, loss = 0, 0.0
    d = w.size - 1
    for i in order:
        clock += 1.0
        if rates[i] == 0.0:
            continue
        lo, hi = indptr[i], indptr[i + 1]
        score = w[d]
        for k in range(lo, hi):
            score += data[k] * w[np.uint64(indices[k])]
        short = margins[i] - signs[i] * score
        if short >= 0.0:
            updates += 1
            loss += rates[i] * short
            step = rates[i] * signs[i]
            for k in range(lo, hi):
                w[np.uint64(indices[k])] += step * data[k]
                moments[np.uint64(indices[k])] += clock * step * data[k]
            w[d] += step * square
            moments[d] += clock * step * square
    return updates, loss
