"""Convex losses on fewer rows than columns: Newton steps in the space of the rows, with the Gram matrix X X'.

The matrix is computed once; a step then costs as much as a few reads of X, or less. If the Gram matrix was computed in
single precision, the steps approach the solution of a slightly different problem: the scores are then computed from X
again, and the next steps correct the difference. Losses with kinks get the multipliers of an augmented Lagrangian.

A smooth loss on dense rows is first minimised over a few combinations of the rows, to which others are added. This is
enough where the rows are far from dependent, or the penalty is strong. The Gram matrix, which costs as much as 20 or 30
reads of X, is not needed then.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from uneven.solvers import loops
from uneven.solvers.linear.algorithms.newton import minimise_small
from uneven.solvers.linear.design import Dense
from uneven.solvers.linear.gram import gram_of, is_at_hand, multiplications
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.row_space_problem import NotPositive, RowSpace
from uneven.solvers.linear.solver import (
    Settings,
    Solution,
    Solver,
    at_most_rows,
    convex_loss,
    has_more_columns_than_rows,
    l2_penalty_alone,
)
from uneven.solvers.running import in_threads, row_ranges, silent, single_threaded_blas


@dataclass(frozen=True)
class Limits:
    """What was tuned by measuring; ``benchmarks/sensitivity.py`` doubles and halves each."""

    #: Scores are computed from X where the Gram matrix promises this share of the gap that is wanted.
    close: float = 0.3
    #: Before the Gram matrix, combinations of the rows: reads of X that cost as much as the matrix and its steps, if
    #: there are few rows. For each 200 rows, there may be one more.
    reads: int = 12
    #: With fewer rows the Gram matrix costs less than these reads.
    least_rows: int = 400


LIMITS = Limits()


def costs_less_than_passes(objective: Objective) -> bool:
    """Whether the matrices cost neither more memory nor more time than a solver that iterates over X.

    The time is a rough model, in seconds on two cores; only ratios matter.
    """
    design, n = objective.design, objective.design.n
    if 16 * n * n > max(1 << 28, 4 * 8 * design.numbers):  # bytes of two matrices: 256 MB, or four times as much as X
        return False
    passes = 1000 if objective.pair.kinked else 300
    one_pass = 5e-10 * design.numbers + 4e-8 * design.d
    factors = 8 * n**3 / 3  # multiplications of about eight steps
    return 1e-11 * multiplications(design) + 2.5e-11 * factors <= passes * one_pass


def minimise(objective: Objective, theta: np.ndarray | None, settings: Settings) -> Solution:
    """Minimise until the gap is below tol times the value; ``theta`` None: from 0."""
    with single_threaded_blas():
        if theta is None and is_worth_trying(objective) and not is_at_hand(objective.design):
            found = minimise_over_directions(objective, settings)
            if found is not None:
                return found
        run = _Run(objective, settings)
        run.start(theta)
        run.finish()
    return Solution(
        theta=run.theta,
        value=run.value,
        converged=bool(run.gap <= settings.tol * run.value),
        status=run.status,
        iterations=run.steps,
        multipliers=run.multipliers if run.state.kinked else None,
        stats={"measured": float(run.measured)},
    )


class _Run:
    """One minimisation: the state, and the best solution so far."""

    def __init__(self, objective: Objective, settings: Settings) -> None:
        self.objective, self.settings = objective, settings
        self.state = RowSpace(objective, gram_of(objective.design))
        self.theta, self.value = np.zeros(objective.size), objective.value_at_zero
        self.gap = self.value  # no loss is negative
        self.multipliers: np.ndarray | None = None
        self.creeping = False
        self.last = self.gap  # when the multipliers were changed last
        self.steps = self.measured = 0
        self.status = f"stopped after {settings.max_iter} Newton steps"

    def start(self, theta: np.ndarray | None) -> None:
        """Choose the width of the parabolas at kinks, and go near a given starting point."""
        state = self.state
        if state.kinked:
            state.losses.sigma = min(4.0 * state.losses.sigma, state.typical_change())  # wide: an easy first problem
        scores = None if theta is None else self.objective.design.scores(theta)
        # If a unit of slope changes its own margin by so much, too many losses change between straight and curved
        # pieces on the way, and steps are short.
        if scores is None and not state.kinked and state.typical_change() > 1e5:
            scores = self._scores_of_easier()
        if scores is not None:
            try:
                state.start_near(scores, near=1e-3)
            except NotPositive:
                return
            if not state.value() < self.value:
                state.start_at_zero()

    def _scores_of_easier(self) -> np.ndarray:
        """The scores of a rough solution with a stronger penalty."""
        easier = replace(self.objective, penalty=10.0 * self.objective.penalty)
        run = _Run(easier, replace(self.settings, tol=0.1, progress=silent))
        run.start(None)
        run.finish()
        self.steps += run.steps
        return run.state.t

    def finish(self) -> None:
        """Go on until the gap is small enough, no step helps, or there were too many."""
        state, settings = self.state, self.settings
        narrowest = 1e-10 * state.losses.sigma  # slopes of narrower parabolas are made of rounding
        before, least, idle = np.inf, np.inf, 0
        while True:
            helped, at_kinks = self._newton_steps(), state.at_kinks()
            state.losses.u = state.multipliers()
            self.last = state.gap(state.losses.u)
            idle = 0 if self.last <= 0.5 * least else idle + 1
            least = min(least, self.last)
            enough = self.steps >= settings.max_iter or self.last <= LIMITS.close * settings.tol * state.value()
            if state.kinked and helped and not enough and idle < 4 and state.losses.sigma > narrowest:
                if self.creeping:
                    state.losses.sigma = min(1e4 * state.losses.sigma, state.typical_change())  # an easier problem
                else:
                    state.losses.sigma *= 0.1
                    self._take(partial(state.predicted_step, at_kinks))
                continue
            value = self.value
            gap, idle = self._measure(), 0
            if self.gap <= settings.tol * self.value:
                self.status = "reached the tolerance by the gap"
                return
            if self.steps >= settings.max_iter:
                return
            stuck = gap > 0.5 * before and self.value > 0.99 * value
            if stuck and not self._improve_gram():
                self._polish()
                return
            before = gap

    def _polish(self) -> None:
        """Steps in theta, where rounding of the coefficients hides any gain; only for smooth losses."""
        self.status = "reached the limit of rounding"
        if self.state.kinked:
            return
        wanted = LIMITS.close * self.settings.tol * self.value
        most = min(10, self.settings.max_iter - self.steps)
        try:
            for theta, value, gap in self.state.polish(self.theta, most, wanted):
                self.steps += 1
                self.settings.progress(f"gram {self.steps}: objective {value:.10g}, gap {gap:.2e}")
                if gap < self.gap:
                    self.theta, self.value, self.gap = theta, value, gap
        except NotPositive:
            return
        if self.gap <= self.settings.tol * self.value:
            self.status = "reached the tolerance by the gap"

    def _newton_steps(self) -> bool:
        """Steps at fixed multipliers until they can gain little, or the gap is small; False if one does not help."""
        state, tol = self.state, self.settings.tol
        self.creeping = False
        for _ in range(12):  # after so many, the parabolas are too narrow
            gain, gap, value = state.gain(), state.gap(state.multipliers()), state.value()
            if not state.gram.exact and gap <= 0.3 * value:  # from here on, six digits are not enough
                state.refresh()
                gain, gap, value = state.gain(), state.gap(state.multipliers()), state.value()
            self.settings.progress(f"gram {self.steps}: objective {value:.10g}, gap {gap:.2e}, gain {gain:.2e}")
            if gap <= LIMITS.close * tol * value or (
                state.kinked and (gain <= 0.01 * gap or gap <= 1e-3 * min(value, self.last))
            ):
                return True
            if self.steps >= self.settings.max_iter or not self._take(state.newton_step):
                return False
        self.creeping = True
        return True

    def _take(self, step: Callable[[], bool]) -> bool:
        """Take a step; if the Gram matrix is not accurate enough for it, take none."""
        self.steps += 1
        try:
            return step()
        except NotPositive:
            return self._improve_gram()

    def _improve_gram(self) -> bool:
        """Replace a Gram matrix of single precision; False if it has double precision already."""
        if self.state.gram.exact:
            return False
        self.state.use(gram_of(self.objective.design, exact=True))
        return True

    def _measure(self) -> float:
        """Compute scores, value and gap from X, and keep the best solution; returns the gap of this one."""
        self.measured += 1
        theta, value, gap = self.state.measure()
        if value < self.value or gap < self.gap:
            self.theta, self.value, self.gap, self.multipliers = theta, value, gap, self.state.losses.u
        self.settings.progress(f"gram {self.steps}: objective {value:.10g}, gap {gap:.2e}")
        return gap


# -- combinations of the rows ---------------------------------------------------------------------------------------


def is_worth_trying(objective: Objective) -> bool:
    """Whether a few reads of X cost less than its Gram matrix: for dense rows, and losses that are one smooth piece.

    Where curvatures jump, rows move between pieces in every step, and directions from before are of little use.
    """
    design = objective.design
    return isinstance(design, Dense) and objective.pair.of_one_piece and LIMITS.least_rows <= design.n < design.d


def minimise_over_directions(objective: Objective, settings: Settings) -> Solution | None:
    """Add directions until the gap is below tol times the value; None if the Gram matrix is the faster way."""
    most = min(LIMITS.reads + objective.design.n // 200, settings.max_iter)
    state, gaps = Subspace(objective, settings, most), [math.inf]
    while len(gaps) <= most and state.grow():
        gaps.append(state.gap)
        settings.progress(f"gram, read {len(gaps) - 1}: objective {state.value:.10g}, gap before {state.gap:.2e}")
        if state.gap * min(1.0, gaps[-1] / gaps[-2]) <= LIMITS.close * state.wanted and state.is_close():
            return Solution(
                theta=np.append(objective.design.weighted_sum(state.c), state.b),
                value=state.value,
                converged=True,
                status="reached the tolerance by the gap",
                iterations=len(gaps) - 1,
                stats={"reads": float(len(gaps) + 1)},
            )
        if len(gaps) > 3:  # from here on, the gaps tell how many more reads are needed
            fall = min((gaps[-1] / gaps[-3]) ** 0.5, 1.0)  # a high power of more would overflow
            expected = state.gap * fall ** (most - len(gaps))
            if not (state.gap <= 1e3 * state.value and expected <= state.wanted):
                break
    return None


def gram_times(design: Dense, vectors: np.ndarray) -> np.ndarray:
    """X X' times each row of ``vectors``, of which there are ``gram_products.TOGETHER``, by one read of X."""
    by_rows = design.X.flags.c_contiguous
    products = loops.row_products
    add, X = (products.add_by_rows, design.X) if by_rows else (products.add_by_columns, design.X.T)
    ranges = row_ranges(design.d, design.numbers, vectors.size)
    sums = np.zeros((len(ranges), *vectors.shape))
    in_threads(lambda k, lo, hi: add(X, vectors, lo, hi, sums[k]), ranges)
    return sums.sum(axis=0)


