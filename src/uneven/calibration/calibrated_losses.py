r"""The one alpha for which (phi(t), phi(-gamma t)/gamma) is calibrated, and the loss made from it.

A learner minimises that loss, or a finished one that is checked for its costs.

Call it alpha_phi(gamma). For convex phi it is 1/2 for every gamma (corollary 2). For other phi it depends on gamma.
Reweighting makes the loss calibrated for any other alpha (section 4.4 with correction A4): with odds(x) = x/(1-x), the
loss (phi(t), beta phi(-gamma t)) is alpha-CC iff odds(alpha) = beta gamma odds(alpha_phi(gamma)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from uneven import inputs
from uneven.calibration.half_lines import crossing
from uneven.calibration.search.prover import STOPS, decide
from uneven.calibration.trusted.claims import NOT_CALIBRATED
from uneven.calibration.verdict import why
from uneven.costs import Cost
from uneven.errors import LossError, ParameterError
from uneven.inputs import Exact, brief, to_float
from uneven.losses import Declaration, Loss, Phi, UnevenMarginLoss, phi, registry

if TYPE_CHECKING:
    from uneven.calibration.analysis import Analysis


#: Arguments and result of a function whose results are kept.
Given = ParamSpec("Given")
Result = TypeVar("Result")


class _CutShort(Exception):
    """Carries a result past a cache that would keep it."""

    def __init__(self, result: Any) -> None:
        self.result = result


def kept(maxsize: int, *, typed: bool = False) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """Like :func:`functools.lru_cache`, but what was cut short is not kept.

    Examples
    --------
    >>> from uneven.calibration.calibrated_losses import kept
    >>> from uneven.calibration.search.prover import cut_short
    >>> seconds = [0, 10]
    >>> @kept(maxsize=8)
    ... def proved(name: str) -> bool:
    ...     if not seconds.pop(0):
    ...         cut_short()
    ...         return False
    ...     return True
    >>> proved("hinge"), proved("hinge"), proved("hinge")
    (False, True, True)
    """

    def decorate(function: Callable[Given, Result]) -> Callable[Given, Result]:
        @lru_cache(maxsize=maxsize, typed=typed)
        def stored(*args: Given.args, **kwargs: Given.kwargs) -> Result:
            before = STOPS.count
            result = function(*args, **kwargs)
            if STOPS.count > before:
                raise _CutShort(result)  # no cache keeps an exception
            return result

        @wraps(function)
        def call(*args: Given.args, **kwargs: Given.kwargs) -> Result:
            try:
                return stored(*args, **kwargs)  # type: ignore[arg-type]  # lru_cache raises if one has no hash
            except _CutShort as carrier:
                result: Result = carrier.result
                return result

        return call

    return decorate


class kept_property(cached_property[Result]):  # noqa: N801 - used as a decorator, like cached_property
    """Like :class:`functools.cached_property`, but what was cut short is not kept."""

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> Result:  # type: ignore[override]
        if instance is None:
            return self  # type: ignore[return-value]  # the documentation reads it from the class
        before = STOPS.count
        result = self.func(instance)
        if STOPS.count == before:
            instance.__dict__[self.attrname] = result
        return result


@dataclass(frozen=True)
class OwnAlpha:
    """Odds of alpha_phi(gamma) as a float, and as a rational if they are known without rounding; ``source``: why."""

    odds: float
    exact: Fraction | None
    source: str

    @property
    def alpha(self) -> float:
        return self.odds / (1 + self.odds)


@kept(maxsize=512)
def own_alpha(function: Phi, gamma: Fraction) -> OwnAlpha:
    """alpha_phi(gamma), or a :class:`LossError` that says why there is none.

    The prover decides whether it exists and proves an interval around it; floats only choose a value in that interval.
    """
    loss = UnevenMarginLoss(function)
    if not decide(loss).proof.method.startswith("convex"):  # a convex phi has the same alpha for every gamma
        loss = UnevenMarginLoss(function, gamma=max(gamma, 1 / gamma))  # alpha_phi(1/gamma) = 1 - alpha_phi(gamma)
    decision = decide(loss)
    only = decision.claim.only
    if only.kind == "none":
        raise LossError(f"{_shown(function, gamma)} is calibrated for no alpha: {why(loss, decision.proof)}")
    if only.exact is not None:
        odds = _odds(only.exact, gamma)
        return OwnAlpha(to_float(odds), odds, why(loss, decision.proof))
    numeric = numeric_odds(function, gamma)
    if only.interval is None:
        if numeric is None:
            raise LossError(
                f"no alpha was found for which {_shown(function, gamma)} is calibrated: {decision.claim.missing}"
            )
        return OwnAlpha(numeric, None, f"computed, not proved: {decision.claim.missing}")
    low, high = sorted(to_float(_odds(alpha, gamma)) for alpha in only.interval)
    if numeric is None or not low <= numeric <= high:
        numeric = (low + high) / 2
    return OwnAlpha(numeric, None, why(loss, decision.proof))


def _odds(alpha: Fraction, gamma: Fraction) -> Fraction:
    """Odds at gamma from the alpha at max(gamma, 1/gamma)."""
    return alpha / (1 - alpha) if gamma >= 1 else (1 - alpha) / alpha


def _shown(function: Phi, gamma: Fraction) -> str:
    return repr(function) if gamma == 1 else f"{function!r} with gamma = {to_float(gamma):g}"


def numeric_odds(function: Phi, gamma: Fraction) -> float | None:
    """The odds of alpha_phi(gamma) in floats: as declared, else where A = B; None if A and B do not cross."""
    declared = function.declaration.own_odds
    if declared is not None:
        odds = declared.odds(gamma, function.exact_parameters)
        if odds is not None:
            return float(odds)
    if gamma < 1:  # alpha_phi(1/gamma) = 1 - alpha_phi(gamma); the search is more precise for gamma > 1
        mirrored = numeric_odds(function, 1 / gamma)
        return None if mirrored is None else 1 / mirrored
    return crossing(UnevenMarginLoss(function, gamma=gamma))


def calibrated_loss(function: str | Phi, *, alpha: Exact, gamma: Exact = 1.0) -> UnevenMarginLoss:
    r"""The uneven margin loss of a phi and a gamma that is calibrated for alpha (alpha-CC).

    Parameters
    ----------
    function : str or Phi
        A registered name, an expression in t, or a phi.
    alpha : number in (0, 1)
        Cost parameter: a false positive costs alpha, a false negative 1 - alpha.
    gamma : positive number
        Margin asymmetry. Tune it freely: the loss stays calibrated for the same costs.

    Returns
    -------
    UnevenMarginLoss
        The loss is weighted by alpha. For convex phi, beta is exactly 1/gamma. For other phi, beta is
        1/(gamma odds), with the odds of the alpha for which (phi(t), phi(-gamma t)/gamma) is calibrated. If these odds
        are rational (ramp), beta is exact. If not (sigmoid), beta is rounded to a double, and the verdict is
        "calibrated up to rounding".

    Raises
    ------
    LossError
        If the phi is calibrated for no alpha; the message says why.

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
    exact_gamma = inputs.positive("gamma", gamma)
    weight = inputs.between_0_and_1("alpha", alpha)
    return _calibrated(chosen, chosen.declaration, exact_gamma, weight)


