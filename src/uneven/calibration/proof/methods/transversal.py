"""Proofs where A and B cross: the only alpha lies between two etas at which the sign of A - B is proved."""

from __future__ import annotations

import math
from fractions import Fraction

from uneven.calibration.claim import OnlyAlpha
from uneven.calibration.proof.attempt import Attempt, NotShown, Proof, found, undecided_at
from uneven.calibration.proof.hints import simplest_between
from uneven.calibration.proof.methods.tangential import _ZERO
from uneven.calibration.proof.rules import DIFFERENCE, NEGATIVE, POSITIVE, at
from uneven.calibration.proof.search import Exhausted
from uneven.calibration.proof.steps import Descent, Floor, Mirror, Point, Step

_ONE = Fraction(1)
# Shares of the budget: for one end of the bracket asked for, for one end of another, and for what comes after.
_FIRST, _LATER, _RESERVE = 0.3, 0.06, 0.3


def prove_transversal(attempt: Attempt) -> Proof:
    """Prove that the loss is calibrated for exactly one alpha: enclosed in an interval, or exact if it is rational."""
    guess = attempt.hints.crossing
    if guess is None:
        raise NotShown("no probability P(Y = 1) was found at which the decision with the smaller loss changes")
    order = _order_of_sides(attempt)
    mirror = attempt.rules.mirrored_at()
    low, high, signs = _enclosed(attempt, guess) if mirror is None else _around_tie(attempt, mirror)
    if order and attempt.rules.descends_at_zero():
        once: list[Step] = [Descent(), *attempt.halves()]
    else:
        once = _strict_decrease(attempt, guess, low, high, swept=not order)
    steps = [*order, *signs, *once]
    tie = _tie(attempt, low, high, mirror)
    if tie is not None:
        alpha, tied = tie
        return Proof("transversal", steps + tied, OnlyAlpha.within(alpha, alpha))
    return Proof("transversal", steps, OnlyAlpha.within(low, high))


def _order_of_sides(attempt: Attempt) -> list[Step]:
    """Steps for Lemma M, on the whole line or on a range beyond which t can be ignored; empty if it does not apply."""
    search = attempt.search
    whole = search.sign(1, DIFFERENCE, -1)
    if whole is not None:
        return [whole]
    ends = attempt.hints.dominated_beyond
    if ends is None:
        return []
    low, high = ends
    wanted = [search.sign(1, DIFFERENCE, -1, low, high)]
    for sign, u, v in ((1, high, math.inf), (-1, -math.inf, low)):
        if isinstance(u, Fraction) or isinstance(v, Fraction):
            wanted += [search.sign(1, weights, sign, u, v) for weights in (POSITIVE, NEGATIVE)]
    steps: list[Step] = [step for step in wanted if step is not None]
    return steps if len(steps) == len(wanted) else []


def _enclosed(attempt: Attempt, guess: Fraction) -> tuple[Fraction, Fraction, list[Step]]:
    """low and high with A > B at low and A < B at high, and the steps that prove it.

    As close as asked for; where the risk is too flat for that within the budget, as close as was proved.
    """
    asked, room = attempt.alpha, min(guess, 1 - guess)
    if asked is not None and abs(asked - guess) < attempt.precision * room / 8:
        guess = asked
    low, high, at_low, at_high = _first_bracket(attempt, guess)
    while high - low > attempt.precision * room and attempt.search.budget.left > _RESERVE:
        fifth = (high - low) / 5
        middle = simplest_between(low + 2 * fifth, high - 2 * fifth)
        if (steps := _ordered_within(attempt, middle, 1, _LATER)) is not None:
            low, at_low = middle, steps
        elif (steps := _ordered_within(attempt, middle, -1, _LATER)) is not None:
            high, at_high = middle, steps
        else:
            break
    return low, high, at_low + at_high


def _around_tie(attempt: Attempt, tie: Fraction) -> tuple[Fraction, Fraction, list[Step]]:
    """Etas on both sides of an eta at which A = B is already proved; they need not be close to it."""
    low, high, at_low, at_high = _first_bracket(attempt, tie)
    return low, high, at_low + at_high


def _first_bracket(attempt: Attempt, guess: Fraction) -> tuple[Fraction, Fraction, list[Step], list[Step]]:
    """Widen the bracket until the signs of A - B at its ends can be proved."""
    width, room = attempt.precision, min(guess, 1 - guess)
    while width <= 1:
        low, high = attempt.bracket(guess, width * room)
        if low <= 0 or high >= 1:
            break
        share = _FIRST if width == attempt.precision else _LATER
        at_low = _ordered_within(attempt, low, 1, share)
        at_high = None if at_low is None else _ordered_within(attempt, high, -1, share)
        if at_low is not None and at_high is not None:
            return low, high, at_low, at_high
        width *= 100
    raise NotShown(undecided_at(guess, "close to"))


