"""Proofs where the two sides cross: the only alpha is enclosed between two etas at which their order is proved."""

from __future__ import annotations

import math
from fractions import Fraction

from uneven.calibration.certificates.bench import Bench, NotShown, Proof, found
from uneven.calibration.certificates.guesses import simplest_between
from uneven.calibration.certificates.kernel import DIFFERENCE, NEGATIVE, POSITIVE, at
from uneven.calibration.certificates.steps import Descent, Floor, Mirror, Point, Step

_ZERO, _ONE = Fraction(0), Fraction(1)


def prove_transversal(bench: Bench) -> Proof:
    """Calibrated for exactly one alpha, enclosed, or exact where it is rational and that is shown."""
    guess = bench.guesses.crossing
    if guess is None:
        raise NotShown("no change of the better side was seen")
    order = _order_of_sides(bench)
    mirror = bench.kernel.mirrored_at()
    low, high, signs = _enclosed(bench, guess if mirror is None else mirror)
    if order and bench.kernel.descends_at_zero():
        once: list[Step] = [Descent(), *bench.halves()]
    else:
        once = _strict_decrease(bench, guess, low, high, swept=not order)
    steps = [*order, *signs, *once]
    tie = _tie(bench, low, high, mirror)
    if tie is not None:
        alpha, tied = tie
        return bench.concluded("transversal", steps + tied, alpha, alpha)
    return bench.concluded("transversal", steps, low, high)


def _order_of_sides(bench: Bench) -> list[Step]:
    """Lemma M, on a part of the line if t beyond it is dominated; nothing if it does not apply."""
    search = bench.search
    whole = search.sign(1, DIFFERENCE, -1)
    if whole is not None:
        return [whole]
    ends = bench.guesses.dominated_beyond
    if ends is None:
        return []
    low, high = ends
    wanted = [search.sign(1, DIFFERENCE, -1, low, high)]
    for sign, u, v in ((1, high, math.inf), (-1, -math.inf, low)):
        if isinstance(u, Fraction) or isinstance(v, Fraction):
            wanted += [search.sign(1, weights, sign, u, v) for weights in (POSITIVE, NEGATIVE)]
    steps: list[Step] = [step for step in wanted if step is not None]
    return steps if len(steps) == len(wanted) else []


def _enclosed(bench: Bench, guess: Fraction) -> tuple[Fraction, Fraction, list[Step]]:
    """lo and hi with A > B at lo and A < B at hi, as close as asked for, and the steps that prove it."""
    asked, room = bench.alpha, min(guess, 1 - guess)
    if asked is not None and abs(asked - guess) < bench.precision * room / 8:
        guess = asked
    low, high = bench.bracket(guess)
    try:
        return low, high, bench.ordered_at(low, 1) + bench.ordered_at(high, -1)
    except NotShown:
        low, high = _bisected(bench, guess)
    return low, high, bench.ordered_at(low, 1) + bench.ordered_at(high, -1)


def _bisected(bench: Bench, guess: Fraction) -> tuple[Fraction, Fraction]:
    """A wider bracket with proved signs, narrowed until it is as small as asked for."""
    room = min(guess, 1 - guess)
    width = bench.precision
    while True:
        width *= 100
        low, high = bench.bracket(guess, width * room)
        if width > 1 or low <= 0 or high >= 1:
            raise NotShown(f"the signs of A - B close to eta = {float(guess):.12g} were not proved")
        if _is_ordered(bench, low, 1) and _is_ordered(bench, high, -1):
            break
    while high - low > bench.precision * room:
        fifth = (high - low) / 5
        middle = simplest_between(low + 2 * fifth, high - 2 * fifth)
        if _is_ordered(bench, middle, 1):
            low = middle
        elif _is_ordered(bench, middle, -1):
            high = middle
        else:
            raise NotShown(f"the sign of A - B at eta = {float(middle):.12g} was not proved")
    return low, high


def _is_ordered(bench: Bench, eta: Fraction, side: int) -> bool:
    try:
        return bool(bench.ordered_at(eta, side))
    except NotShown:
        return False


