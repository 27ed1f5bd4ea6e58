"""Penalties with an l1 norm: Newton steps on a working set of columns, each found by coordinate descent.

Most coefficients of a solution are 0, so only the columns of a working set are copied and visited. A Newton step
minimises the local parabola plus the l1 norm; the scores alone tell how far to go along it. When the problem on the
working set is solved, one pass over X finds the columns whose slope exceeds lambda, and these join. Losses with kinks
are replaced by their augmented Lagrangian, whose multipliers are updated between these passes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from uneven.solvers.linear.design import SparseRows
from uneven.solvers.linear.l1_step import step_towards
from uneven.solvers.linear.lagrangian import Lagrangian
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.proof import Proof, gap_of_penalty, prove
from uneven.solvers.linear.quadratic import Model, model
from uneven.solvers.linear.solution import Solution
from uneven.solvers.linear.solver import FASTEST, Settings, Solver
from uneven.solvers.progress import silent

_NAME = "coordinate"
#: Columns in the first working set, and how many may join for each one that is used: of a CSR matrix, and of a dense
#: one, whose columns cost more.
_FIRST, _GROWTH = 300, 3.0
_FIRST_DENSE, _GROWTH_DENSE = 100, 0.5
#: Share of lambda from which a column may join, when others must; of a CSR matrix, at most this share of those used.
_NEAR, _MOST_NEAR = 0.9, 0.2
#: Rows times columns squared up to which all columns are in the working set, if they are few.
_SMALL_WORK = 5e7
#: A model is kept while each step gains less than this share of the step before; one that costs little, only if the gap
#: is below a share of the objective, too.
_GOOD, _GOOD_IF_CHEAP, _NEAR_END = 0.05, 0.003, 0.01
#: Most Newton steps between two passes over X.
_MOST_INNER = 50
#: The same while more columns wait than may join at once.
_MOST_WAITING = 2
#: A model is minimised until a visit of all coordinates gains less than this share of what all visits gained.
_ACCURACY = 1e-3
#: Steps without a smaller gap after which rounding is blamed, if the loss is smooth.
_PATIENCE = 8
#: The problem on the working set is solved until its gap is this share of what is wanted, or of the gap of all columns.
_WANTED_SHARE, _GAP_SHARE = 0.3, 0.3
#: Rows of a dense matrix from which a sample gives the starting point, its share of the rows, and the tolerance on it.
_WORTH_SAMPLING, _SAMPLE_SHARE, _SAMPLE_TOL = 20_000, 0.1, 0.02
#: Factor of lambda on a sample: the slopes there are noisier, and at lambda itself too many would exceed it.
_SAMPLE_L1 = 4.0
#: From 0, the penalty falls by this power of 10 at a time, and each time the gap may be this share of the value.
_DECADES, _STAGE_TOL = 1.5, 0.3
#: Share of the gap from which on all steps are taken before a look.
_CHEAP = 0.01
#: Least factor of the gap on the working set, where the gap of all columns does not fall.
_STRICTEST = 1e-6
#: Width of the first parabola that replaces a kink, in units of kink/jump: from 0, and from a given point.
_FROM_ZERO, _FROM_NEAR = 4.0, 0.1
#: Factors of this width: after a problem was solved, and if it was too hard.
_SHRINK, _WIDEN = 0.3, 10.0
_LEAST_SIGMA = 1e-12
#: Damping of Newton steps for losses with kinks, whose parabolas may be flat: at first, and at least.
_DAMPING, _LEAST_DAMPING = 1e-3, 1e-9


def accepts(objective: Objective) -> str | None:
    """Convex losses, with an l1 norm in the penalty."""
    reason = objective.pair.why_not_convex
    if reason:
        return f"solver={_NAME!r} needs a convex loss, but {reason}"
    if not objective.l1 > 0:
        return f"solver={_NAME!r} needs an l1 penalty, but there is none (the loss {objective.pair.names} would fit)"
    return None


def preference(objective: Objective) -> int:
    return FASTEST


def minimise(objective: Objective, theta: np.ndarray | None, settings: Settings) -> Solution:
    """Minimise from theta until the duality gap is below tol times the value; None: from a sample's solution, or 0."""
    if theta is None and objective.design.n >= _WORTH_SAMPLING and not isinstance(objective.design, SparseRows):
        theta = _solution_on_sample(objective, settings)
    width = _FROM_ZERO if theta is None else _FROM_NEAR
    state = Lagrangian(objective, np.zeros(objective.size) if theta is None else theta, width)
    return _Search(state, settings).solution()


