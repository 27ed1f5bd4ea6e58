"""Sequential minimal optimisation of the kernel SVM with an uneven hinge.

The compiled steps are in :mod:`uneven.solvers.loops.kernel_loops`; this file holds the problem, the evidence for a
solution, and the loop around the steps. Rows are never left out (no "shrinking"): passes over all rows use vector
registers, passes over scattered rows could not.

A step moves the pair of coefficients that violates optimality most. A small violation alone says nothing about the
objective: the gap is about the violation times the upper bounds. So the duality gap decides when to stop, and the steps
go on to smaller violations until it is small enough.

Steps of pairs are slow if C is large and rows are nearly dependent: they zigzag among coefficients strictly between
their bounds. With the others fixed, the problem is a linear system. A Newton step towards its solution either reaches
it, or stops at a bound; then that coefficient is fixed, and the next step is taken in the others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from uneven.errors import SolverError
from uneven.solvers.kernel.kernel_matrix import Gram, RowCache
from uneven.solvers.running import Progress, silent, single_threaded_blas

# -- the problem and its dual, and the evidence for a solution
# ----------------------------------------------------------
#
# With the score :math:`f_i = (K b)_i + b_0` and margins :math:`q_i` (1 for a positive, :math:`-1/\gamma` for a
# negative),
#
# .. math:: \min_{b, b_0} \tfrac12 b^\top K b + \sum_i u_i (y_i (q_i - f_i))_+, \qquad
#           \max_b q^\top b - \tfrac12 b^\top K b, \quad \textstyle\sum_i b_i = 0, \; 0 \le y_i b_i \le u_i,
#
# where :math:`u_i` is C times weight times cost. With :math:`g = q - K b` and :math:`s_i = y_i (g_i - b_0)`, the first
# minus the second is
#
# .. math:: \sum_i \left[ u_i (s_i)_+ - |b_i| s_i \right] - b_0 \textstyle\sum_i b_i ,
#
# a sum of nonnegative terms, each 0 where optimality holds. So nothing cancels, and the gap keeps its digits.

#: Half the distance between 1 and the next double.
_UNIT = 2.0**-53


@dataclass(frozen=True)
class Dual:
    """The problem: K, the margins q, the class as a sign, and the upper bounds u."""

    gram: Gram
    margins: np.ndarray
    signs: np.ndarray
    upper: np.ndarray

    @cached_property
    def low(self) -> np.ndarray:
        return np.where(self.signs < 0, -self.upper, 0.0)

    @cached_property
    def high(self) -> np.ndarray:
        return np.where(self.signs > 0, self.upper, 0.0)

    @cached_property
    def diagonal(self) -> np.ndarray:
        return self.gram.diagonal()

    @cached_property
    def value_at_zero(self) -> float:
        """The primal objective of the best constant score."""
        return float(min(self.high.sum(), -self.low.sum()) * (self.margins.max() - self.margins.min()))

    @cached_property
    def lengths(self) -> np.ndarray:
        """Norms of the rows in the space of the kernel, the roots of the diagonal of K."""
        return np.sqrt(np.maximum(self.diagonal, 0.0))


@dataclass(frozen=True)
class KernelSolution:
    """Signed dual coefficients, the intercept, and the evidence for them.

    Attributes
    ----------
    b : ndarray
    intercept : float
        It minimises the primal objective for these coefficients.
    value : float
        The primal objective.
    duality_gap : float
        Upper bound of the primal objective minus the optimum; infinite if K is not positive semidefinite.
    rounding : float
        The part of the gap that allows for rounding errors; the rest can be closed by more steps.
    violation : float
        Violation of optimality by the worst pair, in units of the score.
    converged : bool
        Whether the stopping rule holds.
    iterations : int
    """

    b: np.ndarray
    intercept: float
    value: float
    duality_gap: float
    rounding: float
    violation: float
    converged: bool
    iterations: int

    @property
    def bounded(self) -> bool:
        """Whether there is a bound at all."""
        return math.isfinite(self.duality_gap)

    def within(self, tol: float) -> bool:
        """Whether the objective is proved to be at most (1 + tol) times its optimum; true if there is no bound."""
        return not self.bounded or self.duality_gap <= tol * (self.value - self.duality_gap)

    @property
    def distance(self) -> float:
        """How far the solution is from optimality: the gap, or the violation if there is no bound."""
        return self.duality_gap if self.bounded else self.violation


def check_solution(dual: Dual, found: KernelSolution, gap: float) -> KernelSolution:
    """The solution, if it can be one: the last defence against an error in a solver."""
    good = found.value >= 0 and found.duality_gap >= 0 and math.isfinite(found.intercept + float(np.abs(found.b).sum()))
    if found.converged and found.bounded:
        good = good and found.value <= (1 + 2 * min(gap, 1.0)) * dual.value_at_zero
    if not good:
        raise SolverError(
            f"the solver of the kernel SVM failed: objective {found.value:g} with a gap of {found.duality_gap:g}, "
            f"where a constant score has {dual.value_at_zero:g}; please report the data that did this"
        )
    return found


def best_intercept(dual: Dual, g: np.ndarray) -> float:
    """The intercept that minimises the primal objective for coefficients with the gradient g.

    The objective is piecewise linear in the intercept. Its slope is the weight of the negative rows with a smaller g
    minus the weight of the positive rows with a larger g, so the minimum is a quantile of g. If it is an interval, take
    the middle.
    """
    order = np.argsort(g)
    weight = dual.upper[order]
    positive = dual.signs[order] > 0
    below = np.cumsum(np.where(positive, 0.0, weight))
    above = np.where(positive, weight, 0.0)
    above[:-1], above[-1] = np.cumsum(above[:0:-1])[::-1], 0.0
    # Differences that rounding could make count as 0; both sums are small where the optimum is.
    slope, blur = below - above, 4 * _UNIT * g.size * (below + above)
    first, last = int(np.argmax(slope >= -blur)), int(np.argmax(slope > blur))
    return 0.5 * (float(g[order[first]]) + float(g[order[last]]))


def solution_from(
    dual: Dual,
    b: np.ndarray,
    g: np.ndarray,
    *,
    iterations: int,
    errors: np.ndarray | float = 0.0,
    semidefinite: bool = True,
) -> KernelSolution:
    """The solution with its intercept, objective and gap, from coefficients b and the gradient g = q - K b.

    The gap is an upper bound in spite of rounding, if each g_i was computed by one sum in double precision, or is off
    by no more than ``errors`` besides.
    """
    rising, falling = g[b < dual.high], g[b > dual.low]
    most = float(rising.max()) if rising.size else -math.inf
    least = float(falling.min()) if falling.size else math.inf
    intercept = best_intercept(dual, g)
    size = np.abs(b)
    short = dual.signs * (g - intercept)
    quadratic = float(b @ (dual.margins - g))
    losses = dual.upper * np.maximum(short, 0.0)
    value = 0.5 * max(quadratic, 0.0) + float(losses.sum())
    gap = rounding = math.inf
    if semidefinite:
        gap, rounding = _safe_gap(dual, b, size, g, short, intercept, quadratic, value, errors)
    return KernelSolution(
        b=b,
        intercept=intercept,
        value=value,
        duality_gap=gap,
        rounding=rounding,
        violation=max(most - least, 0.0),
        converged=False,
        iterations=iterations,
    )


def _safe_gap(
    dual: Dual,
    b: np.ndarray,
    size: np.ndarray,
    g: np.ndarray,
    short: np.ndarray,
    intercept: float,
    quadratic: float,
    value: float,
    known: np.ndarray | float,
) -> tuple[float, float]:
    """An upper bound of the objective minus the optimum, and how much of it is for rounding."""
    count = int(np.count_nonzero(b))
    weight = float(size @ dual.lengths)
    # |K_ij| is at most the product of the lengths. The sums are taken four rows at a time, so that each number is the
    # result of n/4 + 6 roundings at most.
    errors = known + dual.lengths * (weight * ((0.25 * count + 8) * _UNIT + dual.gram.rounding))
    # The coefficients sum to 0 but for rounding; centred rows count on it.
    excess = abs(math.fsum(b))
    off = excess * dual.gram.centre
    errors += 4 * _UNIT * (np.abs(g) + abs(intercept)) + off * dual.lengths
    blur = float(size @ errors)
    if not dual.gram.semidefinite or quadratic < -blur:
        return math.inf, math.inf
    rest = dual.upper - size
    plain = float(np.maximum(rest * short, -size * short).sum())
    terms = np.maximum(rest * (short + errors), size * (errors - short))
    # An optimal intercept is between two of the numbers q - K b.
    imbalance = excess * (
        abs(intercept) + float(np.abs(dual.margins).max()) + math.sqrt(2 * value) * float(dual.lengths.max())
    )
    # What the objective itself may be off.
    sums = 4 * _UNIT * b.size
    near = short > -errors
    length = math.sqrt(max(quadratic, 0.0))
    blur += float(dual.upper[near] @ errors[near]) + sums * (value + weight * length) + off * (length + off)
    # The intercept for rows that were not centred is rounded as well.
    blur += float(dual.upper.sum()) * dual.gram.centre * weight * ((count + 8) * _UNIT + dual.gram.rounding)
    gap = (float(terms.sum()) + imbalance) * (1 + sums) + blur
    return gap, gap - plain


#: Most free coefficients of a Newton step: its cost grows with their third power. With more, none is taken.
_MOST_FREE = 2000
#: Error of an entry of K in float32, relative to the root of K_ii K_jj, with a wide margin.
_FLOAT_32 = 2.0**-20
#: Relative change of a sum of doubles that rounding could have made.
_ROUNDING = 2.0**-50


def solve(
    dual: Dual,
    *,
    tol: float,
    gap: float = math.inf,
    max_iter: int = -1,
    cache_size: float = 200.0,
    start: np.ndarray | None = None,
    progress: Progress = silent,
) -> KernelSolution:
    """Solve the dual to a violation of tol and a relative gap, from feasible coefficients if they are given.

    For a kernel that is not positive semidefinite only the violation counts.
    """
    with single_threaded_blas():
        fine = min(tol, gap) < 1e-4  # needs rows in double precision
        cache = RowCache(dual.gram, cache_size, fine=fine)
        return _solve(dual, tol, gap, max_iter, cache, start, progress)


def _solve(
    dual: Dual,
    tol: float,
    gap: float,
    max_iter: int,
    cache: RowCache,
    start: np.ndarray | None,
    progress: Progress,
) -> KernelSolution:
    from uneven.solvers.loops import kernel_loops

    low, high, diagonal = dual.low, dual.high, dual.diagonal
    b = np.zeros(dual.gram.n) if start is None else start.copy()
    g = dual.margins - cache.times(b) if b.any() else dual.margins.astype(np.float64)
    # The gradient that steps keep has more rounding errors than the one that decides.
    aim = tol * (0.9 if cache.rough else 0.999)
    patience = min(1000 + 5 * b.size, 20_000)  # steps between two rounds of Newton steps, and checks for Ctrl-C
    clock, exact_at, semidefinite = 0, 0, True
    reached, last = -math.inf, math.inf
    best: KernelSolution | None = None
    while True:
        up = np.where(b < high, 0.0, -kernel_loops.BAR).astype(np.float32)
        down = np.where(b > low, 0.0, kernel_loops.BAR).astype(np.float32)
        until = min(clock + patience, max_iter) if max_iter >= 0 else clock + patience
        event = kernel_loops.WANTS_ROW
        while event == kernel_loops.WANTS_ROW:
            event, missing, clock, most, least, bent = kernel_loops.iterate(
                cache.rows, cache.slot, cache.used, diagonal, low, high, b, g, up, down, aim, clock, until
            )
            semidefinite = semidefinite and not bent
            if event == kernel_loops.WANTS_ROW:
                cache.fetch(missing, clock)
        if event == kernel_loops.PAUSED and clock != max_iter:
            progress(f"step {clock}: violation {most - least:.2g}, aim {aim:.2g}")
            b, g = _climb_if_it_helps(dual, cache, b)
            exact_at = clock
        elif cache.complete and clock > exact_at:
            g, exact_at = dual.margins - cache.times(b), clock
        found = solution_from(dual, b, g, semidefinite=semidefinite, iterations=clock)
        if event == kernel_loops.PAUSED and clock != max_iter:
            best = _better(best, found)
            before, reached = reached, 0.5 * float(b @ (dual.margins + g))
            blur = _ROUNDING * float(np.abs(b) @ np.abs(dual.margins))
            # Steps that gain less than this share of the gap have no hope to close it.
            if reached - before > blur + (1e-6 * found.duality_gap if found.bounded else 0.0):
                continue
            event = kernel_loops.STUCK
        closable = found.duality_gap - found.rounding > found.rounding
        if event == kernel_loops.DONE and not found.within(gap) and closable and aim > tol * _ROUNDING:
            aim *= _tighter(found, gap)
            continue
        # The gradient was kept up to date by steps. From here on only the exact one counts.
        if clock > exact_at:
            g, errors = _compute_exactly(dual, cache, found, g)
            exact_at = clock
            found = solution_from(dual, b, g, errors=errors, semidefinite=semidefinite, iterations=clock)
        if found.violation <= tol and found.within(gap):
            return replace(found, converged=True)
        best = _better(best, found)
        if clock == max_iter or not found.distance < 0.5 * last:
            return replace(best, iterations=clock)
        last = found.distance


def _compute_exactly(dual: Dual, cache: RowCache, found: KernelSolution, g: np.ndarray) -> tuple[np.ndarray, Any]:
    """The exact gradient, and bounds of its errors beyond rounding.

    Most rows are far beyond their margin, with a coefficient of 0. To know that is enough for the gap, and the gradient
    of steps in float32 shows it. So only the others are computed again.
    """
    if not cache.rough:
        return dual.margins - cache.times(found.b), 0.0
    size = np.abs(found.b)
    errors = _FLOAT_32 * float(size @ dual.lengths) * dual.lengths
    open_rows = np.flatnonzero((size > 0) | (dual.signs * (g - found.intercept) >= -4 * errors))
    g = g.copy()
    g[open_rows] = dual.margins[open_rows] - dual.gram.times(found.b, open_rows)
    errors[open_rows] = 0.0
    return g, errors


def _better(best: KernelSolution | None, found: KernelSolution) -> KernelSolution:
    """The one closer to optimality, with coefficients that further steps do not change."""
    return best if best is not None and best.distance <= found.distance else replace(found, b=found.b.copy())


def _climb_if_it_helps(dual: Dual, cache: RowCache, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients after Newton steps in the free ones, if those help, and the exact gradient."""
    free = np.flatnonzero((b > dual.low) & (b < dual.high))
    exact = dual.margins - cache.times(b)
    if not 2 <= free.size <= _MOST_FREE:
        return b, exact
    moved = b.copy()
    moved[free] = climb(cache.among(free), exact[free], b[free], dual.low[free], dual.high[free])
    gradient = dual.margins - cache.times(moved)
    # With the gradients before and after, the difference of a quadratic function keeps its digits.
    rises = float((moved - b) @ (exact + gradient)) > 0
    return (moved, gradient) if rises else (b, exact)


