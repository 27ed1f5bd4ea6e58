r"""Losses of rows as functions of their scores, for the boosted trees of other libraries: slopes, curvatures, sums.

A tree learner needs a positive curvature. Which one it is given depends on phi:

- Smooth and convex: :math:`\varphi''`, but at least :math:`|\varphi'| / 4`, so that the Newton step of no row is longer
  than four margins. Where phi is nearly straight, its own curvature would allow a step of any length, after which the
  rows of the other class step back by as much. This happens quickly if the margins of the classes differ. (The plain
  logistic loss keeps its curvature, as the libraries have it.)
- Smooth, not convex: :math:`\varphi''` can be negative. A bound :math:`B \ge \sup \varphi''`, found by interval
  arithmetic from the tree, makes

  .. math:: \varphi(t + s) \le \varphi(t) + \varphi'(t) s + \tfrac12 B s^2 \quad \text{for all } s,

  so a leaf value that minimises the right side never raises the loss.
- With kinks: the mean of phi over :math:`[t - \delta, t + \delta]` takes its place. It is smooth, its slope is the
  difference quotient of phi and its curvature that of phi'; away from a kink of straight pieces it is phi itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from uneven.errors import LossError, SolverError
from uneven.expression import derivative
from uneven.expression.algebra import neg
from uneven.losses import Phi, UnevenMarginLoss, phi
from uneven.losses.margin_function import smooth_switches
from uneven.ops.kernels import compile_steps
from uneven.shape.bounds import upper_bound
from uneven.shape.structure import is_continuous
from uneven.solvers.linear.pair_of_losses import PairOfLosses
from uneven.solvers.loops.score_passes import derivative_pairs, derivatives, loss_sum
from uneven.solvers.running import in_threads, score_ranges

#: Half width of the mean of a phi with kinks; less if a kink is closer to 0, so that the slope at 0 stays.
_HALF_WIDTH = 0.25
#: One over the longest Newton step of a row, in margins.
_SHORTEST = 0.25
_NO_WEIGHTS = np.empty(0)


@lru_cache(maxsize=256)
def rule(phi: Phi) -> tuple[float, float, float]:
    """Half width of the mean (0: phi itself), constant curvature (0: its own), least ratio of its own to the slope."""
    name = phi.name or phi.text
    if not is_continuous(phi.tree):
        raise LossError(f"boosted trees follow the slope of a loss, but {name!r} jumps; 'sigmoid' or 'beta' would work")
    half = 0.0
    if phi.kinks:
        half = min(_HALF_WIDTH, *(abs(kink) / 2 for kink in phi.kinks if kink != 0), math.inf)
    if phi.convex:
        return half, 0.0, _SHORTEST
    slope = derivative(phi.tree)
    jump = (upper_bound(slope) + upper_bound(neg(slope))) / (2 * half) if half else 0.0
    largest = jump or upper_bound(derivative(slope))
    if not math.isfinite(largest):
        raise LossError(
            f"{name!r} is not known to be convex and no bound of its curvature was found, so no step is known to "
            "descend; a convex loss such as 'logistic' would work"
        )
    return half, largest, 0.0


@dataclass(frozen=True)
class RowLosses:
    """The compiled losses of both classes with their rules of curvature.

    Attributes
    ----------
    pair : PairOfLosses
    addresses : ndarray of shape (2, 2)
        One row per class: values and slopes, slopes and curvatures.
    rules : ndarray of shape (2, 3)
        One row per class; see :mod:`uneven.solvers.boosting.row_losses`.
    """

    pair: PairOfLosses
    addresses: np.ndarray
    rules: np.ndarray

    @classmethod
    def of(cls, pair: PairOfLosses) -> RowLosses:
        """The losses of a pair."""
        rules = np.array([rule(each) for each in pair.phis])
        if all(each.tree == _logistic_phi().tree for each in pair.phis) and (pair.scales == [-1.0, 1.0]).all():
            rules[:, 2] = 0.0  # the libraries' own objective, with weights
        steps = [compile_steps(each.tree, smooth_switches(each.tree)) for each in pair.phis]
        addresses = np.stack([pair.addresses, np.array(steps, dtype=np.int64)], axis=1)
        return cls(pair, np.ascontiguousarray(addresses), rules)

    def normalise(self) -> RowLosses:
        """The same losses times a number: their slopes at the score 0 are 1/2 on average, like the logistic loss's.

        So limits and penalties of a tree, which are in units of slopes and curvatures, mean the same for every loss.
        """
        pairs = self.derivative_pairs(np.zeros(2), np.array([0.0, 1.0]))
        slope = float(np.abs(pairs[:, 0]).mean())
        factor = 0.5 / slope if slope > 0 else 1.0
        return RowLosses(self.pair.times(np.full(2, factor)), self.addresses, self.rules)

    @property
    def is_logistic(self) -> bool:
        """Whether the losses are softplus(-t) and softplus(t), as the libraries have built in."""
        same = self.addresses[0, 0] == self.addresses[1, 0] == logistic().addresses[0, 0]
        return bool(same and (self.pair.weights == 1).all() and (self.pair.scales == [-1.0, 1.0]).all())

    def derivatives(
        self, t: np.ndarray, y: np.ndarray, weight: np.ndarray = _NO_WEIGHTS
    ) -> tuple[np.ndarray, np.ndarray]:
        """Slope and positive curvature of each row's loss in its score, in single precision for the libraries.

        Parameters
        ----------
        t : ndarray of float32 or float64
            Scores.
        y : ndarray
            Above 0 for the positive class.
        weight : ndarray
            Empty if all are 1.
        """
        g, h = np.empty(t.size, np.float32), np.empty(t.size, np.float32)
        facts = (self.addresses, self.rules, self.pair.weights, self.pair.scales)
        bad = in_threads(lambda k, lo, hi: derivatives(*facts, t, y, weight, 1.0, g, h, lo, hi), score_ranges(t.size))
        self._require_finite(max(bad), t)
        return g, h

    def derivative_pairs(self, t: np.ndarray, y: np.ndarray, weight: np.ndarray = _NO_WEIGHTS) -> np.ndarray:
        """Minus slope and minus curvature as columns: derivatives of what CatBoost maximises."""
        pairs, bad = derivative_pairs(self.addresses, self.rules, self.pair.weights, self.pair.scales, t, y, weight)
        if bad >= 0:
            self._require_finite(bad, t)
        result: np.ndarray = pairs
        return result

    def _require_finite(self, bad: int, t: np.ndarray) -> None:
        if bad < 0:
            return
        raise SolverError(
            f"the slope of {self.pair.names} is not finite at the score {float(t[bad]):.6g} of row {bad}: training has "
            "diverged; lower learning_rate, or use a loss that grows more slowly, such as 'logistic'"
        )

    def total(self, t: np.ndarray, y: np.ndarray, weight: np.ndarray = _NO_WEIGHTS) -> float:
        """The sum of the losses."""
        facts = (self.addresses, self.pair.weights, self.pair.scales)
        return sum(in_threads(lambda k, lo, hi: loss_sum(*facts, t, y, weight, lo, hi), score_ranges(t.size)))

    def best_constant(self, masses: np.ndarray) -> float:
        """The constant score of least loss for total weights of the two classes, negative first; a convex pair only.

        That is where the slope changes sign, found by bisection.
        """
        y, weight = np.array([0.0, 1.0]), np.asarray(masses, dtype=np.float64) / np.sum(masses)

        def rising(t: float) -> bool:
            pairs = self.derivative_pairs(np.array([t, t]), y, weight)
            return bool(pairs[:, 0].sum() < 0)

        width = 1 / float(np.abs(self.pair.scales).min())
        low, high = -width, width
        while not rising(high) and high < 2.0**40 * width:
            low, high = high, 2 * high
        while rising(low) and low > -(2.0**40) * width:
            low, high = 2 * low, low
        for _ in range(200):
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            low, high = (low, middle) if rising(middle) else (middle, high)
        return 0.5 * (low + high)


@lru_cache(maxsize=1)
def _logistic_phi() -> Phi:
    return phi("logistic")


@lru_cache(maxsize=1)
def logistic() -> RowLosses:
    """The logistic losses of both classes, unweighted."""
    return RowLosses.of(PairOfLosses.of(UnevenMarginLoss("logistic")))
