"""Real roots of a polynomial by Sturm's theorem: exact however close together they lie, for low degrees only."""

from __future__ import annotations

import itertools
import math
import struct
from typing import Any

from flint import fmpq, fmpq_poly, fmpz_poly

_SIGN_BIT = 1 << 63


def sturm_roots(polynomial: fmpz_poly) -> list[float]:
    """A double next to each real root of a squarefree polynomial without rational roots, in order.

    Roots between the same two doubles count as one; roots beyond the range of doubles are left out.
    """
    chain = _chain(polynomial)
    low, high = _rank(-math.inf) + 1, _rank(math.inf) - 1
    pending = [(low, high, _variations(chain, low), _variations(chain, high))]
    found = []
    while pending:
        low, high, at_low, at_high = pending.pop()
        if at_low == at_high:
            continue
        if high - low == 1:
            found.append(_double(low))
            continue
        middle = (low + high) // 2
        at_middle = _variations(chain, middle)
        pending += [(middle, high, at_middle, at_high), (low, middle, at_low, at_middle)]
    return found


def _chain(polynomial: fmpz_poly) -> list[fmpz_poly]:
    """The polynomial, its derivative, and minus the remainder of each pair: positive factors taken out."""
    chain = [polynomial, polynomial.derivative()]
    while chain[-1].degree() > 0:
        remainder = -(fmpq_poly(chain[-2]) % fmpq_poly(chain[-1])).numer()
        content = remainder.content()
        chain.append(fmpz_poly([coefficient // content for coefficient in remainder.coeffs()]))
    return chain


def _variations(chain: list[fmpz_poly], rank: int) -> int:
    """Changes of sign along the chain at a double; the number of roots between two doubles is the difference."""
    numerator, denominator = _double(rank).as_integer_ratio()
    values: list[Any] = [link(fmpq(numerator, denominator)) for link in chain]
    signs = [value > 0 for value in values if value != 0]
    return sum(a != b for a, b in itertools.pairwise(signs))


def _rank(x: float) -> int:
    """Doubles as consecutive integers in the same order."""
    bits: int = struct.unpack("<Q", struct.pack("<d", x))[0]
    return -(bits - _SIGN_BIT) if bits >= _SIGN_BIT else bits


def _double(rank: int) -> float:
    bits = _SIGN_BIT - rank if rank < 0 else rank
    x: float = struct.unpack("<d", struct.pack("<Q", bits))[0]
    return x
