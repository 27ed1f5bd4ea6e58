"""From a decision value to the probability it stands for, and back, where the loss allows it."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from uneven.errors import LossError
from uneven.expression import Node, derivative
from uneven.expression.algebra import add, call, inv, mul, neg
from uneven.expression.tree import ONE
from uneven.inputs import to_float
from uneven.losses.margin_function import evaluate_at
from uneven.ops.floats import plain_values

if TYPE_CHECKING:
    from uneven.losses.loss import Loss


# In units of a partial loss's own scale: beyond it the link is 0 or 1 to rounding, and slopes may be smaller
# than any number that ball arithmetic keeps apart from 0.
_SATURATED = 1e15


def inverse_link(loss: Loss, t: np.ndarray) -> np.ndarray:
    """P(Y = 1) for an array of decision values."""
    bound = t.dtype.type(_SATURATED * max(widths(loss)))
    return evaluate_at(link_tree(loss), np.clip(t, -bound, bound))


@lru_cache(maxsize=256)
def link_tree(loss: Loss) -> Node:
    r"""The tree of :math:`\eta(t) = L_{-1}'(t)/(L_{-1}'(t) - L_1'(t))`, slopes of the wrong sign cut to 0.

    The slope of the conditional risk at eta has the sign of eta(t) - eta. If eta(t) is nondecreasing from 0
    to 1, every t is therefore a minimiser at eta(t) and at no other probability.
    """
    for partial in loss.partials:
        kinks = partial.require_phi("inverse link").kinks
        if kinks:
            at = kinks[0] / to_float(partial.inner)
            raise LossError(
                f"{loss!r} does not identify probabilities: at its kink t = {at:.6g} many values of P(Y=1) "
                "share one minimiser; a smooth loss such as 'logistic' would work"
            )
    falling = call("relu", neg(derivative(loss.partials[0].tree)))
    rising = call("relu", derivative(loss.partials[1].tree))
    tree = inv(add(ONE, mul(falling, inv(rising))))
    probability = plain_values(tree, _probes(loss))
    probability = probability[~np.isnan(probability)]
    if (np.diff(probability) < -1e-9).any() or probability.min() > 1e-3 or probability.max() < 1 - 1e-3:
        raise LossError(
            f"{loss!r} does not identify probabilities: some values of P(Y=1) in (0, 1) have no minimiser of "
            "their own; a loss such as 'logistic' would work"
        )
    return tree


def widths(loss: Loss) -> set[float]:
    """The scales of t at which the two partial losses change."""
    return {1 / abs(to_float(partial.inner)) for partial in loss.partials}


def _probes(loss: Loss) -> np.ndarray:
    scales = 2.0 ** np.arange(-20, 10, 0.25)
    points = [sign * width * scales for width in widths(loss) for sign in (-1, 1)]
    return np.unique(np.concatenate([*points, np.zeros(1)]))


#: A bracket is widened this many times by this factor; beyond it the inverse link is 0 or 1 to rounding.
_WIDENINGS, _FACTOR = 26, 4.0
#: Of a bracket as wide as the scale of the loss; where its two parts have scales far apart, the wider one needs more.
_HALVINGS = 64
#: Values of the inverse link that one pass computes. Of few probabilities a pass halves several times: a call takes
#: longer than its numbers. The result is that of single halvings.
_AT_ONCE = 255


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
    halvings = _HALVINGS + math.ceil(math.log2(width / min(scales)))
    while halvings > 0:
        depth = min(halvings, max(1, int(math.log2(1 + _AT_ONCE / max(1, p.size)))))
        low, high = _halve(loss, p, low, high, depth)
        halvings -= depth
    return np.where(down, -np.inf, np.where(up, np.inf, low))


def _halve(loss: Loss, p: np.ndarray, low: np.ndarray, high: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
    """Brackets halved so many times, with one evaluation of all middles that could be asked for."""
    steps = [2**k for k in reversed(range(depth))]
    points = np.empty((2**depth + 1, p.size))
    points[0], points[-1] = low, high
    for step in steps:
        left, right = points[: -1 : 2 * step], points[2 * step :: 2 * step]
        points[step :: 2 * step] = left + (right - left) / 2
    higher = inverse_link(loss, points[1:-1]) > p
    at, columns = np.zeros(p.size, dtype=np.intp), np.arange(p.size)
    for step in steps:
        at = np.where(higher[at + step - 1, columns], at, at + step)
    return points[at, columns], points[at + 1, columns]
