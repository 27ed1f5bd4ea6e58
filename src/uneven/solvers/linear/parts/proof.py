r"""The duality gap of an objective in parts: the argument of :mod:`uneven.solvers.linear.proof` with sums over parts.

The slopes of the lines must sum to 0, because the intercept is free. In parts nobody can move the intercept until they
do. But lines at two intercepts, one on each side of the best one, can be mixed: if every row's line is the same mixture
of its two lines, it still supports the loss, and the sum of the slopes is exactly 0 for one mixture.
"""

from __future__ import annotations

import math

import numpy as np

from uneven.solvers.linear.parts.lines import Lines
from uneven.solvers.linear.parts.summed_objective import SummedObjective
from uneven.solvers.linear.proof import EPS, Proof, gap_of_penalty, gradient_share, with_intercept


def prove(objective: SummedObjective, thetas: np.ndarray, lines: Lines, wanted: float) -> Proof:
    """Bound the distance of the better one of the thetas from the optimum.

    Parameters
    ----------
    objective : SummedObjective
    thetas : ndarray of shape (1, d + 1) or (2, d + 1)
        They differ in the intercept only.
    lines : Lines
        Those that support the losses at the thetas.
    wanted : float
        The gap that the caller needs.
    """
    loss, above, excess, _, _ = lines.numbers.T
    best = int(np.argmin(loss))
    theta, columns = thetas[best], objective.columns
    w = theta[:-1]
    share = _mixture(excess) if objective.fit_intercept and len(thetas) == 2 else np.eye(len(thetas))[best]
    # How far the losses at theta are above the mixed lines there.
    height = float(share @ (loss[best] - loss + above + excess * (thetas[:, -1] - theta[-1])))
    unit = (lines.terms + 16) * EPS
    size, raw_sizes = _sizes(objective, lines)
    stuck = abs(float(share @ excess)) + unit * size
    v = columns.gradient(np.append(share @ lines.slopes, share @ excess))[:-1]
    sizes = (raw_sizes + np.abs(columns.shift) * size) / columns.scale
    error = unit * sizes
    scores, moment = _error_of_scores(objective, thetas, size, raw_sizes, lines.most_terms)
    rounded = unit * float(np.abs(loss).max() + moment + size * np.ptp(thetas[:, -1]))
    value = float(loss[best]) + objective.penalty_of(w)
    wrong = rounded + scores + 16 * EPS * abs(value)
    gap = max(height, 0.0) + 2 * wrong + gap_of_penalty(objective, w, v, error, float(loss[best]))
    if objective.fit_intercept:
        gap = with_intercept(objective, theta, value + wrong, gap, stuck, wanted)
    gap = min(gap, value + wrong - objective.lower_bound)
    return Proof(
        theta,
        value,
        error=wrong,
        gap=math.inf if math.isnan(gap) else max(float(gap), 0.0),
        stationarity=gradient_share(objective, theta, v, sizes, float(share @ excess), size),
        slopes=v,
    )


def _mixture(excess: np.ndarray) -> np.ndarray:
    """Shares of two lines whose slopes then sum to 0; if both sums have the same sign, the smaller one alone."""
    first, second = excess
    if not first * second < 0:
        return np.array([1.0, 0.0]) if abs(first) <= abs(second) else np.array([0.0, 1.0])
    share = second / (second - first)
    return np.array([share, 1.0 - share])


def _sizes(objective: SummedObjective, lines: Lines) -> tuple[float, np.ndarray]:
    """Bounds of the sum of the steepest slopes, and of abs(X)' times them, for the rows as they are.

    The steepest slope of a row is the absolute slope of its line plus the jumps at its kinks. By the inequality of
    Cauchy and Schwarz, the sum of abs(x) times it is at most the root of the weighted squares of x, which the survey
    has, times the root of its own squares divided by the weights. So no further pass over X is needed.
    """
    size, energy = lines.numbers[:, 3].max(), lines.numbers[:, 4].max()
    pair, survey = objective.pair, objective.survey
    jumps = pair.weights * np.abs(pair.scales) * np.abs(pair.kinks_and_jumps[1]).sum(axis=1)
    root = math.sqrt(energy) + math.sqrt(float(jumps**2 @ survey.weights))
    lengths = np.sqrt(survey.squares.sum(axis=0)) + np.abs(survey.about) * math.sqrt(float(survey.weights.sum()))
    # The sums are rounded themselves.
    return 1.001 * float(size + jumps @ survey.weights), 1.001 * lengths * root


def _error_of_scores(
    objective: SummedObjective, thetas: np.ndarray, size: float, sizes: np.ndarray, most_terms: int
) -> tuple[float, float]:
    """What rounding of the scores can cost: the error of each, times the steepest slope of its row.

    The theta of the rows themselves is rounded as well, where columns are standardised. Returned, too: a bound of the
    sum of the absolute scores, each times the steepest slope.
    """
    rows = objective.columns.theta_of_rows(thetas[0])
    about = float(np.abs(thetas[:, -1]).max()) + float(np.abs(rows[:-1]) @ np.abs(objective.columns.shift))
    kink = objective.pair.largest_kink if objective.pair.kinked else 0.0
    moment = float(sizes @ np.abs(rows[:-1])) + size * about
    return (most_terms + rows.size + 8) * EPS * (moment + size * kink), moment
