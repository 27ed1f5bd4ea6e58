"""What a user gave: numbers, arrays and parameters. Errors name the value, warnings the user's line."""

from __future__ import annotations

import math
import numbers
import sys
import warnings
from collections.abc import Sequence
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from uneven.errors import ParameterError, UnevenError

#: The type of error to raise; costs and labels have their own type.
Kind = type[UnevenError]

#: What is accepted as an exact number. A float stands for its binary value (0.1 is not exactly 1/10); a string,
#: Fraction or Decimal is exact.
Exact = int | float | str | Fraction | Decimal


#: Most digits of a numerator or denominator. A text may have twice as many characters, so every repr can be read back.
_MOST_DIGITS = 2000
_MOST_BITS = 6600
#: A number between these two (the second excluded) rounds to a double that is neither 0 nor infinite.
_SMALLEST = Fraction(1, 2**1074)
_TOO_LARGE = Fraction(2**1024 - 2**970)


def exact(name: str, value: Exact, error: Kind = ParameterError) -> Fraction:
    """A finite number as a rational."""
    if type(value) in (int, float, Fraction):
        known = _rational(value)
        if known is not None:
            return known
    # NumPy counts a timedelta64 as an integer.
    if isinstance(value, bool | np.bool_ | np.timedelta64) or not isinstance(value, numbers.Real | Decimal | str):
        raise error(f"{name} must be a number, got {brief(value)}")
    if isinstance(value, Decimal):
        value = str(value)
    if isinstance(value, str) and len(value) > 2 * _MOST_DIGITS:
        raise _too_long(name, value, error)
    try:
        number = _from_text(value) if isinstance(value, str) else _from_real(value)
    except (ValueError, OverflowError, ZeroDivisionError):
        raise error(f"{name} must be a finite number, got {brief(value)}") from None
    if number != 0 and not _SMALLEST <= abs(number) < _TOO_LARGE:
        raise error(f"{name} must be 0 or within the range of double precision (5e-324 to 1.8e308), got {brief(value)}")
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > _MOST_BITS:
        raise _too_long(name, value, error)
    return number


@lru_cache(maxsize=1024)
def _rational(value: Any) -> Fraction | None:
    """A plain number as a rational, if it needs no further check: parameters are read many times in each fit."""
    if type(value) is Fraction and max(value.numerator.bit_length(), value.denominator.bit_length()) > _MOST_BITS:
        return None
    return Fraction(value) if value == 0 or 1e-300 < abs(value) < 1e300 else None


def _from_text(text: str) -> Fraction:
    """The number in a text. A huge exponent is replaced by a smaller one that is also out of range."""
    digits, e, exponent = text.lower().partition("e")
    enormous = 3 * _MOST_DIGITS
    if e and abs(int(exponent)) > enormous:
        return Fraction(f"{digits}e{enormous if int(exponent) > 0 else -enormous}")
    return Fraction(text)


def _from_real(value: numbers.Real) -> Fraction:
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))  # NumPy's integers would overflow later
    if isinstance(value, np.floating):
        return Fraction(*value.as_integer_ratio())
    return Fraction(float(value))


def _too_long(name: str, value: Any, error: Kind) -> UnevenError:
    return error(f"{name} must be written with at most {_MOST_DIGITS} digits, got {brief(value)}")


def positive(name: str, value: Exact, error: Kind = ParameterError) -> Fraction:
    """A positive finite number."""
    number = exact(name, value, error)
    if number <= 0:
        raise error(f"{name} must be positive, got {brief(value)}")
    return number


def between_0_and_1(name: str, value: Exact, error: Kind = ParameterError) -> Fraction:
    """A number strictly between 0 and 1; its difference from 1 must also be within the range of doubles."""
    number = exact(name, value, error)
    if not 0 < number < 1:
        raise error(f"{name} must lie strictly between 0 and 1, got {brief(value)}")
    exact(f"1 - {name}", 1 - number, error)
    return number


