"""What a file of ``zoo/libraries`` declares: a library, its losses, and those of its losses that have no alpha."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from uneven.zoo.parameters import AnyParameter, Read


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
