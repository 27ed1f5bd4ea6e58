"""Proofs for convex partial losses: theorem 4, corollary 2, and the kink at 0."""

from __future__ import annotations

from uneven.calibration.certificates.bench import Bench, NotShown, Proof
from uneven.calibration.certificates.document import Claim
from uneven.calibration.certificates.kernel import NEGATIVE, POSITIVE, at
from uneven.calibration.certificates.steps import Descent, Kink, Slope, Step


def prove_convex(bench: Bench) -> Proof:
    """Calibrated for the alpha that balances the slopes at 0, or for none."""
    kernel = bench.kernel
    steps: list[Step] = []
    for weights in (POSITIVE, NEGATIVE):
        step = bench.search.sign(2, weights, 1)
        if step is None:
            raise NotShown
        steps.append(step)
    nowhere: Claim = {"kind": "calibrated for no alpha"}
    for which, name in enumerate(("positive", "negative")):
        if kernel.has_kink_at_zero(which):
            return Proof("convex tie", [*steps, Kink(name)], nowhere)
    for weights, side in ((POSITIVE, 1), (NEGATIVE, -1)):
        sign = kernel.slope_sign_at_zero(weights, side)
        if sign is not None and sign * side >= 0:
            return Proof("convex tie", [*steps, Slope(weights, side, sign)], nowhere)
    try:
        alpha, exact = bench.balance()
    except NotShown:
        raise NotShown("it is convex, but its slopes at t = 0 could not be decided") from None
    steps.append(Descent())
    if exact:
        return bench.concluded("convex", [*steps, Slope(at(alpha), 1, 0)], alpha, alpha)
    low, high = bench.bracket(alpha)
    for eta, sign in ((low, 1), (high, -1)):
        if kernel.slope_sign_at_zero(at(eta), 1) != sign:
            raise NotShown("it is convex, but the ratio of its slopes at t = 0 was not enclosed")
        steps.append(Slope(at(eta), 1, sign))
    return bench.concluded("convex", steps, low, high)
