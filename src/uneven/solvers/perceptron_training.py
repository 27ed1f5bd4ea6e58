"""Training of the perceptron with uneven margins: passes over the rows, and the average of the weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.solvers.running import Progress, silent


@dataclass(frozen=True)
class Examples:
    """What a pass needs of each row.

    Attributes
    ----------
    X : ndarray or CSR matrix
    signs : ndarray
        1 for a positive, -1 for a negative row.
    margins : ndarray
        A row whose signed score is at most this moves the weights.
    rates : ndarray
        Length of the step of each row: eta0 times cost times sample weight.
    radius : float
        R: the intercept moves as if every row had one more column with the value R.
    """

    X: Any
    signs: np.ndarray
    margins: np.ndarray
    rates: np.ndarray
    radius: float


@dataclass
class PerceptronState:
    """The weights (the intercept last) and what their average needs; passes change it.

    Attributes
    ----------
    weights : ndarray
    moments : ndarray
        Sum over all updates of the time of the update times its step.
    rows_seen, passes, updates : int
    """

    weights: np.ndarray
    moments: np.ndarray
    rows_seen: int = 0
    passes: int = 0
    updates: int = 0

    @classmethod
    def zero(cls, columns: int) -> PerceptronState:
        """Before the first row."""
        return cls(np.zeros(columns + 1), np.zeros(columns + 1))

    def average(self) -> np.ndarray:
        """The mean of the weights over all rows seen: an update at time t counts for rows_seen - t + 1 of them."""
        return ((self.rows_seen + 1) * self.weights - self.moments) / self.rows_seen


@dataclass(frozen=True)
class Training:
    """How the passes of :func:`train` ended.

    Attributes
    ----------
    settled : bool
        Whether it ended by its own rules, not by ``max_iter``.
    separated : bool
        Whether the last pass made no update, so that each row has its margin.
    last_updates : int
        Updates of the last pass.
    """

    settled: bool
    separated: bool
    last_updates: int


def one_pass(examples: Examples, order: np.ndarray, state: PerceptronState) -> tuple[int, float]:
    """Visit the rows in an order and update the state; returns the number of updates and the sum of the losses."""
    from uneven.solvers.loops import perceptron_passes

    X = examples.X
    common = (order, examples.signs, examples.margins, examples.rates, examples.radius**2)
    changed = (state.weights, state.moments, float(state.rows_seen))
    if isinstance(X, np.ndarray):
        updates, loss = perceptron_passes.pass_dense(np.ascontiguousarray(X), *common, *changed)
    else:
        updates, loss = perceptron_passes.pass_sparse(X.data, X.indices, X.indptr, *common, *changed)
    state.passes += 1
    state.updates += updates
    state.rows_seen += order.size
    return updates, loss


def train(
    examples: Examples,
    state: PerceptronState,
    *,
    max_iter: int,
    tol: float | None,
    n_iter_no_change: int,
    shuffle: np.random.RandomState | None,
    progress: Progress = silent,
) -> Training:
    """Pass over the rows until a pass makes no update, the loss no longer falls, or ``max_iter`` passes are done.

    The loss no longer falls if that of ``n_iter_no_change`` passes in a row is not below 1 - tol times the best before;
    with ``tol=None`` this rule is off. Each pass is in a new random order if ``shuffle`` is given.
    """
    best, stale, settled, updates = np.inf, 0, False, 0
    order = np.arange(examples.signs.size)
    while not settled and state.passes < max_iter:
        if shuffle is not None:
            shuffle.shuffle(order)
        updates, loss = one_pass(examples, order, state)
        progress(f"pass {state.passes}: {updates} updates")
        stale = 0 if tol is None or loss < (1 - tol) * best else stale + 1
        best = min(best, loss)
        settled = updates == 0 or stale >= n_iter_no_change
    return Training(settled=settled, separated=updates == 0, last_updates=updates)
