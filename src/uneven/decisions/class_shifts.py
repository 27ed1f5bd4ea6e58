r"""Several classes: shifts of their log-odds for a cost matrix, by the smooth expected cost near the decision borders.

The window of two classes is the plain cost averaged over uncertain costs. So it is here: multiply the costs of each
class y by a random :math:`w_y`, where w is K times a point of the Dirichlet distribution with all parameters equal to
the order, and average the cost of the cheapest action for these costs:

.. math:: S(q, y) = E\, w_y\, C[y, a_w(q)], \qquad a_w(q) = \arg\min_a \sum_y q_y w_y C[y, a].

For each w this is a cost-sensitive problem, so S is a proper loss, and one that only looks where decisions are
close. With two classes it is the loss of the phi "beta". docs/cost-matrix.md has the proof.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv, log_softmax, softmax
from scipy.stats import qmc

from uneven.decisions.scored_rows import MOST_CERTAIN, MOST_ROWS, row_count
from uneven.solvers import loops

#: Ways to find the shifts. "gibbs": posterior means; "argmin": least window loss; "cost": least realised cost.
METHODS = ("gibbs", "argmin", "cost", "none")
#: Shifts reach so far from the calibrated log-odds, in so many steps.
_REACH, _STEPS = 5.0, 2561
#: Products of rows and draws that are aimed at, and the least and the most draws: few rows need more for a smooth sum.
_POINTS, _LEAST_DRAWS, _MOST_DRAWS = 2**14, 16, 128
#: Rounds over the classes, and the change at which they end.
_MOST_ROUNDS, _SETTLED = 12, 1 / 64
#: Slopes are powers of this, at most so many steps from 1: a finite number, so that a bound can count them.
SLOPE_STEP, _MOST_SLOPE_STEPS = 2**0.125, 16
SLOPES = 2 * _MOST_SLOPE_STEPS + 1
#: Prior precision of the log-slope: a standard deviation of a half, as for two classes.
_SLOPE_PRECISION = 4.0
#: Steps of the calibration, and a change that no rounding to the grid sees.
_MOST_STEPS, _SMALL = 50, 1e-9


@dataclass(frozen=True)
class ClassRows:
    """Probabilities that models gave to rows they did not learn from, with classes, weights and costs.

    Attributes
    ----------
    probability : ndarray of shape (n, classes)
    truth : ndarray of int
        The number of each row's class.
    weight : ndarray
    costs : ndarray of shape (classes, actions) or (n, classes, actions)
    """

    probability: np.ndarray
    truth: np.ndarray
    weight: np.ndarray
    costs: np.ndarray

    def take(self, rows: np.ndarray) -> ClassRows:
        """Some of the rows, given by their numbers or by a Boolean for each."""
        costs = self.costs if self.costs.ndim == 2 else self.costs[rows]
        return ClassRows(self.probability[rows], self.truth[rows], self.weight[rows], costs)

    def thin(self) -> ClassRows:
        """At most 20,000 rows: of a class with more than its share every k-th one, with the weight of k."""
        count, classes = self.probability.shape
        if count <= MOST_ROWS:
            return self
        share, weight = MOST_ROWS // classes, self.weight.copy()
        kept = []
        for y in range(classes):
            rows = np.flatnonzero(self.truth == y)
            some = rows[:: max(1, -(-rows.size // share))]
            if some.size < rows.size:
                weight[some] *= weight[rows].sum() / weight[some].sum()
            kept.append(some)
        return ClassRows(self.probability, self.truth, weight, self.costs).take(np.sort(np.concatenate(kept)))

    @property
    def regrets(self) -> np.ndarray:
        """What each action costs more than the cheapest one of the class; always with an axis of rows."""
        found = self.costs - self.costs.min(axis=-1, keepdims=True)
        return np.ascontiguousarray(found if found.ndim == 3 else found[None])

    def paid(self, action: np.ndarray) -> np.ndarray:
        """What each row pays for its action."""
        if self.costs.ndim == 2:
            return np.asarray(self.costs[self.truth, action])
        return np.asarray(self.costs[np.arange(self.truth.size), self.truth, action])

    @property
    def unit(self) -> float:
        """The mean of the largest regret: what a row can lose."""
        regrets = self.regrets.max(axis=2)
        of_rows = regrets[0][self.truth] if len(regrets) == 1 else regrets[np.arange(self.truth.size), self.truth]
        return float(np.average(of_rows, weights=self.weight)) or 1.0


@dataclass(frozen=True)
class ClassRule:
    """How probabilities of models become probabilities of the classes, and these decisions.

    Attributes
    ----------
    slope : float
        By what logarithms of probabilities are multiplied.
    offsets : ndarray of shape (classes,)
        What is added after.
    shifts : ndarray of shape (classes,)
        What the decisions subtract.
    least : float
        Logarithms below this are compressed.
    """

    slope: float
    offsets: np.ndarray
    shifts: np.ndarray
    least: float

    def probability(self, raw: np.ndarray) -> np.ndarray:
        """Probabilities of the classes; costs play no part."""
        return np.asarray(softmax(self.slope * _logs(raw, self.least) + self.offsets, axis=1))

    def tilted(self, probability: np.ndarray) -> np.ndarray:
        """Probabilities for the decisions, from those of the classes."""
        if not self.shifts.any():
            return probability
        found = probability * np.exp(self.shifts.min() - self.shifts)
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def act(self, raw: np.ndarray, costs: np.ndarray) -> np.ndarray:
        """The number of the cheapest action of each row."""
        return cheapest(self.tilted(self.probability(raw)), costs)

    def with_shifts(self, shifts: np.ndarray) -> ClassRule:
        """The same probabilities, other decisions."""
        return ClassRule(self.slope, self.offsets, shifts, self.least)


def cheapest(shares: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """The number of the action of least expected cost; of equally cheap ones the first."""
    regrets = costs - costs.min(axis=-1, keepdims=True)
    found = shares @ regrets if regrets.ndim == 2 else np.einsum("ny,nya->na", shares, regrets)
    return np.asarray(found.argmin(axis=1))


# -- probabilities of the classes -------------------------------------------------------------------------------------


def calibrate(rows: ClassRows) -> ClassRule:
    """Slope and offsets of least log loss under a normal prior; none of the decisions is shifted.

    Slope and offsets are rounded to a grid that depends on the number of rows only: what may have been chosen can be
    counted.
    """
    count, classes = row_count(rows.weight), rows.probability.shape[1]
    rows = rows.thin()
    least = -math.log(count + 2)
    logs, truth = _logs(rows.probability, least), rows.truth
    weight = rows.weight * (count / rows.weight.sum())
    hit = np.zeros_like(logs)
    hit[np.arange(truth.size), truth] = 1.0

    def potential(log_slope: float, offsets: np.ndarray) -> float:
        score = log_softmax(math.exp(log_slope) * logs + offsets, axis=1)
        prior = _SLOPE_PRECISION * log_slope**2 / 2 + float(((offsets - offsets.mean()) ** 2).sum())
        return prior - float(weight @ score[np.arange(truth.size), truth])

    log_slope, offsets = 0.0, np.zeros(classes)
    most, now = _MOST_SLOPE_STEPS * math.log(SLOPE_STEP), potential(0.0, np.zeros(classes))
    for _ in range(_MOST_STEPS):
        step = _scoring_step(log_slope, offsets, logs, hit, weight)
        size = 1.0
        while size > _SMALL:
            trial = float(np.clip(log_slope - size * step[0], -most, most)), offsets - size * step[1:]
            if (value := potential(*trial)) < now:
                break
            size /= 2
        else:
            break
        done, now = now - value <= _SMALL * abs(now), value
        log_slope, offsets = trial[0], trial[1] - trial[1].mean()
        if done:
            break
    slope = SLOPE_STEP ** round(log_slope / math.log(SLOPE_STEP))
    return ClassRule(slope, round_to_grid(offsets, count), np.zeros(classes), least)


def _scoring_step(
    log_slope: float, offsets: np.ndarray, logs: np.ndarray, hit: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """The step of Fisher's scoring, whose matrix is positive definite: log-slope first, then offsets."""
    classes, moved = offsets.size, math.exp(log_slope) * logs
    p = np.exp(log_softmax(moved + offsets, axis=1))
    of_rows = weight[:, None] * p
    mean = (p * moved).sum(axis=1, keepdims=True)
    pull = of_rows - weight[:, None] * hit
    gradient = np.append((pull * moved).sum(), pull.sum(axis=0))
    gradient += np.append(_SLOPE_PRECISION * log_slope, 2 * (offsets - offsets.mean()))
    curvature = np.empty((classes + 1, classes + 1))
    curvature[0, 0] = float((of_rows * (moved - mean) ** 2).sum()) + _SLOPE_PRECISION
    curvature[0, 1:] = curvature[1:, 0] = (of_rows * (moved - mean)).sum(axis=0)
    curvature[1:, 1:] = np.diag(of_rows.sum(axis=0)) - p.T @ of_rows + 2 * np.eye(classes)
    return np.linalg.solve(curvature, gradient)


