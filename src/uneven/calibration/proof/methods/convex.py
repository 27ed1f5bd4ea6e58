"""Proofs for convex partial losses: theorem 4 and corollary 2, and the refutation by a kink at 0."""

from __future__ import annotations

from fractions import Fraction

from uneven.calibration.claim import NO_ALPHA, OnlyAlpha
from uneven.calibration.proof.attempt import Attempt, NotShown, Proof
from uneven.calibration.proof.rules import NEGATIVE, POSITIVE, at
from uneven.calibration.proof.steps import Descent, Kink, Slope, Step
from uneven.ops.balls import above, below


def prove_convex(attempt: Attempt) -> Proof:
    """Prove that the loss is calibrated for the alpha that balances its slopes at 0, or for no alpha."""
    rules = attempt.rules
    steps: list[Step] = []
    for weights in (POSITIVE, NEGATIVE):
        step = attempt.search.sign(2, weights, 1)
        if step is None:
            raise NotShown
        steps.append(step)
    for which, name in enumerate(("positive", "negative")):
        if rules.has_kink_at_zero(which):
            return Proof("convex tie", [*steps, Kink(name)], NO_ALPHA, _ties(attempt))
    for weights, side in ((POSITIVE, 1), (NEGATIVE, -1)):
        sign = rules.slope_sign_at_zero(weights, side)
        if sign is not None and sign * side >= 0:
            return Proof("convex tie", [*steps, Slope(weights, side, sign)], NO_ALPHA, (weights[0], weights[0]))
    try:
        alpha, exact = attempt.balance()
    except NotShown:
        raise NotShown("the loss is convex, but the signs of its slopes at t = 0 were not proved") from None
    steps.append(Descent())
    if exact:
        return Proof("convex", [*steps, Slope(at(alpha), 1, 0)], OnlyAlpha.within(alpha, alpha))
    low, high = attempt.bracket(alpha)
    for eta, sign in ((low, 1), (high, -1)):
        if rules.slope_sign_at_zero(at(eta), 1) != sign:
            raise NotShown("the loss is convex, but the ratio of its slopes at t = 0 was not bounded closely enough")
        steps.append(Slope(at(eta), 1, sign))
    return Proof("convex", steps, OnlyAlpha.within(low, high))


def _ties(attempt: Attempt) -> tuple[Fraction, Fraction] | None:
    """The etas at which 0 lies between the one-sided slopes of the risk at t = 0, so that A = B = C(eta, 0)."""
    before, after = attempt.rules.slopes_at_zero(-1), attempt.rules.slopes_at_zero(1)
    if before is None or after is None:
        return None
    weights = [partial.weight for partial in attempt.rules.partials]
    left = [weight * above(slope.hi) for weight, slope in zip(weights, before, strict=True)]
    right = [-weight * below(slope.lo) for weight, slope in zip(weights, after, strict=True)]
    low, high = _where_not_positive(*left)
    other_low, other_high = _where_not_positive(*right)
    low, high = max(low, other_low), min(high, other_high)
    return (low, high) if low <= high else None


def _where_not_positive(at_one: Fraction, at_zero: Fraction) -> tuple[Fraction, Fraction]:
    """The eta in [0, 1] with eta * at_one + (1 - eta) * at_zero <= 0."""
    if at_one <= 0 and at_zero <= 0:
        return Fraction(0), Fraction(1)
    if at_one > 0 and at_zero > 0:
        return Fraction(1), Fraction(0)
    root = at_zero / (at_zero - at_one)
    return (root, Fraction(1)) if at_one <= 0 else (Fraction(0), root)
