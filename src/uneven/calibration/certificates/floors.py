"""Lower bounds close to an infimum, for the prover."""

from __future__ import annotations

from fractions import Fraction

from uneven.calibration.certificates.guesses import Guesses
from uneven.calibration.certificates.search import Search, power_of_two
from uneven.calibration.certificates.steps import Floor
from uneven.ops.balls import Undefined


def best_floor(search: Search, guesses: Guesses, eta: Fraction, side: int) -> Floor | None:
    """A lower bound of the infimum over one side, as close to it as is easily proved."""
    weights = (eta, 1 - eta)
    near = guesses.minimiser(side, eta)
    try:
        top = search.kernel.upper_at(weights, near)
    except Undefined:
        return None
    for bits in (36, 26, 18, 12, 8):
        slack = power_of_two(max(top, guesses.size) / 2**bits)
        level = max(((top - slack) // slack) * slack, Fraction(0))
        floor = search.floor(weights, side, level, near, most=150)
        if floor is not None:
            return floor
    return None
