r"""The function ``window`` of the language: :math:`I_{\sigma(x)}(k+1, k)`, in balls and in kernels.

For a whole number k this regularised incomplete beta function is the probability of more than k successes in 2k
trials, each with probability p = expit(x). With q = 1 - p it is a sum of positive terms,
:math:`p^{k+1} \sum_{j<k} \binom{k+j}{j} q^j`, which loses no digits. For x > 0 its complement is such a sum too:
that of q, and the probability of exactly k successes. :mod:`~uneven.ops.floats` has it in floats.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb
from typing import Any

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


def print_window(printer: Any, x: str, order: int) -> str:
    """As lines of a kernel."""
    small = printer.small_exp(x)
    below = printer.emit(f"1.0 + {small}")
    larger = printer.emit(f"1.0 / {below}")
    smaller = printer.emit(f"{small} * {larger}")
    highest, *others = reversed(coefficients(order))
    total = _literal(highest)
    for coefficient in others:
        total = printer.emit(f"{_literal(coefficient)} + {larger} * {total}")
    power = printer.whole_power(smaller, (order + 1) // 2)
    tail = printer.emit(f"{power} * {total} * {power}")
    if order % 2 == 0:
        tail = printer.emit(f"{tail} * {smaller}")
    product = printer.emit(f"{smaller} * {larger}")
    even = printer.emit(f"{_literal(comb(2 * order, order))} * {printer.whole_power(product, order)}")
    rest = printer.emit(f"1.0 - ({tail} + {even})")
    return str(printer.select(f"{x} > 0.0", rest, tail))


def _literal(value: int) -> str:
    return repr(float(value))
