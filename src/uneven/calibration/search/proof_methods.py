"""Methods that prove or refute that a loss is calibrated: one section per theorem."""

from __future__ import annotations

import math
from fractions import Fraction

from uneven.calibration.search.attempt import Attempt, NotShown, Proof, found, undecided_at
from uneven.calibration.search.cells import Exhausted
from uneven.calibration.search.hints import simplest_between
from uneven.calibration.trusted.claims import NO_ALPHA, UNKNOWN_ALPHA, OnlyAlpha
from uneven.calibration.trusted.rules import DIFFERENCE, NEGATIVE, POSITIVE, at
from uneven.calibration.trusted.steps import Descent, Floor, Kink, Mirror, Point, Sign, Slope, Step
from uneven.ops.balls import above, below


def prove_convex(attempt: Attempt) -> Proof:
    """Prove that the loss is calibrated for the alpha that balances its slopes at 0, or for no alpha."""
    rules = attempt.rules
    steps: list[Step] = []
    for weights in (POSITIVE, NEGATIVE):
        step = attempt.search.sign(2, weights, 1)
        if step is None:
            raise NotShown
        steps.append(step)
    for which, name in enumerate(("positive", "negative")):
        if rules.has_kink_at_zero(which):
            return Proof("convex tie", [*steps, Kink(name)], NO_ALPHA, _ties(attempt))
    for weights, side in ((POSITIVE, 1), (NEGATIVE, -1)):
        sign = rules.slope_sign_at_zero(weights, side)
        if sign is not None and sign * side >= 0:
            return Proof("convex tie", [*steps, Slope(weights, side, sign)], NO_ALPHA, (weights[0], weights[0]))
    try:
        alpha, exact = attempt.balance()
    except NotShown:
        raise NotShown("the loss is convex, but the signs of its slopes at t = 0 were not proved") from None
    steps.append(Descent())
    if exact:
        return Proof("convex", [*steps, Slope(at(alpha), 1, 0)], OnlyAlpha.within(alpha, alpha))
    low, high = attempt.bracket(alpha)
    for eta, sign in ((low, 1), (high, -1)):
        if rules.slope_sign_at_zero(at(eta), 1) != sign:
            raise NotShown("the loss is convex, but the ratio of its slopes at t = 0 was not bounded closely enough")
        steps.append(Slope(at(eta), 1, sign))
    return Proof("convex", steps, OnlyAlpha.within(low, high))


def _ties(attempt: Attempt) -> tuple[Fraction, Fraction] | None:
    """The etas at which 0 lies between the one-sided slopes of the risk at t = 0, so that A = B = C(eta, 0)."""
    before, after = attempt.rules.slopes_at_zero(-1), attempt.rules.slopes_at_zero(1)
    if before is None or after is None:
        return None
    weights = [partial.weight for partial in attempt.rules.partials]
    left = [weight * above(slope.hi) for weight, slope in zip(weights, before, strict=True)]
    right = [-weight * below(slope.lo) for weight, slope in zip(weights, after, strict=True)]
    low, high = _where_not_positive(*left)
    other_low, other_high = _where_not_positive(*right)
    low, high = max(low, other_low), min(high, other_high)
    return (low, high) if low <= high else None


def _where_not_positive(at_one: Fraction, at_zero: Fraction) -> tuple[Fraction, Fraction]:
    """The eta in [0, 1] with eta * at_one + (1 - eta) * at_zero <= 0."""
    if at_one <= 0 and at_zero <= 0:
        return Fraction(0), Fraction(1)
    if at_one > 0 and at_zero > 0:
        return Fraction(1), Fraction(0)
    root = at_zero / (at_zero - at_one)
    return (root, Fraction(1)) if at_one <= 0 else (Fraction(0), root)


# Proofs where t = 0 minimises C(alpha, .): theorem T.

_ZERO = Fraction(0)


def prove_tangential(attempt: Attempt) -> Proof:
    """Prove that the loss is calibrated for the alpha that balances its slopes at 0; an irrational one is enclosed."""
    alpha, exact = attempt.balance()
    if not attempt.hints.minimised_at_zero(alpha):
        raise NotShown
    if not exact and not attempt.rules.has_sign(2, at(alpha), 1, _ZERO, _ZERO):  # then no cell around 0 can be convex
        raise NotShown(f"the expected loss at P(Y = 1) = {float(alpha):.12g} is too flat at t = 0")
    low, high = (alpha, alpha) if exact else attempt.bracket(alpha)
    signs = [(alpha, 0)] if exact else [(low, 1), (high, -1)]
    steps: list[Step] = [Descent(), *(Slope(at(eta), 1, sign) for eta, sign in signs), *attempt.halves()]
    for eta, _ in signs:
        steps += _bottom(attempt, eta, exact=exact)
    return Proof("tangential", steps, OnlyAlpha.within(low, high))