def to_float(value: Fraction) -> float:
    """The nearest double; infinite if the value is out of range."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def round_down(value: Fraction) -> float:
    """The largest double that is at most the value."""
    nearest = to_float(value)
    if math.isinf(nearest):
        return nearest if nearest < 0 else sys.float_info.max
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, -math.inf)


def round_up(value: Fraction) -> float:
    """The smallest double that is at least the value."""
    return -round_down(-value) + 0.0


def shown(value: Fraction) -> str:
    """How a number appears in a repr: as a float if that is exact, else as an exact string."""
    as_float = to_float(value)
    return repr(as_float) if Fraction(as_float) == value else repr(str(value))


def float_array(name: str, value: Any, error: Kind = ParameterError) -> tuple[np.ndarray, bool]:
    """An array of float64 or float32 without NaN, at least one-dimensional, and whether a scalar was given."""
    _require_unmasked(name, value, error)
    try:
        array = _numbers(value)
    except (TypeError, ValueError):
        raise error(f"{name} must hold numbers, got {brief(value)}") from None
    except OverflowError:
        raise error(f"{name} must hold numbers that fit a double, got {brief(value)}") from None
    if array.dtype != np.float32:
        array = array.astype(np.float64, copy=False)
    if np.isnan(array).any():
        raise error(f"{name} must not contain NaN, got {brief(value)}")
    return np.atleast_1d(array), array.ndim == 0


def _require_unmasked(name: str, value: Any, error: Kind) -> None:
    if np.ma.is_masked(value):
        raise error(f"{name} must not be masked, got {brief(value)}")


def _numbers(value: Any) -> np.ndarray:
    """A boolean, integer or float array of at most double precision; TypeError if something is not a number."""
    array = np.asarray(value)
    if array.dtype.kind == "O":
        return np.array([_as_float(element) for element in array.flat], dtype=np.float64).reshape(array.shape)
    if array.dtype.kind not in "fiub":
        raise TypeError
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        with np.errstate(over="ignore"):
            rounded = array.astype(np.float64)
        if (np.isinf(rounded) & np.isfinite(array)).any():
            raise OverflowError
        return rounded
    return array


def _as_float(element: Any) -> float:
    if isinstance(element, np.timedelta64) or not isinstance(element, numbers.Real | Decimal):
        raise TypeError
    number = float(element)
    # float() turns a Decimal that is too large into infinity, without an error.
    if math.isinf(number) and element not in (math.inf, -math.inf):
        raise OverflowError
    return number


def probabilities(name: str, value: Any, error: Kind = ParameterError) -> tuple[np.ndarray, bool]:
    """Floats in [0, 1], and whether a scalar was given."""
    array, scalar = float_array(name, value, error)
    outside = array[(array < 0) | (array > 1)]
    if outside.size:
        raise error(f"{name} must lie in [0, 1], got {float(outside.flat[0])!r}")
    return array, scalar


def regrets(value: Any, error: Kind = ParameterError) -> tuple[np.ndarray, bool]:
    """Regrets of a surrogate loss as float64, at least 0, and whether a scalar was given.

    A number that is no double becomes the next larger one: what is bounded by it stays bounded.
    """
    name = "surrogate_regret"
    array, scalar = float_array(name, value, error)
    if (array < 0).any():
        raise error(f"{name} must be at least 0, got {float(array.min())!r}")
    array = array.astype(np.float64)
    given = np.asarray(value)
    small = given.dtype.kind in "iub" and array.max(initial=0.0) < 2**53
    if not small and (given.dtype.kind != "f" or given.dtype.itemsize > 8):
        for k, number in enumerate(given.ravel().tolist()):
            if math.isfinite(number) and Fraction(array.flat[k]) < Fraction(*number.as_integer_ratio()):
                array.flat[k] = math.nextafter(array.flat[k], math.inf)
    return array, scalar


def signs(name: str, value: Any) -> np.ndarray:
    """Labels -1 and +1."""
    _require_unmasked(name, value, ParameterError)
    try:
        array = _numbers(value)
    except (TypeError, ValueError, OverflowError):
        array = np.zeros(1)
    if array.dtype.kind == "b" or not np.isin(array, (-1, 1)).all():
        raise ParameterError(f"{name} must be -1 or +1 (2*y - 1 turns 0 and 1 into that), got {brief(value)}")
    return array


def ndim(value: Any) -> int:
    """The number of dimensions; -1 for a list whose rows have different lengths."""
    try:
        return np.ndim(value)
    except ValueError:
        return -1


def entries(value: Any, *counts: int) -> tuple[Any, ...] | None:
    """The entries of a list, tuple, array or series, if there are as many as one of the counts; else None."""
    listed = isinstance(value, list | tuple) or (hasattr(value, "ndim") and hasattr(value, "tolist") and value.ndim > 0)
    return tuple(value) if listed and len(value) in counts else None


def unwrapped(array: np.ndarray, scalar: bool) -> Any:
    """The array, or its only element if a scalar was given; float64 becomes a Python float."""
    if not scalar:
        return array
    return float(array[0]) if array.dtype == np.float64 else array[0]


def brief(value: Any) -> str:
    """A repr on one line, shortened if it is long; if repr fails, a description."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a repr may raise any error; Python's own fails for integers of more than 4300 digits
        kind = type(value).__name__
        return f"an {kind} of {value.bit_length()} bits" if isinstance(value, int) else f"a {kind} without a repr"
    return text if len(text) <= 60 else text[:57] + "..."


def show_above(amount: float, digits: int) -> str:
    """A number with so many digits that is not less than the amount: how an upper bound is shown.

    Examples
    --------
    >>> from uneven.inputs import show_above
    >>> show_above(0.14142, 3), show_above(-0.14142, 3), show_above(0.1, 1), show_above(float("inf"), 2)
    ('0.142', '-0.141', '0.2', 'inf')
    """
    if not math.isfinite(amount):
        return f"{amount:g}"
    return f"{Context(prec=digits, rounding=ROUND_CEILING).create_decimal(Decimal(amount)):.{digits}g}"


# Warnings that point at the line of the user's code which made the call.

#: Packages whose frames stand between the user's line and the warning: ours, and the tools that call our estimators.
_BETWEEN = ("uneven", "sklearn", "joblib")


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line outside this package and scikit-learn.

    A fixed ``stacklevel`` is wrong as soon as ``fit`` is called by a pipeline, a search or another learner. Python 3.12
    has ``skip_file_prefixes`` for this; 3.11 has not.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_between(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_between(module: str) -> bool:
    return module.partition(".")[0] in _BETWEEN


# Checks of parameters that several learners have.

#: The seed of ``random_state=None``; making it takes longer than making a generator from it.
_ALWAYS = np.random.SeedSequence(0)


def require_integer(name: str, value: Any, *, least: int = 1, wanted: str = "a positive integer") -> None:
    """Raise unless a value is an integer of at least ``least``."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool | np.timedelta64) or value < least:
        raise ParameterError(f"{name} must be {wanted}, got {brief(value)}")


def require_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Raise unless a value is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ParameterError(f"{name} must be one of {', '.join(choices)}, got {brief(value)}")


def generator(random_state: Any) -> np.random.Generator:
    """A NumPy generator from scikit-learn's ``random_state``; None always gives the same generator."""
    if random_state is None:
        return np.random.Generator(np.random.PCG64(_ALWAYS))
    from sklearn.utils import check_random_state

    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
