"""The costs of a fit, and the loss that is calibrated for them."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from uneven import inputs
from uneven._shared import kept
from uneven.calibration.calibrated_losses import calibrated_loss
from uneven.calibration.trusted.claims import NOT_CALIBRATED
from uneven.costs import COSTS, Cost, RowCosts
from uneven.errors import CostError, LossError, ParameterError
from uneven.inputs import brief
from uneven.losses import Loss, UnevenMarginLoss
from uneven.losses.registry import changes

if TYPE_CHECKING:
    from uneven.calibration.analysis import Analysis

_EQUAL = Cost(fp_cost=1, fn_cost=1)


def read_cost(fp_cost: Any, fn_cost: Any, tp_cost: Any = 0, tn_cost: Any = 0) -> Cost:
    """The regrets of both mistakes for costs that are the same in all rows: positive and finite."""
    regrets = []
    for name, mistake, other, right in (
        ("fp_cost", fp_cost, "tn_cost", tn_cost),
        ("fn_cost", fn_cost, "tp_cost", tp_cost),
    ):
        benefit = inputs.exact(other, right, CostError)
        if not benefit:
            regrets.append(inputs.positive(name, mistake, CostError))
            continue
        regret = inputs.exact(name, mistake, CostError) - benefit
        if regret <= 0:
            raise CostError(
                f"{name} must be above {other}, got {name}={brief(mistake)} and {other}={brief(right)}: the mistake "
                "would not cost more than the right decision"
            )
        regrets.append(inputs.exact(f"{name} - {other}", regret, CostError))
    return Cost(fp_cost=regrets[0], fn_cost=regrets[1])  # type: ignore[arg-type]


#: True and 1 are told apart by their types.
_kept_cost = lru_cache(maxsize=1024, typed=True)(read_cost)


def read_costs(count: int, given: Mapping[str, Any]) -> Cost | RowCosts:
    """The four costs of a fit, each a number or one for each row; Cost if both regrets are the same in all rows."""
    if all(isinstance(given[name], numbers.Real | Decimal | str) for name in COSTS):
        return _kept_cost(*(given[name] for name in COSTS))
    rows = RowCosts.read(count, **{name: given[name] for name in COSTS})
    return rows if rows.per_row else read_cost(rows.fp_regret, rows.fn_regret)


def plain_numbers(costs: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the costs that are numbers, not one for each row."""
    return {name: value for name, value in costs.items() if not np.ndim(value)}


def made_loss(loss: Any, cost: Cost, margin_gamma: Any) -> Loss:
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
        own_alpha(loss)
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
    return made_loss(loss, cost, margin_gamma)


def loss_for(loss: Any, cost: Cost, margin_gamma: Any) -> Loss:
    """:func:`made_loss`, once for many fits with the same parameters."""
    if type(loss) is str:
        try:
            return _kept_loss(loss, cost, margin_gamma, changes())
        except TypeError:  # a parameter that cannot be hashed, hence is no number: refused with a sentence below
            pass
    return made_loss(loss, cost, margin_gamma)


def meant_alpha(loss: Loss, cost: Cost) -> Fraction:
    """alpha of the costs; the loss's own alpha if it rounds to the same double (0.1 and 1/10)."""
    own = loss.exact_alpha
    return own if own is not None and float(own) == cost.alpha else cost.exact_alpha


@kept(maxsize=256)
def own_alpha(loss: Loss) -> Fraction:
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
