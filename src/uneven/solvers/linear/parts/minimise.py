"""Minimise a convex objective in parts: few reads of the rows, and a proved gap at the end.

Each read gives value, gradient and second derivatives at one theta; a Newton step in that metric, corrected as in
L-BFGS, leads to the next. Kinks are smoothed by parabolas that become narrower from stage to stage, until what the
smoothing costs is small against the gap that is wanted. The last read proves the gap of the true objective.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from uneven.errors import LossError
from uneven.solvers.linear.lbfgs import lbfgs
from uneven.solvers.linear.line_search import Iterate
from uneven.solvers.linear.metric import MOST_COLUMNS, Metric, cholesky_metric
from uneven.solvers.linear.parts.proof import prove
from uneven.solvers.linear.parts.slopes import Slopes
from uneven.solvers.linear.parts.summed_objective import SummedObjective
from uneven.solvers.linear.proof import EPS, Proof
from uneven.solvers.linear.solution import Solution
from uneven.solvers.linear.solve import proved
from uneven.solvers.linear.solver import Settings

#: Multiplications for second derivatives in one read of all parts.
_WORK_OF_METRIC = 1e8
#: Rows for each column that second derivatives are estimated from, at least.
_ROWS_PER_COLUMN = 40
#: Width of the first parabolas in units of kink/jump, from 0 and from near the solution, and by how much they shrink.
_FROM_ZERO, _FROM_NEAR, _SHRINK = 1.0, 0.1, 0.03
_LEAST_SIGMA = 1e-9
#: Share of the wanted gap that the smoothing of kinks may cost.
_SMOOTHING_SHARE = 0.3
#: Two intercepts of a proof are this share of the last correction apart from the best one.
_STEP_ASIDE = 0.1
_MOST_PROOFS = 4


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

    return proved(solve, objective, None, settings)


class _Descent:
    """Stages of a fit. The width of the parabolas is kept from one run to a stricter one."""

    def __init__(self, objective: SummedObjective, near: bool) -> None:
        self.objective = objective
        pair, n = objective.pair, objective.survey.count
        wanted = max(_ROWS_PER_COLUMN * objective.size, int(_WORK_OF_METRIC / objective.size**2))
        self.stride = max(1, n // wanted)
        self.sigma, self.reads = 1.0, 0
        if pair.kinked:
            self.sigma = (_FROM_NEAR if near else _FROM_ZERO) * pair.width_of_kinks
        self.last: Slopes | None = None
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
        return self._found[now.theta.tobytes()]

    def metric(self, now: Iterate, iteration: int = 0) -> Metric:
        """Newton's metric at a theta that was evaluated."""
        hessian = self.at(now).curvature
        assert hessian is not None
        return cholesky_metric(hessian)

    def gap(self, now: Iterate) -> float:
        """About the gap of the smoothed objective."""
        hessian = self.at(now).curvature
        assert hessian is not None
        return self.objective.promised_gap(now.theta, now.gradient, float(hessian[-1, -1]), hessian[-1, :-1])

    def run(self, theta: np.ndarray, settings: Settings) -> Solution:
        """Take steps until the gap is promised, then prove it."""
        steps = 0
        while True:
            now = Iterate(theta, *self.evaluate(theta))
            found = self.at(now)
            allowed = _SMOOTHING_SHARE * settings.tol * max(found.loss, self.objective.floor)
            last = not self.objective.pair.kinked or found.above <= allowed or self.sigma <= _LEAST_SIGMA
            # Before the last stage it is enough to be near the path of minima.
            tol = settings.tol if last else max(settings.tol, found.above / max(found.value, 1e-300))
            part = lbfgs(
                self.evaluate,
                now,
                self.metric(now),
                tol=tol,
                max_iter=settings.max_iter - steps,
                memory=0 if self.objective.pair.kinked else 20,
                floor=self.objective.floor,
                gap=self.gap if last else None,
                refresh=self.metric,
                progress=settings.progress,
            )
            steps += part.iterations
            theta = part.theta
            found = self._found[theta.tobytes()]
            if last and found.above > allowed and self.sigma > _LEAST_SIGMA:
                last = False
            if last or steps >= settings.max_iter:
                break
            # Above their lines the losses are by about the square of sigma.
            wish = math.sqrt(0.5 * allowed / found.above) if found.above > 0 else 1.0
            self.sigma = max(self.sigma * min(max(wish, _SHRINK), 0.7), _LEAST_SIGMA)
        proof = self.proved(theta, found, settings)
        return replace(
            part,
            theta=proof.theta,
            value=proof.value,
            iterations=steps,
            proof=proof,
            stats={"passes": float(self.reads)},
        )

    def proved(self, theta: np.ndarray, found: Slopes, settings: Settings) -> Proof:
        """Prove the gap near a theta, with the intercept moved to where the slopes sum to 0."""
        objective, hessian = self.objective, found.curvature
        wanted = settings.tol * max(found.loss, objective.floor)
        if not objective.fit_intercept:
            return self._proof(theta[None], wanted)[0]
        assert hessian is not None
        curvature = float(hessian[-1, -1])
        move = -float(found.gradient[-1]) / curvature if curvature > 0 else 0.0
        b, found_proofs = float(theta[-1]), []
        for _ in range(_MOST_PROOFS):
            b += move
            aside = _STEP_ASIDE * abs(move) + 64 * EPS * (1 + abs(b))
            thetas = np.tile(theta, (2, 1))
            thetas[:, -1] = b - aside, b + aside
            proof, (left, right) = self._proof(thetas, wanted)
            found_proofs.append(proof)
            settings.progress(f"proof: objective {proof.value:.10g}, gap {proof.gap:.2e}")
            if left * right <= 0 or proof.gap <= wanted:
                break
            # Both on one side of the best intercept: the line through both sums says where it is.
            rise = (right - left) / (2 * aside)
            move = -0.5 * (left + right) / rise if rise > 0 else 4 * move
        return min(found_proofs, key=lambda proof: proof.gap)

    def _proof(self, thetas: np.ndarray, wanted: float) -> tuple[Proof, np.ndarray]:
        lines = self.objective.lines(thetas, self.sigma)
        self.reads += 1
        return prove(self.objective, thetas, lines, wanted), lines.numbers[:, 2]
