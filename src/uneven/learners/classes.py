"""The two classes of a learner, and which of them is the positive one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Classes:
    """Sorted labels and the position of the positive one.

    Inside a learner, a score speaks for the positive class. Outside it speaks for ``labels[1]``, as everywhere in
    scikit-learn. The two differ in sign if the positive label is the first one ("fraud" < "ok").

    Attributes
    ----------
    labels : ndarray of shape (2,)
    positive : int
        0 or 1.
    """

    labels: np.ndarray
    positive: int

    @property
    def pos_label(self) -> Any:
        """The label of the positive class, as a Python object."""
        return self.labels.tolist()[self.positive]

    @property
    def neg_label(self) -> Any:
        """The label of the negative class."""
        return self.labels.tolist()[1 - self.positive]

    def turned(self, values: Any) -> Any:
        """Scores or coefficients of the positive class as those of ``labels[1]``, and the other way round."""
        return values if self.positive == 1 else -values

    def in_order(self, negative: Any, positive: Any) -> tuple[Any, Any]:
        """What belongs to the negative and to the positive class, in the order of the labels."""
        return (negative, positive) if self.positive == 1 else (positive, negative)

    def label(self, is_positive: np.ndarray) -> np.ndarray:
        """The label of each row; ``is_positive`` is 1 or True for a positive one."""
        negative, positive = self.in_order(self.labels[:1], self.labels[1:])
        return np.where(is_positive, positive, negative)