def grid_step(count: float) -> float:
    """Step of offsets and shifts: 1/8 up to 4,096 rows, half of it for each four times as many."""
    return 2.0 ** -max(3, math.ceil(math.log2(max(count, 1.0)) / 2 - 3))


def round_to_grid(values: np.ndarray, count: float) -> np.ndarray:
    """Multiples of the step; a common constant means nothing, so the middle one is 0."""
    step = grid_step(count)
    middle = np.sort(values)[(values.size - 1) // 2]
    return np.round((values - middle) / step) * step + 0.0  # no -0


def _logs(probability: np.ndarray, least: float) -> np.ndarray:
    """Logarithms; their excess r below the least one is log(1 + r), so that the order of the rows stays."""
    with np.errstate(divide="ignore"):
        found = np.maximum(np.log(probability), -MOST_CERTAIN)
    return np.asarray(np.where(found < least, least - np.log1p(np.maximum(least - found, 0.0)), found))


# -- shifts for the costs ---------------------------------------------------------------------------------------------


def find_shifts(rows: ClassRows, rule: ClassRule, method: str, order: int) -> np.ndarray:
    """Shifts of the log-odds for the costs of the rows, on the grid.

    One class after the other gets the mean of its posterior given the others ("gibbs"), or the least cost ("argmin",
    "cost"), until they settle. Classes take their turn, and their share of the draws, in an order that their names play
    no part in.
    """
    every, classes = row_count(rows.weight), rows.probability.shape[1]
    rows = rows.thin()
    regrets = rows.regrets
    if method == "none" or not regrets.any():
        return np.zeros(classes)
    shares = rule.probability(rows.probability)
    order_of_classes = np.argsort(rows.weight @ np.log(np.maximum(shares, 1e-300)), kind="stable")
    shares = np.ascontiguousarray(shares[:, order_of_classes])
    regrets = np.ascontiguousarray(regrets[:, order_of_classes])
    truth = np.argsort(order_of_classes)[rows.truth]
    count = rows.truth.size
    draws = 2 ** math.ceil(math.log2(min(max(_POINTS / count, _LEAST_DRAWS), _MOST_DRAWS)))
    tilts = np.ones((1, classes)) if method == "cost" else window_draws(classes, order, draws)
    scale = row_count(rows.weight) / float(rows.weight.sum())  # weights that sum to 1 are rows all the same
    weight = rows.weight * (scale / rows.unit) if scale > 1 else rows.weight / rows.unit
    grid = np.linspace(-_REACH, _REACH, _STEPS)
    shifts = np.zeros(classes)
    for _ in range(_MOST_ROUNDS):
        before = shifts.copy()
        for j in range(classes):
            others = shifts.copy()
            others[j] = 0.0
            tilted = shares * np.exp(-others)
            losses = loops.envelope_passes.costs_along(tilted, tilts, regrets, truth, weight, j, _REACH, _STEPS)
            shifts[j] = _choose(grid, losses, np.delete(others, j), shifts[j], method)
        shifts -= shifts.mean()
        if np.abs(shifts - before).max() < _SETTLED:
            break
    found = np.empty(classes)
    found[order_of_classes] = shifts
    return round_to_grid(found, every)


def _choose(grid: np.ndarray, losses: np.ndarray, others: np.ndarray, now: float, method: str) -> float:
    """The shift of one class, given those of the others."""
    if method != "gibbs":
        best = np.flatnonzero(losses <= losses.min() + 1e-12 * abs(losses.min()))
        return float(grid[best[np.abs(grid[best] - now).argmin()]])
    count = others.size + 1
    mean = (others.sum() + grid) / count
    prior = grid**2 + float(others @ others) - count * mean**2  # the sum of (u - mean u)^2
    depth = losses + prior
    share = np.exp(-(depth - depth.min()))
    return float(share @ grid / share.sum())


def window_draws(classes: int, order: int, count: int) -> np.ndarray:
    """Factors of the classes: a few evenly spread draws of the window, with mean 1 for each class.

    Any finite number of them gives a proper loss; more make it smoother.
    """
    points = qmc.Sobol(classes, scramble=True, rng=np.random.default_rng(0)).random(count)
    gamma = gammaincinv(float(order), np.clip(points, 1e-9, 1 - 1e-9))
    draws = gamma / gamma.sum(axis=1, keepdims=True)
    return np.ascontiguousarray(draws / draws.mean(axis=0))