@kept(maxsize=512)
def _calibrated(function: Phi, declared: Declaration, gamma: Fraction, alpha: Fraction) -> UnevenMarginLoss:
    """Losses are immutable, so one is made once. Two phis with one formula are equal, but may be declared otherwise."""
    own = own_alpha(function, gamma)
    if own.exact == 1:
        beta = None
    elif own.exact is not None:
        beta = 1 / (gamma * own.exact)
    else:
        beta = Fraction(1 / (to_float(gamma) * own.odds))
    return UnevenMarginLoss(function, gamma=gamma, beta=beta, alpha=alpha)


# -- the loss of a learner: made from a phi, or a finished loss after a check ----------------------------------------

_EQUAL = Cost(fp_cost=1, fn_cost=1)


def make_loss(loss: Any, cost: Cost, margin_gamma: Any) -> Loss:
    """The loss calibrated for the costs: made from a phi, or a finished loss after a check."""
    alpha = cost.exact_alpha
    if not isinstance(loss, Loss):
        _require_text(loss)
        gamma = inputs.positive("margin_gamma", margin_gamma)
        return calibrated_loss(loss, alpha=alpha, gamma=gamma)
    _require_no_gamma(loss, margin_gamma)
    _require_calibrated(loss, meant_alpha(loss, cost))
    return loss


