"""Labels, weights and costs of the rows that a metric is computed on, read and checked together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from uneven.costs import RowCosts
from uneven.labels import (
    read_labels,
    read_relative_weights,
    read_repetitions,
    read_vector,
    require_same_length,
    where_positive,
)


@dataclass(frozen=True)
class Rows:
    """What is known of some rows.

    Attributes
    ----------
    is_positive : ndarray of bool
    costs : RowCosts
    sample_weight : ndarray or None
        As it was given; see :attr:`weight` and :attr:`repetitions`.
    """

    is_positive: np.ndarray
    costs: RowCosts
    sample_weight: Any = None

    @property
    def count(self) -> int:
        """Number of rows."""
        return int(self.is_positive.size)

    @cached_property
    def weight(self) -> np.ndarray:
        """The share of each row in a mean: weights that sum to 1."""
        weight = read_relative_weights(self.sample_weight, self.count)
        return np.asarray(weight / weight.sum())

    @cached_property
    def repetitions(self) -> np.ndarray:
        """How often each row counts in a sum."""
        return read_repetitions(self.sample_weight, self.count)


def read_decisions(
    y_true: Any, y_pred: Any, *, pos_label: Any, sample_weight: Any, **costs: Any
) -> tuple[Rows, np.ndarray]:
    """The rows, and where the positive class is predicted."""
    truth, prediction = read_labels("y_true", y_true), read_labels("y_pred", y_pred)
    require_same_length(y_true=truth, y_pred=prediction)
    is_positive, said_positive = where_positive(pos_label, truth, prediction)
    return _rows(is_positive, sample_weight, costs), said_positive


def read_scores(
    y_true: Any, y_score: Any, *, pos_label: Any, sample_weight: Any, name: str = "y_score", **costs: Any
) -> tuple[Rows, np.ndarray]:
    """The rows, and their scores; ``name`` is what an error calls the scores."""
    truth, score = read_labels("y_true", y_true), read_vector(name, y_score)
    require_same_length(**{"y_true": truth, name: score})
    (is_positive,) = where_positive(pos_label, truth)
    return _rows(is_positive, sample_weight, costs), score


def _rows(is_positive: np.ndarray, sample_weight: Any, costs: dict[str, Any]) -> Rows:
    rows = Rows(is_positive, RowCosts.read(is_positive.size, **costs), sample_weight)
    read_repetitions(sample_weight, rows.count)  # bad weights are an error now, not at first use
    return rows
