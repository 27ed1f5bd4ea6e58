"""Convex losses on fewer rows than columns: Newton steps in the space of the rows, with the Gram matrix X X'.

The matrix is computed once; a step then costs as much as a few reads of X, or less. If the Gram matrix was computed in
single precision, the steps approach the solution of a slightly different problem: the scores are then computed from X
again, and the next steps correct the difference. Losses with kinks get the multipliers of an augmented Lagrangian.

A smooth loss on dense rows is first minimised over a few combinations of the rows, without the Gram matrix: that is
enough where the rows are not nearly dependent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from uneven.solvers.linear.gram import gram_of, is_at_hand, multiplications
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.row_space import NotPositive, RowSpace
from uneven.solvers.linear.solution import Solution
from uneven.solvers.linear.solver import FASTEST, LAST_RESORT, Settings, Solver
from uneven.solvers.linear.subspace import is_worth_trying, minimise_over_directions
from uneven.solvers.progress import silent
from uneven.solvers.threads import single_threaded_blas

_NAME = "gram"
#: With more rows the Gram matrix and the system of a step would not fit into the memory of most machines.
_MOST_ROWS = 10_000
#: "auto" takes two matrices of n by n numbers if they need at most this memory, or this many times that of X.
_SMALL_BYTES, _MORE_BYTES = 1 << 28, 4
#: A rough model of time, on two cores. Only ratios matter: seconds for a multiplication in the Gram matrix and in the
#: factors of a step, how many steps there are, and for each number and column in a pass of a solver that iterates over
#: X, with how many passes such a solver needs.
_SECONDS_PER_PRODUCT, _SECONDS_PER_ELIMINATION, _STEPS = 1e-11, 2.5e-11, 8
_SECONDS_PER_NUMBER, _SECONDS_PER_COLUMN = 5e-10, 4e-8
_PASSES, _PASSES_WITH_KINKS = 300, 1000
#: Width of the first parabola that replaces a kink, in units of kink/jump.
_WIDTH = 4.0
#: Each width is this share of the one before.
_SHRINK = 0.1
_LEAST_SHARE = 1e-10
#: Newton steps at fixed multipliers.
_MOST_INNER = 12
#: If that was not enough steps, the parabolas become wider by this factor.
_WIDEN = 1e4
#: With a Gram matrix of single precision, scores are computed from X at each step if the gap is below this share of the
#: value.
_PROMISING = 0.3
#: Scores are computed from X when the Gram matrix promises this share of the gap that is wanted.
_CLOSE = 0.3
#: At fixed multipliers, steps end early if the gap falls below this share of what it was, and of the value.
_MUCH_SMALLER = 1e-3
#: Changes of the multipliers that do not halve the gap, after which rounding is to blame.
_MOST_IDLE = 4
#: Share of the value to which steps must lower it, unless they halve the gap.
_LITTLE_LESS = 0.99
#: If a unit of slope changes its own margin by more than this, steps are short because too many losses change between
#: straight and curved pieces on the way. Then the start is a rough solution with a stronger penalty.
_STIFF, _STRONGER, _ROUGH = 1e5, 10.0, 0.1
#: Steps in theta at the end, if rounding hides any gain.
_MOST_POLISHING = 10
#: From a starting point, rows are taken to be at a kink if their margin is as near to it, relative to the kink.
_NEAR = 1e-3


def accepts(objective: Objective) -> str | None:
    """Convex losses, an l2 penalty, up to 10,000 rows."""
    pair, n = objective.pair, objective.design.n
    if pair.why_not_convex:
        return f"solver={_NAME!r} needs a convex loss, but {pair.why_not_convex}"
    if not objective.penalty > 0 or objective.l1 > 0:
        return f"solver={_NAME!r} needs an l2 penalty alone (the loss {pair.names} would fit)"
    if n > _MOST_ROWS:
        return (
            f"solver={_NAME!r} needs at most {_MOST_ROWS} rows, but for {pair.names} on this X it would keep two "
            f"matrices of {n} by {n} numbers"
        )
    return None


def preference(objective: Objective) -> int:
    """The fastest with more columns than rows, unless the matrices cost more time or memory than iterating over X."""
    design, n = objective.design, objective.design.n
    if n >= design.d or 16 * n * n > max(_SMALL_BYTES, _MORE_BYTES * 8 * design.numbers):
        return LAST_RESORT
    passes = _PASSES_WITH_KINKS if objective.pair.kinked else _PASSES
    one_pass = design.numbers * _SECONDS_PER_NUMBER + design.d * _SECONDS_PER_COLUMN
    work = multiplications(design) * _SECONDS_PER_PRODUCT + _STEPS * n**3 / 3 * _SECONDS_PER_ELIMINATION
    return FASTEST if work <= passes * one_pass else LAST_RESORT


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
            state.losses.sigma = min(_WIDTH * state.losses.sigma, state.typical_change())
        scores = None if theta is None else self.objective.design.scores(theta)
        if scores is None and not state.kinked and state.typical_change() > _STIFF:
            scores = self._scores_of_easier()
        if scores is not None:
            try:
                state.start_near(scores, _NEAR)
            except NotPositive:
                return
            if not state.value() < self.value:
                state.start_at_zero()

    def _scores_of_easier(self) -> np.ndarray:
        """The scores of a rough solution with a stronger penalty."""
        easier = replace(self.objective, penalty=_STRONGER * self.objective.penalty)
        run = _Run(easier, replace(self.settings, tol=_ROUGH, progress=silent))
        run.start(None)
        run.finish()
        self.steps += run.steps
        return run.state.t

    def finish(self) -> None:
        """Go on until the gap is small enough, no step helps, or there were too many."""
        state, settings = self.state, self.settings
        narrowest, before, least, idle = _LEAST_SHARE * state.losses.sigma, np.inf, np.inf, 0
        while True:
            helped, at_kinks = self._newton_steps(), state.at_kinks()
            state.losses.u = state.multipliers()
            self.last = state.gap(state.losses.u)
            idle = 0 if self.last <= 0.5 * least else idle + 1
            least = min(least, self.last)
            enough = self.steps >= settings.max_iter or self.last <= _CLOSE * settings.tol * state.value()
            if state.kinked and helped and not enough and idle < _MOST_IDLE and state.losses.sigma > narrowest:
                if self.creeping:
                    state.losses.sigma = min(_WIDEN * state.losses.sigma, state.typical_change())
                else:
                    state.losses.sigma *= _SHRINK
                    self._guarded(partial(state.predicted_step, at_kinks))
                continue
            value = self.value
            gap, idle = self._measure(), 0
            if self.gap <= settings.tol * self.value:
                self.status = "reached the tolerance by the gap"
                return
            if self.steps >= settings.max_iter:
                return
            stuck = gap > 0.5 * before and self.value > _LITTLE_LESS * value
            if stuck and not self._improve_gram():
                self._polish()
                return
            before = gap

    def _polish(self) -> None:
        """Steps in theta, where rounding of the coefficients hides any gain; only for smooth losses."""
        self.status = "reached the limit of rounding"
        if self.state.kinked:
            return
        wanted = _CLOSE * self.settings.tol * self.value
        most = min(_MOST_POLISHING, self.settings.max_iter - self.steps)
        try:
            for theta, value, gap in self.state.polished(self.theta, most, wanted):
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
        for _ in range(_MOST_INNER):
            gain, gap, value = state.gain(), state.gap(state.multipliers()), state.value()
            if not state.gram.exact and gap <= _PROMISING * value:
                state.refresh()
                gain, gap, value = state.gain(), state.gap(state.multipliers()), state.value()
            self.settings.progress(f"gram {self.steps}: objective {value:.10g}, gap {gap:.2e}, gain {gain:.2e}")
            if gap <= _CLOSE * tol * value or (
                state.kinked and (gain <= 0.01 * gap or gap <= _MUCH_SMALLER * min(value, self.last))
            ):
                return True
            if self.steps >= self.settings.max_iter or not self._guarded(state.newton_step):
                return False
        self.creeping = True
        return True

    def _guarded(self, step: Callable[[], bool]) -> bool:
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
        theta, value, gap = self.state.measured()
        if value < self.value or gap < self.gap:
            self.theta, self.value, self.gap, self.multipliers = theta, value, gap, self.state.losses.u
        self.settings.progress(f"gram {self.steps}: objective {value:.10g}, gap {gap:.2e}")
        return gap


SOLVER = Solver(_NAME, accepts, minimise, preference)
