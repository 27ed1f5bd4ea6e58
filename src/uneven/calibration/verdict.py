"""Is the loss calibrated for alpha? Exact conditions only; floats never decide."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from uneven.calibration.infimum import RigorousRisk, has_convex_partials
from uneven.calibration.risk.crossing import crossing
from uneven.expression import Node, parse, simplify
from uneven.losses import Loss, Phi, UnevenMarginLoss
from uneven.losses.partial import Partial
from uneven.ops.balls import Interval, Undefined, above, below, enclose_interval, interval
from uneven.ops.rationals import exact_value
from uneven.shape.monotone import FALLING, RISING, direction
from uneven.shape.pieces import Undecidable, slope_beside

_ZERO, _ONE = Fraction(0), Fraction(1)
CALIBRATED, NOT_CALIBRATED, UNDECIDED = "calibrated", "not calibrated", "undecided"


@dataclass(frozen=True)
class Verdict:
    """Whether a loss is alpha-CC.

    Attributes
    ----------
    status : str
        ``"calibrated"``, ``"not calibrated"`` or ``"undecided"``.
    reason : str
        A sentence that names the theorem.
    witness : float or None
        If not calibrated: an eta other than alpha at which H vanishes.
    """

    status: str
    reason: str
    witness: float | None = None

    def __str__(self) -> str:
        return f"{self.status}: {self.reason}"


@dataclass(frozen=True)
class Only:
    """The only alpha for which a loss can be calibrated: exactly, or in an interval; None if there is none.

    ``certain``: the loss is calibrated for it, by the theorem in ``reason``.
    """

    interval: tuple[Fraction, Fraction] | None
    certain: bool
    reason: str
    ties: tuple[Fraction, Fraction] | None = None  # if there is none: an interval of eta on which H vanishes

    @property
    def exact(self) -> Fraction | None:
        if self.interval is None or self.interval[0] != self.interval[1]:
            return None
        return self.interval[0]


def is_monotone(loss: Loss) -> bool:
    """Lemma M: the difference of the two sides never rises, so that mu = nu for every alpha."""
    return all(_falls_to_its_minimum(partial, sign) for partial, sign in zip(loss.partials, (1, -1), strict=True))


def _falls_to_its_minimum(partial: Partial, sign: int) -> bool:
    """L(1, t) falls up to a minimiser at t > 0 (and L(-1, t) rises from one at t < 0); the rest is dominated."""
    if not isinstance(partial.function, Phi):
        return False
    declared = partial.function.declaration.minimiser if partial.function.built_in else None
    if declared is not None and declared > 0:
        return partial.inner * sign > 0
    return direction(partial.tree) == (FALLING if sign > 0 else RISING)


@lru_cache(maxsize=256)
def only_alpha(loss: Loss) -> Only:
    """What can be said, without floats deciding, about the alpha that a loss is calibrated for."""
    if not all(partial.symbolic for partial in loss.partials):
        return Only(None, False, "given as Python functions, it can be studied only numerically")
    if _is_cost_loss(loss):
        return Only(
            None,
            False,
            "t = 0 counts as a negative decision but is admitted on both sides, so H vanishes for every eta below "
            "alpha; U_alpha is alpha-CC' (section 3), not alpha-CC",
            (_ZERO, loss.partials[1].weight / (loss.partials[0].weight + loss.partials[1].weight)),
        )
    if has_convex_partials(loss):
        return _convex(loss)
    if isinstance(loss, UnevenMarginLoss):
        known = declared(loss)
        if known is not None:
            return known
    return _searched(loss)


def _is_cost_loss(loss: Loss) -> bool:
    up, down = (simplify(parse(text)) for text in ("1 - step(t)", "step(t)"))
    positive, negative = loss.partials
    return (
        isinstance(positive.function, Phi)
        and isinstance(negative.function, Phi)
        and positive.function.tree == up
        and negative.function.tree == down
    )


def _slopes_at_zero(partial: Partial) -> tuple[Node, Node]:
    zero = Fraction(0)
    return slope_beside(partial.tree, zero, -1), slope_beside(partial.tree, zero, 1)


def _convex(loss: Loss) -> Only:
    """Calibrated iff both are differentiable at 0 with L1'(0) < 0 < L-1'(0), for the alpha that balances them."""
    try:
        slopes = [_slopes_at_zero(partial) for partial in loss.partials]
        first, second = (tuple(_at_zero(slope) for slope in pair) for pair in slopes)
    except (Undecidable, Undefined):
        return Only((Fraction(0), Fraction(1)), False, "its slopes at t = 0 could not be found exactly")
    kinks = [_has_kink(*pair, *ends) for pair, ends in zip(slopes, (first, second), strict=True)]
    if True in kinks:
        return Only(
            None,
            False,
            "its partial losses are convex and one has a kink at t = 0, so both sides tie on a whole interval of "
            "eta (theorem 4: a calibrated convex loss is differentiable at 0)",
            _ties(first, second),
        )
    if None in kinks:
        return Only((_ZERO, _ONE), False, "whether its partial losses have a kink at t = 0 could not be decided")
    p, n = first[1], second[1]
    if p.lo >= 0:
        return Only(
            None,
            False,
            "its partial losses are convex and L1's slope at t = 0 is not negative (theorem 4)",
            _point(_ONE),
        )
    if n.hi <= 0:
        return Only(
            None,
            False,
            "its partial losses are convex and L-1's slope at t = 0 is not positive (theorem 4)",
            _point(_ZERO),
        )
    if not (p.hi < 0 < n.lo):
        return Only((Fraction(0), Fraction(1)), False, "the signs of its slopes at t = 0 could not be decided")
    reason = "its partial losses are convex and differentiable at 0 with L1'(0) < 0 < L-1'(0) (theorem 4)"
    if isinstance(loss, UnevenMarginLoss):
        reason = "phi is convex and phi'(0) < 0 (corollary 2)"
        return Only(_point(_balance(loss)), True, reason)
    exact = [exact_value(pair[1], Fraction(0)) for pair in slopes]
    if exact[0] is not None and exact[1] is not None:
        return Only(_point(exact[1] / (exact[1] - exact[0])), True, reason)
    return Only(_enclosed_balance(p, n), True, reason)


def _has_kink(left: Node, right: Node, at_left: Interval, at_right: Interval) -> bool | None:
    """Whether two one-sided slopes at 0 differ; None if that cannot be decided."""
    if left == right:
        return False
    exact = exact_value(left, _ZERO), exact_value(right, _ZERO)
    if exact[0] is not None and exact[1] is not None:
        return exact[0] != exact[1]
    return True if at_left.hi < at_right.lo else None


def _at_zero(slope: Node) -> Interval:
    return enclose_interval(slope, interval(Fraction(0), Fraction(0)), bits=256)


def _point(value: Fraction) -> tuple[Fraction, Fraction]:
    return value, value


def _enclosed_balance(p: Interval, n: Interval) -> tuple[Fraction, Fraction]:
    """n/(n - p) rises with n and with p (p < 0 < n)."""
    low = below(n.lo) / (below(n.lo) - below(p.lo))
    high = above(n.hi) / (above(n.hi) - above(p.hi))
    return low, high


def _ties(first: tuple[Interval, ...], second: tuple[Interval, ...]) -> tuple[Fraction, Fraction]:
    """All eta with 0 between the one-sided slopes of the risk at t = 0: there A = B = C(eta, 0)."""
    low, high = _where_not_positive(above(first[0].hi), above(second[0].hi))
    other_low, other_high = _where_not_positive(-below(first[1].lo), -below(second[1].lo))
    return max(low, other_low), min(high, other_high)


def _where_not_positive(at_one: Fraction, at_zero: Fraction) -> tuple[Fraction, Fraction]:
    """The eta in [0, 1] with eta * at_one + (1 - eta) * at_zero <= 0."""
    if at_one <= 0 and at_zero <= 0:
        return _ZERO, _ONE
    root = at_zero / (at_zero - at_one)
    return (root, _ONE) if at_one <= 0 else (_ZERO, root)


def _balance(loss: UnevenMarginLoss) -> Fraction:
    """eta with equal weights on phi(t) and phi(-gamma t)/gamma."""
    first, second = loss.partials[0].weight, loss.partials[1].weight * loss.exact_gamma
    return second / (first + second)


def declared(loss: UnevenMarginLoss) -> Only | None:
    """The family's own alpha(gamma), reweighted: odds(alpha) = odds of the balance times odds(alpha_phi)."""
    own = loss.phi.declaration.own_odds
    if own is None:
        return None
    odds = own.odds(loss.exact_gamma, loss.phi.exact_parameters)
    if odds is None or isinstance(odds, float):
        return None
    balance = _balance(loss)
    total = balance / (1 - balance) * odds
    return Only(_point(total / (1 + total)), True, f"{own.source} (Lemma M)")


