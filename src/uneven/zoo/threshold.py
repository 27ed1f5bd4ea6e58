"""The threshold on the score that gives a loss other costs.

If a loss is calibrated for alpha with the threshold c, then at P(Y = 1) = alpha both decisions have the same smallest
expected loss, so c is a minimiser of C(alpha, .) or lies between two. Floats find the minimiser; the prover decides
about the loss that is moved there. If C(alpha, .) has one minimiser, no other threshold is possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from uneven._inputs import to_float
from uneven.calibration.claim import CALIBRATED, NOT_CALIBRATED, ROUNDING, UNDECIDED, UP_TO_ROUNDING
from uneven.calibration.decide import decide
from uneven.errors import UnevenError
from uneven.expression import substitute, to_text
from uneven.expression.algebra import add
from uneven.expression.tree import Number, T
from uneven.losses import Loss

_GRID = np.unique(np.concatenate([np.linspace(-40, 40, 3201), -np.geomspace(40, 1e4, 200), np.geomspace(40, 1e4, 200)]))


@dataclass(frozen=True)
class Threshold:
    """A threshold, and the loss as a function of the score minus it, about which the prover decided ``status``."""

    point: Fraction
    loss: Loss
    status: str


@dataclass(frozen=True)
class NoThreshold:
    """Why there is no threshold, as a clause; ``status`` is "undecided" if there may be one."""

    reason: str
    status: str = NOT_CALIBRATED


def threshold_for(loss: Loss, alpha: Fraction) -> Threshold | NoThreshold:
    """The threshold that makes a loss calibrated for alpha, or why there is none.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import uneven
    >>> from uneven.zoo.threshold import threshold_for
    >>> threshold_for(uneven.Loss("relu(1 - t)**2", "relu(1 + t)**2"), Fraction(1, 11)).point
    Fraction(-9, 11)
    """
    if not loss.symbolic:
        return NoThreshold("a threshold is proved only for losses written as expressions", UNDECIDED)
    if np.ptp(loss.conditional_risk(float(alpha), _GRID)) == 0:
        return NoThreshold("its loss does not depend on the score")
    place = _minimiser(loss, float(alpha))
    if place is None:
        return NoThreshold(
            "where P(Y = 1) is alpha its loss is smallest at infinite scores, so no threshold separates the decisions"
        )
    simple = Fraction(place).limit_denominator(10**6)
    candidates = [simple] if abs(float(simple) - place) < 1e-14 * (1 + abs(place)) else []
    for point in (*candidates, Fraction(place)):
        moved = _shift(loss, point)
        status = None if moved is None else _proved_status(moved, alpha)
        if moved is not None and status is not None:
            return Threshold(point, moved, status)
    tied = _shift(loss, candidates[0]) if candidates else None
    if tied is not None and decide(tied).claim.only.kind == "none":
        return NoThreshold(
            f"no threshold can: where P(Y = 1) is alpha its loss is smallest at t = {to_float(candidates[0]):.6g}, "
            "a kink that many values of P(Y = 1) share (proved)"
        )
    return NoThreshold(f"the only possible threshold, {place:.6g}, is not proved to give these costs", UNDECIDED)


def _minimiser(loss: Loss, alpha: float) -> float | None:
    """Where C(alpha, .) is smallest; None if that is at infinity."""
    risk = np.asarray(loss.conditional_risk(alpha, _GRID))
    k = int(np.argmin(risk))
    ends = loss.conditional_risk(alpha, np.array([-np.inf, np.inf]))
    if k in (0, _GRID.size - 1) or min(ends) <= risk[k]:
        return None
    low, high = float(_GRID[k - 1]), float(_GRID[k + 1])
    for _ in range(200):
        middle = low / 2 + high / 2
        if middle in (low, high):
            break
        slope = alpha * loss.slope(1, middle) + (1 - alpha) * loss.slope(-1, middle)
        low, high = (low, middle) if slope > 0 else (middle, high)
    return low / 2 + high / 2


def _shift(loss: Loss, point: Fraction) -> Loss | None:
    """The loss as a function of the score minus the threshold; None if the expressions would be too long."""
    place = {"t": add(T, Number(point))}
    try:
        return Loss(*(to_text(substitute(partial.tree, place)) for partial in loss.partials))
    except UnevenError:
        return None


def _proved_status(loss: Loss, alpha: Fraction) -> str | None:
    """What is proved about alpha, if it is the alpha of the loss, perhaps up to the rounding of the threshold."""
    claim = decide(loss, alpha).claim
    if claim.status in (CALIBRATED, UP_TO_ROUNDING):
        return claim.status
    if claim.only.interval is not None:
        low, high = claim.only.interval
        if max(abs(alpha - low), abs(alpha - high)) <= ROUNDING * min(alpha, 1 - alpha):
            return UP_TO_ROUNDING
    return None
