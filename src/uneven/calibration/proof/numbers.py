"""Exact numbers as text: every number of a proof is written in one way only, and read without rounding."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

from uneven.errors import CertificateError
from uneven.expression.text import number_text

_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e-?[0-9]{1,4})?(?:/[0-9]+)?")
_MOST_CHARACTERS = 4000
_MOST_BITS = 12_000  # two doubles multiplied have 4,200 at most


def number(value: Fraction | float) -> str:
    """An exact number, or an infinite end, as it stands in the document."""
    if isinstance(value, float):
        return "inf" if value > 0 else "-inf"
    return number_text(value)


def read_number(text: Any) -> Fraction:
    """An exact number of the document, in the one way that it is written there."""
    if not isinstance(text, str) or len(text) > _MOST_CHARACTERS or not _NUMBER.fullmatch(text):
        raise CertificateError(f"an exact number such as '1/3' or '0.25' is needed, got {str(text)[:60]!r}")
    try:
        value = Fraction(text)
        if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MOST_BITS:
            raise CertificateError(f"a number has at most {_MOST_BITS} bits, got {text[:60]!r}")
        canonical = number_text(value)
    except ZeroDivisionError:
        raise CertificateError(f"{text[:60]!r} divides by 0") from None
    except ValueError:
        raise CertificateError(f"an exact number such as '1/3' or '0.25' is needed, got {text[:60]!r}") from None
    if canonical != text:
        raise CertificateError(f"{text[:60]!r} is written {canonical[:60]!r} in a certificate")
    return value


def read_end(text: Any) -> Fraction | float:
    """An end of a cell: an exact number, 'inf' or '-inf'."""
    if text in ("inf", "-inf"):
        return math.inf if text == "inf" else -math.inf
    return read_number(text)
