"""Rows of several classes with the actions that were taken about them, and what these cost by a cost matrix."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np

from uneven import inputs
from uneven.costs import DEFAULT_COSTS
from uneven.errors import CostError
from uneven.inputs import brief
from uneven.labels import read_labels, read_relative_weights, read_repetitions, require_same_length


@runtime_checkable
class ConfusionCosts(Protocol):
    """What metrics ask of a cost matrix; :class:`uneven.CostMatrix` is one."""

    classes: tuple[Any, ...]
    actions: tuple[Any, ...]
    costs: np.ndarray

    @property
    def per_row(self) -> bool:
        """Whether there is a matrix for each row."""

    def number_classes(self, name: str, labels: Any) -> np.ndarray:
        """The number of the class of each row."""

    def number_actions(self, name: str, labels: Any) -> np.ndarray:
        """The number of the action of each row."""

    def take(self, rows: Any) -> Any:
        """The matrices of some rows."""


def require_matrix(costs: Any, four: Mapping[str, Any], pos_label: Any = None) -> ConfusionCosts:
    """Raise unless this is a cost matrix, and the only costs that are given."""
    if not isinstance(costs, ConfusionCosts):
        raise CostError(f"costs must be uneven.CostMatrix(...), got {brief(costs)}")
    unusual = {k: v for k, v in four.items() if v is not None and (np.ndim(v) or v != DEFAULT_COSTS[k])}
    if pos_label is not None:
        unusual["pos_label"] = pos_label
    for name, value in unusual.items():
        raise CostError(f"costs stand in place of {name}, got {name}={brief(value)} as well; leave one of them out")
    return costs


@dataclass(frozen=True)
class MatrixRows:
    """Rows with a cost matrix.

    Attributes
    ----------
    matrix : ConfusionCosts
    truth : ndarray of int
        The number of each row's class.
    sample_weight : ndarray or None
    """

    matrix: ConfusionCosts
    truth: np.ndarray
    sample_weight: Any = None

    @cached_property
    def weight(self) -> np.ndarray:
        """The share of each row in a mean: weights that sum to 1."""
        weight = read_relative_weights(self.sample_weight, self.truth.size)
        return np.asarray(weight / weight.sum())

    @cached_property
    def repetitions(self) -> np.ndarray:
        """How often each row counts in a sum."""
        return read_repetitions(self.sample_weight, self.truth.size)

    def paid(self, taken: np.ndarray) -> np.ndarray:
        """What each row pays for the action of this number."""
        costs = self.matrix.costs
        return np.asarray(
            costs[np.arange(self.truth.size), self.truth, taken] if costs.ndim == 3 else costs[self.truth, taken]
        )

    def mean(self, taken: np.ndarray) -> float:
        """The mean cost; 0 if costs and benefits cancel and only rounding errors are left."""
        paid = self.paid(taken)
        mean, size = float(self.weight @ paid), float(self.weight @ np.abs(paid))
        return mean if abs(mean) > 8 * np.finfo(np.float64).eps * size else 0.0

    def baseline(self, baseline: Any) -> float:
        """The mean cost of other actions, a number, or by default of the action that is cheapest for all rows."""
        if baseline is None:
            return min(self.mean(np.full(self.truth.size, a)) for a in range(len(self.matrix.actions)))
        if isinstance(baseline, numbers.Real):
            return inputs.to_float(inputs.exact("baseline", baseline, CostError))  # type: ignore[arg-type]
        return self.mean(self.read_actions("baseline", baseline))

    def read_actions(self, name: str, labels: Any) -> np.ndarray:
        """The number of the action of each row."""
        taken = self.matrix.number_actions(name, read_labels(name, labels))
        require_same_length(**{"y_true": self.truth, name: taken})
        return taken


def read_matrix_rows(matrix: ConfusionCosts, y_true: Any, sample_weight: Any = None) -> MatrixRows:
    """The rows, checked together."""
    truth = matrix.number_classes("y_true", read_labels("y_true", y_true))
    if matrix.per_row and len(matrix.costs) != truth.size:
        raise CostError(f"there are costs for {len(matrix.costs)} rows, but {truth.size} labels")
    read_repetitions(sample_weight, truth.size)  # bad weights are an error now, not at first use
    return MatrixRows(matrix, truth, sample_weight)
