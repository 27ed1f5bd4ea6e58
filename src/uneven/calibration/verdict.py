"""What the prover decided about a loss and an alpha, in words."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from uneven.calibration.search.attempt import Proof
from uneven.calibration.search.prover import decide, for_scores_within
from uneven.calibration.trusted.claims import Claim
from uneven.calibration.trusted.document import THEOREMS
from uneven.calibration.trusted.rules import POSITIVE
from uneven.calibration.trusted.steps import Kink, Slope, Step
from uneven.inputs import round_up
from uneven.losses import Loss, UnevenMarginLoss, cost_loss

_REASONS = {
    "convex": "the losses of a positive (L1) and of a negative (L-1) are convex and differentiable at t = 0, with "
    "slopes L1'(0) < 0 < L-1'(0) (theorem 4)",
    "tangential": "where P(Y = 1) = alpha the expected loss is smallest at t = 0, and the losses of positives and of "
    "negatives have the right slopes there (theorem T)",
    "transversal": "as P(Y = 1) grows, the decision with the smaller loss changes exactly once, from negative to "
    "positive (theorem D)",
    "order": "as P(Y = 1) grows, the decision with the smaller loss does not change exactly once from negative to "
    "positive (theorem D)",
}
_COST_LOSS = (
    "t = 0 is a negative decision, but the definition of alpha-CC counts it on both sides, so H = 0 for every eta "
    "below alpha; U_alpha is alpha-CC' (section 3), not alpha-CC"
)


@dataclass(frozen=True)
class Verdict:
    """Whether a loss is calibrated for the costs that alpha stands for (alpha-CC).

    Attributes
    ----------
    status : str
        ``"calibrated"``, ``"calibrated up to rounding"`` (the alpha of the loss and yours are proved to differ by no
        more than rounding), ``"not calibrated"`` or ``"undecided"``.
    reason : str
        Why, with the theorem; or what could not be proved.
    witness : float or None
        If not calibrated: a probability eta = P(Y = 1), other than alpha, at which the costlier decision is at least as
        good for the loss as the cheaper one (H(eta) = 0). None if no such double is known.
    extra_regret : float or None
        If calibrated, exactly or up to rounding: a proved bound on the cost regret that the difference of the two
        alphas can add. It is 0 if the alphas are equal.
    """

    status: str
    reason: str
    witness: float | None = None
    extra_regret: float | None = None

    def __str__(self) -> str:
        return f"{self.status}: {self.reason}"


def verdict(loss: Loss, alpha: Fraction, score_bound: Fraction | None = None) -> Verdict:
    """The verdict for one alpha, for scores within a bound if there is one."""
    chosen = for_scores_within(loss, score_bound)
    decision = decide(chosen, alpha)
    claim = decision.claim
    witness = None if claim.witness is None else float(claim.witness)
    if witness is not None and Fraction(witness) != claim.witness:
        witness = None
    extra = claim.extra_regret
    return Verdict(
        claim.status,
        _in_words(claim, why(chosen, decision.proof)),
        witness,
        None if extra is None else round_up(extra),
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
    convex = "the losses of a positive (L1) and of a negative (L-1) are convex and "
    if isinstance(last, Kink):
        return (
            f"{convex}one has a kink at t = 0, so both decisions have the same smallest loss on a whole interval of "
            "P(Y = 1) (theorem 4: a calibrated convex loss is differentiable at 0)"
        )
    assert isinstance(last, Slope)
    wrong = "the slope of L1 is not negative" if last.weights == POSITIVE else "the slope of L-1 is not positive"
    return f"{convex}{wrong} at t = 0 (theorem 4)"


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
                f"the alpha of the loss lies within {distance} of yours, and the difference adds at most {distance} to "
                f"the cost regret; {reason}"
            )
        case "calibrated elsewhere":
            return _elsewhere(claim, reason)
        case "not calibrated":
            assert claim.witness is not None
            where = f"where P(Y = 1) = {float(claim.witness):.6g}"
            return f"{where}, the loss does not prefer the cheaper decision (theorem D)"
        case "calibrated for no alpha":
            return f"the loss is calibrated for no alpha: {reason}"
    return claim.missing


def _elsewhere(claim: Claim, reason: str) -> str:
    assert claim.only.interval is not None
    assert claim.alpha is not None
    low, high = claim.only.interval
    nearer = low if claim.alpha < low else high
    close = high - low < Fraction(1, 10**9)
    where = f"alpha = {float(nearer):.12g}" if close else f"an alpha in [{float(low):.12g}, {float(high):.12g}]"
    return (
        f"the loss is calibrated for {where} only, not for {float(claim.alpha):.12g}"
        f"{_hint(abs(claim.alpha - nearer))}; where P(Y = 1) lies between the two, it prefers the costlier decision; "
        f"proof: {reason}"
    )


def _hint(distance: Fraction) -> str:
    """A hint for the user if the rounding of an input is the likely cause."""
    if distance > Fraction(1, 10**12):
        return ""
    return (
        f" (they differ by {float(distance):.1g}, probably because a float was rounded; a fraction such as '1/11', or "
        "Cost.exact_alpha, is exact)"
    )
