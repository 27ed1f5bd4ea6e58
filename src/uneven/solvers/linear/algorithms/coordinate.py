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
from uneven.solvers.linear.lagrangian import Lagrangian
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.proof import Proof, gap_of_penalty, prove
from uneven.solvers.linear.quadratic import Model, model
from uneven.solvers.linear.solver import Settings, Solution, Solver, convex_loss, l1_penalty
from uneven.solvers.linear.supporting_lines import balance
from uneven.solvers.running import silent


@dataclass(frozen=True)
class Limits:
    """What was tuned by measuring; ``benchmarks/sensitivity.py`` doubles and halves each."""

    #: Columns in the first working set of a CSR matrix. More mean fewer passes over X, but more work on the set.
    first: int = 300
    #: The same for a dense matrix, whose columns cost more.
    first_dense: int = 100
    #: Share of lambda from which a column may join when others must: copying columns costs as much as a pass.
    near: float = 0.9
    #: Of a CSR matrix: how many of those may join, as a share of the columns used.
    most_near: float = 0.2
    #: Rows times columns squared up to which all columns are in the working set, if there are at most ``first``.
    small_work: float = 5e7
    #: A model is kept while each step gains less than this share of the step before.
    good: float = 0.05
    #: The problem on the working set is solved until its gap is this share of the gap of all columns.
    gap_share: float = 0.3
    #: Newton steps between two passes over X while more columns must join than may at once.
    steps_while_waiting: int = 2
    #: Rows of a dense matrix from which the solution on a sample is the starting point, and its share of the rows.
    rows_worth_sampling: int = 20_000
    sample_share: float = 0.1
    #: Factor of lambda on the sample: its slopes are noisier, and too many would exceed lambda itself.
    sample_l1: float = 4.0
    #: From 0, the penalty falls by this power of 10 at a time.
    decades: float = 1.5
    #: Width of the first parabolas that replace the kinks, in units of kink/jump, from 0.
    first_width: float = 4.0
    #: Factor of this width after a problem was solved.
    shrink: float = 0.3


LIMITS = Limits()
#: First damping of the steps for losses with kinks, whose parabolas may be flat. It falls and rises with their success.
_DAMPING = 1e-3


def minimise(objective: Objective, theta: np.ndarray | None, settings: Settings) -> Solution:
    """Minimise from theta until the duality gap is below tol times the value; None: from a sample's solution, or 0."""
    if (
        theta is None
        and objective.design.n >= LIMITS.rows_worth_sampling
        and not isinstance(objective.design, SparseRows)
    ):
        theta = _solve_on_sample(objective, settings)
    width = LIMITS.first_width if theta is None else 0.1
    state = Lagrangian(objective, np.zeros(objective.size) if theta is None else theta, width)
    return _Search(state, settings).solution()


