"""The losses of both classes, compiled or for few rows by NumPy, and the facts about them that solvers need."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, Generic, TypeVar

import numpy as np

from uneven.errors import ExpressionError, LossError, SolverError
from uneven.expression import Node
from uneven.inputs import to_float
from uneven.losses import Loss, Phi
from uneven.losses.margin_function import smooth_switches
from uneven.ops.kernels import CompiledPhi, compile_kernel
from uneven.shape.kinks import is_piecewise_linear, kinks_and_jumps, switch_points
from uneven.shape.pieces import Undecidable
from uneven.solvers import loops

#: Margins at which slopes are read: from far left to far right, dense around 0.
_SIZES = 2.0 ** np.arange(-20.0, 40.0)
_MARGINS = np.concatenate([-_SIZES[::-1], [0.0], _SIZES])
#: Rows up to which NumPy is about as fast as compiled code, and starts no compiler, which would take much longer than a
#: small fit. With more rows, its temporary arrays leave the cache.
MOST_ROWS = 5000


def _name(phi: Phi) -> str:
    """A phi as messages name it."""
    return repr(phi.name or phi.text)


Fact = TypeVar("Fact")


class _fact(Generic[Fact]):  # noqa: N801 - used as a decorator, like cached_property
    """A property that is computed once for a pair and all its multiples."""

    def __init__(self, function: Callable[[Any], Fact]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    def __get__(self, pair: PairOfLosses, owner: type) -> Fact:
        name = self.function.__name__
        if name not in pair._facts:
            pair._facts[name] = self.function(pair)
        fact: Fact = pair._facts[name]
        return fact


@dataclass(frozen=True)
class PairOfLosses:
    """Compiled losses of the negative and the positive class: weight * phi(scale * score)."""

    phis: tuple[Phi, Phi]
    kernels: tuple[CompiledPhi, CompiledPhi]
    weights: np.ndarray
    scales: np.ndarray
    _facts: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, loss: Loss, *, weighted: bool = True) -> PairOfLosses:
        """The two partial losses of a loss, with or without the weights of its alpha."""
        positive, negative = loss.partials
        phis = []
        for partial in (negative, positive):
            if not isinstance(partial.function, Phi):
                raise LossError(
                    f"a learner needs the loss as expressions, but {loss!r} was given as Python functions; written in "
                    "the little language, such as uneven.Loss('exp(-t)', 'exp(t)'), it would work"
                )
            phis.append(partial.function)
        alpha = loss.exact_alpha
        inside = (alpha, 1 - alpha) if alpha is not None and not weighted else (1, 1)
        return _compile(
            (phis[0], phis[1]),
            np.array([to_float(negative.weight / inside[0]), to_float(positive.weight / inside[1])]),
            np.array([to_float(partial.inner) for partial in (negative, positive)]),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Without the compiled functions: another process compiles them itself, or finds them on its disk."""
        return _compile, (self.phis, self.weights, self.scales)

    def times(self, factors: np.ndarray) -> PairOfLosses:
        """The same losses times a factor for each class; what is known about them is kept."""
        return replace(self, weights=self.weights * factors)

    @_fact
    def convex(self) -> bool:
        """Whether both phis are known to be convex."""
        return self.why_not_convex is None

    @_fact
    def kinked(self) -> bool:
        """Whether a phi has a kink."""
        return self.why_not_smooth is not None

    @_fact
    def polygons(self) -> bool:
        """Whether both phis are made of straight pieces."""
        return all(is_piecewise_linear(phi.tree) for phi in self.phis)

    @_fact
    def names(self) -> str:
        """Both phis as messages name them."""
        return " and ".join(dict.fromkeys(map(_name, reversed(self.phis))))

    @_fact
    def why_not_convex(self) -> str | None:
        """None, or which phi is not known to be convex."""
        return next((f"{_name(phi)} is not known to be convex" for phi in self.phis if not phi.convex), None)

    @_fact
    def why_not_smooth(self) -> str | None:
        """None, or which phi has a kink and where."""
        return next((f"{_name(phi)} has a kink at t = {phi.kinks[0]:g}" for phi in self.phis if phi.kinks), None)

    @_fact
    def why_not_straight(self) -> str | None:
        """None if both phis are straight pieces that meet at kinks; else which is not."""
        for phi in self.phis:
            if not is_piecewise_linear(phi.tree):
                return f"{_name(phi)} has a curved piece"
            if not phi.kinks:
                return f"{_name(phi)} has no kink"
        return None

    @_fact
    def of_one_piece(self) -> bool:
        """Whether neither formula changes anywhere."""
        return not any(switch_points(phi.tree) for phi in self.phis)

    @_fact
    def infima(self) -> tuple[float, float]:
        """Lower bounds of the two convex phis."""
        negative, positive = (infimum(*both) for both in zip(self.phis, self.kernels, strict=True))
        return negative, positive

    @cached_property
    def at_zero(self) -> np.ndarray:
        """Weighted losses of both classes at the score 0."""
        return self._values_at_zero * self.weights

    @_fact
    def _values_at_zero(self) -> np.ndarray:
        return np.array([kernel.plain.first(np.zeros(1))[0][0] for kernel in self.kernels])

    @_fact
    def kinks_and_jumps(self) -> tuple[np.ndarray, np.ndarray]:
        """Kinks of both phis, and by how much the slope jumps there; one row per class.

        If one class has fewer kinks than the other, its last kink is repeated with a jump of 0.
        """
        pairs = [kinks_and_jumps(phi.tree) for phi in self.phis]
        if any(not jump > 0 for _, jumps in pairs for jump in jumps):
            found = ", ".join(f"{jump:g}" for _, jumps in pairs for jump in jumps)
            raise SolverError(
                f"the slope of a convex loss jumps up at its kinks, but for {self.names} the jumps found are {found}; "
                "a simpler formula of the loss may work"
            )
        most = max(len(kinks) for kinks, _ in pairs)
        kinks = np.array([kinks + (kinks[-1:] or (0.0,)) * (most - len(kinks)) for kinks, _ in pairs])
        return kinks, np.array([jumps + (0.0,) * (most - len(jumps)) for _, jumps in pairs])

    @_fact
    def width_of_kinks(self) -> float:
        """A width of parabolas in place of kinks: the smallest kink over its jump, at most 1; one at 0 sets none."""
        kinks, jumps = self.kinks_and_jumps
        used = (jumps > 0) & (kinks != 0)
        return float(np.min(np.abs(kinks[used]) / jumps[used], initial=1.0))

    @_fact
    def largest_kink(self) -> float:
        """The largest score at which a loss has its kink, in absolute value."""
        return float(np.abs(self.kinks_and_jumps[0] / self.scales[:, None]).max(initial=0.0))

    @_fact
    def lines(self) -> np.ndarray:
        """Left of all kinks a polygon is a line: its value and slope at 0, one row per class."""
        left = -2 * float(np.abs(self.kinks_and_jumps[0]).max(initial=0.0)) - 1
        at_left = [kernel.plain.first(np.array([left])) for kernel in self.kernels]
        return np.array([[value[0] - slope[0] * left, slope[0]] for value, slope in at_left])

    @_fact
    def addresses(self) -> np.ndarray:
        """Addresses of the compiled functions, for compiled code to call."""
        return np.array([kernel.first_address for kernel in self.kernels], dtype=np.int64)

    @_fact
    def second_addresses(self) -> np.ndarray:
        """The same of their second derivatives."""
        return np.array([kernel.second_address for kernel in self.kernels], dtype=np.int64)