def _tighter(found: KernelSolution, gap: float) -> float:
    """By how much smaller the violation should be for the gap; both shrink together in the long run."""
    wanted = 0.5 * gap * (found.value - found.duality_gap) / found.duality_gap
    return min(max(wanted, 0.01), 0.5)


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


# -- Newton steps in the free coefficients --------------------------------------------------------------------------


def climb(K: np.ndarray, g: np.ndarray, b: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Free coefficients with a larger dual objective and the same sum, from those of K, g, b and bounds."""
    b, g = b.copy(), g.copy()
    free = np.arange(b.size)
    spent = 0.0
    while free.size >= 2 and spent < 1e9:  # multiplications
        spent += free.size**3 / 3
        part = K[np.ix_(free, free)]
        d = _direction(part, g[free])
        slope = float(g[free] @ d)
        if not slope > 0:
            break
        curvature = float(d @ (part @ d))
        with np.errstate(divide="ignore"):
            rooms = np.where(d > 0, high[free] - b[free], np.where(d < 0, b[free] - low[free], math.inf)) / np.abs(d)
        first = int(rooms.argmin())
        room = float(rooms[first])
        step = room if curvature * room <= slope else slope / curvature
        if not math.isfinite(step):
            break
        b[free] = np.clip(b[free] + step * d, low[free], high[free])
        g -= step * (K[:, free] @ d)
        if step < room:
            break
        b[free[first]] = high[free[first]] if d[first] > 0 else low[free[first]]
        free = free[(b[free] > low[free]) & (b[free] < high[free])]
    return b


def _direction(K: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Maximise g'd - d'Kd/2 where the sum of d is 0."""
    n = g.size
    system = np.ones((n + 1, n + 1))
    scale = float(np.trace(K)) / n
    system[:n, :n] = K / scale if scale > 0 else K
    system.flat[: n * (n + 2) : n + 2] += 1e-14  # K may be singular there
    system[n, n] = 0.0
    try:
        d = np.linalg.solve(system, np.append(g, 0.0))[:n]
    except np.linalg.LinAlgError:
        d = g.copy()
    return np.asarray(d - d.mean()) / (scale if scale > 0 else 1.0)
