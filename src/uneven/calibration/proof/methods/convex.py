"""Proofs for convex partial losses: theorem 4, corollary 2, and the kink at 0."""

from __future__ import annotations

from uneven.calibration.certificate.document import Claim
from uneven.calibration.proof.attempt import Attempt, NotShown, Proof
from uneven.calibration.proof.rules import NEGATIVE, POSITIVE, at
from uneven.calibration.proof.steps import Descent, Kink, Slope, Step


def prove_convex(attempt: Attempt) -> Proof:
    """Calibrated for the alpha that balances the slopes at 0, or for none."""
    rules = attempt.rules
    steps: list[Step] = []
    for weights in (POSITIVE, NEGATIVE):
        step = attempt.search.sign(2, weights, 1)
        if step is None:
            raise NotShown
        steps.append(step)
    nowhere: Claim = {"kind": "calibrated for no alpha"}
    for which, name in enumerate(("positive", "negative")):
        if rules.has_kink_at_zero(which):
            return Proof("convex tie", [*steps, Kink(name)], nowhere)
    for weights, side in ((POSITIVE, 1), (NEGATIVE, -1)):
        sign = rules.slope_sign_at_zero(weights, side)
        if sign is not None and sign * side >= 0:
            return Proof("convex tie", [*steps, Slope(weights, side, sign)], nowhere)
    try:
        alpha, exact = attempt.balance()
    except NotShown:
        raise NotShown("it is convex, but its slopes at t = 0 could not be decided") from None
    steps.append(Descent())
    if exact:
        return attempt.concluded("convex", [*steps, Slope(at(alpha), 1, 0)], alpha, alpha)
    low, high = attempt.bracket(alpha)
    for eta, sign in ((low, 1), (high, -1)):
        if rules.slope_sign_at_zero(at(eta), 1) != sign:
            raise NotShown("it is convex, but the ratio of its slopes at t = 0 was not enclosed")
        steps.append(Slope(at(eta), 1, sign))
    return attempt.concluded("convex", steps, low, high)
