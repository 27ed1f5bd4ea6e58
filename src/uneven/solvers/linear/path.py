"""Minimise a family of objectives one after the other, each from where the last ones point to.

Neighbours on a path have nearly the same second derivatives: their factor serves as the metric of L-BFGS for several of
them, which then needs a few gradients each and seldom another factor. If the same path was followed before on other
rows of the same kind (another split), its solutions are better guesses still: only the difference is extrapolated.
"""

from __future__ import annotations

import numpy as np

from uneven.solvers.linear.lbfgs import lbfgs
from uneven.solvers.linear.line_search import Point, evaluated
from uneven.solvers.linear.metric import Metric, cholesky_metric
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.preconditioned import MOST_COLUMNS
from uneven.solvers.linear.solution import Solution
from uneven.solvers.linear.solve import minimise

#: Steps of L-BFGS after which the factor is old, and how far along the path (in log gamma) it serves.
_MANY_STEPS = 6
_FAR = 0.5


class Follower:
    """Follows a path of convex objectives in a parameter that changes gradually.

    Parameters
    ----------
    before : Follower, optional
        One that has followed the same path on other rows.
    """

    def __init__(self, before: Follower | None = None) -> None:
        self._solved: dict[float, np.ndarray] = {}
        self._metrics: dict[float, Metric] = dict(before._metrics) if before else {}
        self._guesses: dict[float, np.ndarray] = before._solved if before else {}

    def solve(
        self, objective: Objective, at: float, *, solver: str, tol: float, max_iter: int, random: np.random.Generator
    ) -> Solution:
        """Minimise the objective at a value of the parameter."""
        theta = self._ahead(at)
        if theta is not None and theta.size != objective.size:  # preprocessing made other columns this time
            theta, self._metrics, self._guesses = None, {}, {}
        smooth = not any(phi.kinks for phi in objective.pair.phis)
        if theta is None or not smooth or solver != "auto" or objective.size > MOST_COLUMNS:
            solution = minimise(objective, theta=theta, solver=solver, tol=tol, max_iter=max_iter, random=random)
        else:
            solution = self._near(objective, at, theta, tol, max_iter)
        self._solved[at] = solution.theta
        return solution

    def _near(self, objective: Objective, at: float, theta: np.ndarray, tol: float, max_iter: int) -> Solution:
        """L-BFGS in the metric made nearest by; a new one where that is too far or was not good enough."""
        nearest = min(self._metrics, key=lambda place: abs(place - at), default=None)
        if nearest is None or abs(nearest - at) > _FAR:
            self._metrics[at] = cholesky_metric(objective.hessian(theta))
            nearest = at

        def refreshed(point: Point, iteration: int) -> Metric | None:
            if iteration and iteration % _MANY_STEPS == 0:
                self._metrics[at] = cholesky_metric(objective.hessian(point.theta))
                return self._metrics[at]
            return None

        return lbfgs(
            objective.value_and_gradient,
            evaluated(objective.value_and_gradient, theta),
            self._metrics[nearest],
            tol=tol,
            max_iter=max_iter,
            floor=objective.floor,
            refresh=refreshed,
        )

    def _ahead(self, at: float) -> np.ndarray | None:
        """A guess at the next parameter."""
        if at not in self._guesses:
            return _extrapolated(list(self._solved.items())[-3:], at)
        guess = self._guesses[at]
        off = [(place, theta - self._guesses[place]) for place, theta in self._solved.items() if place in self._guesses]
        correction = _extrapolated(off[-2:], at)
        return guess if correction is None else guess + correction


def _extrapolated(points: list[tuple[float, np.ndarray]], at: float) -> np.ndarray | None:
    """The polynomial through points, further along."""
    if not points:
        return None
    total = np.zeros_like(points[0][1])
    for place, value in points:
        share = np.prod([(at - other) / (place - other) for other, _ in points if other != place])
        total += float(share) * value
    return total
