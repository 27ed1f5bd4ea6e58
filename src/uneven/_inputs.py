"""Reading what a user gives: exact numbers, probabilities, arrays. Errors name the value."""

from __future__ import annotations

import math
import numbers
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from uneven.errors import LossError

#: What is accepted where one exact number is wanted. A float is the binary number it is (0.1 is not 1/10);
#: a string, Fraction or Decimal is exact.
Exact = int | float | str | Fraction | Decimal


def exact(name: str, value: Exact) -> Fraction:
    """A finite number as a rational."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real | Decimal | str):
        raise LossError(f"{name} must be a number, got {value!r}")
    try:
        if isinstance(value, numbers.Real) and not isinstance(value, numbers.Rational):
            if not math.isfinite(value):
                raise ValueError
            return Fraction(float(value))
        if isinstance(value, str) and len(value) > 400:
            raise ValueError
        if isinstance(value, str | Decimal):
            _, _, exponent = str(value).lower().partition("e")
            if len(exponent) > 5:
                raise ValueError
        return Fraction(value)
    except (ValueError, OverflowError, ZeroDivisionError):
        raise LossError(f"{name} must be a finite number, got {value!r}") from None


def positive(name: str, value: Exact) -> Fraction:
    """A positive finite number."""
    number = exact(name, value)
    if number <= 0:
        raise LossError(f"{name} must be positive, got {value!r}")
    return number


def between_0_and_1(name: str, value: Exact) -> Fraction:
    """A number strictly between 0 and 1."""
    number = exact(name, value)
    if not 0 < number < 1:
        raise LossError(f"{name} must lie strictly between 0 and 1, got {value!r}")
    return number


def to_float(value: Fraction) -> float:
    """Nearest double, infinite beyond their range."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def shown(value: Fraction) -> str:
    """How a number appears in a repr: as the float it is, else as an exact string."""
    as_float = to_float(value)
    return repr(as_float) if Fraction(as_float) == value else repr(str(value))


def float_array(name: str, value: Any) -> tuple[np.ndarray, bool]:
    """Floats without NaN in at least one dimension, float32 kept, and whether a scalar was given."""
    try:
        array = np.asarray(value)
        if array.dtype.kind == "c":
            raise TypeError
        if array.dtype.kind not in "fiub":
            array = array.astype(np.float64)
    except (TypeError, ValueError):
        raise LossError(f"{name} must hold numbers, got {_brief(value)}") from None
    if array.dtype != np.float32:
        array = array.astype(np.float64, copy=False)
    if np.isnan(array).any():
        raise LossError(f"{name} must not contain NaN, got {_brief(value)}")
    return np.atleast_1d(array), array.ndim == 0


def probabilities(name: str, value: Any) -> tuple[np.ndarray, bool]:
    """Floats in [0, 1], and whether a scalar was given."""
    array, scalar = float_array(name, value)
    outside = array[(array < 0) | (array > 1)]
    if outside.size:
        raise LossError(f"{name} must lie in [0, 1], got {float(outside.flat[0])!r}")
    return array, scalar


def signs(name: str, value: Any) -> np.ndarray:
    """Labels -1 and +1."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiu" or not np.isin(array, (-1, 1)).all():
        raise LossError(f"{name} must be -1 or +1, got {_brief(value)}")
    return array


def unwrapped(array: np.ndarray, scalar: bool) -> Any:
    """An array, or the scalar it holds: a Python float, float32 kept."""
    if not scalar:
        return array
    return float(array[0]) if array.dtype == np.float64 else array[0]


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
