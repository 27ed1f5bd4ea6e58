r"""The measure over alpha that a loss puts on its scores, in floats.

With N = L-1' and P = -L1', the slope of the conditional risk at eta is :math:`g(t)\,(q(t) - \eta)`, where g = N + P and
q = N/g. If q does not fall, the loss is the mean over :math:`d\mu = g\,dt` at c = q(t) of the costs of the rule
"positive if q(t) > c" (docs/theory.md). The mass between two scores is the growth of L-1 - L1 between them: no integral
is needed. What lies at c = 0 and c = 1 is no cost ratio and is left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from uneven.expression import derivative
from uneven.losses import Loss
from uneven.losses.margin_function import widths
from uneven.shape.kinks import switch_points

Array = np.ndarray

#: Scores at which a piece of the loss is sampled: fractions of a bounded piece, distances from the end of an open one.
_SHARES = np.concatenate([[1e-9, 1e-6, 1e-3], np.linspace(0.01, 0.99, 99), 1 - np.array([1e-3, 1e-6, 1e-9])])
_DISTANCES = np.concatenate([[1e-9, 1e-6], 2.0 ** np.arange(-12, 12, 0.25), 10.0 ** np.arange(4, 16)])
#: The log-odds of q may fall by this much through rounding; a piece on which they move by less is a point mass.
_ROUNDING = 1e-8
_HALVINGS = 120
#: Quotients of smaller slopes lose digits.
_NORMAL = 1e-290


@dataclass(frozen=True)
class Fall:
    """Two scores between which q falls, so that there is no measure; or one at which both losses fall or rise."""

    first: float
    second: float


class ScoreMeasure:
    """Scores at which 0 < q < 1 with the log-odds of q, in order; and what is asked of them."""

    def __init__(self, loss: Loss) -> None:
        self.loss = loss
        self._positive, self._negative = loss.partials
        pieces = self._pieces()
        places = [self._samples(low, high) for low, high in pieces]
        self._masses: list[tuple[float, float, float]] = []  # log-odds and both ends of the scores
        t, odds = [], []
        for (low, high), sampled in zip(pieces, places, strict=True):
            rising, falling = self.slopes(sampled)
            active = (np.minimum(rising, falling) > _NORMAL) & np.isfinite(rising + falling)
            own = np.log(rising[active]) - np.log(falling[active])
            t.append(sampled[active])
            odds.append(own)
            if own.size and np.ptp(own) <= _ROUNDING:
                self._masses.append((float(np.median(own)), low, high))
        self.jumps = self._jumps([high for _, high in pieces[:-1]])
        for own_odds, before, after in self.jumps:
            t.append(np.array([before, after]))
            odds.append(np.array([own_odds, own_odds]))
        self._masses += self.jumps
        every = np.concatenate(t)
        order = np.argsort(every, kind="stable")
        self.t, self._found = every[order], np.concatenate(odds)[order]
        self.log_odds = np.maximum.accumulate(self._found) if every.size else self._found
        self._all = np.unique(np.concatenate(places))

    def _pieces(self) -> list[tuple[float, float]]:
        found = {0.0} if not self._switches else set(self._switches)
        ends = [-math.inf, *sorted(found), math.inf]
        return list(pairwise(ends))

    @cached_property
    def _switches(self) -> set[float]:
        trees = [partial.tree for partial in self.loss.partials]
        points = [point for tree in trees for form in (tree, derivative(tree)) for point in switch_points(form)]
        return {float(point) for point in points}

    def _samples(self, low: float, high: float) -> Array:
        if math.isfinite(low) and math.isfinite(high):
            return np.unique(low + (high - low) * _SHARES)
        width = np.unique(np.multiply.outer(sorted(widths(self.loss)), _DISTANCES))
        if math.isinf(low):
            return np.unique(high - width)
        return np.unique(low + width)

    def _jumps(self, places: list[float]) -> list[tuple[float, float, float]]:
        """Where both losses jump: the log-odds of the jumps, and the doubles before and after them."""
        found = []
        for place in places:
            step = 8 * math.ulp(max(abs(place), 1e-300))
            sides = np.array([place - step, place + step])
            on_negatives, on_positives = self._negative.value(sides), self._positive.value(sides)
            up, down = float(np.diff(on_negatives)[0]), -float(np.diff(on_positives)[0])
            around = np.array([place - 1, place + 1])  # a kink where both losses are 0 is no jump
            sizes = [1e-9 * partial.value(around).max() for partial in (self._negative, self._positive)]
            if up > sizes[0] and down > sizes[1]:
                found.append((math.log(up) - math.log(down), *sides.tolist()))
        return found

    def slopes(self, t: Array) -> tuple[Array, Array]:
        """N and P: how fast the loss of a negative rises, and that of a positive falls."""
        return self._negative.slope(t), -self._positive.slope(t)

    @cached_property
    def fall(self) -> Fall | None:
        """Where q falls by more than rounding, or where both losses move the same way against every decision."""
        rising, falling = self.slopes(self._all)
        astray = (rising < -_ROUNDING) & (falling < -_ROUNDING)
        if astray.any():
            at = float(self._all[astray][0])
            return Fall(at, at)
        drop = self.log_odds - self._found
        if not drop.size or drop.max() <= _ROUNDING:
            return None
        second = int(np.argmax(drop))
        return Fall(float(self.t[int(np.argmax(self._found[: second + 1]))]), float(self.t[second]))

    def amount(self, t: Array, money: bool) -> Array:
        """L-1 - L1, or L-1 alone: what it grows by is the mass, or the mass times c."""
        with np.errstate(invalid="ignore"):
            grown = self._negative.value(t)
            if not money:
                grown = grown - self._positive.value(t)
        for k in np.flatnonzero(np.isinf(t)):
            side = 0 if t[k] < 0 else 1
            ends = [self._negative.limits[side], 0.0 if money else self._positive.limits[side]]
            grown[k] = ends[0] - ends[1] if not all(map(math.isinf, ends)) else math.copysign(math.inf, t[k])
        return grown

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The scores between which q is strictly between 0 and 1; infinite if there is no such end."""
        return self._end(self.t[0], -1), self._end(self.t[-1], 1)

    def _end(self, inner: float, side: int) -> float:
        beyond = self._all[(self._all - inner) * side > 0]
        piece = max(piece for piece in self._pieces() if piece[0] < inner)
        near = beyond[(piece[0] < beyond) & (beyond < piece[1])]
        # Within one formula, a slope of 0 is one that is too small for a double; clearly below 0, it is beyond an end.
        around = self.t[np.abs(self.t) <= 64 * max(widths(self.loss))]
        crossed = any(
            (slope < -_ROUNDING * usual.max(initial=0.0)).any()
            for slope, usual in zip(self.slopes(near), self.slopes(around), strict=True)
        )
        if math.isinf(piece[0] if side < 0 else piece[1]) and not crossed:
            return side * math.inf
        low, high = inner, float(beyond[0] if side > 0 else beyond[-1])
        for _ in range(_HALVINGS):
            middle = low / 2 + high / 2
            rising, falling = self.slopes(np.array([middle]))
            within = rising[0] > 0 and falling[0] > 0
            low, high = (middle, high) if within else (low, middle)
        return low

    def score(self, ratio: Array) -> Array:
        """The least score that decides positive for a ratio or at its own; an end of the scores if there is none."""
        start, end = self.ends
        with np.errstate(divide="ignore"):
            index = np.searchsorted(self.log_odds, -np.log(ratio), side="left")
        inner = np.concatenate([[max(start, -1e300)], self.t, [min(end, 1e300)]])
        low, high = inner[index].copy(), inner[index + 1].copy()
        for _ in range(_HALVINGS):
            middle = _between(low, high)
            rising, falling = self.slopes(middle)
            with np.errstate(invalid="ignore", over="ignore"):
                reached = ~(ratio * rising < falling)
            low, high = np.where(reached, low, middle), np.where(reached, middle, high)
        high = np.where((index == 0) & (high <= -1e299), start, high)
        return np.where((index == self.t.size) & (high >= 1e299), end, high)

    def score_of(self, amount: Array, money: bool) -> Array:
        """The largest score with at most this amount."""
        start, end = self.ends
        inner = np.concatenate([[max(start, -1e300)], self.t, [min(end, 1e300)]])
        index = np.searchsorted(np.maximum.accumulate(self.amount(self.t, money)), amount, side="right")
        low, high = inner[index].copy(), inner[index + 1].copy()
        for _ in range(_HALVINGS):
            middle = _between(low, high)
            over = self.amount(middle, money) > amount
            low, high = np.where(over, low, middle), np.where(over, middle, high)
        return low

    def ratio(self, t: Array) -> Array:
        """The ratio (1 - q)/q at a score; where both losses are flat, that of the nearest score below."""
        rising, falling = self.slopes(t)
        sure = (np.minimum(rising, falling) > _NORMAL) & np.isfinite(rising + falling)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            own = falling / rising
            before = np.exp(-self.log_odds[np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, self.t.size - 1)])
        return np.where(sure, own, before)

    def density(self, alpha: Array) -> Array:
        """dmu/dc = g^3/(N' P - N P'), 0 where q skips alpha."""
        t = np.clip(self.score((1 - alpha) / alpha), *self.ends)
        rising, falling = self.slopes(t)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            bend = self._negative.curvature(t) * falling + rising * self._positive.curvature(t)
            found = (rising + falling) ** 2 / bend * (rising + falling)
            there = np.abs(rising * (1 - alpha) - falling * alpha) <= 1e-6 * (rising + falling) * alpha * (1 - alpha)
        return np.where(there & (bend > 0), found, 0.0)

    def points(self, money: bool) -> list[tuple[float, float]]:
        """Ratios that have a mass of their own, and the masses."""
        if not self.t.size:
            return []
        start, end = self.ends
        found: dict[float, float] = {}
        for own_odds, low, high in self._masses:
            mass = float(np.diff(self.amount(np.array([max(low, start), min(high, end)]), money))[0])
            same = next((known for known in found if abs(known - own_odds) <= _ROUNDING), own_odds)
            found[same] = found.get(same, 0.0) + mass
        return sorted((math.exp(-own_odds), mass) for own_odds, mass in found.items())


def _between(low: Array, high: Array) -> Array:
    """A point that halves a bracket: in size if its ends differ much in it, else in length."""
    wide = (np.abs(low - high) > 8) & (np.maximum(np.abs(low), np.abs(high)) > 8)
    with np.errstate(over="ignore"):
        return np.where(wide, np.sinh((np.arcsinh(low) + np.arcsinh(high)) / 2), low / 2 + high / 2)
