"""Refutations: an eta at which the loss does not prefer the cheaper decision, because A and B have the wrong order."""

from __future__ import annotations

import math
from fractions import Fraction

from uneven.calibration.claim import NO_ALPHA, UNKNOWN_ALPHA
from uneven.calibration.proof.attempt import Attempt, NotShown, Proof, found
from uneven.calibration.proof.methods.tangential import _ZERO
from uneven.calibration.proof.methods.transversal import _ONE
from uneven.calibration.proof.rules import at
from uneven.calibration.proof.steps import Point, Step


def refute_every_alpha(attempt: Attempt) -> Proof:
    """Prove that the loss is calibrated for no alpha, by one or two etas that together rule out every alpha."""
    for side, eta in ((-1, _ZERO), (1, _ONE)):
        try:
            return Proof("order", _weakly_ordered_at(attempt, eta, side), NO_ALPHA)
        except NotShown:
            continue
    pair = attempt.hints.wrong_pair
    if pair is None:
        raise NotShown("no two probabilities P(Y = 1) were found that together rule out every alpha")
    return Proof("order", attempt.ordered_at(pair[0], -1) + attempt.ordered_at(pair[1], 1), NO_ALPHA)


def refute_one_alpha(attempt: Attempt, alpha: Fraction) -> Proof:
    """Prove that the loss is not calibrated for this alpha, by an eta at which A and B have the wrong order."""
    for eta in attempt.hints.wrong_etas(alpha):
        try:
            steps = _weakly_ordered_at(attempt, eta, 1 if eta > alpha else -1)
        except NotShown:
            continue
        return Proof("order", steps, UNKNOWN_ALPHA)
    raise NotShown("no probability P(Y = 1) was found at which the loss prefers the costlier decision")


def _weakly_ordered_at(attempt: Attempt, eta: Fraction, side: int) -> list[Step]:
    """Steps that show: the infimum over this side is larger than the other, or both are C(eta, 0) or the same limit."""
    try:
        return attempt.ordered_at(eta, side)
    except NotShown:
        missing = "it was not proved that both decisions have the same smallest loss"
    point = attempt.point(eta, -side, _ZERO)
    if attempt.hints.seems_above(side, eta, point.value):
        return [found(attempt.search.floor(at(eta), side, None), missing), point]
    limit = attempt.rules.limit_at(at(eta), -side * math.inf)
    if limit is None or not attempt.hints.seems_above(side, eta, limit):
        raise NotShown(missing)
    return [found(attempt.search.floor(at(eta), side, limit), missing), Point(at(eta), -side * math.inf, limit)]
