"""Minimise a family of objectives one after the other, each from a guess extrapolated from the solutions before.

Neighbours on a path have nearly the same second derivatives, so one factored matrix is a good metric of L-BFGS for
several of them: each then needs only a few gradients. If the same path was followed before on similar rows (another
split), its solutions are better guesses: then only the difference to them is extrapolated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from uneven.solvers.linear.algorithms.newton import is_quick, is_small, minimise_quickly
from uneven.solvers.linear.lbfgs import Iterate, evaluate_at, lbfgs
from uneven.solvers.linear.newton_systems import MOST_COLUMNS, Metric, cholesky_metric
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.proof import minimise, minimise_to_gap
from uneven.solvers.linear.solver import AUTO, Settings, Solution


@dataclass(frozen=True)
class Limits:
    """What was tuned by measuring; ``benchmarks/sensitivity.py`` doubles and halves each."""

    #: Steps of L-BFGS after which the metric is renewed: a new one costs about as much as so many steps.
    many_steps: int = 6


LIMITS = Limits()


class Follower:
    """Follows a path of convex objectives in a parameter that changes gradually.

    Parameters
    ----------
    before : Follower, optional
        One that has followed the same path on other rows; with an l1 penalty, also one with a neighbouring C.
    """

    def __init__(self, before: Follower | None = None) -> None:
        self._solved: dict[float, np.ndarray] = {}
        self._metrics: dict[float, tuple[Metric, np.ndarray]] = dict(before._metrics) if before else {}
        self._guesses: dict[float, np.ndarray] = before._solved if before else {}

    def solve(self, objective: Objective, at: float, settings: Settings, *, solver: str = AUTO) -> Solution:
        """Minimise the objective at a value of the parameter."""
        theta = self._start(objective, at)
        if theta is not None and self._has_metric(objective, solver):
            solution = self._in_nearest_metric(objective, at, theta, settings)
        else:
            solution = minimise(objective, settings, theta=theta, solver=solver)
        if theta is not None and not solution.converged:  # the guess may be at fault
            alone = minimise(objective, settings, solver=solver)
            solution = alone if alone.converged or alone.value < solution.value else solution
        self._solved[at] = solution.theta
        return solution

    def solve_unproved(
        self, objective: Objective, at: float, settings: Settings, *, solver: str = AUTO
    ) -> np.ndarray | None:
        """The minimiser alone: the gradient there promises the tolerance. None where :meth:`solve` is needed."""
        start, theta = self._start(objective, at), None
        if solver == AUTO and is_quick(objective):
            theta = minimise_quickly(objective, start, settings)
            if theta is None and start is not None:  # the guess may be at fault
                theta = minimise_quickly(objective, None, settings)
        elif start is not None and objective.penalty > 0 and self._has_metric(objective, solver):
            with np.errstate(over="ignore", invalid="ignore"):
                solution = self._lbfgs(objective, at, start, settings)
            theta = solution.theta if solution.converged else None
        if theta is not None:
            self._solved[at] = theta
        return theta

    @staticmethod
    def _has_metric(objective: Objective, solver: str) -> bool:
        """Whether steps in the metric of a neighbour are faster than a fit that starts near its solution."""
        return (
            solver == AUTO
            and not objective.pair.kinked
            and objective.l1 == 0
            and objective.size <= MOST_COLUMNS
            and not is_small(objective)  # then Newton steps cost less than a factor that is kept saves
            and objective.design.n >= objective.design.d
        )

    def _start(self, objective: Objective, at: float) -> np.ndarray | None:
        """Where to start at a value of the parameter; None if nothing is known."""
        theta = self._guess(at) if objective.l1 == 0 else self._nearest(at)
        if theta is not None and theta.size != objective.size:  # preprocessing made other columns this time
            theta, self._metrics, self._guesses = None, {}, {}
        return theta

    def _in_nearest_metric(self, objective: Objective, at: float, theta: np.ndarray, settings: Settings) -> Solution:
        """L-BFGS in the metric of the nearest solution; in a new one if that is too far away or not good enough."""

        def along(objective: Objective, start: np.ndarray | None, settings: Settings) -> Solution:
            return self._lbfgs(objective, at, theta if start is None else start, settings)

        return minimise_to_gap(along, objective, theta, settings)

    def _lbfgs(self, objective: Objective, at: float, theta: np.ndarray, settings: Settings) -> Solution:
        nearest = min(self._metrics, key=lambda place: abs(place - at), default=None)
        if nearest is None or abs(nearest - at) > 0.5:  # in log gamma
            self._metrics[at] = _metric_at(objective, theta)
            nearest = at
        bends = self._metrics[nearest][1]

        def refresh(now: Iterate, iteration: int) -> Metric | None:
            if iteration and iteration % LIMITS.many_steps == 0:
                self._metrics[at] = _metric_at(objective, now.theta)
                return self._metrics[at][0]
            return None

        return lbfgs(
            objective.value_and_gradient,
            evaluate_at(objective.value_and_gradient, theta),
            self._metrics[nearest][0],
            tol=settings.tol,
            max_iter=settings.max_iter,
            floor=objective.floor,
            gap=lambda now: objective.promised_gap(now.theta, now.gradient, float(bends[-1]), bends[:-1]),
            refresh=refresh,
        )

    def _nearest(self, at: float) -> np.ndarray | None:
        """The nearest solution. An extrapolated one would have no zeros."""
        solved = self._solved or self._guesses
        return solved[min(solved, key=lambda place: abs(place - at))] if solved else None

    def _guess(self, at: float) -> np.ndarray | None:
        """A guess of the solution at the next parameter."""
        if at not in self._guesses:
            return _extrapolate(list(self._solved.items())[-3:], at)
        guess = self._guesses[at]
        last = list(self._solved.items())[-3:]
        off = [(place, theta - self._guesses[place]) for place, theta in last if place in self._guesses]
        correction = _extrapolate(off, at)
        return guess if correction is None else guess + correction


def _metric_at(objective: Objective, theta: np.ndarray) -> tuple[Metric, np.ndarray]:
    """The metric of the second derivatives at a point, and those in the intercept and each coefficient, itself last."""
    hessian = objective.hessian(theta)
    bends = hessian[-1].copy()
    return cholesky_metric(hessian), bends


def _extrapolate(points: list[tuple[float, np.ndarray]], at: float) -> np.ndarray | None:
    """The polynomial through these points, evaluated at a parameter."""
    if not points:
        return None
    total = np.zeros_like(points[0][1])
    for place, value in points:
        total += math.prod((at - other) / (place - other) for other, _ in points if other != place) * value
    return total
