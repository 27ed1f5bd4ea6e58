"""Boosting: one tree after the other, each a step that lowers the loss.

The leaves of a tree add something to the scores, in three ways, all for any convex loss. Lengths are minima along the
tree, or of a leaf, so a share of at most 1 of them never raises a convex loss.

- discrete: each leaf says +1 or -1, and one number for the tree is the length of the step (AdaBoost).
- real: each leaf gets the best number of its own (real AdaBoost).
- gradient: each leaf gets a Newton step, and one number for the tree is its length (gradient boosting).

Steps along trees get stuck at kinks: no single tree lowers the loss, though several together would. So a kink k, where
the slope jumps by j, is replaced by a parabola on a window of width w: phi(t) + j/(2 w) relu(w/2 - abs(t - k))**2. It
is convex, at most j w/8 above phi, and equal to it outside the windows. No window reaches 0, so the slope there is the
same, and with it the costs for which the loss is calibrated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from uneven.expression import Node, parse, simplify, to_text
from uneven.losses import Phi
from uneven.losses.margin_function import smooth_switches
from uneven.ops.kernels import CompiledPhi, compile_kernel
from uneven.shape.kinks import kinks_and_jumps
from uneven.solvers.boosting.trees import Binned, Shape, Trees, grow
from uneven.solvers.linear.lbfgs import exact_step
from uneven.solvers.linear.pair_of_losses import PairOfLosses
from uneven.solvers.loops import tree_passes
from uneven.solvers.loops.passes import losses_along
from uneven.solvers.running import Progress, in_threads, score_ranges, silent


@dataclass(frozen=True)
class Limits:
    """Choices that the trees depend on, more than the time."""

    #: Width of the window in which a kink is rounded, in units of the margin; less if it would reach 0.
    window: Fraction = Fraction(1, 2)
    #: A curvature counts as at least this share of slope times scale of the loss, so that straight parts have a step,
    #: too. It is below that of the exponential loss, which is 1.
    least_curvature: float = 1 / 16
    #: A leaf goes no further than where the slopes of the class that it favours have fallen to this share: a leaf of
    #: one class may have its minimum at infinity.
    least_slope: float = 1 / 64


LIMITS = Limits()
#: The slope at the end of a line search, as a share of that at its start: sums over leaves cost little.
_FLAT = 1e-10
_EXPONENTIAL = parse("exp(-t)")


def round_kinks(pair: PairOfLosses) -> PairOfLosses:
    """The same losses, with kernels whose kinks are rounded."""
    if not pair.kinked:
        return pair
    negative, positive = (_kernel(*both) for both in zip(pair.phis, pair.kernels, strict=True))
    return replace(pair, kernels=(negative, positive), _facts={})


def _kernel(phi: Phi, kernel: CompiledPhi) -> CompiledPhi:
    if not phi.kinks:
        return kernel
    tree = round_kinks_of_tree(phi.tree)
    return compile_kernel(tree, smooth_switches(tree))


def round_kinks_of_tree(tree: Node) -> Node:
    """A convex function with its kinks rounded.

    Examples
    --------
    >>> from uneven.expression import parse, to_text
    >>> from uneven.solvers.boosting.boost import round_kinks_of_tree
    >>> to_text(round_kinks_of_tree(parse("relu(1 - t)")))
    'relu(1 - t) + relu(0.25 - abs(1 - t))**2'
    """
    text = f"({to_text(tree)})"
    for kink, jump in zip(*kinks_and_jumps(tree), strict=True):
        place = Fraction(kink)
        width = min(LIMITS.window, abs(place)) or LIMITS.window
        text += f" + ({Fraction(jump) / (2 * width)}) * relu({width / 2} - abs(t - ({place})))**2"
    return simplify(parse(text))


# -- rows while they are boosted ------------------------------------------------------------------------------------


class BoostedRows:
    """Scores of rows, which trees move.

    Parameters
    ----------
    pair : PairOfLosses
        Convex losses of both classes, weighted.
    y : ndarray of int8
        1 for positive rows, 0 for negative ones.
    factors : ndarray of float64
        Weights of the rows; empty if all are 1.
    scores : ndarray of float64
        Where they start. Changed by :meth:`move`.

    Attributes
    ----------
    slopes, curvatures : ndarray of float64
        Of each row's loss at its score; during a line search, of the place that was tried last.
    loss : float
        The sum of the losses at the scores.
    """

    def __init__(self, pair: PairOfLosses, y: np.ndarray, factors: np.ndarray, scores: np.ndarray) -> None:
        self.pair, self.y, self.factors, self.scores = pair, y, factors, scores
        self.slopes, self.curvatures = np.empty(y.size), np.empty(y.size)
        self._ranges = score_ranges(y.size)
        self._floors = LIMITS.least_curvature * np.abs(pair.scales)
        self._pairs, self._filled = np.empty((y.size, 2)), False
        self.loss = self.along(np.zeros(y.size), 0.0)[0]

    def each_range(self, function: Any) -> list[Any]:
        """The results of function(k, lo, hi) for ranges of rows, in threads."""
        return in_threads(function, self._ranges)

    def along(self, direction: np.ndarray, step: float) -> tuple[float, float, float]:
        """The loss after a step along a direction, and its first and second derivative in the step."""
        parts = self.each_range(lambda k, lo, hi: self._part_along(direction, step, lo, hi))
        return tuple(sum(values) for values in zip(*parts, strict=True))

    def _part_along(self, direction: np.ndarray, step: float, lo: int, hi: int) -> tuple[float, float, float]:
        pair = self.pair
        factors = self.factors[lo:hi] if self.factors.size else self.factors
        losses = (pair.addresses, pair.second_addresses, self.y[lo:hi], factors, pair.weights, pair.scales)
        r, h = self.slopes[lo:hi], self.curvatures[lo:hi]
        found: tuple[float, float, float] = losses_along(losses, self.scores[lo:hi], direction[lo:hi], step, r, h)
        return found

    def move(self, direction: np.ndarray, step: float) -> bool:
        """Take a step unless it raises the loss by more than rounding; says whether it was taken."""
        self._filled = False
        return self._take(step * direction, self.along(direction, step)[0])

    def move_leaves(self, slots: np.ndarray, leaves: np.ndarray) -> bool:
        """Add the value of each row's leaf to its score, as :meth:`move` does."""
        change = np.empty(slots.size)

        def part(k: int, lo: int, hi: int) -> float:  # all in one, because it takes time until threads have met
            tree_passes.spread(slots, leaves, lo, hi, change)
            loss = self._part_along(change, 1.0, lo, hi)[0]
            self._fill_pairs(lo, hi)
            return loss

        self._filled = self._take(change, sum(self.each_range(part)))
        return self._filled

    def _take(self, change: np.ndarray, loss: float) -> bool:
        if not loss <= self.loss + 1e-13 * abs(self.loss):
            self.along(change, 0.0)
            return False
        self.scores += change
        self.loss = loss
        return True

    def pairs(self) -> np.ndarray:
        """Slope and curvature of each row; overwritten by the next move."""
        if not self._filled:
            self.each_range(lambda k, lo, hi: self._fill_pairs(lo, hi))
            self._filled = True
        return self._pairs

    def _fill_pairs(self, lo: int, hi: int) -> None:
        tree_passes.fill_pairs(self.slopes, self.curvatures, self.y, self._floors, lo, hi, self._pairs)

    def leaf_sums(self, slots: np.ndarray, leaves: int, pairs: np.ndarray) -> np.ndarray:
        """For each leaf: slopes of negatives and of positives, their curvatures, and the two sums of ``pairs``."""

        def part(k: int, lo: int, hi: int) -> np.ndarray:
            sums = np.zeros((leaves, 6))
            tree_passes.leaf_sums(slots, self.y, self.slopes, self.curvatures, pairs, lo, hi, sums)
            return sums

        return np.asarray(sum(self.each_range(part)))

    def spread(self, slots: np.ndarray, leaves: np.ndarray) -> np.ndarray:
        """The value of each row's leaf."""
        out = np.empty(slots.size)
        self.each_range(lambda k, lo, hi: tree_passes.spread(slots, leaves, lo, hi, out))
        return out