class Subspace:
    """The minimum of an objective over the intercept b and w = X'c, for c in the span of directions.

    With the product of each direction with G = X X' known, it is a small problem that reads nothing of X. There the
    gradient is X'r with r = s + rho c, where s are the slopes of the losses. The next directions come from r: r itself,
    and what Newton's step would be if rows were orthogonal, r/(rho + D diag(G)) with the curvatures D, each cut into
    the parts of the two classes. One read of X multiplies all four with G.

    Attributes
    ----------
    value : float
        The objective there.
    b : float
    gap : float
        About how far the objective was above the optimum before the last directions were added.
    """

    def __init__(self, objective: Objective, settings: Settings, most: int) -> None:
        assert isinstance(objective.design, Dense)
        self.objective, self.design, self._settings = objective, objective.design, settings
        n = self.design.n
        # Directions and their products with G; one row each. They are orthonormal in the inner product of G.
        self._directions, self._products = np.empty((2, loops.row_products.TOGETHER * most, n))
        self._at, self.b = np.empty(0), 0.0
        self._slopes, self._curvatures = np.empty((2, n))
        some = self.design.X[:, :: max(1, self.design.d // 256)].astype(np.float64)  # enough for an estimate
        self._lengths = np.einsum("ij,ij->i", some, some) * (self.design.d / some.shape[1])  # squared
        self._classes = np.stack([objective.y == 1, objective.y == 0])
        self.value, self.gap = objective.value_at_zero, 0.0
        self._minimise()

    @property
    def wanted(self) -> float:
        """The gap that is wanted."""
        return self._settings.tol * self.value

    @property
    def c(self) -> np.ndarray:
        """The coefficients of the rows."""
        return np.asarray(self._at @ self._directions[: self._at.size])

    def is_close(self) -> bool:
        """Whether the objective is as close to the optimum as wanted, by a read of X."""
        gradient = self.design.weighted_sum(self._residual())
        return 0.5 * float(gradient @ gradient) <= self.objective.penalty * LIMITS.close * self.wanted

    def grow(self) -> bool:
        """Add directions by one read of X, and minimise over them, too; False if there is none to add."""
        new = self._candidates()
        products = gram_times(self.design, new)
        squared_gradient = float(new[:2].sum(axis=0) @ products[:2].sum(axis=0))  # r'G r
        self.gap = 0.5 * max(squared_gradient, 0.0) / self.objective.penalty
        if not np.isfinite(products).all() or not self._append(new, products):
            return False
        self._minimise()
        return True

    def _residual(self) -> np.ndarray:
        """r, where X'r is the gradient in w."""
        return self._slopes + self.objective.penalty * self.c

    def _candidates(self) -> np.ndarray:
        residual = self._residual()
        newton = residual / (self.objective.penalty + self._curvatures * self._lengths)
        return np.concatenate([self._classes * residual, self._classes * newton])

    def _append(self, new: np.ndarray, products: np.ndarray) -> bool:
        """Append what is new in some directions; False if there is nothing."""
        size = self._at.size
        known, their_products = self._directions[:size], self._products[:size]
        lengths = np.sqrt(np.maximum(np.einsum("ij,ij->i", new, products), 0.0))
        used = lengths > 0
        new, products = new[used] / lengths[used, None], products[used] / lengths[used, None]
        for _ in range(2):  # the second time corrects the rounding of the first
            shares = new @ their_products.T
            new, products = new - shares @ known, products - shares @ their_products
        squares, turns = np.linalg.eigh(new @ products.T)
        kept = squares > 1e-10  # of the squared length of a direction, which is 1: less is not new
        turns = (turns[:, kept] / np.sqrt(squares[kept])).T
        added = len(turns)
        self._directions[size : size + added] = turns @ new
        self._products[size : size + added] = turns @ products
        self._at = np.append(self._at, np.zeros(added))
        return added > 0

    def _minimise(self) -> None:
        """Find the minimum over the span: a fit to the products of the directions as columns."""
        columns = Dense(self._products[: self._at.size].T)
        tol = max(0.1 * self._settings.tol, 1e-2 * self.gap / max(self.value, 1e-300))
        settings = replace(self._settings, tol=tol, progress=silent)
        found = minimise_small(replace(self.objective, design=columns), np.append(self._at, self.b), settings)
        self._at, self.b, self.value = found.theta[:-1], float(found.theta[-1]), found.value
        scores = self._at @ columns.X.T + self.b
        self.objective.losses_along(scores, scores, 0.0, self._slopes, self._curvatures)


SOLVER = Solver(
    "gram",
    (convex_loss, l2_penalty_alone, at_most_rows(10_000)),
    minimise,
    fastest=(has_more_columns_than_rows, costs_less_than_passes),
)
