r"""The row's alpha: the probability at which its costs change the decision.

Without a fit that knows them, a row's costs move the threshold: predict positive where P(Y = 1) > alpha(x). A fit with
costs of each row has tilted the probabilities instead. Where both regrets are positive, its loss sees

.. math:: \frac{P}{1 - P} \cdot \frac{c_{FN}(x)}{c_{FP}(x)}

as the odds of the positive class.

These are the two ways to use costs of each row: "decide" by them, or "learn" with rows weighted by them and the
threshold 0.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy.special import logit

from uneven.costs import RowCosts
from uneven.errors import CostError
from uneven.inputs import to_float
from uneven.losses import Loss

#: How costs of each row are used.
LEARN, DECIDE = USES_OF_ROW_COSTS = ("learn", "decide")

_LEAST, _LARGEST = np.finfo(np.float64).smallest_subnormal, np.finfo(np.float64).max


def alpha_log_odds(costs: RowCosts) -> tuple[np.ndarray, np.ndarray]:
    """For each row the log-odds of alpha, and a sign: positive is cheaper iff sign (log-odds - those of alpha) > 0.

    They are infinite, with their sign, where one decision is the cheaper one at every probability. The sign is -1 where
    both mistakes pay.
    """
    alpha, sign = costs.thresholds()
    fp, fn = (
        np.broadcast_to(np.asarray(part, np.float64), (costs.count,)) for part in (costs.fp_regret, costs.fn_regret)
    )
    matters = np.sign(fp) * np.sign(fn) > 0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        odds = np.clip(np.where(matters, fp / fn, 1.0), _LEAST, _LARGEST)
    return np.where(matters, np.log(odds), np.where(alpha > 0, np.inf, -np.inf)), sign


def probability_thresholds(alpha: np.ndarray, sign: np.ndarray) -> np.ndarray:
    """The probability above which positive is the cheaper decision in each row; NaN where it is cheaper below.

    ``alpha`` and ``sign`` are those of :meth:`RowCosts.thresholds`, or a corrected alpha. 0 where positive is always
    cheaper, 1 where it never is: there at most one mistake pays.
    """
    return np.where((sign > 0) | np.isinf(alpha), np.clip(sign * alpha, 0.0, 1.0), np.nan)


def threshold_log_odds(threshold: np.ndarray) -> np.ndarray:
    """Log-odds of thresholds of probabilities; infinite ones, where the probability does not matter, stay."""
    with np.errstate(divide="ignore"):
        return np.where(np.isinf(threshold), threshold, logit(np.clip(threshold, 0.0, 1.0)))


def move_threshold(loss: Loss, score: np.ndarray, costs: RowCosts) -> np.ndarray:
    """Scores of the positive class, moved so that the threshold for the costs of each row is 0."""
    threshold, sign = score_thresholds(loss, costs)
    return np.asarray(sign * (score - threshold))


def score_thresholds(loss: Loss, costs: RowCosts) -> tuple[np.ndarray, np.ndarray]:
    """For each row the score of alpha, and a sign: positive is cheaper iff sign (score - threshold) > 0.

    Infinite where one decision is the cheaper one at every probability.
    """
    alpha, sign = costs.thresholds()
    threshold = np.where(alpha > 0, np.inf, -np.inf)
    inside = (alpha >= 0) & (alpha <= 1)
    threshold[inside] = loss.link(alpha[inside])
    return threshold, sign


def untilt(tilted: np.ndarray, costs: RowCosts, own_alpha: Fraction | None) -> np.ndarray:
    """P(Y = 1) from the probability that a loss sees whose rows are weighted by their regrets.

    ``own_alpha`` is that of a loss that contains costs itself.
    """
    fp, fn = (np.broadcast_to(np.asarray(part, dtype=np.float64), tilted.shape) for part in _regrets(costs))
    known = np.broadcast_to(np.sign(costs.fp_regret) * np.sign(costs.fn_regret) > 0, tilted.shape)
    if not known.all():
        row = int(np.flatnonzero(~known)[0])
        a, b = costs.of_each_row("fp_regret")[row], costs.of_each_row("fn_regret")[row]
        raise CostError(
            f"row {row} has the regrets {a:g} for a false positive and {b:g} for a false negative: one "
            "decision is right at every probability, and the model learnt none there"
        )
    odds = to_float(own_alpha / (1 - own_alpha)) if own_alpha is not None else 1.0
    paying = fp < 0  # both mistakes pay: such rows were learnt with the other label
    above = np.where(paying, (1 - tilted) * odds, tilted) * np.abs(fp)
    below = np.where(paying, tilted, (1 - tilted) * odds) * np.abs(fn)
    return np.asarray(above / (above + below))


def _regrets(costs: RowCosts) -> tuple[float | np.ndarray, float | np.ndarray]:
    """Both regrets over the larger one: products stay finite."""
    largest = np.maximum(np.abs(costs.fp_regret), np.abs(costs.fn_regret))
    largest = np.where(largest > 0, largest, 1.0)
    return costs.fp_regret / largest, costs.fn_regret / largest
