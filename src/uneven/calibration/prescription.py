"""What to do with a loss that is not calibrated for some costs: weights that repair it, or another loss."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from uneven._inputs import to_float
from uneven.calibration.claim import CALIBRATED, NOT_CALIBRATED, UP_TO_ROUNDING
from uneven.calibration.decide import decide
from uneven.calibration.implied_costs import implied_alpha
from uneven.errors import UnevenError
from uneven.expression.text import number_text, to_text
from uneven.losses import Loss, UnevenMarginLoss

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


def prescribe(loss: Loss, alpha: Fraction) -> Prescription | None:
    """What makes a loss calibrated for alpha; None if it is calibrated, or if nothing is proved.

    If a loss is calibrated for alpha_0, weights w on the positives make it calibrated for the alpha with
    odds(alpha) = odds(alpha_0)/w, where odds(x) = x/(1 - x). A loss that is calibrated for no alpha is replaced.
    The prover decides about the prescribed loss before it is returned.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import uneven
    >>> from uneven.calibration.prescription import prescribe
    >>> prescribe(uneven.UnevenMarginLoss("hinge"), Fraction(1, 12)).words
    'weight the positives by 11'
    >>> print(prescribe(uneven.UnevenMarginLoss("hinge"), Fraction(1, 2)))
    None
    """
    if decide(loss, alpha).claim.status != NOT_CALIBRATED:
        return None
    if decide(loss).claim.only.kind == "none":
        other: Loss = UnevenMarginLoss(_SUBSTITUTE, alpha=alpha)
        return _proved(other, f"no weights repair this loss; take another, such as {_SUBSTITUTE}", alpha)
    implied = implied_alpha(loss)
    own = implied.exact if implied.exact is not None else implied.middle
    if own is None:
        return None
    weight = own / (1 - own) * (1 - alpha) / alpha
    try:
        other = _reweighted(loss, weight, alpha)
    except UnevenError:  # a formula that is almost too long may be too long with a factor
        return None
    return _proved(other, _in_words(weight), alpha)


def _proved(loss: Loss, words: str, alpha: Fraction) -> Prescription | None:
    status = decide(loss, alpha).claim.status
    return Prescription(loss, words, status) if status in (CALIBRATED, UP_TO_ROUNDING) else None


def _reweighted(loss: Loss, weight: Fraction, alpha: Fraction) -> Loss:
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
