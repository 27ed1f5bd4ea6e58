"""What a file of ``zoo/libraries`` declares: a library, its losses, their parameters, and losses that have no alpha."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from uneven import inputs
from uneven.errors import ParameterError, did_you_mean
from uneven.expression.text import number_text
from uneven.inputs import Exact, brief

#: The default of a parameter without one.
REQUIRED = "required"
Read = Fraction | tuple[Fraction, ...] | bool | str | None


def decimal(name: str, value: Any) -> Fraction:
    """A number as a rational; a float stands for the decimal number that it prints.

    Elsewhere in this library a float stands for its binary value. Here it is what a user wrote into another library's
    argument, where ``0.1`` means one tenth.

    Examples
    --------
    >>> from uneven.zoo.zoo_loss import decimal
    >>> decimal("label_smoothing", 0.1), decimal("alpha", "1/3")
    (Fraction(1, 10), Fraction(1, 3))
    """
    if isinstance(value, float | np.floating):
        value = repr(float(value)) if isinstance(value, float) else str(value)
    return inputs.exact(name, value)


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


# What a file of ``zoo/libraries`` declares: a library, its losses, and those of its losses that have no alpha.


@dataclass(frozen=True)
class Formula:
    """The losses of a positive and of a negative example, as sentences in t and the parameters.

    Parameters
    ----------
    positive, negative : str
    when : mapping of str to values
        The formula holds if these parameters have these values. The first formula that holds is taken.
    slopes : bool
        The sentences are slopes, not losses: the library detaches a weight from the gradient, so only the gradient
        says what is minimised (see :meth:`uneven.Loss.from_slopes`).
    """

    positive: str
    negative: str
    when: Mapping[str, Any] = field(default_factory=dict)
    slopes: bool = False


@dataclass(frozen=True)
class Knob:
    """The parameter that sets the costs.

    Parameters
    ----------
    parameter : str
    value : callable
        ``value(w)``: the value of the parameter with which positives weigh w times as much, and negatives once.
    also : mapping
        Other parameters that must be set for it to work.
    weight : callable, optional
        ``weight(alpha, values)``: the w that gives alpha, if it is not (odds of the loss with w = 1) / (odds of alpha):
        where the weight is more than a factor of one partial loss.
    """

    parameter: str
    value: Callable[[Fraction], Any]
    also: Mapping[str, Any] = field(default_factory=dict)
    weight: Callable[[Fraction, Mapping[str, Read]], Fraction] | None = None


@dataclass(frozen=True)
class Case:
    """Parameters at which a loss is certified; ``believed`` is the FN : FP cost ratio that one would read off them."""

    parameters: Mapping[str, Any] = field(default_factory=dict)
    believed: Fraction | int = 1


@dataclass(frozen=True)
class ZooLoss:
    """A loss of another library.

    Parameters
    ----------
    name : str
        As users write it, such as ``"torch.nn.CrossEntropyLoss"``.
    formulas : tuple of Formula
    parameters : tuple
        With the defaults of the library.
    knob : Knob, optional
        None: no parameter sets the costs.
    cases : tuple of Case
        Each is certified; the first one is at the defaults, if all parameters have one.
    remarks : tuple of str
        What a user should know, as sentences.
    score : str
        What t is.
    also_called : tuple of str
        Other names, also accepted.
    """

    name: str
    formulas: tuple[Formula, ...]
    parameters: tuple[AnyParameter, ...] = ()
    knob: Knob | None = None
    cases: tuple[Case, ...] = (Case(),)
    remarks: tuple[str, ...] = ()
    score: str = "the logit"
    also_called: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outside:
    """A loss of a library for which no alpha can be given, and the reason as a clause."""

    name: str
    reason: str


@dataclass(frozen=True)
class Library:
    """A library: the versions its losses were read from, and how they were checked.

    Parameters
    ----------
    package : str
        The name that is imported.
    version : str
    losses : tuple of ZooLoss
    outside : tuple of Outside
    """

    package: str
    version: str
    losses: tuple[ZooLoss, ...]
    outside: tuple[Outside, ...] = ()
