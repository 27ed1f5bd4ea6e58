"""Reads and checks what UnevenClassifierCV is given: the estimator and its parts, the data, and the grid."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _num_samples

from uneven import _inputs
from uneven._inputs import brief
from uneven.errors import ParameterError
from uneven.learners.base import Problem, UnevenClassifier, read_problem
from uneven.learners.linear import UnevenLinearClassifier
from uneven.learners.svc import UnevenSVC
from uneven.learners.tuning.gamma_path import automatic_grid
from uneven.solvers.hinge_identity import is_hinge


def read_estimator(search: Any) -> tuple[Any, Any]:
    """The estimator and its learner, which is the estimator itself or the last step of a Pipeline."""
    named = {"linear": UnevenLinearClassifier, "svc": UnevenSVC}
    if isinstance(search.estimator, str):
        if search.estimator not in named:
            raise ParameterError(
                f"estimator must be 'linear', 'svc', an uneven learner or a Pipeline that ends in one, got "
                f"{brief(search.estimator)}"
            )
        learner = named[search.estimator]()
        return learner, learner
    learner = search.estimator.steps[-1][1] if isinstance(search.estimator, Pipeline) else search.estimator
    readable = hasattr(learner, "get_params") and not isinstance(learner, type)
    known = learner.get_params(deep=False) if readable else {}
    if not {"margin_gamma", "fp_cost", "fn_cost"} <= set(known):
        raise ParameterError(
            "estimator must have the parameters margin_gamma, fp_cost and fn_cost, as the learners of uneven do, "
            f"got {brief(search.estimator)}"
        )
    return search.estimator, learner


def read_parts(search: Any) -> tuple[Any, Any, Any, str]:
    """The estimator with the parameters of the search, its preprocessing, its learner, and the learner's prefix."""
    whole, learner = read_estimator(search)
    whole, learner = clone(whole), clone(learner)
    given = {
        name: getattr(search, name)
        for name in ("fp_cost", "fn_cost", "pos_label", "loss")
        if getattr(search, name) is not None
    }
    if "loss" not in learner.get_params(deep=False):
        wanted, fixed = given.pop("loss", None), getattr(learner, "loss", None)
        same = wanted is None or wanted == fixed or (is_hinge(wanted) and is_hinge(fixed))
        if not same:
            raise ParameterError(
                f"{type(learner).__name__} has the loss {fixed}, got loss={brief(wanted)}; 'linear' takes any loss"
            )
    prefix, steps = "", None
    if isinstance(whole, Pipeline):
        prefix = f"{whole.steps[-1][0]}__"
        steps = whole[:-1] if len(whole.steps) > 1 else None
    learner.set_params(**given)
    whole.set_params(**{f"{prefix}{name}": value for name, value in given.items()})
    return whole, steps, learner, prefix


def read_data(X: Any, y: Any, sample_weight: Any, steps: Any, learner: Any) -> Problem:
    """Labels and weights by the learner's own rules; also X, unless preprocessing reads it."""
    reader = clone(learner)
    if not isinstance(reader, UnevenClassifier):
        reader = UnevenLinearClassifier(
            fp_cost=learner.fp_cost, fn_cost=learner.fn_cost, pos_label=getattr(learner, "pos_label", None)
        )
    reader.set_params(margin_gamma=1.0)
    return read_problem(reader, X if steps is None else np.zeros((_num_samples(X), 1)), y, sample_weight)


def read_gammas(search: Any, cost: Any, problem: Problem) -> np.ndarray:
    """The grid of gammas, in rising order."""
    if isinstance(search.margin_gammas, str):
        if search.margin_gammas != "auto":
            raise ParameterError(f"margin_gammas must be 'auto' or positive numbers, got {brief(search.margin_gammas)}")
        fp_cost, fn_cost = map(float, cost.exact_costs)
        mass = problem.sample_weight if problem.sample_weight.size else np.ones(problem.y.size)
        negatives, positives = (float(mass[problem.y == label].sum()) for label in (0, 1))
        return automatic_grid(positives, negatives, fp_cost, fn_cost)
    return np.unique(_positive_numbers("margin_gammas", search.margin_gammas))


def read_cs(search: Any, learner: Any) -> list[Any]:
    """The values of C, in rising order; [None] for the learner's own."""
    if search.Cs is None:
        return [None]
    if "C" not in learner.get_params(deep=False):
        raise ParameterError(f"{type(learner).__name__} has no C, got Cs={brief(search.Cs)}; leave Cs out")
    return np.unique(_positive_numbers("Cs", search.Cs)).tolist()


def read_losses(search: Any, learner: Any) -> list[Any]:
    """The losses to try."""
    if search.losses is None:
        return [learner.loss if hasattr(learner, "loss") else None]
    if search.loss is not None:
        raise ParameterError(f"give loss or losses, got both: loss={brief(search.loss)}, losses={brief(search.losses)}")
    if "loss" not in learner.get_params(deep=False):
        raise ParameterError(f"{type(learner).__name__} has no choice of loss, got losses={brief(search.losses)}")
    if isinstance(search.losses, str) or not list(search.losses):
        raise ParameterError(f"losses must be a list of losses, got {brief(search.losses)}")
    return list(search.losses)


def _positive_numbers(name: str, values: Any) -> np.ndarray:
    array, _ = _inputs.float_array(name, values)
    if array.ndim != 1 or not array.size or not ((array > 0) & np.isfinite(array)).all():
        raise ParameterError(f"{name} must be positive finite numbers, got {brief(values)}")
    return array.astype(np.float64)
