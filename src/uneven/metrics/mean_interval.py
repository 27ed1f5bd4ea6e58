r"""The interval of a mean cost: exact for one kind of mistake, and aware of mistakes that no row has shown yet.

A row pays x and weighs z; the cost is :math:`\theta = E x / E z`. Give each row a random weight, exponential and
independent, and add one row that was not seen: for the upper end the dearest outcome that can happen, for the lower end
the cheapest. The ends are quantiles of the ratio under these weights (the bound of Gaffke, 2005). If rows pay one of
two amounts, this is the interval of Clopper and Pearson (1934), and its coverage is a theorem. For more amounts that
are known beforehand, coverage is conjectured; no counterexample is known to us.

No weights are drawn. The probability that :math:`\sum_i (x_i - \theta z_i) E_i \le 0` comes from the saddlepoint
formula of Lugannani and Rice (1980) in the form of Barndorff-Nielsen. Its exponent is the empirical likelihood ratio:
the ends lie where the Kullback-Leibler divergence from the rows, with the unseen one among them, reaches a limit.

If costs differ from row to row, nobody knows the dearest outcome. :func:`_unseen` estimates it from the costs of all
rows of the class, which are known whether the row was missed or not. This part is chosen by simulation
(``benchmarks/interval_coverage.py``), not proved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

#: More rows than this are put into groups of nearly the same numbers, so that the time hardly depends on the rows.
_MOST_ROWS = 4096
#: Leading bits of a double that rows of a group share: sign, exponent and 6 bits of the fraction (1.6 %).
_SHARED_BITS = 18
#: The same if weights differ as well: 3 bits of the fraction (12 %); the variance changes by a thousandth.
_SHARED_BITS_OF_PAIRS = 15
#: The unseen row costs what the dearest rows cost on average: a share 1/(k (mistakes + 1)) of the rows of its class. k
#: is 0.5, and 1.35 more times the part of the noise that is on this side of the middle.
_ROWS_PER_MISTAKE, _ROWS_PER_NOISE = 0.5, 1.35
#: Rows of a class are a sample too, and show less of a heavy tail than there is. The unseen row is dearer by this many
#: times the share of the dearest row, and by this much if all rows of the class were mistakes (and in between by the
#: power 1.5 of their share); both along the tail.
_FOR_DEAREST, _FOR_ALL_MISTAKEN, _MISTAKEN_POWER = 18.0, 0.8, 1.5
#: How far the unseen row leans to the dear side of what was seen, in standard errors of the power.
_LEANING = 0.5
#: The Hill estimate of the tail comes from the dearest tenth of the rows, and at least from 5 rows; it is raised by 4
#: standard errors, because a few rows show less of a tail than there is, and cut at 0.9.
_TAIL_SHARE, _TAIL_ROWS, _TAIL_ERRORS, _HEAVIEST = 0.1, 5, 4.0, 0.9
#: An end that lies farther than 2^60 standard errors away is none: the ratio has no bound on that side.
_MOST_DOUBLINGS = 60
#: An interval is rough if one row alone has more than this share of what the rows of its class could cost.
_DOMINANT = 0.2


@dataclass(frozen=True)
class CountedRows:
    """What rows pay and weigh, and how many there are of each kind.

    Attributes
    ----------
    x, z, count : ndarray of shape (kinds,)
        What a row pays times its weight, its weight, and the number of such rows.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.metrics.mean_interval import CountedRows
    >>> many = CountedRows.of(np.random.default_rng(0).lognormal(size=100_000))
    >>> many.x.size < 2000, round(float(many.count.sum()))
    (True, 100000)
    """

    x: np.ndarray
    z: np.ndarray
    count: np.ndarray

    @classmethod
    def of(cls, x: np.ndarray, z: np.ndarray | None = None) -> CountedRows:
        """Single rows, without weights if ``z`` is None."""
        return cls(x, np.ones(x.size) if z is None else z, np.ones(x.size)).grouped(_MOST_ROWS)

    @classmethod
    def alike(cls, x: float, count: float, z: float = 1.0) -> CountedRows:
        """Rows that all pay and weigh the same."""
        return cls(*(np.full(1 if count > 0 else 0, number, dtype=np.float64) for number in (x, z, count)))

    def joined(self, other: CountedRows) -> CountedRows:
        """Both, such as those of two parts of a file."""
        pairs = ((self.x, other.x), (self.z, other.z), (self.count, other.count))
        return CountedRows(*(np.concatenate(pair) for pair in pairs)).grouped(_MOST_ROWS)

    def grouped(self, most: int = 0) -> CountedRows:
        """The same if there are at most so many; else rows of nearly the same numbers become one kind."""
        if self.x.size <= most:
            return self
        same = bool((self.z == self.z[0]).all())
        bits = _SHARED_BITS if same else _SHARED_BITS_OF_PAIRS
        group = _number_groups(self.x, bits)
        if not same:
            weights = _number_groups(self.z, bits)
            group = group * (int(weights.max()) + 1) + weights
        count = np.bincount(group, self.count)
        some = count > 0
        x, z = (np.bincount(group, self.count * part)[some] / count[some] for part in (self.x, self.z))
        return CountedRows(x, z, count[some])


def _number_groups(values: np.ndarray, bits: int) -> np.ndarray:
    """Numbers of the groups of doubles that share their leading bits: sign, exponent and some of the fraction."""
    leading = np.ascontiguousarray(values, dtype=np.float64).view(np.int64) >> (64 - bits)
    leading -= leading.min()
    return np.asarray((np.cumsum(np.bincount(leading) > 0) - 1)[leading])


@dataclass(frozen=True)
class Cell:
    """One outcome, such as a miss.

    Attributes
    ----------
    seen : CountedRows
        The rows with this outcome.
    possible : CountedRows
        All rows of the class, seen or not with this outcome, as if they had it.
    has_tail : bool
        Whether a row dearer than any of these may come. Not for sums over groups, where all rows already have the
        outcome at once.
    """

    seen: CountedRows
    possible: CountedRows
    has_tail: bool = True

    def joined(self, other: Cell) -> Cell:
        """Both, such as those of two parts of a file."""
        return Cell(self.seen.joined(other.seen), self.possible.joined(other.possible), self.has_tail)

    def scaled(self, x: float, z: float) -> Cell:
        """In other units of what rows pay and weigh."""
        seen, possible = (replace(rows, x=rows.x / x, z=rows.z / z) for rows in (self.seen, self.possible))
        return replace(self, seen=seen, possible=possible)


@dataclass(frozen=True)
class MeanInterval:
    """Ends of an interval, and whether it is rough: one row alone has a fifth of what its class could cost."""

    low: float
    high: float
    rough: bool


def mean_interval(cells: Sequence[Cell], *, worth: float = 1.0, confidence: float = 0.95) -> MeanInterval:
    """The interval of a ratio of means.

    Parameters
    ----------
    cells : sequence of Cell
        All outcomes that can happen. Their ``seen`` rows together are the rows.
    worth : float
        What a row counts: less than 1 if more varies than the rows, such as the training set of a fold. The unseen row
        counts the square root of it.
    confidence : float

    Examples
    --------
    40 rows of 1,000 pay 20, none pays 500 but could:

    >>> from uneven.metrics.mean_interval import Cell, CountedRows, mean_interval
    >>> def cell(cost, rows, of): return Cell(CountedRows.alike(cost, rows), CountedRows.alike(cost, of))
    >>> found = mean_interval([cell(0, 960, 1000), cell(20, 40, 990), cell(500, 0, 10)])
    >>> round(found.low, 2), round(found.high, 2)
    (0.57, 2.66)

    If nothing can happen but to pay 20 or not, this is the interval of Clopper and Pearson:

    >>> found = mean_interval([cell(0, 960, 1000), cell(20, 40, 1000)])
    >>> round(found.low, 4), round(found.high, 4)
    (0.5746, 1.0815)
    """
    rows = reduce(CountedRows.joined, (cell.seen for cell in cells))
    scale = max((float(np.abs(cell.possible.x).max(initial=0.0)) for cell in cells), default=0.0)
    scale = max(scale, float(np.abs(rows.x).max())) or 1.0
    weigh = float(rows.z.max())
    rows = replace(rows, x=rows.x / scale, z=rows.z / weigh)
    scaled = [cell.scaled(scale, weigh) for cell in cells]
    estimate = float(rows.count @ rows.x / (rows.count @ rows.z))
    middle = _median(rows.x / rows.z, rows.count) if (rows.z > 0).all() else estimate
    ends, rough = [], False
    for side in (-1, 1):
        other_side = float(rows.count @ np.minimum(side * (rows.x - middle * rows.z), 0.0) ** 2)
        unseen = max((_unseen(cell, estimate, side, other_side) for cell in scaled), key=lambda one: one.more)
        if unseen.more <= 0 and not (side * (rows.x - estimate * rows.z) > 0).any():
            ends.append(estimate)
            continue
        x, z = np.append(rows.x, unseen.x), np.append(rows.z, unseen.z)
        mass = np.append(worth * rows.count, math.sqrt(worth))
        ends.append(_quantile(x, z, mass, side, (1 + confidence) / 2))
        rough |= unseen.rough
    unit = scale / weigh
    return MeanInterval(unit * min(ends[0], estimate), unit * max(ends[1], estimate), rough)


def share_interval(share: float, rows: float, confidence: float = 0.95) -> tuple[float, float]:
    """The interval of Clopper and Pearson of a share of so many rows.

    Examples
    --------
    >>> from uneven.metrics.mean_interval import share_interval
    >>> [round(end, 4) for end in share_interval(0.0, 100)]  # 3.6 of 100, although none was seen
    [0.0, 0.0362]
    """
    from scipy.special import betaincinv

    yes, no, tail = share * rows, (1 - share) * rows, (1 - confidence) / 2
    low = float(betaincinv(yes, no + 1, tail)) if yes > 0 else 0.0
    return low, float(betaincinv(yes + 1, no, 1 - tail)) if no > 0 else 1.0


# -- the row that was not seen ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Unseen:
    """What a row pays times its weight, its weight, how far that is from the estimate; whether one row decides it."""

    x: float
    z: float
    more: float
    rough: bool = False


def _unseen(cell: Cell, estimate: float, side: int, other_side: float) -> _Unseen:
    """The dearest outcome of a cell; ``other_side`` is the sum of squares of rows on the other side of the middle.

    If all rows of the class would pay the same, that is it. Else the mean of the dearest rows of the class: of a share
    1/(k (N + 1)), where N is the number of such mistakes seen, because what lies beyond is rarely among N. Rows count
    as a power of their cost, which is above 0 if the mistakes seen are among the dear rows, and below 0 if they are
    among the cheap ones. If the share is less than one row, the dearest cost is raised along a tail of Pareto's form.

    The rows of the class are a sample too. So the unseen row is dearer than that, along the same tail, if one row has
    a large share of the class, or if the mistakes are nearly all rows that are known.

    Mistakes on the other side make the mean vary as well. Then the unseen row need not be as dear: k falls from 1.85 to
    0.5. The middle is the median row, so that rows that pay nothing are on no side.
    """
    rows = cell.possible
    more = side * (rows.x - estimate * rows.z)
    some = more > 1e-12
    if not some.any():
        return _Unseen(estimate, 1.0, 0.0)
    alike = float(more.max() - more.min()) <= 1e-9 * float(more.max())
    order = np.flatnonzero(some)[np.argsort(-more[some], kind="stable")]
    more, x, z, count = (part[order] for part in (more, rows.x, rows.z, rows.count))
    if alike:
        return _Unseen(float(x[0]), float(z[0]), float(more[0]))
    rough = bool(more[0] > _DOMINANT * (count @ more))
    found = side * (cell.seen.x - estimate * cell.seen.z)
    dear = found > 1e-12
    found, times = found[dear], cell.seen.count[dear]
    weights = _lean(np.log(more), count, np.log(found), times)
    mistakes, this_side = float(times.sum()), float(times @ found**2) + float(weights @ more) ** 2
    noise = this_side / (this_side + other_side)
    share = 1 / ((_ROWS_PER_MISTAKE + _ROWS_PER_NOISE * noise) * (mistakes + 1))
    row = float(weights[0] / count[0])
    part = np.clip(share - (np.cumsum(weights) - weights), 0.0, weights) / share
    mean, weigh = float(part @ more), float(part @ z)
    if cell.has_tail:
        mistaken = min(mistakes / float(count.sum()), 1.0)
        raised = 1 + _FOR_DEAREST * row * (1 - mistaken) + _FOR_ALL_MISTAKEN * mistaken**_MISTAKEN_POWER
        mean *= (max(row / share, 1.0) * raised) ** _tail(more, count)
    return _Unseen(estimate * weigh + side * mean, weigh, mean, rough)


def _median(values: np.ndarray, count: np.ndarray) -> float:
    """The middle of values that occur so often."""
    order = np.argsort(values)
    below = np.cumsum(count[order])
    return float(values[order][np.searchsorted(below, below[-1] / 2)])


def _lean(log_more: np.ndarray, count: np.ndarray, log_found: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Shares of the rows, proportional to a power of their costs that fits the mistakes found, on the dear side."""
    mistakes, rows = float(found.sum()), float(count.sum())
    if log_more[0] - log_more[-1] < 1e-9:
        return np.asarray(count / rows)
    mean = float(found @ log_found / mistakes) if mistakes else 0.0
    power, prior = 0.0, 0.0
    for _ in range(50):
        exponent = power * log_more
        weights = count * np.exp(exponent - exponent.max())
        weights /= weights.sum()
        middle = float(weights @ log_more)
        spread = float(weights @ (log_more - middle) ** 2)
        prior = prior or spread
        step = (mistakes * (mean - middle) * (mistakes > 0) - power * prior) / (mistakes * spread + prior)
        step = min(max(step, -1.0), 1.0)
        if abs(step) < 1e-6:
            break
        power += step
    error = math.sqrt(max(1 - mistakes / rows, 0.0) / (mistakes * spread + prior))
    exponent = (power + _LEANING * error) * log_more
    weights = count * np.exp(exponent - exponent.max())
    return np.asarray(weights / weights.sum())


