r"""The function ``window`` of the language: :math:`I_{\sigma(x)}(k+1, k)`, in balls.

For a whole number k this regularised incomplete beta function is the probability of more than k successes in 2k
trials, each with probability p = expit(x). With q = 1 - p it is a sum of positive terms,
:math:`p^{k+1} \sum_{j<k} \binom{k+j}{j} q^j`, which loses no digits. For x > 0 its complement is such a sum too:
that of q, and the probability of exactly k successes. :mod:`~uneven.ops.floats` has it on arrays,
:mod:`~uneven.ops.array_programs` as source code.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb

from flint import arb, arb_poly


@lru_cache(maxsize=128)
def coefficients(order: int) -> tuple[int, ...]:
    """binomial(k + j, j) for j = 0, ..., k - 1."""
    return tuple(comb(order + j, j) for j in range(order))


@lru_cache(maxsize=128)
def _polynomial(order: int) -> arb_poly:
    return arb_poly(list(coefficients(order)))


def of_ball(x: arb, order: int) -> arb:
    """At a ball."""
    small = (-x if x > 0 else x).exp()
    larger = 1 / (1 + small)
    smaller = small * larger
    tail = smaller ** (order + 1) * _polynomial(order)(larger)
    if not x > 0:
        return tail
    return 1 - (tail + comb(2 * order, order) * (smaller * larger) ** order)
