"""What the prover decided about a loss and an alpha, in words."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from uneven.calibration.search.attempt import Attempt, Proof
from uneven.calibration.search.cells import Exhausted
from uneven.calibration.search.prover import Limits, attempt_at, decide, for_scores_within
from uneven.calibration.trusted.claims import CALIBRATED_OR_ROUNDED, NOT_CALIBRATED, UNDECIDED, Claim
from uneven.calibration.trusted.document import THEOREMS
from uneven.calibration.trusted.rules import POSITIVE, at
from uneven.calibration.trusted.steps import Kink, Slope, Step
from uneven.inputs import round_up
from uneven.losses import Loss, UnevenMarginLoss, cost_loss
from uneven.ops.balls import Undefined
from uneven.shape.structure import is_continuous

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
_COST_LOSS = "the loss is the cost itself, so that the surrogate regret is the cost regret"
_PRINTED = (
    "; by definition 1 as printed in the paper, which counts t = 0 as a positive decision too, it would not be "
    "calibrated: H would be 0 where P(Y = 1) = {:.6g}"
)


@dataclass(frozen=True)
class Verdict:
    """Whether a loss is calibrated for the costs that alpha stands for (alpha-CC).

    It is, if a wrong decision has a larger expected loss than the best one wherever the two decisions differ in cost:
    H(eta) > 0 for every eta other than alpha. Then for every eps > 0 there is a delta > 0 such that, at every eta, an
    excess loss below delta forces a cost regret below eps. This is definition 3 of the paper (alpha-CC' and uniformly
    alpha-CC', which are the same). t = 0 is a negative decision.

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
    definition_1 : str
        The status by definition 1 as the paper prints it, which counts t = 0 as a positive decision too. It differs
        from ``status`` only for losses that jump at 0, such as the cost itself (:func:`uneven.cost_loss`).

    Examples
    --------
    >>> import uneven
    >>> verdict = uneven.analyze(uneven.cost_loss("1/4")).verdict
    >>> verdict.status, verdict.definition_1
    ('calibrated', 'not calibrated')
    """

    status: str
    reason: str
    witness: float | None = None
    extra_regret: float | None = None
    definition_1: str = UNDECIDED

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
    printed, tie = _by_definition_1(chosen, claim)
    return Verdict(
        claim.status,
        _in_words(claim, why(chosen, decision.proof)) + ("" if tie is None else _PRINTED.format(float(tie))),
        witness,
        None if extra is None else round_up(extra),
        printed,
    )


def _by_definition_1(loss: Loss, claim: Claim) -> tuple[str, Fraction | None]:
    """The status if t = 0 counts as a positive decision too; and the eta below alpha that shows a difference.

    Then H below alpha is the smaller of H and q(eta) = C(eta, 0) - B(eta). q is never negative. So a calibrated loss is
    calibrated by definition 1 as well if and only if q > 0 below alpha. Finitely many t < 0, each with a smaller risk
    than t = 0 on an interval of eta, show that. An eta at which t = 0 is the best negative decision refutes it.
    """
    known = claim.status not in CALIBRATED_OR_ROUNDED or claim.only.interval is None
    if known or all(is_continuous(partial.tree) for partial in loss.partials):
        return claim.status, None
    attempt = attempt_at(loss, Limits())
    if attempt.nearest(1) == 0:
        return claim.status, None
    assert claim.only.interval is not None
    low, high = claim.only.interval
    try:
        if _some_negative_beats_zero(attempt, high):
            return claim.status, None
        for eta in (low * Fraction(k, 16) for k in (8, 4, 12, 2, 6, 10, 14, 1, 3, 5, 7, 9, 11, 13, 15, 0)):
            if attempt.search.floor(at(eta), -1, None) is not None:
                return NOT_CALIBRATED, eta
    except (Exhausted, Undefined):
        pass
    return UNDECIDED, None


def _some_negative_beats_zero(attempt: Attempt, alpha: Fraction) -> bool:
    """For every eta in [0, alpha), some t < 0 is proved to have a smaller risk than t = 0."""
    rules, zero = attempt.rules, Fraction(0)
    at_zero = [rules.exact_at(at(eta), zero) for eta in (zero, alpha)]
    if at_zero[0] is None or at_zero[1] is None:
        return False
    places = {t for t in attempt.hints.minimisers(-1, [alpha * Fraction(k, 16) for k in range(17)]) if t < 0}
    # Bounds of C(eta, t) - C(eta, 0) at eta = 0 and eta = alpha; between them it is affine.
    excess = [(rules.upper_affine(zero, t) - at_zero[0], rules.upper_affine(alpha, t) - at_zero[1]) for t in places]
    reached = zero  # in shares of alpha
    while reached < 1:
        ahead = [_end_of_negative(*ends) for ends in excess if ends[0] + reached * (ends[1] - ends[0]) < 0]
        if not ahead:
            return False
        reached = max(ahead)
    return True


def _end_of_negative(start: Fraction, end: Fraction) -> Fraction:
    """Up to which share of the way an affine function stays negative that is negative somewhere before."""
    return Fraction(1) if end <= 0 else start / (start - end)


def why(loss: Loss, proof: Proof) -> str:
    """The theorem behind a proof, in words."""
    if proof.method == "convex" and isinstance(loss, UnevenMarginLoss):
        return "phi is convex and phi'(0) < 0 (corollary 2)"
    if proof.method == "convex tie":
        return _why_tied(proof.steps[-1])
    if proof.method == "transversal" and loss.symbolic and _is_cost_loss(loss):
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
