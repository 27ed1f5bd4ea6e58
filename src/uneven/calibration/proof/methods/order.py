"""Refutations: an eta at which the two sides have the wrong order."""

from __future__ import annotations

from fractions import Fraction

from uneven.calibration.certificate.document import number
from uneven.calibration.proof.attempt import Attempt, NotShown, Proof, found
from uneven.calibration.proof.hints import simplest_between
from uneven.calibration.proof.rules import at
from uneven.calibration.proof.steps import Step

_ZERO, _ONE = Fraction(0), Fraction(1)
_FAR_APART = Fraction(1, 10**6)


def refute_far(attempt: Attempt) -> Proof:
    """An alpha far from where the sides cross is refuted by one eta between the two."""
    alpha = attempt.alpha
    guess = None if alpha is None else attempt.hints.crossing
    if alpha is None or guess is None:
        raise NotShown
    if abs(alpha - guess) < _FAR_APART * min(alpha, 1 - alpha, guess, 1 - guess):
        raise NotShown
    return _refuted_at(attempt, alpha, simplest_between((alpha + 3 * guess) / 4, (3 * alpha + guess) / 4))


def refute(attempt: Attempt) -> Proof:
    """The clearest eta with the wrong order; for no alpha in particular, enough of them to rule out all."""
    if attempt.alpha is None:
        return _refuted_everywhere(attempt)
    for eta in attempt.hints.wrong_etas(attempt.alpha):
        try:
            return _refuted_at(attempt, attempt.alpha, eta)
        except NotShown:
            continue
    raise NotShown("no eta at which the sides have the wrong order was found")


def _refuted_at(attempt: Attempt, alpha: Fraction, eta: Fraction) -> Proof:
    steps = _weakly_ordered_at(attempt, eta, 1 if eta > alpha else -1)
    return Proof("order", steps, {"kind": "not calibrated", "alpha": number(alpha), "witness": number(eta)})


def _weakly_ordered_at(attempt: Attempt, eta: Fraction, side: int) -> list[Step]:
    """The infimum over this side is at least the other: larger, or attained at t = 0, which both sides have."""
    try:
        return attempt.ordered_at(eta, side)
    except NotShown:
        point = attempt.point(eta, -side, _ZERO)
        if not attempt.hints.seems_above(side, eta, point.value):
            raise
    return [found(attempt.search.floor(at(eta), side, None), "that both sides tie was not proved"), point]


def _refuted_everywhere(attempt: Attempt) -> Proof:
    for side, eta in ((-1, _ZERO), (1, _ONE)):
        try:
            return Proof("order", _weakly_ordered_at(attempt, eta, side), {"kind": "calibrated for no alpha"})
        except NotShown:
            continue
    pair = attempt.hints.wrong_pair
    if pair is None:
        raise NotShown("no two etas at which the sides have the wrong order were found")
    steps = attempt.ordered_at(pair[0], -1) + attempt.ordered_at(pair[1], 1)
    return Proof("order", steps, {"kind": "calibrated for no alpha"})