def _ordered_within(attempt: Attempt, eta: Fraction, side: int, share: float) -> list[Step] | None:
    """Proof of the order at eta for a share of the budget; None if none is found."""
    budget = attempt.search.budget
    try:
        with budget.part(share):
            return attempt.ordered_at(eta, side)
    except NotShown:
        return None
    except Exhausted:
        budget.require_left()
        return None


def _strict_decrease(attempt: Attempt, guess: Fraction, low: Fraction, high: Fraction, *, swept: bool) -> list[Step]:
    """Steps that show: near the crossing, slopes of A in eta lie below those of B; farther away (if swept), A != B."""
    for k in (2, 4, 7, 11):
        share = Fraction(1, 2**k)
        x, y = simplest_between(guess * (1 - share), low), simplest_between(high, guess + share * (1 - guess))
        inner = (low, high)
        if swept:
            inner = (x, y)
            x, y = simplest_between(x / 2, x * 7 / 8), simplest_between(y + (1 - y) / 8, y + (1 - y) / 2)
        chords = _chords(attempt, x, *inner, y)
        if chords:
            outside = _swept(attempt, 1, inner[0]) + _swept(attempt, -1, inner[1]) if swept else []
            return outside + chords
    raise NotShown("it was not proved that the decision with the smaller loss changes only once")


def _chords(attempt: Attempt, x: Fraction, low: Fraction, high: Fraction, y: Fraction) -> list[Step]:
    before, after = attempt.best_floor(x, 1), attempt.best_floor(y, -1)
    at_low, at_high = attempt.point(low, 1), attempt.point(high, -1)
    assert before.level is not None
    assert after.level is not None
    in_order = (at_low.value - before.level) * (y - high) < (after.level - at_high.value) * (low - x)
    return [before, at_low, after, at_high] if in_order else []


def _swept(attempt: Attempt, side: int, limit: Fraction) -> list[Step]:
    """Cells of eta from 0 (or 1) to the limit; on each of them, one t proves the sign of A - B."""
    eta = _ZERO if side > 0 else _ONE
    before = attempt.best_floor(eta, side)
    steps: list[Step] = [before]
    ahead = [limit]
    while ahead:
        after = attempt.best_floor(ahead[-1], side)
        shared = _shared_point(attempt, side, before, after)
        if shared:
            steps += [*shared, after]
            before, eta = after, ahead.pop()
        elif len(ahead) > 40:
            raise NotShown(undecided_at(eta, "close to"))
        else:
            quarter = (ahead[-1] - eta) / 4
            ahead.append(simplest_between(eta + quarter, eta + 3 * quarter))
    return steps


def _shared_point(attempt: Attempt, side: int, before: Floor, after: Floor) -> list[Point]:
    """The risks at one t of the other side that lie below both floors; empty if none is found."""
    for eta in (after.eta, before.eta, (before.eta + after.eta) / 2):
        t = attempt.hints.minimiser(-side, eta)
        pairs = [(attempt.point(floor.eta, -side, t), floor.level) for floor in (before, after)]
        if all(level is not None and point.value < level for point, level in pairs):
            return [point for point, _ in pairs]
    return []


def _tie(
    attempt: Attempt, low: Fraction, high: Fraction, mirror: Fraction | None
) -> tuple[Fraction, list[Step]] | None:
    """The exact crossing with its steps, if it is rational and exact arithmetic proves it."""
    if mirror is not None and low < mirror < high:
        return mirror, [Mirror(mirror)]
    for eta in dict.fromkeys((attempt.alpha, attempt.hints.declared_alpha, simplest_between(low, high))):
        if eta is not None and low < eta < high:
            try:
                return eta, _tie_at(attempt, eta)
            except NotShown:
                continue
    return None


def _tie_at(attempt: Attempt, eta: Fraction) -> list[Step]:
    """Steps that show: A and B are the same rational number, attained at points where the formulas change."""
    lowest = []
    for side in (1, -1):
        spots = [_ZERO, *(edge for edge in attempt.search.edges if edge * side > 0)]
        values = [(value, t) for t in spots if (value := attempt.rules.exact_at(at(eta), t)) is not None]
        lowest.append(min(values, default=(None, _ZERO)))
    (right, t), (left, s) = lowest
    if right is None or right != left or not all(attempt.hints.seems_above(side, eta, right) for side in (1, -1)):
        raise NotShown
    floors = [found(attempt.search.floor(at(eta), side, right), "") for side in (1, -1)]
    return [Point(at(eta), t, right), Point(at(eta), s, right), *floors]