def _solve_on_sample(objective: Objective, settings: Settings) -> np.ndarray:
    """The minimum on a sample of the rows, roughly."""
    chosen, factor = objective.sample(int(LIMITS.sample_share * objective.design.n), settings.random)
    sampled = replace(objective.on_rows(chosen, factor), l1=LIMITS.sample_l1 * objective.l1)
    rough = replace(settings, tol=max(settings.tol, 0.02), progress=silent)
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
        self.small = d <= LIMITS.first and n * d * d <= LIMITS.small_work
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
        stages = int(np.ceil(np.log10(far) / LIMITS.decades)) if far > 1 and not self.state.theta[:-1].any() else 1
        status = ""
        for stage in reversed(range(stages)):
            if stages > 1:
                self._penalise(10.0 ** (LIMITS.decades * stage))
            status = self._solve(self.settings.tol if stage == 0 else max(self.settings.tol, 0.3))
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
                self._widen(10.0)
            elif joined:
                continue
            elif self.state.u.size and self.state.sigma > 1e-12:  # narrower parabolas are made of rounding
                self._widen(LIMITS.shrink)
            elif steps == self.steps or not self.gap < before:
                self.strictness *= 0.1
                if self.strictness < 1e-6:
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
            balance(self.state, 1e-3 * self.settings.tol * abs(value) / (1 + abs(float(self.state.theta[-1]))))

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
        first, growth = (LIMITS.first, 3.0) if self.sparse else (LIMITS.first_dense, 0.5)
        most = int(max(first, growth * kept.size))
        # Copying columns costs as much as a pass: those that nearly must join come, too.
        if joining.size <= self.used.size:
            near = size > LIMITS.near * self.objective.l1
            near[kept] = False
            joining = np.flatnonzero(near)
            if self.sparse:
                most = min(most, int(outside.sum()) + int(LIMITS.most_near * kept.size))
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
        wanted = 0.3 * tol * self.best_value  # the gap of all columns is larger
        if self.small and not self.part.u.size:
            return wanted, True
        share = LIMITS.gap_share
        if not self.part.u.size:
            if not joined:
                return wanted, True
            # The less a step costs, compared with a look, the more of them are taken.
            share *= self.part.objective.design.numbers / max(self.objective.design.numbers, 1)
            if share < 0.01 and not self.more:
                return wanted, True
        rough = share * min(self.gap, self.best_value)
        return max(wanted, rough), rough <= wanted

    def _descend(self, wanted: float) -> bool:
        """Newton steps on the working set. Returns whether they reached what was wanted."""
        part, objective = self.part, self.part.objective
        before = least = np.inf
        stalled = 0
        for _ in range(LIMITS.steps_while_waiting if self.more and not part.u.size else 50):
            gradient = part.gradient()
            w = part.theta[:-1]
            slopes = gradient[:-1] - objective.penalty * w
            gap = gap_of_penalty(objective, w, slopes, np.zeros(1), self.seen.loss_of_lines)
            gap += abs(float(gradient[-1])) * (1 + abs(float(part.theta[-1])))
            if gap <= self.strictness * wanted or self.steps >= self.settings.max_iter:
                return True
            least, stalled = (gap, 0) if gap < 0.9 * least else (least, stalled + 1)
            if stalled > 8 and not part.u.size:  # rounding
                return True
            if self.model is None:
                self.model = self._model()
            x, gain = self.model.minimum(part.theta, gradient, objective.l1, accuracy=1e-3)
            length = _step_towards(part, x, gradient)
            if length == 0:
                self.model = None
                return True
            self.steps += 1
            if self.damping:
                self.damping = max(0.1 * self.damping, 1e-9) if length > 0.5 else min(10 * self.damping, 1.0)
            cheap = self.model.cheap
            stale = gain > (0.003 if cheap else LIMITS.good) * before
            if self.damping or stale or (cheap and gap > 0.01 * self.best_value):
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


def _step_towards(state: Lagrangian, x: np.ndarray, gradient: np.ndarray) -> float:
    """Move towards x, to the minimum on the way. Returns the length of the step; 0: it does not lead down.

    The l1 norm bends where a coefficient changes its sign.
    """
    l1, rho = state.objective.l1, state.objective.penalty
    w = state.theta
    move = x - w
    # Where a coefficient keeps its sign, its slope and lambda nearly cancel: they are added first.
    signs = np.append(np.where(w[:-1] * x[:-1] > 0, np.sign(x[:-1]), 0.0), 0.0)
    others = l1 * float(((np.abs(x) - np.abs(w)) * (signs == 0))[:-1].sum())
    promised = float((gradient + l1 * signs) @ move) + others
    if not promised < 0 or not np.isfinite(move).all() or np.abs(move).max() > 1e100:
        return 0.0
    rounding = 1e-14 * float((np.abs(gradient) + l1) @ np.abs(move))
    q = state.objective.design.scores(move)
    linear, quadratic = (rho * float(v @ move[:-1]) for v in (w[:-1], move[:-1]))
    low, high, at = 0.0, np.inf, 1.0
    for _ in range(60):
        slope, curvature = state.along(q, at)
        there = w[:-1] + at * move[:-1]
        signs = np.sign(np.where(there == 0, w[:-1], there))
        slope += linear + at * quadratic + l1 * float(signs @ move[:-1])
        curvature += quadratic
        # Beyond the minimum only if it is near: the function may rise as steeply as it fell.
        if abs(slope) <= 0.3 * abs(promised) and slope <= 0.3 * at * curvature:
            break
        if abs(slope) <= rounding:
            break
        low, high = (low, at) if slope > 0 else (at, high)
        newton = at - slope / curvature if curvature > 0 else np.inf
        outside = not low < newton < min(high, 10 * at)
        at = (0.5 * (low + high) if high < np.inf else 4 * at) if outside else newton
        if high - low <= 1e-12 * at:
            break
    state.theta = x if at == 1.0 else w + at * move
    state.move_scores(q, at)
    return at


SOLVER = Solver("coordinate", (convex_loss, l1_penalty), minimise, fastest=(lambda objective: True,))
