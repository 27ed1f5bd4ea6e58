"""Proofs where t = 0 minimises C(alpha, .): theorem T."""

from __future__ import annotations

from fractions import Fraction

from uneven.calibration.claim import OnlyAlpha
from uneven.calibration.proof.attempt import Attempt, NotShown, Proof, found
from uneven.calibration.proof.rules import at
from uneven.calibration.proof.steps import Descent, Sign, Slope, Step

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
