"""Is the loss calibrated for alpha? What the prover decided, in words."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from uneven.calibration.certificate.document import THEOREMS
from uneven.calibration.claim import Claim
from uneven.calibration.decide import decide
from uneven.calibration.proof.attempt import Proof
from uneven.calibration.proof.rules import POSITIVE
from uneven.calibration.proof.steps import Kink, Slope, Step
from uneven.calibration.rounding import rounded_up
from uneven.losses import Loss, UnevenMarginLoss, cost_loss

_REASONS = {
    "convex": "its partial losses are convex and differentiable at 0 with L1'(0) < 0 < L-1'(0) (theorem 4)",
    "tangential": "at eta = alpha the risk is smallest at t = 0, and both partial losses have the right slope there "
    "(theorem T)",
    "transversal": "as eta grows, the better side of the risk changes exactly once, from t < 0 to t > 0 (theorem D)",
    "order": "as eta grows, the better side of the risk does not change once from t < 0 to t > 0 (theorem D)",
}
_COST_LOSS = (
    "t = 0 counts as a negative decision but is admitted on both sides, so H vanishes for every eta below alpha; "
    "U_alpha is alpha-CC' (section 3), not alpha-CC"
)


@dataclass(frozen=True)
class Verdict:
    """Whether a loss is calibrated for the costs that alpha stands for (alpha-CC).

    Attributes
    ----------
    status : str
        ``"calibrated"``, ``"calibrated up to rounding"`` (the alpha of the loss is proved to lie so close to yours that
        they differ by rounding only), ``"not calibrated"`` or ``"undecided"``.
    reason : str
        A sentence that names the theorem, or what was not found.
    witness : float or None
        If not calibrated: an eta other than alpha at which H vanishes, if one is a double.
    extra_regret : float or None
        If calibrated, exactly or up to rounding: how much the difference of the two alphas can add to the cost regret
        at most. It is proved, and 0 where the alpha is exact.
    """

    status: str
    reason: str
    witness: float | None = None
    extra_regret: float | None = None

    def __str__(self) -> str:
        return f"{self.status}: {self.reason}"


def verdict(loss: Loss, alpha: Fraction) -> Verdict:
    """The verdict for one alpha."""
    decision = decide(loss, alpha)
    claim = decision.claim
    witness = None if claim.witness is None else float(claim.witness)
    if witness is not None and Fraction(witness) != claim.witness:
        witness = None
    extra = claim.extra_regret
    return Verdict(
        claim.status,
        _in_words(claim, why(loss, decision.proof)),
        witness,
        None if extra is None else rounded_up(extra),
    )


def why(loss: Loss, proof: Proof) -> str:
    """The theorem behind a proof, in words."""
    if proof.method == "convex" and isinstance(loss, UnevenMarginLoss):
        return "phi is convex and phi'(0) < 0 (corollary 2)"
    if proof.method == "convex tie":
        return _why_tied(proof.steps[-1])
    if proof.method == "order" and loss.symbolic and _is_cost_loss(loss):
        return _COST_LOSS
    return _REASONS.get(proof.method, THEOREMS[proof.method])


def _why_tied(last: Step) -> str:
    convex = "its partial losses are convex and "
    if isinstance(last, Kink):
        return (
            f"{convex}one has a kink at t = 0, so both sides tie on a whole interval of eta (theorem 4: a calibrated "
            "convex loss is differentiable at 0)"
        )
    assert isinstance(last, Slope)
    wrong = (
        "L1's slope at t = 0 is not negative" if last.weights == POSITIVE else "L-1's slope at t = 0 is not positive"
    )
    return f"{convex}{wrong} (theorem 4)"


def _is_cost_loss(loss: Loss) -> bool:
    known = cost_loss(loss.exact_alpha or "1/2")
    return [partial.tree for partial in loss.partials] == [partial.tree for partial in known.partials]


def _in_words(claim: Claim, reason: str) -> str:
    match claim.kind:
        case "calibrated":
            return reason
        case "calibrated within":
            assert claim.extra_regret is not None
            distance = f"{float(claim.extra_regret):.2g}"
            return (
                f"its own alpha lies within {distance} of yours, which can add no more than {distance} to the cost "
                f"regret; {reason}"
            )
        case "calibrated elsewhere":
            return _elsewhere(claim, reason)
        case "not calibrated":
            assert claim.witness is not None
            return f"at eta = {float(claim.witness):.6g} the loss prefers the wrong decision (theorem D)"
        case "calibrated for no alpha":
            return f"calibrated for no alpha: {reason}"
    return claim.missing


def _elsewhere(claim: Claim, reason: str) -> str:
    assert claim.only.interval is not None
    assert claim.alpha is not None
    low, high = claim.only.interval
    nearer = low if claim.alpha < low else high
    close = high - low < Fraction(1, 10**9)
    where = f"{float(nearer):.12g}" if close else f"one in [{float(low):.12g}, {float(high):.12g}]"
    return (
        f"it is calibrated for alpha = {where} only, not for {float(claim.alpha):.12g}: {reason}; H vanishes between "
        f"the two{_hint(abs(claim.alpha - nearer))}"
    )


def _hint(distance: Fraction) -> str:
    """If the rounding of an input is the likely cause, say so."""
    if distance > Fraction(1, 10**12):
        return ""
    return (
        f" (they differ by {float(distance):.1g}: a float is the binary number it is; a fraction such as '1/11', or "
        "Cost.exact_alpha, is exact)"
    )
