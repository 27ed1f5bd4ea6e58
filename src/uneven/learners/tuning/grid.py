"""Reads and checks what UnevenClassifierCV is given: the estimator and its parts, the data, and the grid."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _num_samples, has_fit_parameter

from uneven import inputs
from uneven.costs import COSTS, GivenCosts, RowCosts
from uneven.decisions.alpha import DECIDE, LEARN, USES_OF_ROW_COSTS
from uneven.errors import LossError, ParameterError
from uneven.inputs import brief, require_choice
from uneven.labels import Classes
from uneven.learners.base import UnevenClassifier, current_loss, read_problem, with_parameters
from uneven.learners.linear import UnevenLinearClassifier
from uneven.learners.svc import UnevenSVC
from uneven.learners.training_set import TrainingSet, learnt_labels
from uneven.learners.tuning.gamma_rules import automatic_grid
from uneven.solvers.hinge_identity import is_hinge

#: Parameters of the search, beside the costs, that are those of the learner.
_OTHERS = ("pos_label", "neg_label", "loss")


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
    given = {name: getattr(search, name) for name in (*COSTS, *_OTHERS) if getattr(search, name) is not None}
    for name in ("tp_cost", "tn_cost", "neg_label"):
        if name in given and name not in learner.get_params(deep=False):
            raise ParameterError(f"{type(learner).__name__} has no {name}, got {name}={brief(given[name])}")
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


def read_data(X: Any, y: Any, sample_weight: Any, given: GivenCosts, steps: Any, learner: Any) -> TrainingSet:
    """Labels, weights and costs by the learner's own rules; also X, unless preprocessing reads it.

    ``given`` are the costs given to ``fit``.
    """
    reader = clone(learner)
    if not isinstance(reader, UnevenClassifier):
        reader = UnevenLinearClassifier(
            fp_cost=learner.fp_cost,
            fn_cost=learner.fn_cost,
            tp_cost=getattr(learner, "tp_cost", 0.0),
            tn_cost=getattr(learner, "tn_cost", 0.0),
            pos_label=getattr(learner, "pos_label", None),
            neg_label=getattr(learner, "neg_label", None),
        )
    reader.set_params(margin_gamma=1.0)
    problem = read_problem(reader, X if steps is None else np.zeros((_num_samples(X), 1)), y, sample_weight, given)
    if isinstance(problem.costs, RowCosts) and not has_fit_parameter(learner, "fp_cost"):
        raise ParameterError(f"{type(learner).__name__} takes no costs of each row: its fit has no parameter fp_cost")
    return problem


def costs_of_all(given: GivenCosts, count: int, learner: Any) -> RowCosts:
    """The costs of all rows: those given to ``fit``, and the learner's own for the others."""
    return RowCosts.read(count, **given.filled({name: getattr(learner, name, 0) for name in COSTS}))


def labels_as_parameters(classes: Classes, learner: Any) -> dict[str, Any]:
    """Both classes as parameters of the learner, if it has them."""
    named = {"pos_label": classes.pos_label, "neg_label": classes.neg_label}
    return {name: value for name, value in named.items() if name in ("pos_label", *learner.get_params(deep=False))}


def as_parameters(given: GivenCosts, costs: RowCosts) -> dict[str, Any]:
    """Costs given to ``fit`` with regrets that are the same in all rows, as parameters of the learner."""
    known = given.known
    if not given.per_row:
        return known
    numbers = {name: getattr(costs, name) for name in known}
    if not any(isinstance(value, np.ndarray) for value in numbers.values()):
        return numbers
    return {"fp_cost": costs.fp_regret, "fn_cost": costs.fn_regret, "tp_cost": 0.0, "tn_cost": 0.0}


def read_gammas(search: Any, problem: TrainingSet) -> np.ndarray:
    """The grid of gammas, in rising order."""
    if isinstance(search.margin_gammas, str):
        if search.margin_gammas != "auto":
            raise ParameterError(f"margin_gammas must be 'auto' or positive numbers, got {brief(search.margin_gammas)}")
        mass = problem.masses
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the fit will say which labels it turns
            target, regrets = learnt_labels(problem.costs, problem.y)
        regrets = regrets / regrets.max()
        rows = [target == label for label in (0, 1)]
        counts = [float(mass[where].sum()) for where in rows]
        costs = [float(mass[where] @ regrets[where]) for where in rows]
        return automatic_grid(counts[0] / counts[1], costs[0] / costs[1])
    return np.unique(_positive_numbers("margin_gammas", search.margin_gammas))


def read_uses_of_row_costs(search: Any, problem: TrainingSet, learner: Any, losses: list[Any]) -> list[str]:
    """How costs of each row are used: learnt with, or decided by; [] if all rows have the same costs."""
    require_choice("row_costs", search.row_costs, ("auto", *USES_OF_ROW_COSTS))
    if not isinstance(problem.costs, RowCosts):
        return []
    if search.row_costs == LEARN:
        return [LEARN]
    reason = _why_no_probabilities(learner, losses)
    if search.row_costs == DECIDE:
        if reason is not None:
            raise ParameterError(f"row_costs='decide' needs probabilities: {reason}; row_costs='learn' would work")
        return [DECIDE]
    return [LEARN] if reason is not None else [LEARN, DECIDE]


def _why_no_probabilities(learner: Any, losses: list[Any]) -> str | None:
    """None if all losses identify probabilities."""
    if not isinstance(learner, UnevenClassifier):
        return f"{type(learner).__name__} is not a learner of uneven"
    for loss in losses:
        try:
            model = with_parameters(learner, {"loss": loss, "margin_gamma": 1.0})
            current_loss(model).inverse_link(0.0)
        except LossError as error:
            return str(error)
    return None


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


def read_points(search: Any, learner: Any) -> list[dict[str, Any]]:
    """The points of ``param_grid``: parameters that only the learner knows; [{}] if there are none."""
    if search.param_grid is None:
        return [{}]
    own = {*COSTS, "margin_gamma", "C", "loss", "pos_label"}
    for name in search.param_grid:
        if name in own:
            raise ParameterError(f"{name} does not belong in param_grid: UnevenClassifierCV has a parameter for it")
    points = [dict(point) for point in ParameterGrid(search.param_grid)]
    for point in points:
        clone(learner).set_params(**point)  # an unknown name is refused before any work
    return points


def _positive_numbers(name: str, values: Any) -> np.ndarray:
    array, _ = inputs.float_array(name, values)
    if array.ndim != 1 or not array.size or not ((array > 0) & np.isfinite(array)).all():
        raise ParameterError(f"{name} must be positive finite numbers, got {brief(values)}")
    return array.astype(np.float64)