def _tail(more: np.ndarray, count: np.ndarray) -> float:
    """The Hill estimate of the exponent of a Pareto tail, raised by its error."""
    rows = float(count.sum())
    top = min(max(_TAIL_ROWS, _TAIL_SHARE * rows), rows - 1)
    if top < 1:
        return 0.0
    cut = int(np.searchsorted(np.cumsum(count), top, side="right"))
    part = np.clip(top - (np.cumsum(count) - count), 0.0, count)
    logs = np.log(more / more[min(cut, more.size - 1)])
    return min(float(part @ logs / top) * (1 + _TAIL_ERRORS / math.sqrt(top)), _HEAVIEST)


# -- quantiles of a ratio of sums with exponential weights ------------------------------------------------------------


def _quantile(x: np.ndarray, z: np.ndarray, mass: np.ndarray, side: int, probability: float) -> float:
    """A quantile of sum x G / sum z G for gamma weights G of these masses; for side -1 that of 1 - probability."""
    from scipy.special import ndtri

    if (z == z[0]).all() and np.unique(x).size == 2:
        return _two_values(x, float(z[0]), mass, side, probability)
    mean = float(mass @ x / (mass @ z))
    spread = float(np.sqrt(mass @ (x - mean * z) ** 2) / (mass @ z))
    wanted = float(ndtri(probability))

    def short(end: float) -> float:
        return side * _signed_root(x - end * z, mass) - wanted

    near, far = mean + 0.01 * side * spread, mean + side * spread
    for _ in range(_MOST_DOUBLINGS):
        if short(far) >= 0:
            break
        near, far = far, mean + 2 * (far - mean)
    return _root(short, near, far)