def _compile(phis: tuple[Phi, Phi], weights: np.ndarray, scales: np.ndarray) -> PairOfLosses:
    negative, positive = (compile_kernel(phi.tree, smooth_switches(phi.tree)) for phi in phis)
    return PairOfLosses(phis, (negative, positive), weights, scales)


def infimum(phi: Phi, kernel: CompiledPhi) -> float:
    """A number that a convex phi never falls below, close to its infimum; minus infinity if none is known.

    A phi that falls everywhere has its limit as infimum. One that falls and rises lies above its supporting lines left
    and right of its minimum, hence above the point where they meet.
    """
    if phi.minimum is not None:
        return phi.minimum
    return _find_infimum(phi.tree, phi, kernel)


@lru_cache(maxsize=256)
def _find_infimum(tree: Node, phi: Phi, kernel: CompiledPhi) -> float:
    values, slopes = kernel.plain.first(_MARGINS)
    usable = np.isfinite(values) & np.isfinite(slopes)
    falling, rising = np.flatnonzero(usable & (slopes < 0)), np.flatnonzero(usable & (slopes > 0))
    if not (falling.size and rising.size):
        flat = values[usable & (slopes == 0)]
        if flat.size:
            return float(flat.min())
        try:
            end = phi.limits[1 if falling.size else 0]
        except (ExpressionError, Undecidable):
            return -math.inf
        return end if math.isfinite(end) else -math.inf
    low, high = float(_MARGINS[falling[-1]]), float(_MARGINS[rising[0]])
    for _ in range(60):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        slope = kernel.plain.first(np.array([middle]))[1][0]
        if slope == 0:
            return float(kernel.plain.first(np.array([middle]))[0][0])
        low, high = (middle, high) if slope < 0 else (low, middle)
    (left, right), (down, up) = kernel.plain.first(np.array([low, high]))
    # The two lines meet between the two margins, so each falls at most this deep before.
    return float(max(left + down * (high - low), right - up * (high - low)))


