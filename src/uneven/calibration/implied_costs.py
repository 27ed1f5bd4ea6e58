"""The costs that a loss silently assumes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from uneven.calibration.risk.crossing import crossing
from uneven.calibration.verdict import only_alpha
from uneven.losses import Loss, Phi, UnevenMarginLoss, phi


@dataclass(frozen=True)
class ImpliedAlpha:
    """The one alpha for which a loss is calibrated.

    Attributes
    ----------
    alpha : float or None
        None if there is none.
    interval : pair of float or None
        Contains it, rounded outwards.
    exact : Fraction or None
        alpha without rounding, where it is known.
    reason : str
        The theorem, or why there is none.
    """

    alpha: float | None
    interval: tuple[float, float] | None
    exact: Fraction | None
    reason: str

    @property
    def cost_ratio(self) -> float | None:
        """How many false positives a false negative costs: (1 - alpha)/alpha."""
        if self.alpha is None:
            return None
        known = self.exact if self.exact is not None else Fraction(self.alpha)
        return float((1 - known) / known)

    def in_words(self) -> str:
        """One sentence about the two kinds of mistake."""
        ratio = self.cost_ratio
        if ratio is None:
            return f"This loss is not known to be calibrated for any costs: {self.reason}."
        if ratio == 1:
            return "This loss treats both kinds of mistake alike."
        first, second, times = _compared(ratio)
        return f"This loss treats a false {first} as {times:.6g} times a false {second}."


def _compared(ratio: float) -> tuple[str, str, float]:
    """The dearer mistake, the cheaper one, and how many times."""
    return ("negative", "positive", ratio) if ratio >= 1 else ("positive", "negative", 1 / ratio)


def costs_in_words(alpha: Fraction) -> str:
    """What a cost parameter says about the two kinds of mistake."""
    if 2 * alpha == 1:
        return "both kinds of mistake cost the same"
    first, second, times = _compared(float((1 - alpha) / alpha))
    return f"a false {first} costs {times:.6g} times a false {second}"


def as_loss(loss: Loss | Phi | str) -> Loss:
    """A loss; a phi or its name stands for the margin loss with gamma = 1."""
    return loss if isinstance(loss, Loss) else UnevenMarginLoss(phi(loss))


def implied_alpha(loss: Loss | Phi | str) -> ImpliedAlpha:
    """The alpha that a loss is calibrated for: the cost ratio it assumes, whether its author knew or not.

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

    Focal loss with weight 0.25 on the positives takes a false positive for three false negatives:

    >>> focal = "expit(-t)**2*softplus(-t)"
    >>> found = uneven.implied_alpha(uneven.Loss(f"0.25*{focal}", "0.75*expit(t)**2*softplus(t)"))
    >>> round(found.alpha, 6), found.in_words()
    (0.75, 'This loss treats a false positive as 3 times a false negative.')

    The asymmetric loss with focusing 1 on positives, 4 on negatives and clip 0.05:

    >>> p = "relu(expit(t) - 0.05)"
    >>> asymmetric = uneven.Loss("expit(-t)*softplus(-t)", f"-log(1 - {p})*{p}**4")
    >>> uneven.implied_alpha(asymmetric).in_words()
    'This loss treats a false negative as 5.78917 times a false positive.'

    An uneven hinge with free beta and gamma assumes beta gamma/(1 + beta gamma):

    >>> uneven.implied_alpha(uneven.UnevenMarginLoss("hinge", gamma=2, beta=3)).exact
    Fraction(6, 7)
    >>> print(uneven.implied_alpha("perceptron").alpha)
    None
    """
    chosen = as_loss(loss)
    only = only_alpha(chosen)
    if only.interval is None:
        if all(partial.symbolic for partial in chosen.partials):
            return ImpliedAlpha(None, None, None, only.reason)
        odds = crossing(chosen)
        if odds is None:
            return ImpliedAlpha(None, None, None, "no change of the better side was found numerically")
        return ImpliedAlpha(odds / (1 + odds), None, None, f"found numerically, without proof: {only.reason}")
    low, high = only.interval
    if low == high:
        return ImpliedAlpha(float(low), (_down(low), _up(low)), low, only.reason)
    if high - low > Fraction(1, 100):
        return ImpliedAlpha(None, (_down(low), _up(high)), None, only.reason)
    return ImpliedAlpha(float((low + high) / 2), (_down(low), _up(high)), None, only.reason)


def _down(value: Fraction) -> float:
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, -math.inf)


def _up(value: Fraction) -> float:
    return -_down(-value) + 0.0
