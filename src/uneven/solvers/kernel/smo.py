r"""Sequential minimal optimisation of the kernel SVM with an uneven hinge, and the evidence for its solution.

With the score :math:`f_i = (K b)_i + b_0` and margins :math:`q_i` (1 for a positive, :math:`-1/\gamma` for a negative),

.. math:: \min_{b, b_0} \tfrac12 b^\top K b + \sum_i u_i (y_i (q_i - f_i))_+, \qquad
          \max_b q^\top b - \tfrac12 b^\top K b, \quad \textstyle\sum_i b_i = 0, \; 0 \le y_i b_i \le u_i,

where :math:`u_i` is C times weight times cost. The compiled steps are in :mod:`uneven.solvers.compiled.smo_steps`; this
file holds the cache of rows of K and the loop around the steps. Rows are never left out (no "shrinking"): passes over
all rows use vector registers, passes over scattered rows could not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.solvers.kernel.gram import Gram, Stored
from uneven.solvers.progress import Progress, silent
from uneven.solvers.threads import single_threaded_blas

#: Up to this many rows, computing all of K at once is faster than computing its rows one by one.
_FEW_ROWS = 2000
#: Number of steps between progress updates and checks for Ctrl-C.
_STEPS = 20_000


@dataclass(frozen=True)
class Dual:
    """The problem: K, the margins q, the class as a sign, and the upper bounds u."""

    gram: Gram
    margins: np.ndarray
    signs: np.ndarray
    upper: np.ndarray

    @property
    def low(self) -> np.ndarray:
        return np.where(self.signs < 0, -self.upper, 0.0)

    @property
    def high(self) -> np.ndarray:
        return np.where(self.signs > 0, self.upper, 0.0)


@dataclass(frozen=True)
class KernelSolution:
    """Signed dual coefficients, the intercept, and the evidence for them.

    Attributes
    ----------
    b : ndarray
    intercept : float
    value : float
        The primal objective.
    duality_gap : float
        The primal minus the dual objective; the dual objective is a lower bound of the optimum.
    violation : float
        Violation of optimality by the worst pair, in units of the score.
    converged : bool
    iterations : int
    """

    b: np.ndarray
    intercept: float
    value: float
    duality_gap: float
    violation: float
    converged: bool
    iterations: int


class _Cache:
    """Some rows of K; a new row replaces the least recently used one."""

    def __init__(self, gram: Gram, megabytes: float) -> None:
        self.gram = gram
        n = gram.n
        self.slot = np.full(n, -1, dtype=np.int64)
        whole_fits = 8 * n * n <= megabytes * 2**20
        if isinstance(gram, Stored) or (whole_fits and n <= _FEW_ROWS):
            self.rows = gram.whole()
            self.slot = np.arange(n)
        else:
            # If not all rows fit, store them in float32: twice as many fit.
            dtype = np.float64 if whole_fits else np.float32
            count = min(n, max(2, int(megabytes * 2**20 / (np.dtype(dtype).itemsize * n))))
            self.rows = np.empty((count, n), dtype=dtype)
        self.used = np.full(len(self.rows), -1, dtype=np.int64)
        self.owner = np.full(len(self.rows), -1, dtype=np.int64)
        self.filled = 0

    def fetch(self, wanted: int, clock: int) -> None:
        """Compute a row. The row that the next step needs as well is marked as used later, so it stays."""
        if self.filled < len(self.rows):
            here = self.filled
            self.filled += 1
        else:
            here = int(self.used.argmin())
            self.slot[self.owner[here]] = -1
        self.gram.fill(np.array([wanted]), self.rows[here : here + 1])
        self.slot[wanted] = here
        self.owner[here] = wanted
        self.used[here] = clock + 1


def solve(
    dual: Dual,
    *,
    tol: float,
    max_iter: int = -1,
    cache_size: float = 200.0,
    start: np.ndarray | None = None,
    progress: Progress = silent,
) -> KernelSolution:
    """Solve the dual to a violation of tol, from feasible coefficients if they are given."""
    with single_threaded_blas():
        return _solve(dual, tol, max_iter, cache_size, start, progress)


def _solve(
    dual: Dual, tol: float, max_iter: int, cache_size: float, start: np.ndarray | None, progress: Progress
) -> KernelSolution:
    from uneven.solvers.compiled import smo_steps

    low, high = dual.low, dual.high
    b = np.zeros(dual.gram.n) if start is None else start.copy()
    g = dual.margins - dual.gram.times(b) if b.any() else dual.margins.astype(np.float64)
    up = np.where(b < high, 0.0, -smo_steps.BAR).astype(np.float32)
    down = np.where(b > low, 0.0, smo_steps.BAR).astype(np.float32)
    diagonal = dual.gram.diagonal()
    cache = _Cache(dual.gram, cache_size)
    clock, shown = 0, 0
    while True:
        until = min(clock + _STEPS, max_iter) if max_iter >= 0 else clock + _STEPS
        event, missing, clock, most, least = smo_steps.iterate(
            cache.rows, cache.slot, cache.used, diagonal, low, high, b, g, up, down, tol, clock, until
        )
        if event == smo_steps.WANTS_ROW:
            cache.fetch(missing, clock)
        elif event == smo_steps.DONE or clock == max_iter:
            break
        if clock >= shown + _STEPS:
            shown = clock
            progress(f"step {clock}: violation {most - least:.2g}, tolerance {tol:.2g}")
    return solution_from(dual, b, g, converged=event == smo_steps.DONE, iterations=clock)


def solution_from(dual: Dual, b: np.ndarray, g: np.ndarray, *, converged: bool, iterations: int) -> KernelSolution:
    """The solution with its intercept, objective and gap, from coefficients b and the gradient g = q - K b."""
    low, high = dual.low, dual.high
    free = (b > low) & (b < high)
    rising, falling = g[b < high], g[b > low]
    most = float(rising.max()) if rising.size else float(falling.min())
    least = float(falling.min()) if falling.size else most
    # A free coefficient has f = q, so its g is the intercept. The mean over all of them reduces the error that tol
    # allows.
    intercept = float(g[free].mean()) if free.any() else 0.5 * (most + least)
    quadratic = float(b @ (dual.margins - g))
    losses = float(dual.upper @ np.maximum(dual.signs * (g - intercept), 0.0))
    value = 0.5 * quadratic + losses
    return KernelSolution(
        b=b,
        intercept=intercept,
        value=value,
        duality_gap=value - (float(dual.margins @ b) - 0.5 * quadratic),
        violation=max(most - least, 0.0),
        converged=converged,
        iterations=iterations,
    )


def feasible(b: Any, upper_before: np.ndarray, dual: Dual) -> np.ndarray:
    """Coefficients of another problem on the same rows, made feasible for this one.

    A coefficient at its bound goes to the new bound, the others are clipped. Then the class with the larger sum is
    scaled down until all coefficients sum to 0.
    """
    size = np.abs(b)
    size = np.where(size >= upper_before, dual.upper, np.minimum(size, dual.upper))
    positive = dual.signs > 0
    sums = size[positive].sum(), size[~positive].sum()
    if min(sums) == 0:
        return np.zeros_like(size)
    size[positive] *= min(1.0, sums[1] / sums[0])
    size[~positive] *= min(1.0, sums[0] / sums[1])
    return dual.signs * size
