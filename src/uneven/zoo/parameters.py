"""Parameters of a library's loss: their defaults, the values they take, and the numbers they put into a sentence."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from uneven import _inputs
from uneven._inputs import Exact, brief
from uneven._suggestions import did_you_mean
from uneven.errors import ParameterError
from uneven.expression.text import number_text

#: The default of a parameter without one.
REQUIRED = "required"
Read = Fraction | tuple[Fraction, ...] | bool | str | None


def decimal(name: str, value: Any) -> Fraction:
    """A number as a rational; a float stands for the decimal number that it prints.

    Elsewhere in this library a float stands for its binary value. Here it is what a user wrote into another library's
    argument, where ``0.1`` means one tenth.

    Examples
    --------
    >>> from uneven.zoo.parameters import decimal
    >>> decimal("label_smoothing", 0.1), decimal("alpha", "1/3")
    (Fraction(1, 10), Fraction(1, 3))
    """
    if isinstance(value, float | np.floating):
        value = repr(float(value)) if isinstance(value, float) else str(value)
    return _inputs.exact(name, value)


@dataclass(frozen=True)
class Number:
    """One number, with its range; ``others`` are further values with a meaning of their own, such as None or -1."""

    name: str
    default: Any = REQUIRED
    at_least: Exact | None = None
    above: Exact | None = None
    at_most: Exact | None = None
    below: Exact | None = None
    others: tuple[Any, ...] = ()

    def read(self, value: Any) -> Read:
        """A value that a user gives."""
        if value is None:
            if None in self.others or self.default is None:
                return None
            raise ParameterError(f"{self.name} must be a number, got None")
        number = decimal(self.name, value)
        if number in [other for other in self.others if other is not None]:
            return number
        for bound, words, holds in (
            (self.at_least, "at least", operator.ge),
            (self.above, "greater than", operator.gt),
            (self.at_most, "at most", operator.le),
            (self.below, "less than", operator.lt),
        ):
            if bound is not None and not holds(number, Fraction(bound)):
                also = "".join(f", or {other}" for other in self.others)
                raise ParameterError(f"{self.name} must be {words} {bound}{also}, got {brief(value)}")
        return number

    def bind(self, value: Read) -> dict[str, Fraction]:
        """Names in the sentences, and their numbers."""
        return {self.name: value} if isinstance(value, Fraction) else {}


@dataclass(frozen=True)
class PerClass:
    """Positive numbers for the negative and for the positive class, in this order, as in ``weight=(1, 10)``.

    In the sentences they are ``name_0`` and ``name_1``. None, if it is the default, stands for two ones, unless the
    numbers are ``facts`` about the data, which a formula that uses them needs; ``words`` are other values, such as
    "balanced".
    """

    name: str
    default: Any = None
    words: tuple[str, ...] = ()
    facts: bool = False

    def read(self, value: Any) -> Read:
        """A value that a user gives."""
        if value is None and self.default is None:
            return None
        if isinstance(value, str):
            if value in self.words:
                return value
            raise ParameterError(self._message(value))
        if isinstance(value, Mapping):
            value = [value.get(0, 1), value.get(1, 1)] if set(value) <= {0, 1} else None
        if isinstance(value, np.ndarray):
            value = value.tolist()
        if not isinstance(value, Sequence) or len(value) != 2:
            raise ParameterError(self._message(value))
        pair = tuple(decimal(self.name, number) for number in value)
        if min(pair) <= 0:
            raise ParameterError(f"{self.name} must hold positive numbers, got {brief(value)}")
        return pair

    def _message(self, value: Any) -> str:
        also = "".join(f", or {word!r}" for word in self.words)
        return (
            f"{self.name} must hold two numbers, for the negative and for the positive class, such as (1, 10){also}, "
            f"got {brief(value)}"
        )

    def bind(self, value: Read) -> dict[str, Fraction]:
        """Names in the sentences, and their numbers."""
        if self.facts and value is None:
            return {}
        pair = (Fraction(1), Fraction(1)) if not isinstance(value, tuple) else value
        return {f"{self.name}_0": pair[0], f"{self.name}_1": pair[1]}


@dataclass(frozen=True)
class Flag:
    """True or False."""

    name: str
    default: bool = False

    def read(self, value: Any) -> Read:
        """A value that a user gives."""
        known = {"true": True, "false": False}
        if isinstance(value, str) and value.lower() in known:
            return known[value.lower()]
        if not isinstance(value, bool | np.bool_):
            raise ParameterError(f"{self.name} must be True or False, got {brief(value)}")
        return bool(value)

    def bind(self, value: Read) -> dict[str, Fraction]:
        """Nothing: it chooses a sentence and is no number in it."""
        return {}


@dataclass(frozen=True)
class Choice:
    """One of several words."""

    name: str
    default: Any
    words: tuple[str, ...] = field(default=())

    def read(self, value: Any) -> Read:
        """A value that a user gives."""
        if value is None and self.default is None:
            return None
        if value not in self.words:
            known = ", ".join(map(repr, self.words))
            hint = did_you_mean(value, dict.fromkeys(self.words, ()), "") if isinstance(value, str) else ""
            raise ParameterError(f"{self.name} must be one of {known}, got {brief(value)}{hint and '; '}{hint}")
        return str(value)

    def bind(self, value: Read) -> dict[str, Fraction]:
        """Nothing: it chooses a sentence and is no number in it."""
        return {}


AnyParameter = Number | PerClass | Flag | Choice


def shown(value: Any) -> str:
    """A value as a user would write it: ``0.1``, ``(1, 10)``, ``(0.25,)``, ``None``."""
    if isinstance(value, tuple | list):
        return f"({', '.join(map(shown, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, Fraction):
        return number_text(value)
    if isinstance(value, str | float | Decimal) and not isinstance(value, bool):
        try:
            return number_text(decimal("", value))
        except ParameterError:
            return repr(value)
    return str(value)
