r"""Bounds of what a shift loses against every other shift, from finitely many rows.

A row changes its decision at the shift v, its distance. As a function of the shift u, the loss of a positive row does
not fall, and that of a negative row does not rise; this holds for the cost of its decision and for its window loss. Let
P(u) and Q(u) be the expected losses of positives and negatives, and R = P + Q. Fix a grid of edges before the rows are
seen. For u between the edges e_c and e_(c+1), and u' between e_j and e_(j+1),

.. math:: R(u) - R(u') \le [P(e_{c+1}) - P(e_j)] + [Q(e_c) - Q(e_{j+1})].

Each bracket is, up to its sign, the expectation of a bounded number. docs/guarantee.md proves that with probability
:math:`1 - \delta`, for all cells j, all distributions :math:`\rho` over cells c and both losses, the mean over the rows
and the expectation, both over the largest regret, have a relative entropy kl of at most

.. math:: x = \frac{2 \ln N - \mathrm{entropy}(\rho) + \ln(16 \sqrt{m}/\delta)}{m}

with N cells and m rows in the smallest fold, where

.. math:: \mathrm{kl}(q, p) = q \ln\frac{q}{p} + (1 - q) \ln\frac{1 - q}{1 - p}.

If the mean of observations is q and kl(q, true mean) is at most x, the true mean lies between :func:`kl_lower` and
:func:`kl_upper`. Both are rounded outwards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.decisions.posterior import ShiftPosterior
from uneven.decisions.scored_rows import CELL, MOST_ROWS, group_rows, losses_at

#: Finite edges reach from -sinh(4) to sinh(4) = 27.3: shifts that change the odds by a factor of 7e11.
_REACH = 4
#: About so many edges on either side of the shift are used; further away they are wider apart.
_MOST_EDGES = 400
#: A shift this close to an edge counts as being on both sides of it: no bound depends on the last digits of a decision.
_CLOSE = 1e-9
#: An interval that is less probable is never drawn.
_LEAST_SHARE = 1e-12
#: Steps to invert kl at most. A search that ends here still gives a bound, only a wider one.
_MOST_STEPS = 60
#: A step that is shorter than this, relative to the distance from q, is the last one.
_NEAR = 2.0**-32
#: The first guess of an inverse is this much too far.
_MORE = 1 + 2.0**-20
#: Rounding error of each of the two terms of kl: they are differences of logarithms up to 745.
_ROUNDING = 2.0**-40


@dataclass(frozen=True)
class BoundedRows:
    """What the bounds need to know of the rows whose decision depends on the shift.

    Attributes
    ----------
    distances : ndarray
        The shift at which the decision of a row changes.
    is_positive : ndarray of bool
    regrets : ndarray
        What the wrong decision costs more than the right one; positive.
    count : int
        Number of all rows, also of those whose decision does not depend on the shift.
    smallest_fold : int
        m: number of rows of the smallest fold, counted like ``count``.
    largest_positive, largest_negative : float
        No regret of a positive or negative row can be larger.
    """

    distances: np.ndarray
    is_positive: np.ndarray
    regrets: np.ndarray
    count: int
    smallest_fold: int
    largest_positive: float
    largest_negative: float

    def mean_costs(self, shifts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean cost at each shift, of positives and of negatives; a row on the threshold is decided as negative."""
        result = []
        for label in (True, False):
            chosen = self.is_positive == label
            order = np.argsort(self.distances[chosen], kind="stable")
            sums = np.append(0.0, np.cumsum(self.regrets[chosen][order]))
            below = sums[np.searchsorted(self.distances[chosen][order], shifts, side="right")]
            result.append((below if label else sums[-1] - below) / self.count)
        return result[0], result[1]

    def mean_window_losses(self, shifts: np.ndarray, order: int) -> tuple[np.ndarray, np.ndarray]:
        """Mean window loss times regret at each shift, which may be infinite, of positives and of negatives."""
        inner = np.isfinite(shifts)
        result = []
        for label, sign in ((True, 1.0), (False, -1.0)):
            chosen = self.is_positive == label
            regrets = self.regrets[chosen]
            (distances,), signs, weights = group_rows((self.distances[chosen],), np.full(regrets.size, sign), regrets)
            losses = np.where(shifts * sign > 0, regrets.sum(), 0.0)
            losses[inner] = losses_at(order, sign * distances, signs, weights, shifts[inner])
            result.append(losses / self.count)
        return result[0], result[1]