def _strict_decrease(bench: Bench, guess: Fraction, low: Fraction, high: Fraction, *, swept: bool) -> list[Step]:
    """On an interval around the crossing the slopes of A lie below those of B; outside it, the order is swept."""
    for k in (2, 4, 7, 11):
        share = Fraction(1, 2**k)
        x, y = simplest_between(guess * (1 - share), low), simplest_between(high, guess + share * (1 - guess))
        inner = (low, high)
        if swept:
            inner = (x, y)
            x, y = simplest_between(x / 2, x * 7 / 8), simplest_between(y + (1 - y) / 8, y + (1 - y) / 2)
        chords = _chords(bench, x, *inner, y)
        if chords:
            outside = _swept(bench, 1, inner[0]) + _swept(bench, -1, inner[1]) if swept else []
            return outside + chords
    raise NotShown("A - B is not seen to vanish once only")


def _chords(bench: Bench, x: Fraction, low: Fraction, high: Fraction, y: Fraction) -> list[Step]:
    before, after = bench.best_floor(x, 1), bench.best_floor(y, -1)
    at_low, at_high = bench.point(low, 1), bench.point(high, -1)
    assert before.level is not None
    assert after.level is not None
    in_order = (at_low.value - before.level) * (y - high) < (after.level - at_high.value) * (low - x)
    return [before, at_low, after, at_high] if in_order else []


def _swept(bench: Bench, side: int, limit: Fraction) -> list[Step]:
    """Cells of eta from 0 (or 1) to the limit, on each of which one t shows the order."""
    eta = _ZERO if side > 0 else _ONE
    before = bench.best_floor(eta, side)
    steps: list[Step] = [before]
    ahead = [limit]
    while ahead:
        after = bench.best_floor(ahead[-1], side)
        shared = _shared_point(bench, side, before, after)
        if shared:
            steps += [*shared, after]
            before, eta = after, ahead.pop()
        elif len(ahead) > 40:
            raise NotShown(f"the order of A and B close to eta = {float(eta):.6g} was not proved")
        else:
            quarter = (ahead[-1] - eta) / 4
            ahead.append(simplest_between(eta + quarter, eta + 3 * quarter))
    return steps


def _shared_point(bench: Bench, side: int, before: Floor, after: Floor) -> list[Point]:
    """One t of the other side whose risk lies below both floors; nothing if none is found."""
    for eta in (after.eta, before.eta, (before.eta + after.eta) / 2):
        t = bench.guesses.minimiser(-side, eta)
        pairs = [(bench.point(floor.eta, -side, t), floor.level) for floor in (before, after)]
        if all(level is not None and point.value < level for point, level in pairs):
            return [point for point, _ in pairs]
    return []


def _tie(bench: Bench, low: Fraction, high: Fraction, mirror: Fraction | None) -> tuple[Fraction, list[Step]] | None:
    """The crossing itself, where it is rational and exact arithmetic shows it."""
    if mirror is not None and low < mirror < high:
        return mirror, [Mirror(mirror)]
    for eta in dict.fromkeys((bench.alpha, bench.guesses.declared_alpha, simplest_between(low, high))):
        if eta is not None and low < eta < high:
            try:
                return eta, _tie_at(bench, eta)
            except NotShown:
                continue
    return None


def _tie_at(bench: Bench, eta: Fraction) -> list[Step]:
    """Both sides attain one rational value, at points where the formulas change."""
    lowest = []
    for side in (1, -1):
        spots = [_ZERO, *(edge for edge in bench.search.edges if edge * side > 0)]
        values = [(value, t) for t in spots if (value := bench.kernel.exact_at(at(eta), t)) is not None]
        lowest.append(min(values, default=(None, _ZERO)))
    (right, t), (left, s) = lowest
    if right is None or right != left or not all(bench.guesses.seems_above(side, eta, right) for side in (1, -1)):
        raise NotShown
    floors = [found(bench.search.floor(at(eta), side, right), "") for side in (1, -1)]
    return [Point(at(eta), t, right), Point(at(eta), s, right), *floors]
