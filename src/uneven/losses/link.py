"""From a probability to the decision value that stands for it, where the loss allows it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from uneven.losses.inverse_link import inverse_link, widths

if TYPE_CHECKING:
    from uneven.losses.loss import Loss

#: A bracket is widened this many times by this factor; beyond it the inverse link is 0 or 1 to rounding.
_WIDENINGS, _FACTOR = 26, 4.0
#: Of a bracket as wide as the scale of the loss; where its two parts have scales far apart, the wider one needs more.
_HALVINGS = 64


def link(loss: Loss, probability: np.ndarray) -> np.ndarray:
    """The largest t with ``inverse_link(t) <= probability``; infinite if that is none, or every t.

    So ``inverse_link(t) > probability`` for exactly the t above it.
    """
    distinct, where = np.unique(probability, return_inverse=True)
    return _thresholds(loss, distinct.astype(np.float64))[where].reshape(probability.shape)


def _thresholds(loss: Loss, p: np.ndarray) -> np.ndarray:
    """By bisection: the inverse link does not fall."""
    scales = widths(loss)
    width = max(scales)
    low, high = np.full(p.shape, -width), np.full(p.shape, width)
    for _ in range(_WIDENINGS):
        down = inverse_link(loss, low) > p
        up = ~down & (inverse_link(loss, high) <= p)
        if not down.any() and not up.any():
            break
        low, high = (
            np.where(down, _FACTOR * low, np.where(up, high, low)),
            np.where(down, low, np.where(up, _FACTOR * high, high)),
        )
    for _ in range(_HALVINGS + math.ceil(math.log2(width / min(scales)))):
        middle = low + (high - low) / 2
        higher = inverse_link(loss, middle) > p
        low, high = np.where(higher, low, middle), np.where(higher, middle, high)
    return np.where(down, -np.inf, np.where(up, np.inf, low))
