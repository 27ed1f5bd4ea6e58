"""Minimise a convex objective in parts: few reads of the rows, and a proved gap at the end.

Each read gives value, gradient and second derivatives at one theta; a Newton step in that metric, corrected as in
L-BFGS, leads to the next. Kinks are smoothed by parabolas that become narrower from stage to stage, until what the
smoothing costs is small against the gap that is wanted. The last read proves the gap of the true objective.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np

from uneven.errors import LossError
from uneven.parts.loss_slopes import Slopes
from uneven.parts.summed_objective import SummedObjective, prove
from uneven.solvers.linear.lbfgs import CurvaturePairs, Iterate, lbfgs
from uneven.solvers.linear.newton_systems import MOST_COLUMNS, Metric, cholesky_metric
from uneven.solvers.linear.proof import EPS, Proof, minimise_to_gap
from uneven.solvers.linear.solver import Settings, Solution


@dataclass(frozen=True)
class Limits:
    """What was tuned by measuring; ``benchmarks/sensitivity.py`` doubles and halves each."""

    #: Multiplications that a read may spend on second derivatives. Of more rows only every so many are used.
    work_of_metric: float = 1e8
    #: Rows for each column that second derivatives are estimated from, at least: fewer make poor steps.
    rows_per_column: int = 40
    #: Width of the first parabolas that replace kinks, in units of kink/jump: from 0, and from near the solution.
    first_width: float = 1.0
    first_width_near: float = 0.1
    #: A stage makes the parabolas narrower by this factor at most, so that the next one starts near its solution.
    shrink: float = 0.03
    #: Parabolas are never narrower; a fit that would need narrower ones ends with the gap that it can prove.
    least_width: float = 1e-9
    #: Share of the wanted gap that the smoothing of kinks may cost; the steps have the rest.
    smoothing_share: float = 0.3
    #: A proof needs intercepts on both sides of the best one: this share of the last correction away from it.
    step_aside: float = 0.1
    #: The same in units of the last step in the metric, if the proof is one step further than the last read.
    step_aside_after_step: float = 0.05
    #: A step is expected to leave this many times the share of the gap that the step before left, to be careful.
    careful: float = 3.0
    #: Reads for one proof, until both sides of the best intercept are found; then the best gap counts.
    most_proofs: int = 4


LIMITS = Limits()


def refusal(objective: SummedObjective) -> str | None:
    """None, or why this objective cannot be minimised in parts."""
    if objective.l1 > 0:
        return (
            f"data in parts need penalty='l2' or None, but {objective.why_not_squared}; a sample that fits into memory "
            "would work"
        )
    if not objective.pair.convex:
        return f"data in parts need a convex loss, but {objective.pair.why_not_convex}; loss='logistic' would work"
    if objective.size > MOST_COLUMNS:
        return (
            f"data in parts need at most {MOST_COLUMNS - 1} columns, got {objective.size - 1}: each read returns a "
            "matrix of that many rows and columns; fewer hashed columns or categories would work"
        )
    return None


def minimise(
    objective: SummedObjective, settings: Settings, *, theta: np.ndarray | None = None, near: bool = False
) -> Solution:
    """Minimise until the proved gap is within the tolerance.

    Parameters
    ----------
    objective : SummedObjective
    settings : Settings
    theta : ndarray, optional
        Starting point, by default 0.
    near : bool
        Whether theta is near the solution, as the solution on a sample is.

    Raises
    ------
    LossError
        If the loss is not convex, the penalty has an l1 part, or there are too many columns.
    """
    reason = refusal(objective)
    if reason:
        raise LossError(reason)
    descent = _Descent(objective, near)
    start = np.zeros(objective.size) if theta is None else theta

    def solve(objective: SummedObjective, again: np.ndarray | None, settings: Settings) -> Solution:
        return descent.run(start if again is None else again, settings)

    return minimise_to_gap(solve, objective, None, settings)


class _Descent:
    """Stages of a fit. The width of the parabolas is kept from one run to a stricter one."""

    def __init__(self, objective: SummedObjective, near: bool) -> None:
        self.objective = objective
        pair, n = objective.pair, objective.survey.count
        # A good metric saves reads; of many rows it may take a tenth of what a pass takes.
        size = objective.size
        wanted = max(LIMITS.rows_per_column * size, int(LIMITS.work_of_metric / size**2), n // (4 * size))
        self.stride = max(1, n // wanted)
        self.sigma, self.reads = 1.0, 0
        if pair.kinked:
            self.sigma = (LIMITS.first_width_near if near else LIMITS.first_width) * pair.width_of_kinks
        self.memory = 0 if pair.kinked else 20
        #: Theta, promised gap, and what a step leaves of it.
        self._last_gap: tuple[bytes, float, float] | None = None
        self._stepped = False
        self._found: dict[bytes, Slopes] = {}

    def evaluate(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """The smoothed objective and its gradient; second derivatives are kept."""
        found = self.objective.slopes(theta, self.sigma, self.stride)
        self.reads += 1
        while len(self._found) > 2:
            self._found.pop(next(iter(self._found)))
        self._found[theta.tobytes()] = found
        return found.value, found.gradient

    def at(self, now: Iterate) -> Slopes:
        """What was found at a theta; a long search along a line may have pushed it out, then it is read again."""
        if now.theta.tobytes() not in self._found:
            self.evaluate(now.theta)
        return self._found[now.theta.tobytes()]

    def metric(self, now: Iterate, iteration: int = 0) -> Metric:
        """Newton's metric at a theta that was evaluated."""
        hessian = self.at(now).curvature
        assert hessian is not None
        return cholesky_metric(hessian)

    def gap(self, now: Iterate) -> float:
        """About the gap of the smoothed objective that one more step leaves, as far as the last one tells."""
        promised = self._estimated_gap(now)
        known = self._last_gap
        if known is None or known[0] != now.theta.tobytes():
            rate = promised / known[1] if known is not None and known[1] > 0 else 1.0
            known = self._last_gap = now.theta.tobytes(), promised, min(1.0, LIMITS.careful * rate)
        return promised * known[2]

    def _estimated_gap(self, now: Iterate) -> float:
        """About the gap of the smoothed objective."""
        hessian = self.at(now).curvature
        assert hessian is not None
        return self.objective.promised_gap(now.theta, now.gradient, float(hessian[-1, -1]), hessian[-1, :-1])

    def run(self, theta: np.ndarray, settings: Settings) -> Solution:
        """Take steps until the gap is promised, then prove it."""
        steps = 0
        while True:
            now = Iterate(theta, *self.evaluate(theta))
            found, self._last_gap = self.at(now), None
            allowed = LIMITS.smoothing_share * settings.tol * max(found.loss, self.objective.floor)
            last = not self.objective.pair.kinked or found.above <= allowed or self.sigma <= LIMITS.least_width
            # Before the last stage it is enough to be near the path of minima.
            tol = settings.tol if last else max(settings.tol, found.above / max(found.value, 1e-300))
            part = lbfgs(
                self.evaluate,
                now,
                self.metric(now),
                tol=tol,
                max_iter=settings.max_iter - steps,
                memory=self.memory,
                floor=self.objective.floor,
                gap=self.gap if last else None,
                refresh=self.metric,
                progress=settings.progress,
            )
            steps += part.iterations
            theta = part.theta
            found = self._found[theta.tobytes()]
            if last and found.above > allowed and self.sigma > LIMITS.least_width:
                last = False
            if last or steps >= settings.max_iter:
                proof = self.prove_near(theta, found, settings)
                wanted = settings.tol * max(proof.value, self.objective.floor)
                if proof.gap <= wanted or not self._stepped or steps >= settings.max_iter:
                    break
                theta = proof.theta
                continue
            # Above their lines the losses are by about the square of sigma.
            wish = math.sqrt(0.5 * allowed / found.above) if found.above > 0 else 1.0
            self.sigma = max(self.sigma * min(max(wish, LIMITS.shrink), 0.7), LIMITS.least_width)
        return replace(
            part,
            theta=proof.theta,
            value=proof.value,
            iterations=steps,
            proof=proof,
            stats={"passes": float(self.reads)},
        )

    def _step(self, theta: np.ndarray, found: Slopes) -> np.ndarray:
        """The step that would lead on from a theta that was evaluated."""
        assert found.curvature is not None
        corrected = CurvaturePairs(cholesky_metric(found.curvature), self.memory)
        known = [Iterate(np.frombuffer(key), one.value, one.gradient) for key, one in self._found.items()]
        if self.memory:
            for before, after in itertools.pairwise(known):
                corrected.add(before, after)
        return -corrected(found.gradient)

    def prove_near(self, theta: np.ndarray, found: Slopes, settings: Settings) -> Proof:
        """Prove the gap near a theta, with the intercept where the slopes are expected to sum to 0.

        If the gap is not reached at theta itself, it is proved one step further: that saves a read.
        """
        objective, hessian = self.objective, found.curvature
        wanted = settings.tol * max(found.loss, objective.floor)
        assert hessian is not None
        curvature = float(hessian[-1, -1])
        promised = self._estimated_gap(Iterate(theta, found.value, found.gradient))
        self._stepped = promised > 0.5 * wanted and self._last_gap is not None
        move, aside = 0.0, 0.0
        if self._stepped:
            step = self._step(theta, found)
            theta = theta + step
            aside = LIMITS.step_aside_after_step * math.sqrt(
                max(-float(found.gradient @ step), 0.0) / max(curvature, 1e-300)
            )
        elif curvature > 0:
            move = -float(found.gradient[-1]) / curvature
            aside = LIMITS.step_aside * abs(move)
        if not objective.fit_intercept:
            return self._proof(theta[None], wanted)[0]
        b, found_proofs = float(theta[-1]), []
        for _ in range(LIMITS.most_proofs):
            b += move
            aside += 64 * EPS * (1 + abs(b))
            thetas = np.tile(theta, (2, 1))
            thetas[:, -1] = b - aside, b + aside
            proof, (left, right) = self._proof(thetas, wanted)
            found_proofs.append(proof)
            settings.progress(f"proof: objective {proof.value:.10g}, gap {proof.gap:.2e}")
            if left * right <= 0 or proof.gap <= wanted:
                break
            # Both on one side of the best intercept: the line through both sums says where it is.
            rise = (right - left) / (2 * aside)
            move = -0.5 * (left + right) / rise if rise > 0 else 4 * (move or aside)
            aside = LIMITS.step_aside * abs(move)
        return min(found_proofs, key=lambda proof: proof.gap)

    def _proof(self, thetas: np.ndarray, wanted: float) -> tuple[Proof, np.ndarray]:
        lines = self.objective.lines(thetas, self.sigma)
        self.reads += 1
        return prove(self.objective, thetas, lines, wanted), lines.numbers[:, 2]
