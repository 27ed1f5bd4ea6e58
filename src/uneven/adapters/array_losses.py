"""What losses of other array libraries share; labels must be hard ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from uneven.calibration.calibrated_losses import only_alpha
from uneven.errors import LossError, ParameterError
from uneven.expression import Node, derivative
from uneven.inputs import brief, to_float
from uneven.losses import Loss, Phi, UnevenMarginLoss, phi
from uneven.losses.margin_function import link_tree, smooth_switches
from uneven.ops.array_programs import Library, Program
from uneven.ops.floats import plain_values


def require_hard(*, zero: bool, minus_one: bool, other: bool, example: Callable[[], Any]) -> None:
    """Raise unless the labels are of one of the two kinds.

    Parameters
    ----------
    zero, minus_one, other : bool
        Whether there is a label 0, a label -1, and one that is none of 0, 1 and -1.
    example : callable
        Returns such a label, for the message.
    """
    if other:
        raise ParameterError(
            f"targets must be 0 and 1, or -1 and 1, got {brief(example())}; soft labels, such as those of label "
            "smoothing, would change the costs that the loss assumes"
        )
    if zero and minus_one:
        raise ParameterError("targets must be 0 and 1, or -1 and 1, got both 0 and -1")


# -- a loss as functions of another library's arrays: values, slopes and higher derivatives by label ------------------

Array = Any
#: From labels (positive if above 0) and logits to one number for each.
ByLabel = Callable[[Array, Array], Array]

_LARGEST = np.array([-1e30, -1e4, 1e4, 1e30], dtype=np.float32)


def read_loss(loss: Any, framework: str) -> Loss:
    """A loss, or one from a name, an expression or a phi, with both classes alike; its parts must be expressions."""
    if not isinstance(loss, Loss):
        loss = UnevenMarginLoss(phi(loss))
    for name, partial in zip(("positive", "negative"), loss.partials, strict=True):
        if not isinstance(partial.function, Phi):
            raise LossError(
                f"{framework} needs the loss as expressions, but the {name} part of {loss!r} is a Python function of "
                "NumPy arrays; written in the little language, such as uneven.Loss('exp(-t)', 'exp(t)'), it would work"
            )
    return loss


def differentiate(tree: Node, order: int) -> Node:
    """The derivative of some order."""
    for _ in range(order):
        tree = derivative(tree)
    return tree


def of_order(loss: Loss, order: int, library: Library) -> ByLabel:
    """The derivative of this order in the logit; order 0 is the loss itself.

    A partial loss is weight * phi(inner * t). If both classes have the same phi, it is computed once, at the margin of
    each example.
    """
    positive, negative = loss.partials
    functions = [_derivative(partial.require_phi("formula"), order, library) for partial in (positive, negative)]
    inner = [to_float(partial.inner) for partial in (positive, negative)]
    outer = [to_float(partial.weight * partial.inner**order) for partial in (positive, negative)]
    where, clip, working, cast = library.lookup("where"), library.lookup("clip"), library.working, library.cast

    def of_one_phi(label: Array, t: Array) -> Array:
        x = working(t)
        share = clip(cast(label, x.dtype), 0, 1)
        return cast(functions[0](x * mix(share, *inner)) * mix(share, *outer), t.dtype)

    def of_two(label: Array, t: Array) -> Array:
        x = working(t)
        parts = [function(x * k) * weight for function, k, weight in zip(functions, inner, outer, strict=True)]
        return cast(where(label > 0, *parts), t.dtype)

    return of_one_phi if positive.function == negative.function else of_two


def mix(share: Array, positive: Any, negative: Any) -> Array:
    """One of two finite numbers, for shares of exactly 1 and 0.

    Compilers would keep the result of a comparison for backward, which costs more than it saves.
    """
    if isinstance(positive, float) and positive == negative:
        return positive
    return share * positive + (1 - share) * negative


def turn_labels(share: Array, regret: Array, library: Library) -> tuple[Array, Array]:
    """The label that each example is learnt with, and how much it counts: where the mistake pays, the other label."""
    return (2 * share - 1) * library.lookup("sign")(regret), abs(regret)


def class_factors(loss: Loss) -> tuple[float, float]:
    """By what the costs of negative and positive examples are multiplied: a loss may contain costs itself.

    Raises
    ------
    LossError
        If the loss is calibrated for no costs.
    """
    alpha = only_alpha(loss)
    return to_float(1 / (2 * alpha)), to_float(1 / (2 * (1 - alpha)))


def _derivative(function: Phi, order: int, library: Library) -> Program:
    tree = function.tree
    return library.function(differentiate(tree, order), smooth_switches(tree) if order == 1 else ())


def may_overflow(loss: Loss) -> bool:
    """Whether a value or slope can be infinite at a finite float32: then 0 times it must be taken for 0."""
    trees = [differentiate(partial.tree, order) for partial in loss.partials for order in (0, 1)]
    return any(bool(np.isinf(plain_values(tree, _LARGEST)).any()) for tree in trees)


def inverse_links(loss: Loss, order: int, library: Library) -> Program:
    """The derivative of this order of the inverse link, which stays constant where floats lose it."""
    tree = link_tree(loss)
    if order == 0:
        return library.function(tree, tails="constant")
    slope, where = library.function(differentiate(tree, order), tails="nan"), library.lookup("where")

    def values(t: Array) -> Array:
        # Where the link is 0 or 1 because a slope of the loss is 0, its derivative is 0/0.
        found = slope(t)
        return where((found == found) | (t != t), found, 0.0)  # noqa: PLR0124 - NaN differs from itself

    return values
