r"""The one alpha for which (phi(t), phi(-gamma t)/gamma) is calibrated, and the loss made from it.

For convex phi it is 1/2 whatever gamma (corollary 2). For other phi it moves with gamma, and the target
alpha is reached by reweighting (section 4.4 with correction A4): with odds(x) = x/(1-x), the loss
(phi(t), beta phi(-gamma t)) is alpha-CC iff odds(alpha) = beta gamma odds(alpha_phi(gamma)).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from uneven import _inputs
from uneven._inputs import Exact, to_float
from uneven.calibration.infimum import has_convex_partials
from uneven.calibration.risk.crossing import crossing, minimised_at_zero
from uneven.calibration.verdict import only_alpha
from uneven.errors import LossError
from uneven.losses import Phi, UnevenMarginLoss, phi


@dataclass(frozen=True)
class OwnAlpha:
    """Odds of alpha_phi(gamma), as a float and, where they are known without rounding, as a rational."""

    odds: float
    exact: Fraction | None
    source: str

    @property
    def alpha(self) -> float:
        return self.odds / (1 + self.odds)


_HALF = "alpha = 1/2 for every gamma (corollary 2: convex, phi'(0) < 0)"


@lru_cache(maxsize=512)
def own_alpha(function: Phi, gamma: Fraction) -> OwnAlpha:
    """alpha_phi(gamma), or a :class:`LossError` that says why there is none."""
    even = UnevenMarginLoss(function)
    if has_convex_partials(even):
        _require_calibrated(even)
        return OwnAlpha(1.0, Fraction(1), _HALF)
    declared = function.declaration.own_odds
    if declared is not None:
        odds = declared.odds(gamma, function.exact_parameters)
        if odds is not None:
            return OwnAlpha(float(odds), odds if isinstance(odds, Fraction) else None, declared.source)
    return _computed(function, gamma)


def _require_calibrated(convex: UnevenMarginLoss) -> None:
    """Theorem 4 is decided in one place, the verdict; here its answer becomes an error or none."""
    only = only_alpha(convex)
    if only.interval is None:
        raise LossError(f"{convex.phi!r} is calibrated for no alpha: {only.reason}")
    if not only.certain:
        raise LossError(f"whether {convex.phi!r} is calibrated could not be decided: {only.reason}")


def _computed(function: Phi, gamma: Fraction) -> OwnAlpha:
    """The crossing of the two sides, or exactly 1/2 where t = 0 minimises the risk at eta = 1/2."""
    if gamma < 1:  # alpha_phi(1/gamma) = 1 - alpha_phi(gamma): work where t = -1/gamma is the short side
        mirrored = own_alpha(function, 1 / gamma)
        return OwnAlpha(1 / mirrored.odds, mirrored.exact and 1 / mirrored.exact, mirrored.source)
    loss = UnevenMarginLoss(function, gamma=gamma)
    if 0.0 not in function.kinks and minimised_at_zero(loss, 0.5):
        return OwnAlpha(1.0, Fraction(1), "t = 0 minimises the risk at eta = 1/2 (computed)")
    odds = crossing(loss)
    if odds is None:
        raise LossError(
            f"{function!r} with gamma = {to_float(gamma):g} is calibrated for no alpha: the better side does not "
            "change once and for all from t < 0 to t > 0 as eta grows"
        )
    return OwnAlpha(odds, None, "crossing of the two sides of the risk (computed)")


def calibrated_loss(function: str | Phi, *, alpha: Exact, gamma: Exact = 1.0) -> UnevenMarginLoss:
    r"""The uneven margin loss of a phi and a gamma that is alpha-CC.

    Parameters
    ----------
    function : str or Phi
        A registered name, an expression in t, or a phi.
    alpha : number in (0, 1)
        Cost parameter: a false positive costs alpha, a false negative 1 - alpha.
    gamma : positive number
        Margin asymmetry, free to tune: the costs stay the same.

    Returns
    -------
    UnevenMarginLoss
        Weighted by alpha; beta is exactly 1/gamma for convex phi, else 1/(gamma odds), with the odds of the
        alpha that the unweighted family assumes at this gamma: exactly where they are rational (ramp), else to
        double precision (sigmoid: calibrated to rounding, and its verdict says so).

    Raises
    ------
    LossError
        If the phi is calibrated for no alpha, with the reason.

    Examples
    --------
    >>> import uneven
    >>> uneven.calibrated_loss("logistic", alpha=0.1, gamma=3)
    uneven.UnevenMarginLoss('logistic', gamma=3.0, alpha=0.1)
    >>> uneven.calibrated_loss("sigmoid", alpha=0.1, gamma=3).beta
    0.75
    >>> uneven.calibrated_loss("perceptron", alpha=0.1)
    Traceback (most recent call last):
    uneven.errors.LossError: uneven.phi('perceptron') is calibrated for no alpha: ... a kink at t = 0...
    """
    chosen = phi(function)
    exact_gamma = _inputs.positive("gamma", gamma)
    weight = _inputs.between_0_and_1("alpha", alpha)
    own = own_alpha(chosen, exact_gamma)
    if own.exact == 1:
        beta = None
    elif own.exact is not None:
        beta = 1 / (exact_gamma * own.exact)
    else:
        beta = Fraction(1 / (to_float(exact_gamma) * own.odds))
    return UnevenMarginLoss(chosen, gamma=exact_gamma, beta=beta, alpha=weight)
