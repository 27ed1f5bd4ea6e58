"""Some of the rows of an objective, in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from uneven.solvers.linear.design import design
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.pair_of_losses import PairOfLosses


@dataclass(frozen=True)
class Block:
    """Rows as a part hands them out.

    Attributes
    ----------
    X : ndarray of float64 or float32 in C or F order, or CSR matrix
    y : ndarray of int8
        The class that each row is learnt as: 0 for the negative, 1 for the positive one.
    weight : ndarray of float64
        What each row counts, up to a factor for each class: its sample weight times its own regret. Empty: 1 for all.
    number : int
        Which block it is; messages name it, and it seeds the sample of its rows.
    given_weight : float, optional
        Sum of the sample weights alone; by default the number of rows.
    turned : int
        How many rows are learnt with the other label, because their mistake pays.
    labels : tuple
        The labels that occur, where they are not known yet.
    """

    X: Any
    y: np.ndarray
    weight: np.ndarray
    number: int = 0
    given_weight: float | None = None
    turned: int = 0
    labels: tuple[Any, ...] = ()

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        X = self.X
        arrays = (X,) if isinstance(X, np.ndarray) else (X.data, X.indices, X.indptr)
        return int(sum(array.nbytes for array in (*arrays, self.y, self.weight)))

    def losses(self, pair: PairOfLosses) -> Objective:
        """The losses of these rows, without a penalty."""
        return Objective(design(self.X), self.y, pair, self.weight, penalty=0.0, fit_intercept=True)

    def with_classes_exchanged(self) -> Block:
        """The same if the other class is the positive one."""
        return replace(self, y=1 - self.y)
