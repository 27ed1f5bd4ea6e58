"""Proofs where t = 0 minimises C(alpha, .): theorem T."""

from __future__ import annotations

from fractions import Fraction

from uneven.calibration.certificates.bench import Bench, NotShown, Proof, found
from uneven.calibration.certificates.kernel import at
from uneven.calibration.certificates.steps import Descent, Sign, Slope, Step

_ZERO = Fraction(0)


def prove_tangential(bench: Bench) -> Proof:
    """Calibrated for the alpha that balances the slopes at 0: exactly, or enclosed where it is irrational."""
    alpha, exact = bench.balance()
    if not bench.guesses.minimised_at_zero(alpha):
        raise NotShown
    if not bench.kernel.has_sign(2, at(alpha), 1, _ZERO, _ZERO):  # flat at 0: no cell around 0 would do
        raise NotShown(f"C({float(alpha):.12g}, .) is too flat at t = 0")
    low, high = (alpha, alpha) if exact else bench.bracket(alpha)
    signs = [(alpha, 0)] if exact else [(low, 1), (high, -1)]
    steps: list[Step] = [Descent(), *(Slope(at(eta), 1, sign) for eta, sign in signs), *bench.halves()]
    for eta, _ in signs:
        steps += _bottom(bench, eta, exact=exact)
    return bench.concluded("tangential", steps, low, high)


def _bottom(bench: Bench, eta: Fraction, *, exact: bool) -> list[Step]:
    """C(eta, t) >= C(eta, 0) for all t; if its slope at 0 is not exactly 0, outside a cell where it is convex."""
    missing = f"t = 0 seems to minimise C({float(eta):.12g}, .), but that was not proved"
    start, steps = _ZERO, []
    if not exact:
        bowl, start = _bowl(bench, eta)
        steps.append(bowl)
    floors = [found(bench.search.floor(at(eta), side, None, start=start), missing) for side in (1, -1)]
    return [*steps, *floors]


def _bowl(bench: Bench, eta: Fraction) -> tuple[Sign, Fraction]:
    """A cell around 0 on which the risk is convex, and its radius."""
    smallest = min(abs(edge) for edge in bench.search.edges)
    for k in range(-2, 17, 2):
        radius = smallest / Fraction(2) ** k
        step = bench.search.sign(2, at(eta), 1, -radius, radius)
        if step is not None:
            return step, radius
    raise NotShown(f"C({float(eta):.12g}, .) was not seen to be convex close to t = 0")
