"""Find a proof that a loss is, or is not, calibrated.

The prover may guess with floats: where the sides cross, where a minimum lies. What it writes down is checked by
the rules of the kernel, on which alone a certificate rests.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from uneven import _inputs
from uneven._inputs import Exact
from uneven.calibration.certificates.checker import DIFFERENCE, NEGATIVE, POSITIVE, read_loss
from uneven.calibration.certificates.document import CLAIMS, SCHEMA, THEOREMS, Certificate, Claim, number, statement
from uneven.calibration.certificates.floors import best_floor
from uneven.calibration.certificates.guesses import Guesses, simplest_between
from uneven.calibration.certificates.kernel import Kernel, Pair
from uneven.calibration.certificates.psi_prover import prove_psi, psi_alpha
from uneven.calibration.certificates.search import Budget, Exhausted, Search, power_of_two
from uneven.calibration.certificates.steps import Descent, Floor, Kink, Mirror, Point, Sign, Slope, Step
from uneven.calibration.implied import as_loss
from uneven.errors import LossError
from uneven.expression import to_text
from uneven.losses import Loss, Phi
from uneven.losses._partial import Partial
from uneven.ops.balls import Undefined

_ZERO, _ONE = Fraction(0), Fraction(1)
_BITS = 160
_FAR_APART = Fraction(1, 10**6)  # an alpha this far from the crossing is refuted at once


def certify(
    loss: Loss | Phi | str,
    alpha: Exact | None = None,
    *,
    precision: Exact = Fraction(1, 10**12),
    budget: int = 3_000,
    seconds: float | None = None,
    psi: Sequence[Exact] | None = None,
) -> Certificate:
    """A machine-checkable proof that a loss is, or is not, calibrated for alpha.

    Parameters
    ----------
    loss : Loss, Phi or str
        A phi or its name stands for the margin loss with gamma = 1. Python functions cannot be certified.
    alpha : number in (0, 1), optional
        By default the weight of a weighted loss; for an unweighted one, whichever alpha it is calibrated for.
    precision : positive number
        Width of the interval in which alpha is enclosed where it is not found exactly.
    budget : int
        Cells the search may look at.
    seconds : float, optional
        Time after which the search gives up.
    psi : sequence of numbers, optional
        Cost regrets at which the certificate also bounds psi from below and above.

    Returns
    -------
    Certificate
        ``status`` is ``"proved"``, ``"refuted"`` or ``"undecided"``; :func:`uneven.verify` re-checks the first two.

    Notes
    -----
    Where the one alpha of a loss is irrational it is enclosed. An alpha asked for that lies in the enclosure
    counts as proved, and ``extra_regret`` says what the difference can cost.

    Examples
    --------
    >>> import uneven
    >>> certificate = uneven.certify(uneven.UnevenMarginLoss("sigmoid", gamma=3))
    >>> certificate.status, certificate.method
    ('proved', 'transversal')
    >>> low, high = certificate.interval
    >>> low < uneven.certify("sigmoid").alpha, low < 4 / 13 < high, float(high - low) <= 1e-12
    (True, True, True)
    >>> print(uneven.certify("perceptron"))
    refuted: The loss is calibrated for no alpha.
    """
    chosen = as_loss(loss)
    if not all(partial.symbolic for partial in chosen.partials):
        raise LossError(
            "a loss given as Python functions cannot be certified; written as expressions in t it can, such as "
            "uneven.Loss('softplus(-t)', '10*softplus(t)')"
        )
    asked = chosen.exact_alpha if alpha is None else _inputs.between_0_and_1("alpha", alpha)
    width = _inputs.positive("precision", precision)
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
        raise LossError(f"budget must be a positive whole number of cells, got {_inputs.brief(budget)}")
    limit = None if seconds is None else float(_inputs.positive("seconds", seconds))
    eps = None if psi is None else [_inputs.exact("psi", value) for value in psi]
    return _Prover(chosen, asked, width, Budget(budget, limit)).certificate(eps)


def _written(partial: Partial) -> dict[str, str]:
    assert isinstance(partial.function, Phi)
    return {
        "function": to_text(partial.function.tree),
        "weight": number(partial.weight),
        "scale": number(partial.inner),
    }


class _Undecided(Exception):
    """What is missing, in a sentence."""


class _Prover:
    def __init__(self, loss: Loss, alpha: Fraction | None, precision: Fraction, budget: Budget) -> None:
        self.alpha = alpha
        self.precision = precision
        self.written = dict(zip(("positive", "negative"), map(_written, loss.partials), strict=True))
        self.kernel = Kernel(*read_loss(self.written), _BITS)
        self.guesses = Guesses(loss)
        self.search = Search(self.kernel, budget, self.guesses.edges)
        self.missing: list[str] = []
        self.steps: list[Step] = []

    # The document.

    def certificate(self, eps: list[Fraction] | None) -> Certificate:
        try:
            method, claim = self._proved()
        except _Undecided as gap:
            return self._document("none", self._undecided(str(gap)), None)
        except Exhausted:
            missing = "; ".join(self.missing) or "no method came to an end"
            return self._document("none", self._undecided(f"the budget was spent ({missing})."), None)
        if eps is None:
            return self._document(method, claim, None)
        target = psi_alpha(claim, self.alpha)
        exact = claim["kind"] == "calibrated" and method in ("convex", "tangential")
        try:
            table = prove_psi(self.search, self.guesses, target, eps, affine=exact)
        except Exhausted:
            raise LossError("the budget was spent before psi was bounded; a larger one may help") from None
        return self._document(method, claim, table)

    def _document(self, method: str, claim: Claim, table: dict[str, Any] | None) -> Certificate:
        document = {
            "schema": SCHEMA,
            "status": CLAIMS[claim["kind"]][0],
            "statement": statement(claim),
            "theorem": THEOREMS[method],
            "method": method,
            "claim": claim,
            "loss": self.written,
            "bits": _BITS,
            "steps": [step.to_dict() for step in self.steps],
            "psi": table,
        }
        return Certificate(_laid_out(document))

    def _undecided(self, missing: str) -> Claim:
        self.steps = []
        return {
            "kind": "undecided",
            "alpha": None if self.alpha is None else number(self.alpha),
            "missing": missing,
        }

    def _proved(self) -> tuple[str, Claim]:
        loss_steps = [self.search.sign(0, weights, 1) for weights in (POSITIVE, NEGATIVE)]
        kept = [step for step in loss_steps if step is not None]
        if len(kept) < 2:
            raise _Undecided("that both partial losses are never negative was not seen.")
        methods: list[Callable[[], tuple[str, Claim] | None]] = [self._convex, self._far_from_it, self._tangential]
        methods += [self._transversal, self._wrong_order]
        for method in methods:
            self.steps = list(kept)
            found = method()
            if found is not None:
                return found
        raise _Undecided("; ".join(self.missing) + ".")

    def _concluded(self, method: str, low: Fraction, high: Fraction) -> tuple[str, Claim]:
        """What follows for the alpha asked for, once the one alpha of the loss is enclosed."""
        asked = self.alpha
        if asked is not None and not low <= asked <= high:
            near = low if asked < low else high
            witness = near if abs(asked - near) < Fraction(1, 2**200) else simplest_between(asked, near)
            return method, {
                "kind": "calibrated elsewhere",
                "alpha": number(asked),
                "low": number(low),
                "high": number(high),
                "witness": number(witness),
            }
        if low == high:
            return method, {"kind": "calibrated", "alpha": number(low)}
        return method, {
            "kind": "calibrated within",
            "low": number(low),
            "high": number(high),
            "alpha": None if asked is None else number(asked),
            "extra_regret": None if asked is None else number(max(asked - low, high - asked)),
        }

    # Convex partial losses.

    def _convex(self) -> tuple[str, Claim] | None:
        kernel = self.kernel
        for weights in (POSITIVE, NEGATIVE):
            step = self.search.sign(2, weights, 1)
            if step is None:
                return None
            self.steps.append(step)
        nowhere: Claim = {"kind": "calibrated for no alpha"}
        for which, name in enumerate(("positive", "negative")):
            if kernel.has_kink_at_zero(which):
                self.steps.append(Kink(name))
                return "convex tie", nowhere
        for weights, side in ((POSITIVE, 1), (NEGATIVE, -1)):
            sign = kernel.slope_sign_at_zero(weights, side)
            if sign is not None and sign * side >= 0:
                self.steps.append(Slope(weights, side, sign))
                return "convex tie", nowhere
        balance = self._balance()
        if balance is None:
            self.missing.append("it is convex, but its slopes at t = 0 could not be decided")
            return None
        self.steps.append(Descent())
        alpha, exact = balance
        if exact:
            self.steps.append(Slope(_at(alpha), 1, 0))
            return self._concluded("convex", alpha, alpha)
        low, high = self._bracket(alpha)
        for eta, sign in ((low, 1), (high, -1)):
            if kernel.slope_sign_at_zero(_at(eta), 1) != sign:
                self.missing.append("it is convex, but the ratio of its slopes at t = 0 was not enclosed")
                return None
            self.steps.append(Slope(_at(eta), 1, sign))
        return self._concluded("convex", low, high)

    def _balance(self) -> tuple[Fraction, bool] | None:
        """The eta at which the slope of C(eta, .) at 0 vanishes, and whether that is shown to be exact."""
        kernel = self.kernel
        if not kernel.descends_at_zero():
            return None
        found = kernel.balance()
        if found is None or found[1]:
            return found
        candidates = [kernel.own_balance, self.alpha, *(found[0].limit_denominator(10**k) for k in (2, 6))]
        for eta in candidates:
            if eta is not None and 0 < eta < 1 and kernel.is_balanced(_at(eta)):
                return eta, True
        return found

    # t = 0 minimises C(alpha, .).

    def _tangential(self) -> tuple[str, Claim] | None:
        balance = self._balance()
        if balance is None or not self.guesses.minimised_at_zero(balance[0]):
            return None
        alpha, exact = balance
        if not self.kernel.has_sign(2, _at(alpha), 1, _ZERO, _ZERO):  # flat at 0: no cell around 0 would do
            return None
        low, high = (alpha, alpha) if exact else self._bracket(alpha)
        signs = [(alpha, 0)] if exact else [(low, 1), (high, -1)]
        self.steps += [Descent(), *(Slope(_at(eta), 1, sign) for eta, sign in signs)]
        if not self._halves():
            return None
        parts = [self._bottom(eta, exact=exact) for eta, _ in signs]
        if None in parts:
            self.missing.append(f"t = 0 seems to minimise C({float(alpha):.12g}, .), but that was not proved")
            return None
        self.steps += [step for part in parts if part is not None for step in part]
        return self._concluded("tangential", low, high)

    def _bottom(self, eta: Fraction, *, exact: bool) -> list[Step] | None:
        """C(eta, t) >= C(eta, 0) for all t; if the slope at 0 is not exactly 0, away from a cell where it is convex."""
        start = _ZERO
        steps: list[Step] = []
        if not exact:
            bowl = next((bowl for k in range(1, 20, 2) if (bowl := self._bowl(eta, k)) is not None), None)
            if bowl is None:
                return None
            step, start = bowl
            steps.append(step)
        for side in (1, -1):
            floor = self.search.floor(_at(eta), side, None, start=start)
            if floor is None:
                return None
            steps.append(floor)
        return steps

    def _bowl(self, eta: Fraction, k: int) -> tuple[Sign, Fraction] | None:
        """A cell around 0 on which the risk is convex, and its radius."""
        radius = min(abs(edge) for edge in self.search.edges) * Fraction(8, 2**k)
        step = self.search.sign(2, _at(eta), 1, -radius, radius)
        return None if step is None else (step, radius)

    def _halves(self) -> bool:
        """L1(t) >= L1(0) for t <= 0, L-1(t) >= L-1(0) for t >= 0."""
        for weights, side in ((POSITIVE, -1), (NEGATIVE, 1)):
            floor = self.search.floor(weights, side, None)
            if floor is None:
                self.missing.append("a partial loss may be lower on its wrong side than at t = 0")
                return False
            self.steps.append(floor)
        return True

    # The sides cross.

    def _transversal(self) -> tuple[str, Claim] | None:
        guess = self.guesses.crossing
        if guess is None:
            self.missing.append("no change of the better side was seen")
            return None
        ordered = self._order_of_sides()
        mirror = self.kernel.mirrored_at()
        found = self._enclosed_crossing(guess if mirror is None else mirror)
        if found is None:
            self.missing.append(f"the signs of A - B close to eta = {float(guess):.12g} were not proved")
            return None
        low, high = found
        if ordered and self.kernel.descends_at_zero():
            self.steps.append(Descent())
            if not self._halves():
                return None
        elif not self._strict_decrease(guess, low, high, swept=not ordered):
            self.missing.append("A - B is not seen to vanish once only")
            return None
        exact = self._tie(low, high, mirror)
        return self._concluded("transversal", *((low, high) if exact is None else (exact, exact)))

    def _order_of_sides(self) -> bool:
        """Lemma M; on a part of the line if t beyond it is dominated."""
        whole = self.search.sign(1, DIFFERENCE, -1)
        if whole is not None:
            self.steps.append(whole)
            return True
        ends = self.guesses.dominated_beyond
        if ends is None:
            return False
        low, high = ends
        steps = [self.search.sign(1, DIFFERENCE, -1, low, high)]
        for sign, (u, v) in ((1, (high, float("inf"))), (-1, (float("-inf"), low))):
            if isinstance(u, Fraction) or isinstance(v, Fraction):
                steps += [self.search.sign(1, weights, sign, u, v) for weights in (POSITIVE, NEGATIVE)]
        kept = [step for step in steps if step is not None]
        if len(kept) < len(steps):
            return False
        self.steps += kept
        return True

    def _bracket(self, guess: Fraction, width: Fraction | None = None) -> tuple[Fraction, Fraction]:
        """Short decimals on both sides of a guess, at most the precision apart."""
        room = min(guess, 1 - guess)
        half = (self.precision * min(room, Fraction(1, 2)) if width is None else width) * Fraction(2, 5)
        digits = len(str(int(1 / half))) + 1
        unit = Fraction(1, 10**digits)
        return ((guess - half) // unit) * unit, -((-guess - half) // unit) * unit

    def _enclosed_crossing(self, guess: Fraction) -> tuple[Fraction, Fraction] | None:
        """lo and hi with A > B at lo and A < B at hi, both proved, as close as asked for."""
        if self.alpha is not None and abs(self.alpha - guess) < self.precision * min(guess, 1 - guess) / 8:
            guess = self.alpha
        low, high = self._bracket(guess)
        steps = [self._ordered_at(low, 1), self._ordered_at(high, -1)]
        if None in steps:
            found = self._bisected(guess)
            if found is None:
                return None
            low, high = found
            steps = [self._ordered_at(low, 1), self._ordered_at(high, -1)]
        for pair in steps:
            if pair is None:
                return None
            self.steps += pair
        return low, high

    def _bisected(self, guess: Fraction) -> tuple[Fraction, Fraction] | None:
        """A wider bracket with proved signs, halved until it is narrow enough."""
        width = self.precision
        room = min(guess, 1 - guess)
        while width < 1:
            width *= 100
            low, high = self._bracket(guess, width * room)
            if low > 0 and high < 1 and self._ordered_at(low, 1) and self._ordered_at(high, -1):
                break
        else:
            return None
        while high - low > self.precision * room:
            middle = simplest_between(low + (high - low) * Fraction(2, 5), high - (high - low) * Fraction(2, 5))
            if self._ordered_at(middle, 1):
                low = middle
            elif self._ordered_at(middle, -1):
                high = middle
            else:
                return None
        return low, high

    def _ordered_at(self, eta: Fraction, side: int) -> list[Step] | None:
        """Proof that the infimum over this side exceeds the one over the other at eta."""
        point = self._point(eta, -side)
        if point is None:
            return None
        floor = self._floor_at(eta, side, self._just_above(point.value))
        return None if floor is None else [floor, point]

    def _point(self, eta: Fraction, side: int, t: Fraction | None = None) -> Point | None:
        """An upper bound of the infimum over one side."""
        at = self.guesses.minimiser(side, eta) if t is None else t
        try:
            return Point(_at(eta), at, self.kernel.upper_at(_at(eta), at))
        except Undefined:
            return None

    def _just_above(self, value: Fraction) -> Fraction:
        unit = Fraction(1, 2**110) * max(self.guesses.size, value)
        return -(-value // power_of_two(unit)) * power_of_two(unit) + power_of_two(unit)

    def _floor_at(self, eta: Fraction, side: int, level: Fraction) -> Floor | None:
        if not self.guesses.seems_above(side, eta, level):
            return None
        return self.search.floor(_at(eta), side, level, self.guesses.minimiser(side, eta))

    def _strict_decrease(self, guess: Fraction, low: Fraction, high: Fraction, *, swept: bool) -> bool:
        """On an interval around the crossing the slopes of A lie below those of B; outside, the order is swept."""
        for k in (2, 4, 7, 11):
            share = Fraction(1, 2**k)
            x, y = simplest_between(guess * (1 - share), low), simplest_between(high, guess + share * (1 - guess))
            inner = (low, high)
            if swept:
                inner = (x, y)
                x, y = simplest_between(x / 2, x * 7 / 8), simplest_between(y + (1 - y) / 8, y + (1 - y) / 2)
            chords = self._chords(x, *inner, y)
            if chords is None:
                continue
            if swept:
                parts = [self._swept(1, inner[0]), self._swept(-1, inner[1])]
                if parts[0] is None or parts[1] is None:
                    return False
                self.steps += parts[0] + parts[1]
            self.steps += chords
            return True
        return False

    def _chords(self, x: Fraction, low: Fraction, high: Fraction, y: Fraction) -> list[Step] | None:
        before, after = self._best_floor(x, 1), self._best_floor(y, -1)
        at_low, at_high = self._point(low, 1), self._point(high, -1)
        if before is None or after is None or at_low is None or at_high is None:
            return None
        assert before.level is not None
        assert after.level is not None
        if not (at_low.value - before.level) * (y - high) < (after.level - at_high.value) * (low - x):
            return None
        return [before, at_low, after, at_high]

    def _best_floor(self, eta: Fraction, side: int) -> Floor | None:
        """A floor as high as it is easily proved."""
        return best_floor(self.search, self.guesses, eta, side)

    def _swept(self, side: int, limit: Fraction) -> list[Step] | None:
        """Cells of eta from 0 (or 1) to the limit, on each of which one t shows the order."""
        start = _ZERO if side > 0 else _ONE
        first = self._best_floor(start, side)
        if first is None:
            return None
        steps: list[Step] = [first]
        before, eta, ahead = first, start, [limit]
        while ahead:
            after = self._best_floor(ahead[-1], side)
            cell = None if after is None else self._shared_point(side, before, after)
            if cell is None:
                if len(ahead) > 40:
                    return None
                ahead.append(simplest_between(eta + (ahead[-1] - eta) / 4, eta + (ahead[-1] - eta) * 3 / 4))
                continue
            assert after is not None
            steps += [*cell, after]
            before, eta = after, ahead.pop()
        return steps

    def _shared_point(self, side: int, before: Floor, after: Floor) -> list[Step] | None:
        """One t of the other side whose risk lies below both floors."""
        for eta in (after.eta, before.eta, (before.eta + after.eta) / 2):
            t = self.guesses.minimiser(-side, eta)
            points = [self._point(floor.eta, -side, t) for floor in (before, after)]
            good = [
                point is not None and floor.level is not None and point.value < floor.level
                for point, floor in zip(points, (before, after), strict=True)
            ]
            if all(good):
                return [point for point in points if point is not None]
        return None

    def _tie(self, low: Fraction, high: Fraction, mirror: Fraction | None) -> Fraction | None:
        """The crossing itself, where it is rational and exact arithmetic shows it."""
        if mirror is not None and low < mirror < high:
            self.steps.append(Mirror(mirror))
            return mirror
        candidates = [self.alpha, self.guesses.declared_alpha, simplest_between(low, high)]
        for eta in dict.fromkeys(candidates):
            if eta is not None and low < eta < high:
                steps = self._tie_at(eta)
                if steps is not None:
                    self.steps += steps
                    return eta
        return None

    def _tie_at(self, eta: Fraction) -> list[Step] | None:
        lowest = []
        for side in (1, -1):
            spots = [_ZERO, *(edge for edge in self.search.edges if edge * side > 0)]
            values = [(value, t) for t in spots if (value := self.kernel.exact_at(_at(eta), t)) is not None]
            if not values:
                return None
            lowest.append(min(values))
        (right, t), (left, s) = lowest
        if right != left or not all(self.guesses.seems_above(side, eta, right) for side in (1, -1)):
            return None
        steps: list[Step] = [Point(_at(eta), t, right), Point(_at(eta), s, left)]
        for side in (1, -1):
            floor = self.search.floor(_at(eta), side, right)
            if floor is None:
                return None
            steps.append(floor)
        return steps

    # The wrong order somewhere.

    def _far_from_it(self) -> tuple[str, Claim] | None:
        """An alpha far from the crossing is refuted by one eta between the two."""
        guess = self.guesses.crossing
        if self.alpha is None or guess is None or abs(self.alpha - guess) < _FAR_APART:
            return None
        return self._refuted_at(simplest_between((self.alpha + 3 * guess) / 4, (3 * self.alpha + guess) / 4))

    def _refuted_at(self, eta: Fraction) -> tuple[str, Claim] | None:
        assert self.alpha is not None
        side = 1 if eta > self.alpha else -1
        steps = self._ordered_at(eta, side) or self._tied_at(eta, side)
        if steps is None:
            return None
        self.steps += steps
        return "order", {"kind": "not calibrated", "alpha": number(self.alpha), "witness": number(eta)}

    def _tied_at(self, eta: Fraction, side: int) -> list[Step] | None:
        """The infimum over this side is attained at t = 0, which the other side has too."""
        point = self._point(eta, -side, _ZERO)
        if point is None or not self.guesses.seems_above(side, eta, point.value):
            return None
        floor = self.search.floor(_at(eta), side, None)
        return None if floor is None else [floor, point]

    def _wrong_order(self) -> tuple[str, Claim] | None:
        if self.alpha is not None:
            for eta in self.guesses.wrong_etas(self.alpha):
                found = self._refuted_at(eta)
                if found is not None:
                    return found
            self.missing.append("no eta at which the sides have the wrong order was found")
            return None
        for side, eta in ((-1, _ZERO), (1, _ONE)):
            steps = self._ordered_at(eta, side) or self._tied_at(eta, side)
            if steps is not None:
                self.steps += steps
                return "order", {"kind": "calibrated for no alpha"}
        pair = self.guesses.wrong_pair
        if pair is not None:
            parts = [self._ordered_at(pair[0], -1), self._ordered_at(pair[1], 1)]
            if parts[0] is not None and parts[1] is not None:
                self.steps += parts[0] + parts[1]
                return "order", {"kind": "calibrated for no alpha"}
        return None


def _at(eta: Fraction) -> Pair:
    return eta, 1 - eta


def _laid_out(document: dict[str, Any]) -> str:
    """JSON with one line per field, step and node: a person can read it, and a diff is short."""
    return "{\n" + ",\n".join(_field(key, value, "  ") for key, value in document.items()) + "\n}\n"


def _field(key: str, value: Any, indent: str) -> str:
    if key == "psi" and value is not None:
        inner = ",\n".join(_field(name, part, indent + "  ") for name, part in value.items())
        return f'{indent}"psi": {{\n{inner}\n{indent}}}'
    if isinstance(value, list) and value:
        items = ",\n".join(f"{indent}  {json.dumps(item)}" for item in value)
        return f"{indent}{json.dumps(key)}: [\n{items}\n{indent}]"
    return f"{indent}{json.dumps(key)}: {json.dumps(value)}"
