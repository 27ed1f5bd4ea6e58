r"""What a small surrogate regret of :math:`\sum_a c_a \varphi(-s_a)` guarantees for the cost (docs/cost-matrix.md).

With the scores s summing to 0 and the decision for the largest one, Theorem S bounds the cost regret by the margin loss
phi of two classes with equal costs, where :math:`1/|\varphi'|` is convex as long as phi falls.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from uneven import inputs
from uneven.errors import LossError
from uneven.inputs import round_up
from uneven.losses import Phi, phi

#: Built-in phis for which 1/abs(phi') is convex where phi falls; docs/cost-matrix.md has the one line for each.
_BOUNDED = frozenset(
    {
        "absolute",
        "exponential",
        "hinge",
        "logistic",
        "modified_huber",
        "smoothed_hinge",
        "squared",
        "squared_hinge",
    }
)


def largest_pair(regrets: Sequence[Sequence[Fraction]]) -> Fraction:
    """The largest sum of the regrets of two actions in one class."""
    return max(sum(sorted(row)[-2:], Fraction(0)) for row in regrets)


def bound_of_phi(costs: Sequence[Sequence[Fraction]], loss: str | Phi, surrogate_regret: Any) -> Any:
    r"""A proved upper bound of the cost regret of the action with the largest score.

    It is :math:`2 M \psi^{-1}(r/M)`, for the psi of phi at equal costs and the largest sum M of the regrets of two
    actions in one class.

    Parameters
    ----------
    costs : sequence of sequences of Fraction
        For each class the cost of each action.
    loss : str or Phi
    surrogate_regret : float or array-like

    Examples
    --------
    >>> import uneven
    >>> from uneven.decisions.matrix_surrogates import bound_of_phi
    >>> far = uneven.CostMatrix([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    >>> bound_of_phi(far.exact_costs, "hinge", [0.0, 0.1])
    array([0. , 0.1])
    """
    from uneven.calibration import analyze

    chosen = phi(loss)
    if not (chosen.built_in and chosen.name in _BOUNDED):
        known = ", ".join(sorted(_BOUNDED))
        raise LossError(f"no bound is proved for costs times {chosen.name or chosen.text!r}; it is for {known}")
    # In rationals: a regret such as 1/3 that is rounded down to a double would make the bound too small.
    regrets = [[cost - min(row) for cost in row] for row in costs]
    size, largest = largest_pair(regrets), max(map(max, regrets))
    values, scalar = inputs.float_array("surrogate_regret", surrogate_regret)
    if not (values >= 0).all():
        raise LossError(f"a surrogate regret is at least 0, got {inputs.brief(surrogate_regret)}")
    if size == 0:
        return inputs.unwrapped(np.zeros_like(values), scalar)
    shares = [round_up(Fraction(r) / size) if math.isfinite(r) else math.inf for r in values.ravel().tolist()]
    bounds = np.atleast_1d(analyze(chosen, Fraction(1, 2)).regret_bound(shares))
    found = [round_up(min(2 * size * Fraction(float(bound)), largest)) for bound in bounds]
    return inputs.unwrapped(np.array(found).reshape(values.shape), scalar)
