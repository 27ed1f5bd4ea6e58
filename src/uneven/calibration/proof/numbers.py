"""Exact numbers as text. Each number of a proof has only one valid text and is read without rounding."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

from uneven.errors import CertificateError
from uneven.expression.text import number_text

_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e-?[0-9]{1,4})?(?:/[0-9]+)?")
_MOST_CHARACTERS = 4000
_MOST_BITS = 12_000  # the product of two doubles has at most 4,200


def number(value: Fraction | float) -> str:
    """The text of an exact number, or of an infinite end, in a certificate."""
    if isinstance(value, float):
        return "inf" if value > 0 else "-inf"
    return number_text(value)


def read_number(text: Any) -> Fraction:
    """An exact number from its text, which must be the one that :func:`number` writes."""
    if not isinstance(text, str) or len(text) > _MOST_CHARACTERS or not _NUMBER.fullmatch(text):
        raise CertificateError(f"an exact number such as '1/3' or '0.25' is needed, got {str(text)[:60]!r}")
    try:
        value = Fraction(text)
        if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MOST_BITS:
            raise CertificateError(f"a number may have at most {_MOST_BITS} bits, got {text[:60]!r}")
        canonical = number_text(value)
    except ZeroDivisionError:
        raise CertificateError(f"{text[:60]!r} divides by 0") from None
    except ValueError:
        raise CertificateError(f"an exact number such as '1/3' or '0.25' is needed, got {text[:60]!r}") from None
    if canonical != text:
        raise CertificateError(f"the number {text[:60]!r} must be written as {canonical[:60]!r} in a certificate")
    return value


def read_end(text: Any) -> Fraction | float:
    """An end of a cell: an exact number, 'inf' or '-inf'."""
    if text in ("inf", "-inf"):
        return math.inf if text == "inf" else -math.inf
    return read_number(text)