def _searched(loss: Loss) -> Only:
    """An enclosure of the crossing of the two sides, its ends proved in ball arithmetic."""
    guess = _guess(loss)
    if guess is None:
        return Only((Fraction(0), Fraction(1)), False, "no change of the better side was found")
    risk = RigorousRisk(loss)
    monotone = is_monotone(loss)
    low, high = Fraction(0), Fraction(1)
    for width in (1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4):
        step = Fraction(width) * min(guess, 1 - guess)
        if low == 0 and difference_sign(risk, guess - step) > 0:
            low = guess - step
        if high == 1 and difference_sign(risk, guess + step) < 0:
            high = guess + step
        if low > 0 and high < 1:
            break
    if low == 0 and high == 1:
        return Only((low, high), False, "the signs of the two sides could not be proved")
    if monotone and _differentiable_descent(loss):
        reason = (
            "L1 falls and L-1 rises, both with nonzero slope at 0, so it is calibrated for exactly one alpha "
            "(Lemma M and theorem U)"
        )
        return Only((low, high), True, reason)
    return Only((low, high), False, "the better side changes here, and was not seen to change anywhere else")


def _guess(loss: Loss) -> Fraction | None:
    """Where the engine sees the two sides cross."""
    odds = crossing(loss)
    return None if odds is None else Fraction(odds) / (1 + Fraction(odds))


