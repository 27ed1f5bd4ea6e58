"""What every method of the prover uses: the loss, its rules, the search, and an alpha to try or to refute."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from uneven.calibration.search.cells import Search, power_of_two
from uneven.calibration.search.hints import Hints, simplest_between
from uneven.calibration.trusted.claims import OnlyAlpha
from uneven.calibration.trusted.rules import NEGATIVE, POSITIVE, Rules, at
from uneven.calibration.trusted.steps import Floor, Point, Step
from uneven.ops.balls import Undefined

_ZERO = Fraction(0)
_FARTHER = (24, 60)


class NotShown(Exception):
    """A method does not apply, or one of its steps was not proved; the message, if any, says which step."""


@dataclass(frozen=True)
class Proof:
    """A method, its steps, and what they prove about the only alpha of the loss.

    Attributes
    ----------
    ties : pair of Fraction or None
        If the loss is calibrated for no alpha: ends of an interval of eta on which A = B, if known.
    """

    method: str
    steps: list[Step]
    only: OnlyAlpha
    ties: tuple[Fraction, Fraction] | None = None

    def shows_affine_wrong_side(self, alpha: Fraction) -> bool:
        """Whether the wrong-side risk is C(eta, 0) for every eta, and so affine in eta."""
        return self.method in ("convex", "tangential") and self.only.exact == alpha


@dataclass(frozen=True)
class Attempt:
    """Tools for proofs about one loss."""

    rules: Rules
    search: Search
    hints: Hints
    alpha: Fraction | None  # the weight of the loss: may be exactly the alpha it is calibrated for
    precision: Fraction

    def bracket(self, guess: Fraction, width: Fraction | None = None) -> tuple[Fraction, Fraction]:
        """Two short decimals, one on each side of a guess, whose distance is at most the precision."""
        room = min(guess, 1 - guess)
        half = (self.precision * room if width is None else width) * Fraction(2, 5)
        unit = Fraction(1, 10 ** (len(str(int(1 / half))) + 1))
        return ((guess - half) // unit) * unit, -((-guess - half) // unit) * unit

    def balance(self) -> tuple[Fraction, bool]:
        """The eta at which the slope of C(eta, .) at 0 is 0, and whether this eta is proved to be exact."""
        rules = self.rules
        found = rules.balance() if rules.descends_at_zero() else None
        if found is None:
            raise NotShown
        if found[1]:
            return found
        for eta in (rules.own_balance, self.alpha, *(found[0].limit_denominator(10**k) for k in (2, 6))):
            if eta is not None and 0 < eta < 1 and rules.is_balanced(at(eta)):
                return eta, True
        return found

    def halves(self) -> list[Step]:
        """Steps that show L1(t) >= L1(0) for t <= 0 and L-1(t) >= L-1(0) for t >= 0."""
        floors = [self.search.floor(weights, side, None) for weights, side in ((POSITIVE, -1), (NEGATIVE, 1))]
        return [
            found(floor, "L1 may be smaller for some t < 0, or L-1 for some t > 0, than at t = 0") for floor in floors
        ]

    def point(self, eta: Fraction, side: int, t: Fraction | None = None) -> Point:
        """An upper bound of the infimum over one side: the risk at one t."""
        self.search.budget.check_time()
        place = self.hints.minimiser(side, eta) if t is None else t
        if place == 0:
            place = self.nearest(side)
        places = [place]
        if t is None and self.hints.is_far(place):  # a limit at infinity may be approached slowly, like 1/t
            places += [place * 2**k for k in _FARTHER]
        points = []
        for place in places:
            with suppress(Undefined):
                points.append(Point(at(eta), place, self.rules.upper_at(at(eta), place)))
        if not points:
            raise NotShown(f"the expected loss at t = {float(place):.6g} is not finite")
        return min(points, key=lambda point: point.value)

    def nearest(self, side: int) -> Fraction:
        """The decision of this side closest to 0: t = 0 itself, or a tiny t > 0 if a partial loss jumps at 0."""
        known = side < 0 or all(self.rules.is_continuous_at_zero(weights, 1) for weights in (POSITIVE, NEGATIVE))
        return _ZERO if known else Fraction(self.hints.solver.tiny)

    def ordered_at(self, eta: Fraction, side: int) -> list[Step]:
        """Steps that show: at eta, the infimum over this side exceeds the infimum over the other side."""
        point = self.point(eta, -side)
        level = self._just_above(point.value)
        if not self.hints.seems_above(side, eta, level):
            raise NotShown
        floor = self.search.floor(at(eta), side, level, self.hints.minimiser(side, eta))
        return [found(floor, undecided_at(eta)), point]

    def _just_above(self, value: Fraction) -> Fraction:
        unit = power_of_two(max(self.hints.size, value) / 2**110)
        return -(-value // unit) * unit + unit

    def best_floor(self, eta: Fraction, side: int) -> Floor:
        """A lower bound of the infimum over one side, as close to it as can be proved with few cells."""
        near = self.hints.minimiser(side, eta)
        top = self.point(eta, side).value
        if self.rules.exact_at(at(eta), near) == top and self.hints.seems_above(side, eta, top):
            exact = self.search.floor(at(eta), side, top, near, most=10)
            if exact is not None:
                return exact
        levels = [_ZERO]
        if top > self.hints.size / 2**80:  # else the infimum is probably 0, and 0 is the best level
            slacks = [power_of_two(top / 2**bits) for bits in (36, 26, 18, 12, 8)]
            levels = [((top - slack) // slack) * slack for slack in slacks] + levels
        for level in levels:
            floor = self.search.floor(at(eta), side, level, near, most=150)
            if floor is not None:
                return floor
        raise NotShown(f"no lower bound of the expected loss at P(Y = 1) = {float(eta):.6g} was proved")


def undecided_at(eta: Fraction, place: str = "at") -> str:
    """The message for an eta at which the signs of A - B were not proved."""
    return f"it was not proved which decision has the smaller loss {place} P(Y = 1) = {float(eta):.12g}"


def found(step: Floor | None, message: str) -> Floor:
    """The floor, or :class:`NotShown` with this message if there is none."""
    if step is None:
        raise NotShown(message)
    return step


# An eta that shows that a loss is not calibrated for an alpha.


def witness(proof: Proof, alpha: Fraction) -> Fraction | None:
    """An eta other than alpha with H(eta) = 0, for a loss that is not calibrated for alpha; None if none is known.

    It is a double if possible, so that users can try it in floats.
    """
    if proof.only.interval is not None:
        low, high = proof.only.interval
        return _between(alpha, low if alpha < low else high)
    if proof.ties is not None:
        return _other_than(alpha, *proof.ties)
    if proof.method == "order":
        for step in proof.steps:
            if isinstance(step, Floor) and (step.eta - alpha) * step.side > 0:
                return step.eta
    return None


def _between(alpha: Fraction, end: Fraction) -> Fraction:
    """A number between alpha (excluded) and the end (included); a short double, if there is one."""
    middle = (alpha + end) / 2
    span = abs(end - alpha)
    short = Fraction(round(middle * _unit(span)), _unit(span))
    candidates = (short, Fraction(float(middle)), Fraction(float(end)))
    inside = (x for x in candidates if min(alpha, end) <= x <= max(alpha, end) and x != alpha)
    return next(inside, simplest_between(alpha, end))


def _unit(span: Fraction) -> int:
    """A power of two whose inverse is at most a quarter of the span."""
    return 4 * 2 ** max(0, (span.denominator // span.numerator).bit_length())


def _other_than(alpha: Fraction, low: Fraction, high: Fraction) -> Fraction | None:
    """A number in [low, high] other than alpha, not at the ends if possible."""
    if low == high:
        return None if low == alpha else low
    middle = (low + high) / 2
    if not low <= alpha <= high:
        return _between(low, high)
    return _between(alpha, high if alpha < middle else low)
