"""An eta that shows that a loss is not calibrated for an alpha."""

from __future__ import annotations

from fractions import Fraction

from uneven.calibration.proof.attempt import Proof
from uneven.calibration.proof.hints import simplest_between
from uneven.calibration.proof.steps import Floor


def witness(proof: Proof, alpha: Fraction) -> Fraction | None:
    """An eta other than alpha with H(eta) = 0, for a loss that is not calibrated for alpha; None if none is known.

    It is a double if possible, so that users can try it in floats.
    """
    if proof.only.interval is not None:
        low, high = proof.only.interval
        return _between(alpha, low if alpha < low else high)
    if proof.ties is not None:
        return _other_than(alpha, *proof.ties)
    if proof.method == "order":
        for step in proof.steps:
            if isinstance(step, Floor) and (step.eta - alpha) * step.side > 0:
                return step.eta
    return None


def _between(alpha: Fraction, end: Fraction) -> Fraction:
    """A number between alpha (excluded) and the end (included); a short double, if there is one."""
    middle = (alpha + end) / 2
    span = abs(end - alpha)
    short = Fraction(round(middle * _unit(span)), _unit(span))
    candidates = (short, Fraction(float(middle)), Fraction(float(end)))
    inside = (x for x in candidates if min(alpha, end) <= x <= max(alpha, end) and x != alpha)
    return next(inside, simplest_between(alpha, end))


def _unit(span: Fraction) -> int:
    """A power of two whose inverse is at most a quarter of the span."""
    return 4 * 2 ** max(0, (span.denominator // span.numerator).bit_length())


def _other_than(alpha: Fraction, low: Fraction, high: Fraction) -> Fraction | None:
    """A number in [low, high] other than alpha, not at the ends if possible."""
    if low == high:
        return None if low == alpha else low
    middle = (low + high) / 2
    if not low <= alpha <= high:
        return _between(low, high)
    return _between(alpha, high if alpha < middle else low)