def _solution_on_sample(objective: Objective, settings: Settings) -> np.ndarray:
    """The minimum on a sample of the rows, roughly."""
    chosen, factor = objective.sample(int(_SAMPLE_SHARE * objective.design.n), settings.random)
    sampled = replace(objective.on_rows(chosen, factor), l1=_SAMPLE_L1 * objective.l1)
    rough = replace(settings, tol=max(settings.tol, _SAMPLE_TOL), progress=silent)
    return minimise(sampled, None, rough).theta


@dataclass(frozen=True)
class _Seen:
    """What a pass over all columns finds.

    Attributes
    ----------
    slopes, excess
        Of the lines that support the losses, in the coefficients and in the intercept.
    loss, loss_of_lines
        Sum of the losses at the point, and where the lines were taken.
    above
        How far the losses are above their lines.
    multipliers
        Slopes at kinks.
    """

    slopes: np.ndarray
    excess: float
    loss: float
    loss_of_lines: float
    above: float
    multipliers: np.ndarray | None = None


class _Search:
    """One minimisation: the state for all columns, and a copy of it for those of the working set."""

    def __init__(self, state: Lagrangian, settings: Settings) -> None:
        self.given = self.objective = state.objective
        self.state, self.settings = state, settings
        self.used = np.empty(0, dtype=np.int64)
        self.part = state  # until columns join
        self.model: Model | None = None
        self.squares: np.ndarray | None = None  # sums of squares of the columns in the working set
        self.steps = self.models = self.looks = self.copies = 0
        n, d = self.objective.design.n, self.objective.design.d
        self.small = d <= _FIRST and n * d * d <= _SMALL_WORK
        self.damping = _DAMPING if state.u.size else 0.0
        self.sparse = isinstance(self.objective.design, SparseRows)
        self.strictness, self.more = 1.0, False
        self.gap = self.value = np.inf
        self.best_value, self.best_theta, self.lower = np.inf, state.theta, -np.inf
        self.multipliers: np.ndarray | None = None
        self.proof: Proof | None = None

    def solution(self) -> Solution:
        """Solve with larger penalties first, each roughly, if the start is 0 and far from the solution."""
        self._look()
        far = float(np.abs(self.seen.slopes).max(initial=0.0)) / self.objective.l1
        stages = int(np.ceil(np.log10(far) / _DECADES)) if far > 1 and not self.state.theta[:-1].any() else 1
        status = ""
        for stage in reversed(range(stages)):
            if stages > 1:
                self._penalise(10.0 ** (_DECADES * stage))
            status = self._solve(self.settings.tol if stage == 0 else max(self.settings.tol, _STAGE_TOL))
        reached = bool(self.gap <= self.settings.tol * self.best_value)
        return Solution(
            theta=self.best_theta,
            value=self.best_value,
            converged=reached,
            status="reached the tolerance by the duality gap" if reached else status,
            iterations=self.steps,
            multipliers=self.multipliers,
            stats={"models": float(self.models), "passes": float(self.looks + self.copies)},
            proof=self.proof,
        )

    def _penalise(self, factor: float) -> None:
        """Change to the objective with this multiple of the penalty."""
        given = self.given
        self.objective = replace(given, l1=factor * given.l1, penalty=factor * given.penalty) if factor > 1 else given
        self.state.objective = self.objective
        if self.part is not self.state:
            self.part.objective = replace(self.objective, design=self.part.objective.design)
        self.model, self.strictness = None, 1.0
        self.gap = self.best_value = np.inf
        self.lower = -np.inf
        self._judge()

    def _solve(self, tol: float) -> str:
        """Alternate between steps on the working set and looks at all columns. Returns why it ended early."""
        while not self.gap <= tol * self.best_value:
            if self.steps >= self.settings.max_iter:
                return f"stopped after {self.settings.max_iter} Newton steps"
            joined = self._join()
            before, steps = self.gap, self.steps
            wanted, final = self._wanted(tol, joined)
            done = self._descend(wanted)
            if final and self.objective is self.given and not self.state.u.size:
                self._prove(tol)
            else:
                self._look()
            if self.state.u.size and not done:
                self._widen(_WIDEN)
            elif joined:
                continue
            elif self.state.u.size and self.state.sigma > _LEAST_SIGMA:
                self._widen(_SHRINK)
            elif steps == self.steps or not self.gap < before:
                self.strictness *= 0.1
                if self.strictness < _STRICTEST:
                    return "reached the limit of rounding"
        return ""

    def _widen(self, factor: float) -> None:
        """Change the width of the parabolas that replace kinks. Wide ones make easier problems, but more of them."""
        self.state.sigma = self.part.sigma = factor * self.state.sigma
        self.model = None

    # -- all columns ------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Find the slopes of the losses in all coefficients by a pass over X, and the gap."""
        state = self.state
        if self.part is not state:
            state.theta = state.theta.copy()
            state.theta[self.used], state.theta[-1] = self.part.theta[:-1], self.part.theta[-1]
        self.looks += 1
        self.seen = self._seen_with_kinks() if state.u.size else self._seen()
        self.part.theta[-1] = state.theta[-1]
        self._judge()
        self.settings.progress(
            f"coordinate descent: objective {self.best_value:.10g}, gap {self.gap:.2e}, {self.used.size} columns in "
            f"the working set, {np.count_nonzero(state.theta[:-1])} used, {self.steps} Newton steps"
        )

    def _prove(self, tol: float) -> None:
        """The same where the tolerance should be reached: then the look is the proof of it."""
        state, part = self.state, self.part
        state.theta = state.theta.copy()
        state.theta[self.used], state.theta[-1] = part.theta[:-1], part.theta[-1]
        self.looks += 1
        scores = part.objective.design.scores(part.theta)  # the other coefficients are 0
        proof = prove(self.given, state.theta, wanted=tol * self.best_value, scores=scores)
        state.replace_scores(scores)
        state.theta, part.theta[-1] = proof.theta, proof.theta[-1]
        loss = proof.value - self.given.penalty_of(proof.theta[:-1])
        self.seen = _Seen(proof.slopes, 0.0, loss, loss, 0.0)
        self._keep(proof.value, proof.value - proof.gap, None)
        if self.gap <= tol * self.best_value:
            self.proof = proof

    def _seen(self) -> _Seen:
        state = self.state
        self._balance(state.support().loss)
        lines, gradient = state.support(), state.gradient()
        slopes = gradient[:-1] - self.objective.penalty * state.theta[:-1]
        return _Seen(slopes, float(gradient[-1]), lines.loss, lines.loss, 0.0)

    def _seen_with_kinks(self) -> _Seen:
        state = self.state
        state.update()
        loss = state.value() - self.objective.penalty_of(state.theta[:-1])
        before = state.theta, state.t.copy(), state.u.copy()
        self._balance(loss)
        lines, gradient = state.support(), state.gradient_of_multipliers()
        slopes = gradient[:-1] - self.objective.penalty * state.theta[:-1]
        multipliers = state.u.copy() if self.objective.pair.polygons else before[2]
        # Balancing the lines is no step towards the minimum.
        state.theta, state.t[...], state.u[...] = before
        return _Seen(slopes, float(gradient[-1]), loss, lines.loss, lines.above, multipliers)

    def _balance(self, loss: float) -> None:
        if self.objective.fit_intercept:
            value = loss + self.objective.penalty_of(self.state.theta[:-1])
            self.state.balance(1e-3 * self.settings.tol * abs(value) / (1 + abs(float(self.state.theta[-1]))))

    def _judge(self) -> None:
        """The gap from what was seen."""
        objective, seen = self.objective, self.seen
        w, b = self.state.theta[:-1], float(self.state.theta[-1])
        lower = seen.loss_of_lines + objective.penalty_of(w) - seen.above
        lower -= gap_of_penalty(objective, w, seen.slopes, np.zeros(1), seen.loss_of_lines)
        if objective.fit_intercept:
            lower -= abs(seen.excess) * (1 + abs(b))
        self._keep(seen.loss + objective.penalty_of(w), lower, seen.multipliers)

    def _keep(self, value: float, lower: float, multipliers: np.ndarray | None) -> None:
        """Keep the best point and the best lines. If losses are curved, the lines belong to the point."""
        theta = self.state.theta.copy()
        if self.objective.pair.polygons:
            if lower > self.lower:
                self.lower, self.multipliers = lower, multipliers
            if value < self.best_value:
                self.best_value, self.best_theta = value, theta
        elif not value - lower > self.gap:
            self.best_value, self.best_theta, self.lower, self.multipliers = value, theta, lower, multipliers
        self.gap = self.best_value - self.lower

    def _join(self) -> bool:
        """Let the columns with the largest slopes join the working set; unused ones leave."""
        size = np.abs(self.seen.slopes)
        outside = size > self.objective.l1
        outside[self.used] = False
        kept = np.flatnonzero(self.state.theta[:-1])
        outside[kept] = False
        joining = np.flatnonzero(outside)
        if not joining.size and self.part is not self.state:
            return False
        first, growth = (_FIRST, _GROWTH) if self.sparse else (_FIRST_DENSE, _GROWTH_DENSE)
        most = int(max(first, growth * kept.size))
        # Copying columns costs as much as a pass: those that nearly must join come, too.
        if joining.size <= self.used.size:
            near = size > _NEAR * self.objective.l1
            near[kept] = False
            joining = np.flatnonzero(near)
            if self.sparse:
                most = min(most, int(outside.sum()) + int(_MOST_NEAR * kept.size))
        if self.small:
            joining = np.setdiff1d(np.arange(size.size), kept)
        self.more = joining.size > most and int(outside.sum()) > most
        if joining.size > most:
            joining = joining[np.argpartition(-size[joining], most)[:most]]
        self.used = self.objective.design.fullest_first(np.concatenate([kept, joining]))
        self.part = self.state.on_columns(self.used)
        self.copies += 1
        self.model = self.squares = None
        return True

    # -- the working set --------------------------------------------------------------------------------------------

    def _wanted(self, tol: float, joined: bool) -> tuple[float, bool]:
        """The gap to be reached on the working set, and whether that is meant to be the end."""
        wanted = _WANTED_SHARE * tol * self.best_value
        if self.small and not self.part.u.size:
            return wanted, True
        share = _GAP_SHARE
        if not self.part.u.size:
            if not joined:
                return wanted, True
            # The less a step costs, compared with a look, the more of them are taken.
            share *= self.part.objective.design.numbers / max(self.objective.design.numbers, 1)
            if share < _CHEAP and not self.more:
                return wanted, True
        rough = share * min(self.gap, self.best_value)
        return max(wanted, rough), rough <= wanted

    def _descend(self, wanted: float) -> bool:
        """Newton steps on the working set. Returns whether they reached what was wanted."""
        part, objective = self.part, self.part.objective
        before = least = np.inf
        stalled = 0
        for _ in range(_MOST_WAITING if self.more and not part.u.size else _MOST_INNER):
            gradient = part.gradient()
            w = part.theta[:-1]
            slopes = gradient[:-1] - objective.penalty * w
            gap = gap_of_penalty(objective, w, slopes, np.zeros(1), self.seen.loss_of_lines)
            gap += abs(float(gradient[-1])) * (1 + abs(float(part.theta[-1])))
            if gap <= self.strictness * wanted or self.steps >= self.settings.max_iter:
                return True
            least, stalled = (gap, 0) if gap < 0.9 * least else (least, stalled + 1)
            if stalled > _PATIENCE and not part.u.size:  # rounding
                return True
            if self.model is None:
                self.model = self._model()
            x, gain = self.model.minimum(part.theta, gradient, objective.l1, _ACCURACY)
            length = step_towards(part, x, gradient)
            if length == 0:
                self.model = None
                return True
            self.steps += 1
            if self.damping:
                self.damping = max(0.1 * self.damping, _LEAST_DAMPING) if length > 0.5 else min(10 * self.damping, 1.0)
            cheap = self.model.cheap
            stale = gain > (_GOOD_IF_CHEAP if cheap else _GOOD) * before
            if self.damping or stale or (cheap and gap > _NEAR_END * self.best_value):
                self.model = None
            before = gain
        return False

    def _model(self) -> Model:
        """The parabola at the current scores, damped where it would be flat."""
        objective, curvature = self.part.objective, self.part.all_curvatures()
        self.models += 1
        found = model(objective, curvature, self._damping(curvature))
        if not self.damping and not found.diagonal.min() > 0:
            self.damping = _DAMPING
            found = model(objective, curvature, self._damping(curvature))
        return found

    def _damping(self, curvature: np.ndarray) -> np.ndarray:
        """A share of the second derivatives that there would be if all rows had the curvature of the steepest."""
        if not self.damping:
            return np.zeros(1)
        objective = self.part.objective
        factors = self.factors
        if self.squares is None:
            self.squares = np.append(objective.design.squared_transposed_product(factors), factors.sum())
        own = np.divide(curvature, factors, out=np.zeros_like(curvature), where=factors > 0)
        steepest = float(own.max(initial=0.0)) or 1.0
        return np.asarray(self.damping * steepest * self.squares)

    @cached_property
    def factors(self) -> np.ndarray:
        """The second derivatives of the rows in the score, if all had the same in the margin."""
        objective = self.objective
        return np.asarray(objective.factors() * objective.pair.scales[objective.y] ** 2)


SOLVER = Solver(_NAME, accepts, minimise, preference)
