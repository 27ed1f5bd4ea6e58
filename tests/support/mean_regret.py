"""What a learner divides the costs by: their mean over the training rows."""

from __future__ import annotations

from typing import Any

import numpy as np


def regrets(y: np.ndarray, *, fp_cost: Any = 1.0, fn_cost: Any = 1.0, tp_cost: Any = 0.0, tn_cost: Any = 0.0) -> Any:
    """What the mistake in each row costs more than the right decision; y is 0/1, 1 positive."""
    positive, negative = np.subtract(fn_cost, tp_cost), np.subtract(fp_cost, tn_cost)
    return np.where(np.asarray(y) == 1, positive, negative).astype(np.float64)


def mean_regret(y: np.ndarray, *, sample_weight: np.ndarray | None = None, **costs: Any) -> float:
    """The mean regret of rows that count with their weights."""
    return float(np.average(regrets(y, **costs), weights=sample_weight))