def difference_sign(risk: RigorousRisk, eta: Fraction) -> int:
    """Sign of A(eta) - B(eta), proved; 0 if the bounds overlap."""
    a, b = eta, 1 - eta
    near = {side: risk.minimisers(side, [eta])[0] for side in (1, -1)}
    positive, negative = (risk.bounds(side, a, b, near[side], tolerance=1e-15, budget=400) for side in (1, -1))
    if positive.lower > negative.upper:
        return 1
    return -1 if positive.upper < negative.lower else 0


def _differentiable_descent(loss: Loss) -> bool:
    """Both partial losses differentiable at 0 with L1'(0) < 0 < L-1'(0), proved."""
    try:
        pairs = [_slopes_at_zero(partial) for partial in loss.partials]
        if any(left != right and exact_value(left, Fraction(0)) is None for left, right in pairs):
            return False
        values = [[_at_zero(slope) for slope in pair] for pair in pairs]
    except (Undecidable, Undefined):
        return False
    smooth = all(left == right or _same(left, right) for left, right in pairs)
    return smooth and bool(values[0][1].hi < 0 < values[1][1].lo)


def _same(left: Node, right: Node) -> bool:
    a, b = exact_value(left, Fraction(0)), exact_value(right, Fraction(0))
    return a is not None and a == b


def decide(loss: Loss, alpha: Fraction) -> Verdict:
    """The verdict for one alpha."""
    only = only_alpha(loss)
    if only.interval is None:
        if not all(partial.symbolic for partial in loss.partials):
            return Verdict(UNDECIDED, f"{only.reason}; written as expressions it could be decided")
        witness = _other_than(alpha, only.ties)
        return Verdict(NOT_CALIBRATED, f"calibrated for no alpha: {only.reason}", witness)
    low, high = only.interval
    if not low <= alpha <= high:
        nearer = low if alpha < low else high
        where = (
            f"{float(nearer):.12g}"
            if high - low < Fraction(1, 10**12)
            else f"one in [{float(low):.12g}, {float(high):.12g}]"
        )
        return Verdict(
            NOT_CALIBRATED,
            f"it can be calibrated for alpha = {where} only, not for {float(alpha):.12g}: {only.reason}; H vanishes "
            f"between the two{_hint(abs(alpha - nearer))}",
            _double_between(alpha, nearer),
        )
    if low == high and only.certain:
        return Verdict(CALIBRATED, only.reason)
    if only.certain:
        return Verdict(
            UNDECIDED,
            f"{only.reason}, which lies within {float(high - low):.2g} of the alpha asked for, but may not be it "
            "(regret_bound allows for that); uneven.certify says how much that can cost",
        )
    return Verdict(UNDECIDED, f"{only.reason}; uneven.certify may decide")


def _hint(distance: Fraction) -> str:
    """Where rounding of an input is the likely culprit, say so."""
    if distance > Fraction(1, 10**12):
        return ""
    return (
        f" (they differ by {float(distance):.1g}: a float is the binary number it is; a fraction such as '1/11', or "
        "Cost.exact_alpha, is exact)"
    )


def _other_than(alpha: Fraction, ties: tuple[Fraction, Fraction] | None) -> float | None:
    """A double in the interval other than alpha, away from its ends where there is room."""
    if ties is None:
        return None
    low, high = ties
    middle = (low + high) / 2
    if low == high:
        return float(low) if Fraction(float(low)) == low != alpha else None
    return _double_between(alpha, low if alpha == middle or abs(low - alpha) > abs(high - alpha) else high, ties)


def _double_between(alpha: Fraction, end: Fraction, ties: tuple[Fraction, Fraction] | None = None) -> float | None:
    """A double near the middle of an interval on which H vanishes, other than alpha; None if none fits."""
    low, high = ties or (min(alpha, end), max(alpha, end))
    middle = (max(low, min(alpha, high)) + end) / 2
    for candidate in (float(middle), float(end), math.nextafter(float(middle), float(end))):
        if low <= Fraction(candidate) <= high and Fraction(candidate) != alpha:
            return candidate
    return None
