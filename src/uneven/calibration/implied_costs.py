"""The costs that a loss assumes, whether its author knew or not; and what to do if they are not yours."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from uneven.calibration.half_lines import crossing
from uneven.calibration.search.prover import decide, for_scores_within
from uneven.calibration.trusted.claims import CALIBRATED_OR_ROUNDED, NOT_CALIBRATED, ROUNDING
from uneven.calibration.verdict import why
from uneven.errors import UnevenError
from uneven.expression.text import number_text, to_text
from uneven.inputs import round_down, round_up, to_float
from uneven.losses import Loss, Phi, UnevenMarginLoss
from uneven.losses.loss import as_loss


@dataclass(frozen=True)
class ImpliedAlpha:
    """The one alpha for which a loss is calibrated.

    Attributes
    ----------
    alpha : float or None
        None if there is no such alpha, or none was found.
    interval : pair of float or None
        An interval that is proved to contain alpha; its ends are rounded outwards.
    exact : Fraction or None
        alpha without rounding, if it is known.
    reason : str
        The theorem, why there is no such alpha, or what could not be proved.
    proved_none : bool
        Whether it is proved that the loss is calibrated for no alpha.
    """

    alpha: float | None
    interval: tuple[float, float] | None
    exact: Fraction | None
    reason: str
    middle: Fraction | None = field(default=None, repr=False)
    proved_none: bool = field(default=False, repr=False)

    @classmethod
    def within(cls, low: Fraction, high: Fraction, reason: str, near: Fraction | None = None) -> ImpliedAlpha:
        """A proved alpha: exact if both ends are equal, else a point of its interval, by default the middle."""
        middle = (low + high) / 2 if near is None else near
        ends = (round_down(low), round_up(high))
        return cls(float(middle), ends, low if low == high else None, reason, middle)

    @property
    def _ratio(self) -> Fraction | None:
        """Cost of a false negative divided by the cost of a false positive."""
        if self.alpha is None:
            return None
        alpha = Fraction(self.alpha) if self.middle is None else self.middle
        return (1 - alpha) / alpha

    @property
    def cost_ratio(self) -> float | None:
        """How many false positives a false negative costs: (1 - alpha)/alpha."""
        return None if self._ratio is None else to_float(self._ratio)

    def weight_for(self, alpha: Fraction) -> Fraction | None:
        """The weight on the positives that makes the loss calibrated for this alpha; None if nothing is proved.

        With odds(x) = x/(1 - x), a loss that is calibrated for alpha_0 needs the weight odds(alpha_0)/odds(alpha).
        """
        own = self.middle
        return None if own is None else own / (1 - own) * (1 - alpha) / alpha

    @property
    def _without_costs(self) -> str:
        if self.proved_none:
            return "This loss is calibrated for no costs"
        return "No costs are known for which this loss is calibrated"

    def in_words(self, *, reason: bool = True) -> str:
        """One sentence about the two kinds of mistake; if there are no such costs, with the reason unless excluded."""
        if self._ratio is None:
            return f"{self._without_costs}: {self.reason}." if reason else f"{self._without_costs}."
        if self._ratio == 1:
            return "This loss treats both kinds of mistake alike."
        first, second, times = _compare(self._ratio)
        return f"This loss treats a false {first} as {times} times a false {second}."


def _seen(loss: Loss, low: Fraction, high: Fraction) -> Fraction | None:
    """Where floats see the alpha, if the proved interval is wide and holds that place."""
    if high - low <= ROUNDING * min(low, 1 - high):
        return None
    odds = crossing(loss)
    alpha = None if odds is None else Fraction(odds) / (1 + Fraction(odds))
    return alpha if alpha is not None and low <= alpha <= high else None


def _compare(ratio: Fraction) -> tuple[str, str, str]:
    """The more expensive mistake, the cheaper one, and how many times."""
    if ratio < 1:
        return "positive", "negative", _six_digits(1 / ratio)
    return "negative", "positive", _six_digits(ratio)


def _six_digits(ratio: Fraction) -> str:
    """A number of at least 1, with six digits; it may be too large for a double."""
    size = to_float(ratio)
    if math.isfinite(size):
        return f"{size:.6g}"
    return f"{Decimal(ratio.numerator) / Decimal(ratio.denominator):.5e}"


def costs_in_words(alpha: Fraction) -> str:
    """What alpha says about the costs of the two kinds of mistake."""
    if 2 * alpha == 1:
        return "both kinds of mistake cost the same"
    first, second, times = _compare((1 - alpha) / alpha)
    return f"a false {first} costs {times} times a false {second}"


def implied_alpha(loss: Loss | Phi | str) -> ImpliedAlpha:
    """The costs that a loss assumes: the only alpha for which it is calibrated.

    Parameters
    ----------
    loss : Loss, Phi or str
        A phi or its name stands for the margin loss with gamma = 1.

    Returns
    -------
    ImpliedAlpha

    Examples
    --------
    Logistic with weight 10 on the positives:

    >>> import uneven
    >>> uneven.implied_alpha(uneven.Loss("10*softplus(-t)", "softplus(t)")).exact
    Fraction(1, 11)

    Focal loss with weight 0.25 on the positives treats a false positive as three false negatives:

    >>> focal = "expit(-t)**2*softplus(-t)"
    >>> found = uneven.implied_alpha(uneven.Loss(f"0.25*{focal}", "0.75*expit(t)**2*softplus(t)"))
    >>> round(found.alpha, 6), found.in_words()
    (0.75, 'This loss treats a false positive as 3 times a false negative.')

    The asymmetric loss with focusing 1 on positives, 4 on negatives and clip 0.05:

    >>> p = "relu(expit(t) - 0.05)"
    >>> asymmetric = uneven.Loss("expit(-t)*softplus(-t)", f"-log(1 - {p})*{p}**4")
    >>> uneven.implied_alpha(asymmetric).in_words()
    'This loss treats a false negative as 5.78916 times a false positive.'

    An uneven hinge with any beta and gamma assumes alpha = beta gamma/(1 + beta gamma):

    >>> uneven.implied_alpha(uneven.UnevenMarginLoss("hinge", gamma=2, beta=3)).exact
    Fraction(6, 7)
    >>> print(uneven.implied_alpha("perceptron").alpha)
    None
    """
    chosen = as_loss(loss)
    decision = decide(chosen)
    only = decision.claim.only
    reason = why(chosen, decision.proof) if only.kind != "unknown" else decision.claim.missing
    if not chosen.symbolic:
        odds = crossing(chosen)
        if odds is None:
            return ImpliedAlpha(
                None,
                None,
                None,
                "no probability P(Y = 1) was found at which the decision with the smaller loss changes",
            )
        return ImpliedAlpha(odds / (1 + odds), None, None, f"found numerically, without proof: {reason}")
    if only.interval is None:
        return ImpliedAlpha(None, None, None, reason, proved_none=only.kind == "none")
    return ImpliedAlpha.within(*only.interval, reason, near=_seen(chosen, *only.interval))


# What to do with a loss that is not calibrated for some costs: weights that repair it, or another loss.

_SUBSTITUTE = "logistic"  # if no weights help


@dataclass(frozen=True)
class Prescription:
    """A loss that is calibrated for the costs asked for; made by :func:`prescribe`, which proves it.

    Attributes
    ----------
    loss : Loss
        The calibrated loss.
    words : str
        How to get it, such as ``"weight the positives by 11"``.
    status : str
        ``"calibrated"`` or ``"calibrated up to rounding"``, as in :class:`Verdict`.
    """

    loss: Loss
    words: str
    status: str


def prescribe(loss: Loss, alpha: Fraction, score_bound: Fraction | None = None) -> Prescription | None:
    """What makes a loss calibrated for alpha; None if it is calibrated, or if nothing is proved.

    The positives are weighted; a loss that is calibrated for no alpha is replaced. The prover decides about the
    prescribed loss before it is returned. If scores lie within a bound, this is the calibration that is meant.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import uneven
    >>> from uneven.calibration.implied_costs import prescribe
    >>> prescribe(uneven.UnevenMarginLoss("hinge"), Fraction(1, 12)).words
    'weight the positives by 11'
    >>> print(prescribe(uneven.UnevenMarginLoss("hinge"), Fraction(1, 2)))
    None
    """
    chosen = for_scores_within(loss, score_bound)
    if decide(chosen, alpha).claim.status != NOT_CALIBRATED:
        return None
    if decide(chosen).claim.only.kind == "none":
        other: Loss = UnevenMarginLoss(_SUBSTITUTE, alpha=alpha)
        return _proved(other, f"no weights repair this loss; take another, such as {_SUBSTITUTE}", alpha, score_bound)
    weight = implied_alpha(chosen).weight_for(alpha)
    if weight is None:
        return None
    try:
        other = _reweight(loss, weight, alpha)
    except UnevenError:  # a formula that is almost too long may be too long with a factor
        return None
    return _proved(other, _in_words(weight), alpha, score_bound)


def _proved(loss: Loss, words: str, alpha: Fraction, score_bound: Fraction | None) -> Prescription | None:
    status = decide(for_scores_within(loss, score_bound), alpha).claim.status
    return Prescription(loss, words, status) if status in CALIBRATED_OR_ROUNDED else None


def _reweight(loss: Loss, weight: Fraction, alpha: Fraction) -> Loss:
    """The loss with the positives times ``weight``, up to a factor, in the form that is shortest to write."""
    if loss.exact_alpha is None and weight == (1 - alpha) / alpha:
        return loss.weighted(alpha)
    if isinstance(loss, UnevenMarginLoss):
        beta = loss.exact_beta / weight
        if beta.denominator.bit_length() > 64:
            beta = Fraction(to_float(beta))
        return UnevenMarginLoss(loss.phi, gamma=loss.exact_gamma, beta=beta, alpha=loss.exact_alpha)
    positive, negative = loss.partials
    return Loss(to_text(positive.scaled(weight).tree), to_text(negative.tree))


def _in_words(weight: Fraction) -> str:
    heavier, factor = ("positives", weight) if weight > 1 else ("negatives", 1 / weight)
    text = number_text(factor)
    return f"weight the {heavier} by {text if len(text) <= 9 else f'about {to_float(factor):.6g}'}"
