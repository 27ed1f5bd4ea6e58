"""A fit on rows in parts: the first look, the loss and its weights, a start from a sample, and the solver.

Whoever holds the rows gives :class:`Parts`; nothing here knows whether they are blocks of a file or on other machines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from uneven._caller import warn_caller
from uneven._inputs import exact, to_float
from uneven.costs import COSTS, Cost
from uneven.errors import CostError, LossError
from uneven.learners.classes import Classes
from uneven.learners.contract import sums_of_classes
from uneven.learners.costs_and_loss import own_alpha
from uneven.learners.streaming.batch import Batch
from uneven.learners.streaming.marking import Marking
from uneven.learners.weighting import Weighting, of_classes
from uneven.losses import Loss
from uneven.metrics.labels import distinct_labels, two_classes
from uneven.solvers.linear.pair_of_losses import PairOfLosses
from uneven.solvers.linear.parts.minimise import minimise, refusal
from uneven.solvers.linear.parts.own_minima import start_from_parts
from uneven.solvers.linear.parts.protocol import Both, Parts
from uneven.solvers.linear.parts.sample import Sample, SampleRows
from uneven.solvers.linear.parts.separation import SeparatedBy
from uneven.solvers.linear.parts.summed_objective import Standardisation, SummedObjective
from uneven.solvers.linear.parts.survey import Survey, SurveyRows
from uneven.solvers.linear.solution import Solution
from uneven.solvers.linear.solve import minimise as minimise_in_memory
from uneven.solvers.linear.solver import Settings
from uneven.solvers.progress import silent

#: Numbers and rows that the sample of each class has at most.
_SAMPLE_NUMBERS, _SAMPLE_ROWS = 2_000_000, 50_000


@dataclass(frozen=True)
class FirstLook:
    """What is known after the first read.

    Attributes
    ----------
    survey : Survey
        With the positive class as class 1.
    sample : Sample, optional
    classes : Classes
    marking : Marking
        For all further reads.
    """

    survey: Survey
    sample: Sample | None
    classes: Classes
    marking: Marking


def first_marking(
    y: np.ndarray, pos_label: Any, costs: Cost | None, numbers: dict[str, Any], finished: Loss | None
) -> Marking:
    """How rows are marked in the first read, before all labels are known.

    Parameters
    ----------
    y : ndarray
        Some labels.
    pos_label : label or None
    costs : Cost or None
        None if costs differ by row.
    numbers : dict
        The costs that are numbers.
    finished : Loss or None
        A loss that contains costs itself.
    """
    found = distinct_labels(y)
    guess = pos_label
    if guess is None:  # the labels {0, 1}, {-1, 1} and {False, True} need no pos_label
        guess = 1 if set(found) <= {0, 1} or set(found) <= {-1, 1} else found[0]
    if costs is not None:
        return Marking(guess)
    alpha = None if finished is None else own_alpha(finished)
    inside = (1.0, 1.0) if alpha is None else (to_float(alpha), to_float(1 - alpha))
    same = {name: to_float(exact(name, value, CostError)) for name, value in numbers.items()}
    return Marking(guess, numbers=same, inside=inside, per_row=True)


def look(
    parts: Parts,
    marking: Marking,
    first: Batch,
    *,
    positive: Callable[[np.ndarray], int],
    seed: int,
    sampled: bool = True,
) -> FirstLook:
    """Ask the first question, and decide which class is the positive one.

    ``first`` are some rows, ``positive`` tells which of two sorted classes is the positive one. With ``sampled`` a
    sample of all rows is drawn, for a start near the solution.
    """
    d = first.X.shape[1]
    dense = isinstance(first.X, np.ndarray)
    about = np.nan_to_num(first.X.mean(axis=0, dtype=np.float64), posinf=0.0, neginf=0.0) if dense else np.zeros(d)
    survey, sample = SurveyRows(about), None
    if sampled:
        most = min(_SAMPLE_ROWS, max(_SAMPLE_NUMBERS // (d + 1), 10 * (d + 1)))
        both = parts.ask(Both(survey, SampleRows(most, seed)))
        found, sample = both.first, both.second
    else:
        found = parts.ask(survey)
    classes, _ = two_classes(np.array(found.labels, dtype=first.y.dtype if first.y is not None else None))
    chosen = positive(classes)
    if classes[chosen] != marking.positive:
        if marking.per_row:
            raise CostError(f"pos_label must say which of the labels {classes.tolist()} is the positive class")
        found = found.with_classes_exchanged()
        sample = None if sample is None else sample.with_classes_exchanged()
    known = replace(marking, positive=classes.tolist()[chosen], known=True)
    if found.turned:
        warn_caller(
            f"in {found.turned} of {found.count} rows the mistake costs less than the right decision: "
            f"{'it is' if found.turned == 1 else 'they are'} learnt with the other label"
        )
    for label in (0, 1):
        if not found.weights[label] > 0:
            name = classes.tolist()[chosen if label else 1 - chosen]
            raise CostError(
                f"no row with a weight and a cost speaks for class {name!r}: there is nothing to learn from"
            )
    return FirstLook(found, sample, Classes(classes, chosen), known)


def weighting_of(survey: Survey, costs: Cost | None, finished: Loss | None) -> Weighting:
    """How much each class counts; the factors of the rows stay with the rows. ``costs`` None: they differ by row."""
    nothing = np.empty(0, dtype=np.int8)
    if costs is not None:
        negatives, positives = survey.weights.tolist()
        return Weighting(nothing, *of_classes(costs, negatives, positives, finished, np.empty(0)))
    mean = float(survey.weights.sum()) / survey.given_weight
    return Weighting(nothing, np.ones(2) / mean, np.empty(0), 1 / mean)


def constant_sums(survey: Survey, numbers: dict[str, Any]) -> dict[str, Any] | None:
    """What is kept for ``constant_costs_``; None unless all four costs are numbers.

    The squares of the weights are those of equal weights within a class: a survey does not sum them.
    """
    if len(numbers) < len(COSTS):
        return None
    return sums_of_classes(numbers, survey.rows, survey.weights, survey.weights**2 / survey.rows)


def standardisation(survey: Survey, wanted: bool, numbers: np.ndarray | None) -> Standardisation:
    """Shift and scale of each column; only columns of numbers are standardised."""
    none = Standardisation.none(survey.about.size)
    if not wanted:
        return none
    chosen = np.ones(survey.about.size, dtype=bool) if numbers is None else numbers
    return Standardisation(np.where(chosen, survey.mean, 0.0), np.where(chosen, survey.deviation, 1.0))


def solved(
    parts: Parts,
    seen: FirstLook,
    pair: PairOfLosses,
    penalty: tuple[float, float],
    fit_intercept: bool,
    columns: Standardisation,
    settings: Settings,
    theta: np.ndarray | None = None,
    *,
    by_parts: bool = False,
) -> tuple[Solution, bool]:
    """Minimise, and whether the classes are separated without a penalty; theta is for the columns as they are.

    ``penalty`` is the weight of the l1 norm and of half the squared norm. ``theta`` is a starting point. Without one,
    and without a sample, ``by_parts`` asks the parts for one.
    """
    l1, squared = penalty
    objective = SummedObjective(parts, seen.survey, pair, squared, fit_intercept, columns, l1)
    reason = refusal(objective)
    if reason:
        raise LossError(reason)
    if theta is not None and theta.size == objective.size:
        start: np.ndarray | None = columns.theta_of_standardised(theta)
    elif seen.sample is not None:
        start = _from_sample(seen.sample, objective, settings)
    else:
        start = start_from_parts(objective) if by_parts else None
    solution = minimise(objective, settings, theta=start, near=start is not None)
    raw = columns.theta_of_rows(solution.theta)
    separated = False
    if not squared and not any(np.isinf(phi.limits[1]) for phi in pair.phis):
        separated = parts.ask(SeparatedBy(raw, pair)).all_rows
    return replace(solution, theta=raw), separated


def _from_sample(sample: Sample, objective: SummedObjective, settings: Settings) -> np.ndarray:
    """The minimum on the sample, to the accuracy that the sample has, in standardised columns."""
    losses = sample.losses(objective.pair, objective.penalty, objective.fit_intercept, objective.columns.rows)
    rough = replace(settings, tol=max(1e-4, 0.1 * losses.size / losses.design.n), progress=silent)
    return minimise_in_memory(losses, rough).theta
