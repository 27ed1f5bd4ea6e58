"""What a model that was fitted in parts costs on files with labels, which are read in parts too."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from uneven.cli.decisions.candidates import EVERYONE, NO_ONE
from uneven.cli.decisions.given_costs import GivenCosts
from uneven.cli.decisions.reporting import OURS
from uneven.cli.decisions.streamed import costs_in_parts
from uneven.cli.decisions.streamed_predictions import changed_numbers
from uneven.costs import RowCosts
from uneven.learners.streaming.rows import tables_of
from uneven.metrics import CostEstimate
from uneven.metrics.intervals import dearer_mistakes, is_rough

#: Ends of a 95 % interval, in standard errors: with as many rows as are read in parts, means are normal.
_NORMAL = 1.959964


@dataclass(frozen=True)
class StreamedReport:
    """Answers in money, over all rows.

    Attributes
    ----------
    rows, positives : int
    costs : list of CostEstimate
        Ours first, then the constant rules.
    unit : str or None
    """

    rows: int
    positives: int
    costs: list[CostEstimate]
    unit: str | None


def streamed_report(content: dict[str, Any], data: str, changes: dict[str, str]) -> StreamedReport:
    """Judge a model on all rows of some files; ``changes`` are costs in place of those of the fit."""
    learner, about = content["pipeline"], content["about"]
    given = GivenCosts(**{**about["costs"], **changes})
    four = costs_in_parts(given, tables_of(data).schema.names)
    columns = {name: value for name, value in four.items() if given.per_row and isinstance(value, str)}
    numbers = {name: float(Fraction(value)) for name, value in four.items() if name not in columns}
    names = (OURS, NO_ONE, EVERYONE)
    sums, squares, mistakes = np.zeros(3), np.zeros((2, 3)), np.zeros((3, 2))
    regrets, apart_from_ours = np.zeros(2), np.zeros((3, 2))
    rows = positives = 0
    for part in learner.predict_parts(data, labels=about["target"], row_costs=columns, **changed_numbers(changes)):
        said, truth = part.is_positive, part.truth
        costs = RowCosts.read(truth.size, **numbers, **part.batch.costs)
        decisions = (said, np.zeros_like(said), np.ones_like(said))
        paid = np.array([costs.paid(truth, decision) for decision in decisions])
        sums += paid.sum(axis=1)
        squares += [(paid**2).sum(axis=1), ((paid - paid[0]) ** 2).sum(axis=1)]
        mistakes += [[int((decision & ~truth).sum()), int((truth & ~decision).sum())] for decision in decisions]
        apart_from_ours += [[int(((d != said) & kind).sum()) for kind in (~truth, truth)] for d in decisions]
        regrets += [costs.of_each_row("fp_regret")[~truth].sum(), costs.of_each_row("fn_regret")[truth].sum()]
        rows, positives = rows + truth.size, positives + int(truth.sum())
    means = sums / rows
    centres = np.array([means, means - means[0]])
    half = _NORMAL * np.sqrt(np.maximum(squares / rows - centres**2, 0.0) / rows)
    means_of_kinds = regrets / np.maximum([rows - positives, positives], 1)
    found = []
    for k, name in enumerate(names):
        cost, wide, apart = float(means[k]), float(half[0, k]), float(half[1, k])
        more = float(means[k] - means[0])
        paired = (more, more - apart, more + apart) if k else (None, None, None)
        can = {NO_ONE: (1,), EVERYONE: (0,)}.get(name, (0, 1))  # kinds of mistake: false alarms and misses
        rough = {
            "rough": is_rough(dearer_mistakes((means_of_kinds[kind], mistakes[k, kind]) for kind in can)),
            "difference_rough": is_rough(dearer_mistakes(zip(means_of_kinds, apart_from_ours[k], strict=True))),
        }
        found.append(CostEstimate(name, cost, cost - wide, cost + wide, *mistakes[k].tolist(), *paired, **rough))
    return StreamedReport(rows, positives, [found[0], *sorted(found[1:], key=lambda one: one.cost)], given.unit)
