r"""Floors with a guarantee: what held-out rows with labels prove about new rows.

*Recall.* Each row has a price of a miss from which on it is flagged. Let :math:`\kappa_{(m)}` be the m-th smallest
price of :math:`n_1` held-out positives. A rule that flags all rows with prices up to it finds less than a share r of
new positives with probability at most :math:`P(\mathrm{Bin}(n_1, r) \ge m)`, whatever the distribution (Tong, Feng and
Li 2018 for error rates). Take the least m for which that is at most 1 - confidence.

*Precision.* The rules to choose from are fixed without the held-out rows. Of those that one flags, the number of
positives is binomial, so each rule is tested exactly, with the allowed error shared equally among the rules.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.stats import binom

from uneven import inputs
from uneven.decisions.limits import turning_prices
from uneven.errors import ParameterError
from uneven.inputs import brief

#: Rules that are tried for a precision: targets that rise in equal steps from the one asked for to 1.
RULES = 10
#: Tails of a binomial distribution are computed to about 14 digits; a rank is taken only if this much is to spare.
_SAFE = 1 - 1e-9


def order_statistic(count: int, share: float, confidence: float) -> int | None:
    """The least m for which the m-th smallest of ``count`` scores is at least the share-quantile, with confidence.

    None if ``count`` is too small for any.

    Examples
    --------
    >>> from uneven.decisions.held_out import least_count, order_statistic
    >>> order_statistic(28, 0.9, 0.95), order_statistic(29, 0.9, 0.95), order_statistic(500, 0.9, 0.95)
    (None, 29, 462)
    >>> least_count(0.9, 0.95)
    29
    """
    ranks = np.arange(count + 1)
    enough = np.flatnonzero(binom.sf(ranks - 1, count, share) <= (1 - confidence) * _SAFE)
    return int(enough[0]) if enough.size else None


def least_count(share: float, confidence: float) -> int:
    """How many scores :func:`order_statistic` needs: the least n with share^n <= 1 - confidence."""
    return _least_power(share, (1 - confidence) * _SAFE)


def _least_power(share: float, doubt: float) -> int:
    """The least n of at least 1 with share^n <= doubt."""
    count = max(1, math.ceil(math.log(doubt) / math.log(share)) - 1)
    while count * math.log(share) > math.log(doubt) and count < 2**53:  # beyond this, the next number is no double
        count += 1
    return count


def read_level(confidence: Any) -> float:
    """A confidence in (0, 1), also as a double."""
    return _inside("confidence", inputs.between_0_and_1("confidence", confidence))


def _inside(name: str, value: Fraction) -> float:
    """A share below 1 as a double below 1."""
    share = inputs.to_float(value)
    if share == 1:
        raise ParameterError(f"{name}=1 cannot be guaranteed from any number of rows; a number below 1 would work")
    return share


def price_for_recall(
    cost: np.ndarray, probability: np.ndarray, is_positive: np.ndarray, recall: Fraction, confidence: float
) -> float:
    """The price of a miss at which new positives are found with at least this probability, with confidence.

    ``cost`` has the expected costs of the held-out rows. Minus infinity if the cheapest decisions find enough.
    """
    prices = np.sort(prices_of_misses(cost[is_positive], probability[is_positive]))
    share = _inside("recall_at_least", recall)
    rank = order_statistic(prices.size, share, confidence)
    if rank is None:
        raise ParameterError(
            f"a recall of at least {share:g} with confidence {confidence:g} needs "
            f"{least_count(share, confidence):,} held-out positives or more, got {prices.size:,}"
        )
    return float(prices[rank - 1]) if rank else -math.inf


def prices_of_misses(cost: np.ndarray, probability: np.ndarray) -> np.ndarray:
    """For each row the additional price of a miss from which on it is flagged; minus infinity if it is anyway."""
    return np.where(cost.argmin(axis=1) > 0, -np.inf, turning_prices(cost, probability)[0])


def first_precise(
    rules: Sequence[Callable[[np.ndarray, np.ndarray], np.ndarray]],
    cost: np.ndarray,
    probability: np.ndarray,
    is_positive: np.ndarray,
    precision: Fraction,
    confidence: float,
) -> int:
    """The number of the first rule whose precision on new rows is at least this, with confidence.

    A rule gives whether rows are flagged. It must not depend on the held-out rows.
    """
    share, doubt = _inside("precision_at_least", precision), _SAFE * (1 - confidence) / len(rules)
    most = 0
    for number, rule in enumerate(rules):
        flagged = rule(cost, probability)
        count, found = int(np.count_nonzero(flagged)), int(np.count_nonzero(flagged & is_positive))
        most = max(most, count)
        if binom.sf(found - 1, count, share) <= doubt and count:
            return number
    needed = _least_power(share, doubt)
    raise ParameterError(
        f"a precision of at least {share:g} with confidence {confidence:g} is not shown by the held-out rows: none of "
        f"{len(rules)} rules passes, and a rule needs at least {needed:,} flagged ones (at most {most:,} were flagged)"
    )


def read_held_out(held_out: Any, wanted: str) -> tuple[Any, Any, Any]:
    """The parts of ``held_out``: rows or probabilities, labels, and their costs or actions if these were given."""
    parts = inputs.entries(held_out, 2, 3)
    if parts is None:
        raise ParameterError(f"held_out must be {wanted}, got {brief(held_out)}")
    return (*parts, None) if len(parts) == 2 else parts
