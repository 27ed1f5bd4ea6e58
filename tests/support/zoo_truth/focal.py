"""Functions that take logits and targets of one shape, and keep the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from zoo_truth.tensors import constant, logits


def kept_rows(find: Callable[[], Callable[..., Any]], **always: Any) -> Callable[..., np.ndarray]:
    """The losses of rows, from a function that is found when it is needed."""

    def computed(t: np.ndarray, label: int, **parameters: Any) -> np.ndarray:
        return find()(logits(t), constant(t, label), **parameters, **always).numpy()

    return computed