def loss_for_rows(loss: Any, margin_gamma: Any) -> Loss:
    """The loss that rows with costs of their own are weighted with: calibrated for equal costs, or a finished loss."""
    if isinstance(loss, Loss):
        _require_no_gamma(loss, margin_gamma)
        only_alpha(loss)
        return loss
    return unweighted(loss_for(loss, _EQUAL, margin_gamma))


def unweighted(loss: Loss) -> Loss:
    """The same uneven margin loss before it is weighted by costs."""
    assert isinstance(loss, UnevenMarginLoss)
    beta = None if loss.beta is None else loss.exact_beta
    return UnevenMarginLoss(loss.phi, gamma=loss.exact_gamma, beta=beta)


def _require_text(loss: Any) -> None:
    if isinstance(loss, str) and not loss.strip():
        raise ParameterError("loss must be a name, an expression in t, a phi or a loss, got an empty text")


def _require_no_gamma(loss: Loss, margin_gamma: Any) -> None:
    if margin_gamma != 1:
        raise ParameterError(
            f"margin_gamma belongs to a loss given by name or expression, got margin_gamma={brief(margin_gamma)} with "
            f"the finished loss {loss!r}; give gamma to that loss instead"
        )


@kept(maxsize=1024, typed=True)
def _kept_loss(loss: str, cost: Cost, margin_gamma: Any, registered: int) -> Loss:
    """The same for parameters that can be hashed, kept while no phi is registered or removed."""
    return make_loss(loss, cost, margin_gamma)


def loss_for(loss: Any, cost: Cost, margin_gamma: Any) -> Loss:
    """:func:`make_loss`, once for many fits with the same parameters."""
    if type(loss) is str:
        try:
            return _kept_loss(loss, cost, margin_gamma, registry.changes)
        except TypeError:  # a parameter that cannot be hashed, hence is no number: refused with a sentence below
            pass
    return make_loss(loss, cost, margin_gamma)


def meant_alpha(loss: Loss, cost: Cost) -> Fraction:
    """alpha of the costs; the loss's own alpha if it rounds to the same double (0.1 and 1/10)."""
    own = loss.exact_alpha
    return own if own is not None and float(own) == cost.alpha else cost.exact_alpha


@kept(maxsize=256)
def only_alpha(loss: Loss) -> Fraction:
    """The only alpha for which a finished loss is calibrated, or an error."""
    from uneven.calibration.implied_costs import implied_alpha

    implied = implied_alpha(loss)
    if implied.exact is not None:
        return implied.exact
    if implied.alpha is None:
        raise LossError(
            f"{loss!r} is calibrated for no costs, so rows cannot be weighted by theirs: {implied.reason}. A phi by "
            "name, such as 'logistic', would work"
        )
    return Fraction(implied.alpha)


@kept(maxsize=256)
def _require_calibrated(loss: Loss, alpha: Fraction) -> None:
    from uneven.calibration.implied_costs import costs_in_words, implied_alpha
    from uneven.calibration.verdict import verdict as verdict_on

    verdict = verdict_on(loss, alpha)
    if verdict.status == NOT_CALIBRATED:
        implied = implied_alpha(loss)
        raise LossError(
            f"{loss!r} is not calibrated for these costs ({costs_in_words(alpha)}): {verdict.reason}. "
            f"{implied.in_words()} Give the costs it is made for, or its phi by name and margin_gamma"
        )


@lru_cache(maxsize=64)
def analysis_of(loss: Loss, alpha: Fraction) -> Analysis:
    """The analysis of a loss, kept: learners ask for it many times."""
    from uneven.calibration.analysis import analyze

    return analyze(loss, alpha=alpha)