def all_edges(smallest_fold: int) -> np.ndarray:
    """The edges of all cells, from -inf to inf. They depend on the number of rows only."""
    parts = math.isqrt(smallest_fold - 1) + 1
    finite = np.sinh(np.arange(-_REACH * parts, _REACH * parts + 1) / parts)
    return np.concatenate([[-np.inf], finite, [np.inf]])


@dataclass(frozen=True)
class Rule:
    """A shift, or a distribution over shifts, as the bounds see it: shares of intervals between edges.

    Attributes
    ----------
    low, high : ndarray of int
        Numbers of the edges at the ends of each interval.
    shares : ndarray
        Probability of each interval; all of its cells are equally probable.
    entropy : float
        Of the distribution over cells.
    """

    low: np.ndarray
    high: np.ndarray
    shares: np.ndarray
    entropy: float

    @classmethod
    def at(cls, shift: float, edges: np.ndarray) -> Rule:
        """One shift."""
        room = _CLOSE * (1 + abs(shift))
        low = int(np.searchsorted(edges, shift - room, side="right")) - 1
        high = int(np.searchsorted(edges, shift + room, side="left"))
        return cls(np.array([low]), np.array([high]), np.ones(1), 0.0)

    @classmethod
    def drawn_from(cls, posterior: ShiftPosterior, edges: np.ndarray, kept: np.ndarray) -> Rule:
        """A shift drawn at random: intervals between kept edges are as probable as under the posterior.

        The bounds are for the shares as they are here, whatever was lost on the way.
        """
        steps = np.diff(posterior.shifts) * (posterior.density[1:] + posterior.density[:-1]) / 2
        below = np.append(0.0, np.cumsum(steps))
        shares = np.diff(np.interp(edges[kept], posterior.shifts, below))
        some = shares > _LEAST_SHARE
        low, high, shares = kept[:-1][some], kept[1:][some], shares[some] / shares[some].sum()
        return cls(low, high, shares, float(shares @ (np.log(high - low) - np.log(shares))))

    @classmethod
    def always_wrong(cls, edges: np.ndarray) -> Rule:
        """As if all positives were decided at the last edge and all negatives at the first: each pays its regret."""
        return cls(np.array([0]), np.array([edges.size - 1]), np.ones(1), 0.0)


def kept_edges(rule: Rule, edges: np.ndarray) -> np.ndarray:
    """Numbers of the edges at which to compute losses: both ends, those of the rule, and fewer far away from it."""
    last = edges.size - 1
    far = np.unique(np.geomspace(1, last, _MOST_EDGES).astype(int))
    near = np.concatenate([rule.low.min() - far, rule.low, rule.high, rule.high.max() + far])
    return np.unique(np.concatenate([[0, last], near[(near > 0) & (near < last)]]))


