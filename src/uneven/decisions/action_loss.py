r"""Losses whose score chooses among several actions: the double hinge, and the bound of the cost regret by psi.

With the envelope's slopes :math:`D_k = c(a_k, 0) - c(a_k, 1)`, which rise along it by the masses, the double hinge is

.. math::
   L_1(t) = (1 - e_K)(D_K - t)_+ + \sum_{i=1}^{K-1} (e_{i+1} - e_i)(D_i - t)_+, \qquad
   L_{-1}(t) = e_1 (t - D_0)_+ + \sum_{i=1}^{K-1} (e_{i+1} - e_i)(t - D_i)_+,

and action k is taken where the nearest slope is :math:`D_k`. The scores are moved so that the first and the last slope
are opposite numbers. docs/theory.md, "More than two actions", has the theorems.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from uneven import inputs
from uneven.calibration import Analysis, Certificate, analyze, certify
from uneven.errors import ExpressionError, LossError, ParameterError
from uneven.expression import substitute, to_text
from uneven.expression.algebra import add
from uneven.expression.tree import Number, T
from uneven.inputs import brief, round_up
from uneven.losses import Loss, Phi

if TYPE_CHECKING:
    from uneven.decisions.actions import Actions


def slopes(actions: Actions) -> tuple[Fraction, ...]:
    """The slopes D_k of the envelope, moved so that the first and the last are opposite numbers."""
    masses = actions.exact_masses
    return tuple(accumulate(masses, initial=-sum(masses, Fraction(0)) / 2))


def middles(actions: Actions) -> tuple[Fraction, ...]:
    """The middle of each step of the double hinge: the score above which the next action is taken."""
    ends = slopes(actions)
    return tuple((low + high) / 2 for low, high in pairwise(ends))


def double_hinge(actions: Actions) -> Loss:
    """The convex loss of the module's formula."""
    breaks, ends = actions.exact_breaks, slopes(actions)
    if not breaks:
        raise LossError(
            f"{actions.envelope[0]} is the cheapest action at every probability: no score is needed, and no loss"
        )
    jumps = [high - low for low, high in pairwise(breaks)]
    positive = zip((*jumps, 1 - breaks[-1]), ends[1:], strict=True)
    negative = zip((breaks[0], *jumps), ends[:-1], strict=True)
    texts = (
        " + ".join(f"({jump})*relu(({end}) - t)" for jump, end in positive),
        " + ".join(f"({jump})*relu(t - ({end}))" for jump, end in negative),
    )
    try:
        return Loss(*texts)
    except ExpressionError as error:
        raise LossError(
            f"the costs of these actions need too many digits for an exact loss ({error}); costs of fewer digits, such "
            "as whole numbers, would work"
        ) from None


def certificates(actions: Actions) -> tuple[Certificate, ...]:
    """For each break, the proof that the double hinge, moved to the middle of its step, is calibrated for it."""
    loss = double_hinge(actions)
    return tuple(
        certify(_moved(loss, middle), alpha=alpha)
        for middle, alpha in zip(middles(actions), actions.exact_breaks, strict=True)
    )


def regret_bound(
    actions: Actions, loss: Loss | Phi | str | Analysis, surrogate_regret: Any, thresholds: Sequence[Any] | None
) -> Any:
    """The sum over breaks of mass times the inverse of psi, proved; at most twice the regret for the double hinge."""
    values, scalar = inputs.regrets(surrogate_regret)
    breaks, masses = actions.exact_breaks, actions.exact_masses
    if isinstance(loss, Analysis) and loss.exact_score_bound is not None:
        raise ParameterError(
            "the analysis is for scores within a bound, and bounds for actions are for all scores; give the loss "
            "itself, with its regret against the best of all scores"
        )
    chosen = loss.loss if isinstance(loss, Analysis) else analyze(loss).loss
    own = thresholds is None and _is_own_loss(actions, chosen)
    if own:
        cuts: Sequence[Any] = middles(actions)
    elif thresholds is None:
        cuts = [Fraction(float(cut)) for cut in chosen.link(np.array(actions.breaks))] if breaks else []
    else:
        given = thresholds if inputs.ndim(thresholds) == 1 else []
        cuts = [inputs.exact("thresholds", cut) for cut in given]
    if len(cuts) != len(breaks) or any(high < low for low, high in pairwise(cuts)):
        raise ParameterError(f"thresholds must be {len(breaks)} rising numbers, got {brief(thresholds)}")
    worst = _worst(actions)
    bounds = np.zeros((len(breaks), values.size))
    for row, (cut, alpha) in zip(bounds, zip(cuts, breaks, strict=True), strict=True):
        row[:] = analyze(_moved(chosen, cut), alpha=alpha).regret_bound(values.ravel())
    found = np.empty(values.size)
    for k, regret in enumerate(values.ravel().tolist()):
        total = sum((mass * Fraction(bound) for mass, bound in zip(masses, bounds[:, k], strict=True)), Fraction(0))
        if own and not math.isinf(regret):
            total = min(total, 2 * Fraction(regret))
        found[k] = round_up(min(total, worst))
    return inputs.unwrapped(found.reshape(values.shape), scalar)


def _is_own_loss(actions: Actions, loss: Loss) -> bool:
    try:
        return loss == double_hinge(actions)
    except LossError:
        return False


def _worst(actions: Actions) -> Fraction:
    """The largest regret of an action of the envelope: the last one on a negative, or the first one on a positive."""
    first, last = (actions.exact_costs(actions.envelope[k]) for k in (0, -1))
    return max(last[1] - first[1], first[0] - last[0])


def _moved(loss: Loss, threshold: Fraction) -> Loss:
    """The loss as a function of the score minus the threshold."""
    texts = [to_text(substitute(_tree(partial), {"t": add(T, Number(threshold))})) for partial in loss.partials]
    return Loss(*texts)


def _tree(partial: Any) -> Any:
    partial.require_phi("formula, and without it no bound,")
    return partial.tree