class FewRows:
    """The losses of rows in their scores, weighted; see :func:`uneven.solvers.loops.passes.losses_along`.

    Which of the two is used depends on the number of rows alone, so that a fit gives the same in every process.
    """

    def __init__(self, pair: PairOfLosses, y: np.ndarray, factors: np.ndarray) -> None:
        self._negative, self._positive = (kernel.plain.derivatives for kernel in pair.kernels)
        self._is_positive = y == 1
        self._scale = pair.scales[y]
        self._factors = factors
        self._slope_factors = factors * self._scale
        self._curvature_factors = self._slope_factors * self._scale
        self._without_weight = None if factors.all() else factors == 0

    def along(
        self, t: np.ndarray, q: np.ndarray, step: float, r: np.ndarray, h: np.ndarray
    ) -> tuple[float, float, float]:
        """The sum of the losses at the scores t + step * q, and its first and second derivative in ``step``.

        Slopes and curvatures in the score go to r and h; a curvature that is negative or not a number counts as 0.
        NumPy may warn of overflows.
        """
        margins = t + step * q if step else t
        value, slope, curvature = self._positive(self._scale * margins)
        if self._negative is not self._positive:
            others = self._negative(self._scale * margins)
            value, slope, curvature = (
                np.where(self._is_positive, *both) for both in zip((value, slope, curvature), others, strict=True)
            )
        if self._without_weight is not None:  # such a row counts as 0 even if its loss overflows
            value, slope = (np.where(self._without_weight, 0.0, numbers) for numbers in (value, slope))
        np.multiply(self._slope_factors, slope, out=r)
        np.multiply(self._curvature_factors, curvature, out=h)
        np.minimum(np.fmax(h, 0.0, out=h), 1e300, out=h)  # products with it stay finite
        return float(self._factors @ value), float(r @ q), float((h * q) @ q)


def absolute_sums(r: np.ndarray, t: np.ndarray) -> tuple[float, float]:
    """The sums of the absolute values of r and of r * t."""
    if r.size > MOST_ROWS:
        size, moment = loops.passes.absolute_sums(r, t)
        return size, moment
    return float(np.abs(r).sum()), float(np.abs(r * t).sum())


class FewPolygons:
    """Losses made of straight pieces, weighted, with multipliers u at their kinks (one row of u per kink).

    The loss of a margin m is a line plus jump * relu(m - kink) for each kink.

    Attributes
    ----------
    slopes, bends : ndarray
        First and second derivatives in the scores, as they were evaluated last.
    """

    def __init__(self, pair: PairOfLosses, y: np.ndarray, factors: np.ndarray) -> None:
        kinks, jumps = pair.kinks_and_jumps
        self._scale = pair.scales[y]
        self._kinks, self._jumps = kinks.T[:, y], jumps.T[:, y]
        self._line_values, self._line_slopes = pair.lines[y].T
        self._factors = factors
        self._slope_factors = factors * self._scale
        self._curvature_factors = self._slope_factors * self._scale
        self._steepest = np.abs(self._slope_factors) * _sum_kinks(self._jumps)
        self._line_terms = self._slope_factors * self._line_slopes
        self.slopes = self.bends = np.empty(0)

    def along(
        self, t: np.ndarray, q: np.ndarray, u: np.ndarray, sigma: float
    ) -> Callable[[float], tuple[float, float]]:
        """A function of a step: slope and curvature in it of the augmented Lagrangian at the scores t + step * q.

        The Lagrangian has a parabola of curvature 1/sigma at each kink.
        """
        start, rise = self._wanted(t, u, sigma), (self._scale / sigma) * q
        lines, factors, curvatures = self._line_terms, self._slope_factors, self._curvature_factors / sigma

        def derivatives(step: float) -> tuple[float, float]:
            wanted = start + step * rise
            taken = np.minimum(np.maximum(wanted, 0.0), self._jumps)
            self.slopes, self.bends = lines + factors * _sum_kinks(taken), curvatures * _sum_kinks(taken == wanted)
            return float(self.slopes @ q), float((self.bends * q) @ q)

        return derivatives

    def _wanted(self, t: np.ndarray, u: np.ndarray, sigma: float) -> np.ndarray:
        """The multipliers that the parabolas would have at the scores, if these were not limited by the jumps."""
        wanted = self._scale * t - self._kinks
        wanted /= sigma
        wanted += u
        return wanted

    def update(self, t: np.ndarray, u: np.ndarray, sigma: float) -> np.ndarray:
        """The multipliers that are the slopes of the parabolas at the scores."""
        return np.minimum(np.maximum(self._wanted(t, u, sigma), 0.0), self._jumps)

    def support(self, t: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, float]:
        """Lines that support the losses, with the slopes u at kinks.

        Returns their slopes in the score, the steepest slopes (the absolute ones plus the jumps), the sum of the
        losses, and how far these are above the lines at the scores.
        """
        u = u.astype(np.float64, copy=False)  # sums of single precision would not be those of the lines below
        margins = self._scale * t
        over = margins - self._kinks
        bent = self._jumps * np.maximum(over, 0.0)
        slopes = self._line_terms + self._slope_factors * _sum_kinks(u)
        values = self._line_values + self._line_slopes * margins + _sum_kinks(bent)
        above = _sum_kinks(bent - u * over)
        return slopes, np.abs(slopes) + self._steepest, float(self._factors @ values), float(self._factors @ above)


def _sum_kinks(terms: np.ndarray) -> np.ndarray:
    """The sum over the kinks; most losses have one."""
    total: np.ndarray = terms[0] if len(terms) == 1 else terms.sum(axis=0)
    return total