@dataclass(frozen=True)
class LossCurves:
    """Mean losses on the rows at kept edges, of positives and of negatives, each over its largest regret.

    Attributes
    ----------
    kept : ndarray of int
        Numbers of the edges; the first and the last of all are among them.
    positive, negative : ndarray
        Nondecreasing and nonincreasing, in [0, 1].
    largest_positive, largest_negative : float
    positive_error, negative_error : float
        At most this is wrong in each number of ``positive`` or ``negative``.
    """

    kept: np.ndarray
    positive: np.ndarray
    negative: np.ndarray
    largest_positive: float
    largest_negative: float
    positive_error: float
    negative_error: float

    @classmethod
    def of_costs(cls, rows: BoundedRows, edges: np.ndarray, kept: np.ndarray) -> LossCurves:
        """The regrets of rows whose decision is wrong."""
        return cls._scale(rows, kept, rows.mean_costs(edges[kept]), 0.0)

    @classmethod
    def of_window(cls, rows: BoundedRows, edges: np.ndarray, kept: np.ndarray, order: int) -> LossCurves:
        """Regrets times window losses."""
        # |phi''| <= sqrt(k/pi) (1 + sqrt(k/2e)): what the grouping of rows into cells may change.
        curvature = math.sqrt(order / math.pi) * (1 + math.sqrt(order / (2 * math.e)))
        grouping = curvature * CELL**2 / 8 if rows.count > MOST_ROWS else 0.0
        return cls._scale(rows, kept, rows.mean_window_losses(edges[kept], order), grouping)

    @classmethod
    def _scale(
        cls, rows: BoundedRows, kept: np.ndarray, curves: tuple[np.ndarray, np.ndarray], grouping: float
    ) -> LossCurves:
        positive, negative = (
            np.clip(curve / largest, 0.0, 1.0) if largest > 0 else np.zeros(kept.size)
            for curve, largest in zip(curves, (rows.largest_positive, rows.largest_negative), strict=True)
        )
        rounding = (rows.count + 1024) * 2.0**-52  # of sums of this length, and of the losses themselves
        errors = rounding + grouping * positive[-1], rounding + grouping * negative[0]
        return cls(kept, positive, negative, rows.largest_positive, rows.largest_negative, *errors)

    def _of(self, rule: Rule) -> tuple[np.ndarray, np.ndarray]:
        """Losses of positives at the upper edge and of negatives at the lower edge of each interval."""
        return (
            self.positive[np.searchsorted(self.kept, rule.high)],
            self.negative[np.searchsorted(self.kept, rule.low)],
        )

    def mean(self, rule: Rule) -> float:
        """The mean loss of the rule on the rows: halfway between the edges, so not a bound."""
        low, high = np.searchsorted(self.kept, rule.low), np.searchsorted(self.kept, rule.high)
        losses = self.largest_positive * self.positive + self.largest_negative * self.negative
        return float(rule.shares @ (losses[low] + losses[high]) / 2)

    def loss_bound(self, rule: Rule, limit: float) -> float:
        """An upper bound of the expected loss of the rule."""
        positive, negative = self._of(rule)
        of_positives = self.largest_positive * _above(positive @ rule.shares, self.positive_error, limit)
        of_negatives = self.largest_negative * _above(negative @ rule.shares, self.negative_error, limit)
        return slightly_more(float(of_positives + of_negatives))

    def excess_bound(self, rule: Rule, limit: float) -> float:
        """An upper bound of the expected loss of the rule minus that of any one shift."""
        positive, negative = self._of(rule)
        # Another shift, between two neighbouring kept edges, loses at least what each class loses at its better edge.
        own = positive - self.positive[:-1, None], negative - self.negative[1:, None]
        error = 2 * np.array([[self.positive_error], [self.negative_error]])
        more = _above(np.stack([np.maximum(part, 0.0) @ rule.shares for part in own]), error, limit)
        less = _below(np.stack([np.maximum(-part, 0.0) @ rule.shares for part in own]), error, limit)
        difference = np.array([self.largest_positive, self.largest_negative]) @ (more - less)
        lost = 2.0**-48 * (self.largest_positive + self.largest_negative)  # digits, in these differences
        return slightly_more(max(float(difference.max()), 0.0) + lost)


def _above(mean: np.ndarray, error: float | np.ndarray, limit: float) -> np.ndarray:
    return kl_upper(np.minimum(mean + error, 1.0), limit)


def _below(mean: np.ndarray, error: float | np.ndarray, limit: float) -> np.ndarray:
    return kl_lower(np.maximum(mean - error, 0.0), limit)


def kl_limit(rule: Rule, edges: np.ndarray, smallest_fold: int, doubt: float, choices: int = 1) -> float:
    """x above, with ``doubt`` for delta. One of so many models may have been chosen with the same rows (choices)."""
    cells = edges.size - 1
    divergence = max(math.log(cells) - rule.entropy, 0.0)
    exponent = divergence + math.log(cells) + math.log(16 * math.sqrt(smallest_fold) / doubt) + math.log(choices)
    return slightly_more(exponent / smallest_fold)