def _two_values(x: np.ndarray, z: float, mass: np.ndarray, side: int, probability: float) -> float:
    """The same if rows pay one of two amounts: a quantile of a beta distribution."""
    from scipy.special import betaincinv

    low, high = float(x.min()), float(x.max())
    parts = float(mass[x == high].sum()), float(mass[x == low].sum())
    share = float(betaincinv(*parts, probability if side > 0 else 1 - probability))
    return (low + (high - low) * share) / z


def _signed_root(a: np.ndarray, mass: np.ndarray) -> float:
    """The r* of Barndorff-Nielsen: a standard normal quantile whose probability is that of sum a G <= 0."""
    lowest, highest = float(a.min()), float(a.max())
    if highest <= 0 or lowest >= 0:
        return 40.0 if highest <= 0 else -40.0  # as good as certain
    slope = float(mass @ a)
    low, high = (0.0, 1 / highest) if slope <= 0 else (1 / lowest, 0.0)
    s = -slope / float(mass @ a**2)
    for _ in range(100):
        if not low < s < high:
            s = 0.5 * (low + high)
        part = a / (1 - s * a)
        slope, curvature = float(mass @ part), float(mass @ part**2)
        low, high = (s, high) if slope < 0 else (low, s)
        step = slope / curvature
        s -= step
        if abs(step) <= 1e-9 * abs(s):
            break
    part = np.clip(s * a, None, 1 - 1e-15)
    exponent = float(mass @ np.log1p(-part))
    r = math.copysign(math.sqrt(max(2 * exponent, 1e-300)), s)
    u = s * math.sqrt(float(mass @ (a / (1 - part)) ** 2))
    return r + math.log(u / r) / r if abs(r) > 1e-4 else r


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """A zero between two places of opposite signs; the far end if there is none, so that an interval is never short."""
    from scipy.optimize import brentq

    if function(low) >= 0:
        return low
    return float(brentq(function, low, high, xtol=1e-12 * max(abs(low), abs(high), 1e-300), rtol=1e-10))
