"""What the rules "all positive" and "all negative" cost on the rows of a fit, from a few numbers that the fit keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from uneven.costs import COSTS, RowCosts
from uneven.errors import CostError
from uneven.inputs import exact, to_float
from uneven.metrics.intervals import CostEstimate, outcome_cells
from uneven.metrics.mean_interval import Cell, CountedRows, MeanInterval, mean_interval, share_interval

#: The two rules that look at no feature.
ALL_POSITIVE, ALL_NEGATIVE = "all positive", "all negative"


def constant_sums(four: Mapping[str, Any], y: np.ndarray, weight: np.ndarray) -> dict[str, Any]:
    """What a fit keeps to tell what constant rules cost: a few numbers, whatever the number of rows.

    ``y`` is 1 for positive rows, ``weight`` is empty if all weights are 1. With the same costs in all rows these are
    sums for each class, negative first; else groups of rows that pay nearly the same.
    """
    positives = int(np.count_nonzero(y))
    rows = np.array([y.size - positives, positives])
    if not any(np.ndim(value) for value in four.values()):
        if not weight.size:
            return sums_of_classes(four, rows, rows, rows)
        return sums_of_classes(four, rows, *(np.bincount(y, part, 2) for part in (weight, weight * weight)))
    costs, is_positive = RowCosts.read(y.size, **four), np.asarray(y) == 1
    kept: dict[str, Any] = {}
    for name, said in ((ALL_POSITIVE, True), (ALL_NEGATIVE, False)):
        cells = outcome_cells(costs, is_positive, np.full((1, y.size), said), weight=weight if weight.size else None)
        groups = [cells[truth, said].seen.grouped() for truth in (False, True)]
        kept[name] = [[part.tolist() for part in (rows.x, rows.z, rows.count)] for rows in groups]
    return {"rows": rows.tolist(), "groups": kept}


def sums_of_classes(
    costs: Mapping[str, Any], rows: np.ndarray, weights: np.ndarray, squares: np.ndarray
) -> dict[str, Any]:
    """The same from sums for each class, negative first: rows, their weights, and the squares of these."""
    sums = [weights.tolist(), squares.tolist()]
    return {"rows": rows.tolist(), "costs": {name: plain(costs[name]) for name in COSTS}, "sums": sums}


def class_sums(sums: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Weights and squared weights of each class, negative first, from what :func:`constant_sums` kept."""
    if "sums" in sums:
        weights, squares = (np.asarray(part, dtype=np.float64) for part in sums["sums"])
        return weights, squares
    classes = [[np.asarray(part, dtype=np.float64) for part in rows] for rows in sums["groups"][ALL_POSITIVE]]
    weights, squares = (np.array([float(count @ z**power) for _, z, count in classes]) for power in (1, 2))
    return weights, squares


def plain(value: Any) -> Any:
    """A cost as files can hold it: a number, or the text of an exact one."""
    return value if isinstance(value, int | float) else str(value)


def constant_costs(
    sums: Mapping[str, Any], between: Mapping[str, tuple[float, float]] | None = None
) -> dict[str, CostEstimate]:
    """The estimates from what :func:`constant_sums` kept.

    ``between`` are further rules by name, with what they cost on a negative and on a positive.
    """
    negatives, positives = sums["rows"]
    if "groups" in sums:
        found = {name: _of_groups(kept) for name, kept in sums["groups"].items()}
    else:
        found = _of_sums(sums, between or {})
    mistakes = {ALL_POSITIVE: (float(negatives), 0.0), ALL_NEGATIVE: (0.0, float(positives))}
    return {
        name: CostEstimate(name, cost, ends.low, ends.high, *mistakes.get(name, (0.0, 0.0)), rough=ends.rough)
        for name, (cost, ends) in found.items()
    }


def _of_groups(kept: Any) -> tuple[float, MeanInterval]:
    """Mean and interval if costs differ from row to row."""
    classes = [CountedRows(*(np.asarray(part, dtype=np.float64) for part in rows)) for rows in kept]
    rows = classes[0].joined(classes[1])
    mean = float(rows.count @ rows.x / (rows.count @ rows.z))
    return mean, mean_interval([Cell(one, one) for one in classes])


def _of_sums(
    sums: Mapping[str, Any], between: Mapping[str, tuple[float, float]]
) -> dict[str, tuple[float, MeanInterval]]:
    """The same if all rows of a class pay the same: from the share of positives among the effective rows."""
    cost = {name: to_float(exact(name, value, CostError)) for name, value in sums["costs"].items()}
    weights, squares = (np.asarray(part, dtype=np.float64) for part in sums["sums"])
    share = weights / weights.sum()
    ends = share_interval(float(share[1]), float(weights.sum() ** 2 / squares.sum()))
    found = {}
    for name, paid in (
        (ALL_POSITIVE, np.array([cost["fp_cost"], cost["tp_cost"]])),
        (ALL_NEGATIVE, np.array([cost["tn_cost"], cost["fn_cost"]])),
        *((name, np.array(pair)) for name, pair in between.items()),
    ):
        low, high = sorted(float((1 - end) * paid[0] + end * paid[1]) for end in ends)
        found[name] = (float(share @ paid), MeanInterval(low, high, rough=False))
    return found