def slightly_more(value: float) -> float:
    """More than the rounding of a few operations has taken away."""
    return value * (1 + 2.0**-46)


# -- the inverse of kl -------------------------------------------------------------------------------------------------


def kl_upper(observed: Any, limit: Any) -> np.ndarray:
    """A number at least sup{p >= q: kl(q, p) <= limit}, for each q in [0, 1] and each limit >= 0.

    Examples
    --------
    >>> from uneven.decisions.shift_bounds import kl_lower, kl_upper
    >>> float(kl_upper(0.1, 0.02).round(4)), float(kl_lower(0.1, 0.02).round(4))
    (0.1704, 0.0506)
    """
    q, x = np.broadcast_arrays(np.asarray(observed, dtype=np.float64), np.asarray(limit, dtype=np.float64))
    farthest = np.minimum(np.sqrt(x / 2), x + np.sqrt(x * (x + 2 * q)))
    return _narrow(q, x, np.minimum(q + farthest * _MORE, 1.0), 1.0)


def kl_lower(observed: Any, limit: Any) -> np.ndarray:
    """A number at most inf{p <= q: kl(q, p) <= limit}, for each q in [0, 1] and each limit >= 0."""
    q, x = np.broadcast_arrays(np.asarray(observed, dtype=np.float64), np.asarray(limit, dtype=np.float64))
    farthest = np.minimum(np.sqrt(x / 2), np.sqrt(2 * q * x))
    return _narrow(q, x, np.maximum(q - farthest * _MORE, 0.0), 0.0)


def _narrow(q: np.ndarray, x: np.ndarray, outside: np.ndarray, end: float) -> np.ndarray:
    """From a first guess, which kl(q, p) >= 2 (p - q)^2 and (p - q)^2 / (2 max(p, q)) give, or the end, towards q.

    kl is convex in p, so that Newton's steps from outside stay outside; where they do not exist, bisect.
    """
    value = _at_least(q, outside)
    outside, value = np.where(value > x, outside, end), np.where(value > x, value, np.inf)
    inside = q
    for _ in range(_MOST_STEPS):
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = outside - (value - x) * (outside * (1 - outside) / (outside - q))
        near = np.fmin(np.abs(outside - newton), np.abs(outside - inside)) <= _NEAR * np.abs(outside - q)
        if near.all():
            break
        between = (newton - inside) * (newton - outside) < 0
        trial = np.where(between, newton, (inside + outside) / 2)
        found = _at_least(q, trial)
        beyond = found > x
        outside, value = np.where(beyond, trial, outside), np.where(beyond, found, value)
        inside = np.where(beyond, inside, trial)
    return outside


def _at_least(q: np.ndarray, p: np.ndarray) -> np.ndarray:
    """A lower bound of kl(q, p), also after the rounding of its two terms, which nearly cancel if p is close to q."""
    hit = np.where(q > 0, -q * _log_ratio(p, q, p - q), 0.0)
    miss = np.where(q < 1, -(1 - q) * _log_ratio(1 - p, 1 - q, q - p), 0.0)
    impossible = np.isinf(hit) | np.isinf(miss)
    hit, miss = np.where(impossible, 0.0, hit), np.where(impossible, 0.0, miss)
    return np.where(impossible, np.inf, hit + miss - _ROUNDING * (np.abs(hit) + np.abs(miss)))


def _log_ratio(a: np.ndarray, b: np.ndarray, difference: np.ndarray) -> np.ndarray:
    """ln(a/b); close to 1 from the difference, because the ratio has lost it, else from two logarithms."""
    close = 2 * np.abs(difference) <= b
    some = np.where(b > 0, b, 1.0)
    with np.errstate(divide="ignore"):
        far = np.log(a) - np.log(some)
    return np.where(close, np.log1p(np.where(close, difference, 0.0) / some), far)
