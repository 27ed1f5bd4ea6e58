r"""Losses with kinks, rounded.

Steps along trees get stuck at kinks: no single tree lowers the loss, though several together would. So each kink
:math:`k`, where the slope jumps by :math:`j`, is replaced by a parabola on a window of width :math:`\delta`:

.. math:: \tilde\varphi(t) = \varphi(t) + \frac{j}{2\delta} \left(\tfrac{\delta}{2} - |t - k|\right)_+^2.

It is convex, at most :math:`j\delta/8` above phi, and equal to it outside the windows. No window reaches 0, so the
slope there is the same, and with it the costs for which the loss is calibrated.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from uneven.expression import Node, parse, simplify, to_text
from uneven.losses import Phi
from uneven.losses.margin_function import smooth_switches
from uneven.ops.kernels import CompiledPhi, compiled
from uneven.shape.polygon import kinks_and_jumps
from uneven.solvers.linear.pair_of_losses import PairOfLosses

#: Width of the window around a kink, in units of the margin.
_WIDTH = Fraction(1, 2)


def rounded(pair: PairOfLosses) -> PairOfLosses:
    """The same losses, with kernels whose kinks are rounded."""
    if not pair.kinked:
        return pair
    negative, positive = (_kernel(*both) for both in zip(pair.phis, pair.kernels, strict=True))
    return replace(pair, kernels=(negative, positive), _facts={})


def _kernel(phi: Phi, kernel: CompiledPhi) -> CompiledPhi:
    if not phi.kinks:
        return kernel
    tree = rounded_tree(phi.tree)
    return compiled(tree, smooth_switches(tree))


def rounded_tree(tree: Node) -> Node:
    """A convex function with its kinks rounded.

    Examples
    --------
    >>> from uneven.expression import parse, to_text
    >>> from uneven.solvers.boosting.rounded import rounded_tree
    >>> to_text(rounded_tree(parse("relu(1 - t)")))
    'relu(1 - t) + relu(0.25 - abs(1 - t))**2'
    """
    text = f"({to_text(tree)})"
    for kink, jump in zip(*kinks_and_jumps(tree), strict=True):
        place = Fraction(kink)
        width = min(_WIDTH, abs(place)) or _WIDTH
        text += f" + ({Fraction(jump) / (2 * width)}) * relu({width / 2} - abs(t - ({place})))**2"
    return simplify(parse(text))
