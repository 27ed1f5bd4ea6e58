"""Check a certificate from its JSON alone, without a search and without floats, after an estimate of the work."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from uneven.calibration.trusted.claims import UNDECIDED, Claim, read_claim
from uneven.calibration.trusted.document import Steps, accept_any, read_document, read_loss
from uneven.calibration.trusted.psi import check_psi
from uneven.calibration.trusted.rules import DIFFERENCE, NEGATIVE, POSITIVE, Rules, at
from uneven.calibration.trusted.steps import WHOLE_LINE, Descent, Floor, Kink, Mirror, Point, Sign, Slope
from uneven.errors import CertificateError, ExpressionError
from uneven.ops.balls import Undefined
from uneven.shape.pieces import conditions

_MOST_EFFORT = 250_000  # cells times parts of the formulas, at low precision: takes a few seconds
_PER_STEP = 8  # cost of a step besides its cells, in cells
_SWITCHED = 4  # cost of a formula with cases, relative to a smooth one: its pieces are found again on each cell
_MOST_FLAT = 16  # cells with the rule 'flat', which is slow: it differentiates up to eight times
_MOST_NODES = 2_000  # nodes, contacts and rows of a psi table: about 2 ms each, however small the formulas


def require_affordable(document: dict[str, Any], rules: Rules) -> None:
    """Raise :class:`CertificateError` for a certificate whose check would take more than a few seconds.

    The cost of a cell grows with the size of the formulas of F, F' and F'', and with the precision. Cells and steps are
    only counted here, not read.
    """
    cells, flat, nodes = _count([document["steps"], document["psi"]])
    if nodes > _MOST_NODES:
        raise CertificateError(f"a psi table has at most {_MOST_NODES} nodes, contacts and rows, this has {nodes}")
    if flat > _MOST_FLAT:
        raise CertificateError(f"at most {_MOST_FLAT} cells may have the rule 'flat', this certificate has {flat}")
    thousands = rules.bits / 1000
    effort = cells * _parts(rules) * (1 + thousands + thousands**2 / 4)
    if effort > _MOST_EFFORT:
        raise CertificateError(
            f"checking its {cells} cells and steps at {rules.bits} bits would take too long for formulas of this size"
        )


def _count(data: Any) -> tuple[int, int, int]:
    """Cells, with steps in units of cells; cells with the rule 'flat'; nodes, contacts and rows of a psi table.

    The data may be of any form and depth.
    """
    cells = flat = nodes = 0
    pending = [data]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            cells += _PER_STEP if "step" in item else 1
            nodes += "step" not in item
            pending.extend(item.values())
        elif isinstance(item, list):
            cells += 1
            pending.extend(item)
        else:
            flat += item == "flat"
    return cells, flat, nodes


def _parts(rules: Rules) -> int:
    """Number of parts of the formulas of both partial losses and their first two derivatives."""
    total = 0
    for order in (0, 1, 2):
        try:
            trees = rules.trees(order)
        except Undefined:  # too large: no rule can use it
            break
        total += sum(len(set(tree.walk())) * (_SWITCHED if any(conditions(tree)) else 1) for tree in trees)
    return total


_ONE, _ZERO = Fraction(1), Fraction(0)


def check(text: str, refuse: Callable[[str], object] = accept_any) -> tuple[str, Claim]:
    """The statement and the claim of a valid certificate, from its JSON text alone.

    ``refuse`` is called with the text of each partial loss. It may raise an error to reject the certificate, and can do
    nothing else, so a valid answer does not rest on it.

    Raises
    ------
    CertificateError
        If the certificate does not prove its claim.
    """
    document = read_document(text)
    if document["status"] == UNDECIDED:
        raise CertificateError("an undecided certificate proves nothing")
    rules = Rules(*read_loss(document["loss"], refuse), document["bits"])
    claim = read_claim(document["claim"])
    steps = Steps(document["steps"], rules)
    if document["method"] not in _METHODS:
        raise CertificateError(f"{document['method']!r} is not a method of proof")
    require_affordable(document, rules)
    try:
        _METHODS[document["method"]](steps, claim)
        steps.require_end()
        if document["psi"] is not None:
            check_psi(rules, document["psi"], claim, document["method"])
    except ExpressionError as error:
        raise CertificateError(f"a formula or number in the proof is too large: {error}") from None
    return document["statement"], claim


def _interval(claim: Claim) -> tuple[Fraction, Fraction]:
    """The interval that, by the claim, contains the only alpha."""
    if claim.only.interval is None:
        raise CertificateError(f"this method cannot prove a claim of the kind {claim.kind!r}")
    return claim.only.interval


def _nonnegative(steps: Steps) -> None:
    for weights in (POSITIVE, NEGATIVE):
        steps.take(Sign, weights=weights, order=0, sign=1, low=-math.inf, high=math.inf)


def _convexity(steps: Steps) -> None:
    for weights in (POSITIVE, NEGATIVE):
        steps.take(Sign, weights=weights, order=2, sign=1, low=-math.inf, high=math.inf)


def _convex(steps: Steps, claim: Claim) -> None:
    low, high = _interval(claim)
    _nonnegative(steps)
    _convexity(steps)
    steps.take(Descent)
    if low == high:
        steps.take(Slope, weights=at(low), side=1, sign=0)
    else:
        steps.take(Slope, weights=at(low), side=1, sign=1)
        steps.take(Slope, weights=at(high), side=1, sign=-1)


def _halves(steps: Steps) -> None:
    """L1(t) >= L1(0) for t <= 0 and L-1(t) >= L-1(0) for t >= 0."""
    steps.take(Floor, weights=POSITIVE, side=-1, level=None)
    steps.take(Floor, weights=NEGATIVE, side=1, level=None)


def _tangential(steps: Steps, claim: Claim) -> None:
    low, high = _interval(claim)
    _nonnegative(steps)
    steps.take(Descent)
    if low == high:
        steps.take(Slope, weights=at(low), side=1, sign=0)
        _halves(steps)
        for side in (1, -1):
            steps.take(Floor, weights=at(low), side=side, level=None)
        return
    # Let a = A - C(., 0) and b = B - C(., 0); both are concave in eta and at most 0. At low, the slope of the risk at
    # t = 0 is positive, and the convex part ("bowl") and the floor on the right show a = 0. So a does not rise to the
    # right of low. Likewise b = 0 at high, so b does not fall to the left of high. So D = A - B does not rise on
    # [low, high]. D = 0 on an interval would need slope 0 at t = 0 for two etas. Below low, C(eta, .) on t >= 0 is a
    # mixture of C(low, .) and L-1, both smallest at 0, so A = C(eta, 0) > B. Above high the same holds in mirror image.
    steps.take(Slope, weights=at(low), side=1, sign=1)
    steps.take(Slope, weights=at(high), side=1, sign=-1)
    _halves(steps)
    for eta in (low, high):
        bowl = steps.take(Sign, weights=at(eta), order=2, sign=1)
        if not bowl.low < 0 < bowl.high:
            raise steps.fail("t = 0 must lie strictly between the ends of the step")
        for side, end in ((1, bowl.high), (-1, bowl.low)):
            steps.take(Floor, weights=at(eta), side=side, level=None, start=abs(end))


def _transversal(steps: Steps, claim: Claim) -> None:
    low, high = _interval(claim)
    _nonnegative(steps)
    ordered = isinstance(steps.peek(), Sign)
    if ordered:
        _order_of_sides(steps)
    left, right = _ordered_at(steps, 1, strict=True), _ordered_at(steps, -1, strict=True)
    if low < high:
        if (left, right) != (low, high):
            raise steps.fail("the signs must be proved at the ends of the claimed interval")
    elif not left < low < right:
        raise steps.fail("the claimed alpha must lie between the etas of the two signs")
    if ordered and isinstance(steps.peek(), Descent):
        steps.take(Descent)
        _halves(steps)
    else:
        wide = (left, right) if ordered else (_swept(steps, 1, left), _swept(steps, -1, right))
        _strict_decrease(steps, *wide)
    if low == high:
        _tie(steps, low)


def _order_of_sides(steps: Steps) -> None:
    """Lemma M: L1 - L-1 falls on a range around 0; beyond its ends, both partial losses only grow, so t is ignored."""
    step = steps.take(Sign, weights=DIFFERENCE, order=1, sign=-1)
    if step.cells is None and (step.low, step.high) != WHOLE_LINE:
        raise steps.fail("a sign without cells must be claimed for the whole line")
    if not step.low <= 0 <= step.high:
        raise steps.fail("t = 0 must lie between the ends of the step")
    for end, sign, ends in ((step.high, 1, (step.high, math.inf)), (step.low, -1, (-math.inf, step.low))):
        if isinstance(end, Fraction):
            for weights in (POSITIVE, NEGATIVE):
                steps.take(Sign, weights=weights, order=1, sign=sign, low=ends[0], high=ends[1])


def _ordered_at(steps: Steps, side: int, *, strict: bool) -> Fraction:
    """An eta at which the infimum over this side exceeds the other one (not strict: or equals it)."""
    floor = steps.take(Floor, side=side)
    eta = _eta_of(steps, floor)
    point = steps.take(Point, weights=at(eta))
    if not point.decides(-side, steps.rules):
        raise steps.fail("the point must lie on the other side")
    if floor.level is None:  # the level is F(0), and the point may be t = 0 too
        below = point.t == 0 and not strict
    else:
        below = point.value < floor.level or (point.value == floor.level and not strict)
    if not below:
        raise steps.fail("the value at the point must lie below the level of the previous step")
    return eta


def _eta_of(steps: Steps, step: Floor | Point) -> Fraction:
    if not 0 <= step.eta <= 1 or step.weights != at(step.eta):
        raise steps.fail("the weights must be eta and 1 - eta")
    return step.eta


def _swept(steps: Steps, side: int, limit: Fraction) -> Fraction:
    """Check cell by cell from eta = 0 upwards that A > B (side 1), or from 1 downwards that B > A; return the last eta.

    The infimum over this side is concave in eta, so it lies above the chord of its floors. The other infimum lies below
    the risk of any one t, which is affine in eta. So an order that holds at both ends of a cell holds in between.
    """
    end = _ZERO if side > 0 else _ONE
    before = steps.take(Floor, side=side, weights=at(end))
    while True:
        points = [steps.take(Point, weights=at(end))]
        points.append(steps.take(Point, t=points[0].t))
        after = steps.take(Floor, side=side)
        eta = _eta_of(steps, after)
        if points[1].weights != at(eta) or not (eta - end) * side > 0 or (limit - eta) * side < 0:
            raise steps.fail("the cells of eta must follow each other")
        for point, floor in zip(points, (before, after), strict=True):
            if floor.level is None or not point.decides(-side, steps.rules) or not point.value < floor.level:
                raise steps.fail("the value at the point must lie below the level, on the other side")
        before, end = after, eta
        if not isinstance(steps.peek(), Point):
            return end


def _strict_decrease(steps: Steps, low: Fraction, high: Fraction) -> None:
    """On [low, high], every slope of A in eta is below every slope of B; chords of these concave functions show it."""
    before = steps.take(Floor, side=1)
    at_low = steps.take(Point, weights=at(low))
    after = steps.take(Floor, side=-1)
    at_high = steps.take(Point, weights=at(high))
    x, y = _eta_of(steps, before), _eta_of(steps, after)
    if before.level is None or after.level is None or not (x < low <= high < y):
        raise steps.fail("the chords must lie outside the interval")
    if not (at_low.decides(1, steps.rules) and at_high.decides(-1, steps.rules)):
        raise steps.fail("the first point must be a positive decision, the second a negative one")
    if not (at_low.value - before.level) * (y - high) < (after.level - at_high.value) * (low - x):
        raise steps.fail("the slopes of A must lie below those of B")


def _tie(steps: Steps, eta: Fraction) -> None:
    """Both sides have the same infimum at eta, exactly."""
    if isinstance(steps.peek(), Mirror):
        steps.take(Mirror, eta=eta)
        if not steps.rules.is_continuous_at_zero(at(eta), 1):  # t = 0 has no mirror image: it is a negative decision
            raise steps.fail("a mirror image shows a tie only if the risk does not jump at t = 0")
        return
    right, left = steps.take(Point, weights=at(eta)), steps.take(Point, weights=at(eta))
    decided = right.decides(1, steps.rules) and left.decides(-1, steps.rules)
    if not decided or right.value != left.value:
        raise steps.fail("the two points must lie on different sides and have the same value")
    for side in (1, -1):
        steps.take(Floor, weights=at(eta), side=side, level=right.value)


def _convex_tie(steps: Steps, claim: Claim) -> None:
    if claim.kind != "calibrated for no alpha":
        raise CertificateError(f"this method cannot prove a claim of the kind {claim.kind!r}")
    _nonnegative(steps)
    _convexity(steps)
    if isinstance(steps.peek(), Kink):
        steps.take(Kink)
        return
    step = steps.take(Slope)
    rises = step.weights == POSITIVE and step.side > 0 and step.sign >= 0
    falls = step.weights == NEGATIVE and step.side < 0 and step.sign <= 0
    if not (rises or falls):
        raise steps.fail("L1 must not fall to the right of 0, or L-1 must not rise from the left of 0")


def _order(steps: Steps, claim: Claim) -> None:
    _nonnegative(steps)
    found: list[tuple[Fraction, int]] = []
    for _ in range(2 if claim.kind == "calibrated for no alpha" else 1):
        step = steps.peek()
        if found and step is None:
            break
        side = step.side if isinstance(step, Floor) else 1
        found.append((_ordered_at(steps, side, strict=False), side))
    if claim.kind == "calibrated for no alpha":
        # B >= A (side -1) at eta rules out every alpha above it, A >= B every alpha below it.
        none_above = min([eta for eta, side in found if side < 0], default=_ONE)
        none_below = max([eta for eta, side in found if side > 0], default=_ZERO)
        if not (none_above == 0 or none_below == 1 or none_above < none_below):
            raise steps.fail("these etas do not rule out every alpha")
        return
    if claim.kind != "not calibrated":
        raise CertificateError(f"this method cannot prove a claim of the kind {claim.kind!r}")
    ((eta, side),) = found
    if claim.alpha is None or claim.witness != eta or not (eta - claim.alpha) * side > 0:
        raise steps.fail("the witness must be the eta of the proof, on the side of alpha where its order is wrong")


_METHODS: dict[str, Callable[[Steps, Claim], None]] = {
    "convex": _convex,
    "tangential": _tangential,
    "transversal": _transversal,
    "convex tie": _convex_tie,
    "order": _order,
}