# -- what the leaves of a tree add to the scores --------------------------------------------------------------------


def has_closed_form(rows: BoostedRows) -> bool:
    """Whether slopes after a step are known from sums over the leaves: those of the exponential loss."""
    return all(phi.tree == _EXPONENTIAL for phi in rows.pair.phis)


def discrete(rows: BoostedRows, slots: np.ndarray, sums: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Leaves of one size: the sign is that of the larger sum of slopes."""
    return _along(rows, slots, sums, np.where(sums[:, 4] < 0, 1.0, -1.0))


def gradient(rows: BoostedRows, slots: np.ndarray, sums: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Newton steps, times the best length."""
    with np.errstate(divide="ignore", invalid="ignore"):
        direction = np.where(sums[:, 5] > 0, -sums[:, 4] / sums[:, 5], 0.0)
    return _along(rows, slots, sums, direction)


def real(rows: BoostedRows, slots: np.ndarray, sums: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """The minimum of each leaf."""
    if has_closed_form(rows):
        negative, positive = np.abs(rows.pair.scales)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.nan_to_num(
                np.log(-sums[:, 1] / sums[:, 0]) / (negative + positive), posinf=np.inf, neginf=-np.inf
            )
        most = -np.log(LIMITS.least_slope)
        return np.clip(value, -most / negative, most / positive)
    return _leaf_minima(rows, slots, sums, pairs)


def _leaf_minima(rows: BoostedRows, slots: np.ndarray, sums: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """By bracketed Newton steps of all leaves at once, each in the direction in which its loss falls."""
    leaves = np.arange(len(sums))
    way = -np.sign(sums[:, 0] + sums[:, 1])
    favoured = (way > 0).astype(np.intp)
    least = LIMITS.least_slope * np.abs(sums[leaves, favoured])
    size = np.abs(sums[:, :2]).sum(axis=1)
    unit = 1 / float(np.abs(rows.pair.scales).max())
    low, high, at = np.zeros(len(sums)), np.full(len(sums), np.inf), np.zeros(len(sums))
    found = sums
    for _ in range(200):
        slope, curvature = way * (found[:, 0] + found[:, 1]), found[:, 2] + found[:, 3]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            newton = at - slope / curvature
        most = np.minimum(high, 4 * np.maximum(at, unit))
        at = np.where((newton > low) & (newton < most), newton, np.minimum(low + (high - low) / 2, most))
        rows.along(rows.spread(slots, way * at), 1.0)
        found = rows.leaf_sums(slots, len(sums), pairs)
        slope = way * (found[:, 0] + found[:, 1])
        beyond = np.abs(found[leaves, favoured]) < least
        flat = (np.abs(slope) <= _FLAT * size) & ~beyond
        too_far = (slope > 0) | beyond
        low, high = np.where(too_far & ~flat, low, at), np.where(too_far | flat, at, high)
        if (((high - low <= 1e-12 * high) & np.isfinite(high)) | (way == 0)).all():
            break
    rows.along(np.zeros(slots.size), 0.0)
    return np.asarray(way * low)


def _along(rows: BoostedRows, slots: np.ndarray, sums: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """A direction, one number per leaf, times the length at which the loss is least."""
    negatives, positives = sums[:, 0], sums[:, 1]
    promised = float(direction @ (negatives + positives))
    if not promised < 0:
        return np.zeros_like(direction)
    if has_closed_form(rows):
        s = rows.pair.scales

        def trial(step: float) -> tuple[float, float]:
            with np.errstate(over="ignore", invalid="ignore"):
                down = negatives * np.exp(-s[0] * step * direction)
                up = positives * np.exp(-s[1] * step * direction)
                slope = float(direction @ (down + up))
                return slope, float(-(direction**2) @ (s[0] * down + s[1] * up))

    else:
        each = rows.spread(slots, direction)

        def trial(step: float) -> tuple[float, float]:
            return rows.along(each, step)[1:]

    step = exact_step(trial, promised, flat=_FLAT)
    if not has_closed_form(rows):
        rows.along(np.zeros(slots.size), 0.0)
    return step * direction


#: How the leaves get their values: from the rows, their leaves, sums over the leaves, and the pairs of the rows.
ALGORITHMS: dict[str, Callable[[BoostedRows, np.ndarray, np.ndarray, np.ndarray], np.ndarray]] = {
    "discrete": discrete,
    "real": real,
    "gradient": gradient,
}


# -- one tree after the other ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BoostSettings:
    """How to boost.

    Attributes
    ----------
    rounds : int
    rate : float
        The share of each step that is taken, at most 1.
    depth : int
    algorithm : {"discrete", "real", "gradient"}
    masses : ndarray
        What each row counts for ``least_mass``.
    least_mass : float
        The least mass of a leaf; 0: any.
    """

    rounds: int
    rate: float
    depth: int
    algorithm: str
    masses: np.ndarray
    least_mass: float = 0.0
    progress: Progress = silent


@dataclass(frozen=True)
class Round:
    """One round: its tree, its shape in bins, and the loss after it."""

    tree: Trees
    shape: Shape
    loss: float


def best_constant(rows: BoostedRows) -> float:
    """The number that, added to all scores, makes the loss least; the rows are moved by it."""
    ones = np.ones(rows.y.size)
    slope = rows.along(ones, 0.0)[1]
    if slope == 0.0:
        return 0.0
    direction = -np.sign(slope) * ones
    step = exact_step(lambda at: rows.along(direction, at)[1:], -abs(slope), flat=1e-12)
    rows.along(direction, 0.0)
    return float(step * direction[0]) if rows.move(direction, step) else 0.0


def boost(rows: BoostedRows, data: Binned, settings: BoostSettings) -> Iterator[Round]:
    """Rounds of boosting; fewer than asked for if no tree lowers the loss any more."""
    values = ALGORITHMS[settings.algorithm]
    at_start = float(np.abs(rows.slopes).sum())
    for number in range(settings.rounds):
        tried = _round(rows, data, settings, values)
        if tried is None:
            settings.progress(f"round {number + 1}: no tree lowers the loss {rows.loss:.6g} any further")
            return
        settings.progress(f"round {number + 1}: loss {rows.loss:.6g}")
        yield tried
        if not float(np.abs(rows.slopes).sum()) > 1e-9 * at_start:  # the loss cannot fall any further
            return


def _round(
    rows: BoostedRows,
    data: Binned,
    settings: BoostSettings,
    values: Callable[[BoostedRows, np.ndarray, np.ndarray, np.ndarray], np.ndarray],
) -> Round | None:
    """One round; None if its tree does not lower the loss."""
    pairs = rows.pairs()
    shape = grow(data, pairs, settings.depth, settings.masses, settings.least_mass)
    if (shape.features < 0).all():
        return None
    sums = rows.leaf_sums(shape.slots, 2**settings.depth, pairs)
    leaves = settings.rate * values(rows, shape.slots, sums, pairs)
    before = rows.loss
    if not rows.move_leaves(shape.slots, leaves) or not rows.loss < before:
        return None
    found = shape.features >= 0
    thresholds = np.where(found, data.thresholds[np.maximum(shape.features, 0), shape.cuts], np.inf)
    tree = Trees(
        shape.features[None],
        thresholds[None],
        shape.missing_left[None],
        shape.gains[None],
        leaves[None],
    )
    return Round(tree, shape, rows.loss)
