"""Fits of the linear learner along gamma: the data are read once, each fit starts where the last ones point to."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from uneven.learners.base import learners_loss, read_cost
from uneven.learners.linear import UnevenLinearClassifier, _generator
from uneven.losses import Loss
from uneven.solvers.linear.design import design
from uneven.solvers.linear.objective import Objective, PairOfLosses
from uneven.solvers.linear.path import Follower
from uneven.solvers.linear.solver import Settings


@lru_cache(maxsize=1024)
def _pair(loss: Any, fp_cost: Any, fn_cost: Any, margin_gamma: Any, C: Any) -> PairOfLosses:
    """The losses of a candidate, which are the same in every split."""
    cost = read_cost(fp_cost, fn_cost)
    factor = Fraction(C) if isinstance(loss, Loss) else Fraction(C) * sum(cost.exact_costs)
    return PairOfLosses.of(learners_loss(loss, cost, margin_gamma), factor)


def linear_fits(
    learner: UnevenLinearClassifier,
    X: Any,
    y: Any,
    sample_weight: Any,
    params: list[dict[str, Any]],
    follower: Follower,
) -> Iterator[UnevenLinearClassifier]:
    """Fitted learners for parameters in rising order of gamma, one loss and one C.

    A loss that is not convex has many minima, and its fits start as they would alone.
    """
    objective, problem = None, None
    for one in params:
        model = copy.copy(learner).set_params(**one)
        model._read_parameters()
        pair = _pair(model.loss, model.fp_cost, model.fn_cost, model.margin_gamma, model.C)
        if not pair.convex:
            yield model.fit(X, y, sample_weight)
            continue
        if objective is None or problem is None:
            problem = model._read(X, y, sample_weight)
            reader = model
            objective = Objective(
                design=design(problem.X),
                y=problem.y,
                pair=pair,
                sample_weight=problem.sample_weight,
                penalty=1.0 if model.penalty == "l2" else 0.0,
                fit_intercept=bool(model.fit_intercept),
            )
        else:
            objective = replace(objective, pair=pair)
            _as_read(model, reader)
        solution = follower.solve(
            objective,
            math.log(float(model.margin_gamma)),
            Settings(tol=float(model.tol), max_iter=int(model.max_iter), random=_generator(model.random_state)),
            solver=model.solver,
        )
        model._keep(solution, problem)
        model._warn(solution, objective)
        yield model


def _as_read(model: UnevenLinearClassifier, reader: UnevenLinearClassifier) -> None:
    """What reading the data left on the first model of the path."""
    for name in ("classes_", "_positive", "n_features_in_", "feature_names_in_"):
        if hasattr(reader, name):
            setattr(model, name, getattr(reader, name))
    model._fitted_with = (model.loss, model.fp_cost, model.fn_cost, model.margin_gamma)
