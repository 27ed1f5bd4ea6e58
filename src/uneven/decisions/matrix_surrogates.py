r"""What a small surrogate regret of :math:`\sum_a c_a \varphi(-s_a)` guarantees for the cost (docs/cost-matrix.md).

With the scores s summing to 0 and the decision for the largest one, Theorem S bounds the cost regret by the margin loss
phi of two classes with equal costs, where :math:`1/|\varphi'|` is convex as long as phi falls.
"""

from __future__ import annotations

import math
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


def largest_pair(regrets: np.ndarray) -> Fraction:
    """The largest sum of the regrets of two actions in one class."""
    return max(sum(sorted(map(Fraction, row))[-2:], Fraction(0)) for row in regrets.tolist())


def bound_of_phi(regrets: np.ndarray, loss: str | Phi, surrogate_regret: Any) -> Any:
    r"""A proved upper bound of the cost regret of the action with the largest score.

    It is :math:`2 M \psi^{-1}(r/M)`, for the psi of phi at equal costs and the largest sum M of the regrets of two
    actions in one class.

    Parameters
    ----------
    regrets : ndarray of shape (classes, actions)
        What each action costs above the cheapest one.
    loss : str or Phi
    surrogate_regret : float or array-like

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.decisions.matrix_surrogates import bound_of_phi
    >>> bound_of_phi(np.array([[0.0, 1, 2], [1, 0, 1], [2, 1, 0]]), "hinge", [0.0, 0.1])
    array([0. , 0.1])
    """
    from uneven.calibration import analyze

    chosen = phi(loss)
    if not (chosen.built_in and chosen.name in _BOUNDED):
        known = ", ".join(sorted(_BOUNDED))
        raise LossError(f"no bound is proved for costs times {chosen.name or chosen.text!r}; it is for {known}")
    size = largest_pair(regrets)
    values, scalar = inputs.float_array("surrogate_regret", surrogate_regret)
    if not (values >= 0).all():
        raise LossError(f"a surrogate regret is at least 0, got {inputs.brief(surrogate_regret)}")
    if size == 0:
        return inputs.unwrapped(np.zeros_like(values), scalar)
    shares = [round_up(Fraction(r) / size) if math.isfinite(r) else math.inf for r in values.ravel().tolist()]
    bounds = np.atleast_1d(analyze(chosen, Fraction(1, 2)).regret_bound(shares))
    largest = Fraction(float(regrets.max()))
    found = [round_up(min(2 * size * Fraction(float(bound)), largest)) for bound in bounds]
    return inputs.unwrapped(np.array(found).reshape(values.shape), scalar)