def _bottom(attempt: Attempt, eta: Fraction, *, exact: bool) -> list[Step]:
    """Steps that show C(eta, t) >= C(eta, 0) for all t; if the slope at 0 is not exactly 0, outside a convex cell."""
    missing = f"t = 0 seems to minimise the expected loss at P(Y = 1) = {float(eta):.12g}, but this was not proved"
    start, steps = _ZERO, []
    if not exact:
        bowl, start = _bowl(attempt, eta)
        steps.append(bowl)
    floors = [found(attempt.search.floor(at(eta), side, None, start=start), missing) for side in (1, -1)]
    return [*steps, *floors]


def _bowl(attempt: Attempt, eta: Fraction) -> tuple[Sign, Fraction]:
    """A cell around 0 on which the risk is convex, and its radius."""
    smallest = min(abs(edge) for edge in attempt.search.edges)
    for k in range(-2, 17, 2):
        radius = smallest / Fraction(2) ** k
        step = attempt.search.sign(2, at(eta), 1, -radius, radius)
        if step is not None:
            return step, radius
    raise NotShown(f"the expected loss at P(Y = 1) = {float(eta):.12g} was not proved to be convex close to t = 0")


# Proofs where A and B cross: the only alpha lies between two etas at which the sign of A - B is proved.

_ONE = Fraction(1)
# Shares of the budget: for one end of the bracket asked for, for one end of another, and for what comes after.
_FIRST, _LATER, _RESERVE = 0.3, 0.06, 0.3


def prove_transversal(attempt: Attempt) -> Proof:
    """Prove that the loss is calibrated for exactly one alpha: enclosed in an interval, or exact if it is rational."""
    guess = attempt.hints.crossing
    if guess is None:
        raise NotShown("no probability P(Y = 1) was found at which the decision with the smaller loss changes")
    order = _order_of_sides(attempt)
    mirror = attempt.rules.mirrored_at() if attempt.nearest(1) == 0 else None
    low, high, signs = _enclose(attempt, guess) if mirror is None else _around_tie(attempt, mirror)
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


def _enclose(attempt: Attempt, guess: Fraction) -> tuple[Fraction, Fraction, list[Step]]:
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
        spots = [attempt.nearest(side), *(edge for edge in attempt.search.edges if edge * side > 0)]
        values = [(value, t) for t in spots if (value := attempt.rules.exact_at(at(eta), t)) is not None]
        lowest.append(min(values, default=(None, _ZERO)))
    (right, t), (left, s) = lowest
    if right is None or right != left or not all(attempt.hints.seems_above(side, eta, right) for side in (1, -1)):
        raise NotShown
    floors = [found(attempt.search.floor(at(eta), side, right), "") for side in (1, -1)]
    return [Point(at(eta), t, right), Point(at(eta), s, right), *floors]


# Refutations: an eta at which the loss does not prefer the cheaper decision, because A and B have the wrong order.


def refute_every_alpha(attempt: Attempt) -> Proof:
    """Prove that the loss is calibrated for no alpha, by one or two etas that together rule out every alpha."""
    for side, eta in ((-1, _ZERO), (1, _ONE)):
        try:
            return Proof("order", _weakly_ordered_at(attempt, eta, side), NO_ALPHA)
        except NotShown:
            continue
    pair = attempt.hints.wrong_pair
    if pair is None:
        raise NotShown("no two probabilities P(Y = 1) were found that together rule out every alpha")
    return Proof("order", attempt.ordered_at(pair[0], -1) + attempt.ordered_at(pair[1], 1), NO_ALPHA)


def refute_one_alpha(attempt: Attempt, alpha: Fraction) -> Proof:
    """Prove that the loss is not calibrated for this alpha, by an eta at which A and B have the wrong order."""
    for eta in attempt.hints.wrong_etas(alpha):
        try:
            steps = _weakly_ordered_at(attempt, eta, 1 if eta > alpha else -1)
        except NotShown:
            continue
        return Proof("order", steps, UNKNOWN_ALPHA)
    raise NotShown("no probability P(Y = 1) was found at which the loss prefers the costlier decision")


def _weakly_ordered_at(attempt: Attempt, eta: Fraction, side: int) -> list[Step]:
    """Steps that show: the infimum over this side is larger than the other, or both are C(eta, 0) or the same limit."""
    try:
        return attempt.ordered_at(eta, side)
    except NotShown:
        missing = "it was not proved that both decisions have the same smallest loss"
    jumps = attempt.hints.solver.jumps_at_zero  # then the infimum may be a value that the loss takes beside 0
    point = attempt.point(eta, -side, None if jumps else _ZERO)
    if attempt.hints.seems_above(side, eta, point.value):
        level = None if point.t == 0 else point.value
        return [found(attempt.search.floor(at(eta), side, level), missing), point]
    limit = attempt.rules.limit_at(at(eta), -side * math.inf)
    if limit is None or not attempt.hints.seems_above(side, eta, limit):
        raise NotShown(missing)
    return [found(attempt.search.floor(at(eta), side, limit), missing), Point(at(eta), -side * math.inf, limit)]
