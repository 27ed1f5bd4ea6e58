"""Amounts of money in words."""

from __future__ import annotations

import math


def money(amount: float, unit: str | None = None) -> str:
    """An amount with about four digits; thousands have commas.

    Examples
    --------
    >>> from uneven._money import money
    >>> money(12345.6, "EUR"), money(0.123456), money(-2.50001)
    ('12,346 EUR', '0.1235', '-2.5')
    """
    size = abs(amount)
    if size >= 1e15 or 0 < size < 1e-4:
        text = f"{amount:.3e}"
    else:
        decimals = 0 if size >= 1000 or size == 0 else 3 - math.floor(math.log10(size))
        text = f"{amount:,.{decimals}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    return text if unit is None else f"{text} {unit}"
