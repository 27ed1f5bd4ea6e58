"""A fit on rows in parts: the first look, a start near the solution, and the solver.

Whoever holds the rows gives :class:`RowsInParts`; nothing here knows whether they are blocks of a file or on other
machines.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from uneven.costs import Cost
from uneven.errors import CostError, LossError
from uneven.inputs import warn_caller
from uneven.labels import Classes, distinct_labels, two_classes
from uneven.parts.blocks import Batch, BlockMaker
from uneven.parts.minimise import minimise, refusal
from uneven.parts.starting_point import Sample, SampleRows, start_from_parts
from uneven.parts.summed_answers import Addable, Both, Question, SeparatedBy, Survey, SurveyRows
from uneven.parts.summed_objective import Standardisation, SummedObjective
from uneven.solvers.linear.pair_of_losses import PairOfLosses
from uneven.solvers.linear.proof import minimise as minimise_in_memory
from uneven.solvers.linear.solver import Settings, Solution
from uneven.solvers.running import Progress, silent

A = TypeVar("A", bound=Addable)


@dataclass(frozen=True)
class Limits:
    """What was tuned by measuring; ``benchmarks/sensitivity.py`` doubles and halves each."""

    #: Numbers and rows that the sample of each class has at most, so that the start stays cheap.
    sample_numbers: int = 2_000_000
    sample_rows: int = 50_000
    #: Rows for each column that it has at least, within that number of rows.
    sample_rows_per_column: int = 10
    #: Least tolerance of the minimum on the sample, and share of the sample's own inaccuracy (columns over rows).
    tol: float = 1e-4
    share_of_noise: float = 0.1


LIMITS = Limits()

#: Where a fit starts: at the minimum on a sample of all rows, or from the minima of the parts themselves.
FROM_SAMPLE, FROM_PARTS = "sample", "parts"


class RowsInParts(ABC):
    """All rows of a fit, whoever holds them: blocks of files, the workers of Dask, the executors of Spark.

    Attributes
    ----------
    some : Batch
        Some rows, or points near them, and some labels.
    make_block : BlockMaker
        Makes a block of each batch; the fit sets it before the first question, and once more after it.
    names : sequence of str, optional
        Names of the columns.
    plan : list of dict, optional
        How the columns of a table become numbers.
    row_costs : tuple of str
        Those of the four costs that the batches bring for each row.
    regrets : Cost, optional
        What both mistakes cost more than the right decisions, if the costs of the rows turn out to be all the same.
    standardized : ndarray of bool, optional
        The columns to be standardised; by default none.
    start : {"sample", "parts", None}
        Where the fit starts unless it is a warm one: at the minimum on a sample of the rows, which every part sends;
        from the minima of the parts themselves, which pays if most are large and have both classes; or at 0.
    """

    some: Batch
    make_block: BlockMaker
    names: Sequence[str] | None = None
    plan: list[dict[str, Any]] | None = None
    row_costs: tuple[str, ...] = ()
    regrets: Cost | None = None
    standardized: np.ndarray | None = None
    start: str | None = None

    @abstractmethod
    def ask(self, question: Question[A]) -> A:
        """The sum of the answers of all blocks, in the order of the blocks."""

    def expect(self, *, kinked: bool, progress: Progress) -> None:  # noqa: B027 - not everyone tells how long it takes
        """What is known before the first question: whether the loss has a kink, and where to report progress."""


@dataclass(frozen=True)
class FirstLook:
    """What is known after the first question.

    Attributes
    ----------
    survey : Survey
        With the positive class as class 1.
    sample : Sample, optional
    classes : Classes
    """

    survey: Survey
    sample: Sample | None
    classes: Classes


def look(
    parts: RowsInParts, make_block: BlockMaker, positive: Callable[[np.ndarray], int], random: np.random.Generator
) -> FirstLook:
    """Ask the first question, and decide which class is the positive one.

    Parameters
    ----------
    parts : RowsInParts
        They get ``make_block`` for the first question, and the right one for all others.
    make_block : BlockMaker
        Its positive label may be the wrong one, unless costs differ by row.
    positive : callable
        Tells which of two sorted classes is the positive one.
    random : Generator
        For the sample, if the fit starts from one.
    """
    parts.make_block, first = make_block, parts.some
    d = first.X.shape[1]
    dense = isinstance(first.X, np.ndarray)
    about = np.nan_to_num(first.X.mean(axis=0, dtype=np.float64), posinf=0.0, neginf=0.0) if dense else np.zeros(d)
    survey, sample = SurveyRows(about), None
    if parts.start == FROM_SAMPLE:
        most = min(LIMITS.sample_rows, max(LIMITS.sample_numbers // (d + 1), LIMITS.sample_rows_per_column * (d + 1)))
        both = parts.ask(Both(survey, SampleRows(most, int(random.integers(2**31)))))
        found, sample = both.first, both.second
    else:
        found = parts.ask(survey)
    classes, _ = two_classes(np.array(found.labels, dtype=first.y.dtype if first.y is not None else None))
    chosen = positive(classes)
    if classes[chosen] != make_block.positive:
        if make_block.per_row:
            raise CostError(f"pos_label must say which of the labels {classes.tolist()} is the positive class")
        found = found.with_classes_exchanged()
        sample = None if sample is None else sample.with_classes_exchanged()
    parts.make_block = replace(make_block, positive=classes.tolist()[chosen], known=True)
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
    return FirstLook(found, sample, Classes(classes, chosen))


def guess_positive(y: np.ndarray, pos_label: Any, positive: Callable[[np.ndarray], int]) -> Any:
    """The positive label, from some of the labels; right if both occur among them."""
    found = distinct_labels(y)
    if len(found) > 1:
        classes, _ = two_classes(y)
        return classes.tolist()[positive(classes)]
    if pos_label is not None:
        return pos_label
    return 1 if found[0] in (-1, 0, 1) else found[0]  # the labels {0, 1}, {-1, 1} and {False, True} need no pos_label


def standardisation(survey: Survey, chosen: np.ndarray | None) -> Standardisation:
    """Shift and scale of each column; None: no column is standardised."""
    if chosen is None:
        return Standardisation.none(survey.about.size)
    return Standardisation(np.where(chosen, survey.mean, 0.0), np.where(chosen, survey.deviation, 1.0))


def solve(
    parts: RowsInParts,
    seen: FirstLook,
    pair: PairOfLosses,
    penalty: tuple[float, float],
    fit_intercept: bool,
    settings: Settings,
    theta: np.ndarray | None = None,
) -> tuple[Solution, bool]:
    """Minimise, and whether the classes are separated without a penalty; theta is for the columns as they are.

    ``penalty`` is the weight of the l1 norm and of half the squared norm. ``theta`` is a starting point.
    """
    l1, squared = penalty
    columns = standardisation(seen.survey, parts.standardized)
    objective = SummedObjective(parts, seen.survey, pair, squared, fit_intercept, columns, l1)
    reason = refusal(objective)
    if reason:
        raise LossError(reason)
    if theta is not None and theta.size == objective.size:
        start: np.ndarray | None = columns.theta_of_standardised(theta)
    elif seen.sample is not None:
        start = _minimise_on_sample(seen.sample, objective, settings)
    else:
        start = start_from_parts(objective) if parts.start == FROM_PARTS else None
    solution = minimise(objective, settings, theta=start, near=start is not None)
    raw = columns.theta_of_rows(solution.theta)
    separated = False
    if not squared and not any(np.isinf(phi.limits[1]) for phi in pair.phis):
        separated = parts.ask(SeparatedBy(raw, pair)).all_rows
    return replace(solution, theta=raw), separated


def _minimise_on_sample(sample: Sample, objective: SummedObjective, settings: Settings) -> np.ndarray:
    """The minimum on the sample, to the accuracy that the sample has, in standardised columns."""
    losses = sample.losses(objective.pair, objective.penalty, objective.fit_intercept, objective.columns.rows)
    rough = replace(
        settings, tol=max(LIMITS.tol, LIMITS.share_of_noise * losses.size / losses.design.n), progress=silent
    )
    return minimise_in_memory(losses, rough).theta
