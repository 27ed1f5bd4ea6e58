"""The declaration of a phi: its expression, facts that the expression alone does not show, and shared closed forms."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from uneven import inputs
from uneven.errors import ParameterError
from uneven.inputs import Exact

Array = Any


def require_name(kind: str, name: object) -> None:
    """Raise unless the name can be given to a new phi or parameter."""
    from uneven.losses.margin_function import RESERVED  # which imports this module

    if not (isinstance(name, str) and name.isidentifier() and name.isascii() and name == name.lower()):
        raise ParameterError(
            f"the name of a {kind} is a lower-case identifier such as 'my_{kind}', got {inputs.brief(name)}"
        )
    if name in RESERVED:
        raise ParameterError(f"the name {name!r} is a word of the language; choose another for the {kind}")


_RANGES: tuple[tuple[str, str, Callable[[Any, Any], bool]], ...] = (
    ("at_least", "at least", operator.ge),
    ("above", "greater than", operator.gt),
    ("at_most", "at most", operator.le),
)


@dataclass(frozen=True)
class Parameter:
    """A named number in the sentence of a phi, with its default and its range, all kept as rationals.

    With ``whole``, only whole numbers are allowed.
    """

    name: str
    default: Exact
    at_least: Exact | None = None
    above: Exact | None = None
    at_most: Exact | None = None
    whole: bool = False

    def __post_init__(self) -> None:
        require_name("parameter", self.name)
        for field, _, _ in _RANGES:
            bound = getattr(self, field)
            if bound is not None:
                object.__setattr__(self, field, inputs.exact(f"{field} of {self.name}", bound))
        object.__setattr__(self, "default", self._within(f"the default of {self.name}", self.default))

    def read(self, value: Exact) -> Fraction:
        """A value given for it."""
        return self._within(self.name, value)

    def _within(self, label: str, value: Exact) -> Fraction:
        number = inputs.exact(label, value)
        for field, words, holds in _RANGES:
            bound = getattr(self, field)
            if bound is not None and not holds(number, bound):
                raise ParameterError(f"{label} must be {words} {bound}, got {inputs.brief(value)}")
        if self.whole and number.denominator != 1:
            raise ParameterError(f"{label} must be a whole number, got {inputs.brief(value)}")
        return number


@dataclass(frozen=True)
class HalfLineInfima:
    """Infima of a phi(t) + (b/gamma) phi(-gamma t) over t > 0 and over t <= 0, and their difference."""

    positive: Array
    negative: Array
    difference: Array


@dataclass(frozen=True)
class ClosedForm:
    """An exact formula for the infima of the conditional risk over both half lines, with beta = 1/gamma.

    Parameters
    ----------
    source : str
        The theorem or equation it comes from.
    sides : callable
        ``sides(a, b, difference, gamma, parameters) -> HalfLineInfima``: infima of a phi(t) + (b/gamma) phi(-gamma t).
        The caller passes ``difference``, which is a - b, because it knows it without cancellation.
    holds : callable
        ``holds(gamma, parameters) -> bool``: for which gamma the formula is valid.
    """

    source: str
    sides: Callable[..., HalfLineInfima]
    holds: Callable[..., bool] = lambda gamma, parameters: True


@dataclass(frozen=True)
class OwnOdds:
    """The odds of the one alpha for which (phi(t), phi(-gamma t)/gamma) is calibrated.

    ``odds(gamma, parameters)``, all Fractions, returns a Fraction where they are known exactly, a float where
    they are known to rounding, None where nothing is declared: then they are computed.
    """

    source: str
    odds: Callable[..., Fraction | float | None]


@dataclass(frozen=True)
class Declaration:
    """A phi: its sentence and the facts declared about it, each of which tests try to falsify.

    Parameters
    ----------
    sentence : str
        phi(t) in the little language.
    parameters : tuple of Parameter
        Names besides t in the sentence.
    convex : bool or None
        None: not declared.
    limits : pair of str or None
        phi(-inf) and phi(inf), as sentences in the parameters; ``"inf"`` allowed.
    minimiser : float or None
        m such that phi is nonincreasing up to m and nondecreasing after it (``inf``: nonincreasing).
    minimum : str or None
        The infimum of phi, as a sentence in the parameters.
    special_value : callable or None
        Values at an array of finite floats, where those of the tree are not accurate enough.
    closed_form, own_odds
        See :class:`ClosedForm` and :class:`OwnOdds`.
    also_called : tuple of str
        Names in other libraries; not accepted, but the error for them suggests this phi.
    """

    sentence: str
    parameters: tuple[Parameter, ...] = ()
    convex: bool | None = None
    limits: tuple[str, str] | None = None
    minimiser: float | None = None
    minimum: str | None = None
    special_value: Callable[[Array], Array] | None = None
    closed_form: ClosedForm | None = None
    own_odds: OwnOdds | None = None
    also_called: tuple[str, ...] = ()
    doc: str = ""

    def __post_init__(self) -> None:
        _require("the sentence", "a text in the little language", isinstance(self.sentence, str), self.sentence)
        named = isinstance(self.parameters, tuple) and all(isinstance(p, Parameter) for p in self.parameters)
        _require("parameters", "a tuple of uneven.losses.Parameter", named, self.parameters)
        different = len({p.name for p in self.parameters}) == len(self.parameters)
        _require("parameters", "of different names", different, [p.name for p in self.parameters])
        _require("convex", "True, False or None", self.convex is None or isinstance(self.convex, bool), self.convex)
        _require("limits", "a pair of texts such as ('inf', '0')", _is_none_or_pair(self.limits), self.limits)
        if self.minimiser is not None:
            number, scalar = inputs.float_array("minimiser", self.minimiser)
            _require("minimiser", "one number", scalar, self.minimiser)
            object.__setattr__(self, "minimiser", float(number[0]))
        a_text = self.minimum is None or isinstance(self.minimum, str)
        _require("minimum", "a text such as '0'", a_text, self.minimum)
        _require("doc", "a text", isinstance(self.doc, str), self.doc)

    def read(self, name: str | None, given: Mapping[str, Exact]) -> tuple[tuple[str, Fraction], ...]:
        """Values of the parameters, defaults filled in."""
        known = {parameter.name for parameter in self.parameters}
        for key in given:
            if key not in known:
                takes = f"takes {', '.join(sorted(known))}" if known else "takes no parameters"
                raise ParameterError(f"the phi {name or self.sentence!r} {takes}, got {key}={inputs.brief(given[key])}")
        return tuple((p.name, p.read(given.get(p.name, p.default))) for p in self.parameters)


def _require(name: str, what: str, holds: bool, given: object) -> None:
    if not holds:
        raise ParameterError(f"{name} must be {what}, got {inputs.brief(given)}")


def _is_none_or_pair(limits: object) -> bool:
    return limits is None or (
        isinstance(limits, tuple) and len(limits) == 2 and all(isinstance(sentence, str) for sentence in limits)
    )


# Closed forms that several phis share: infima of the conditional risk over t > 0 and over t <= 0.


def from_risk_and_gap(
    risk: Callable[..., Array], gap: Callable[..., Array]
) -> Callable[[Array, Array, Array, float, dict[str, float]], HalfLineInfima]:
    """Infima of a loss whose infimum over the wrong half line is at t = 0 (true if it is convex: theorem 5).

    ``risk`` is the infimum over all t, ``gap`` is C(0) - risk, which is nonnegative. The infimum over all t lies on
    the positive half line if and only if a >= b.
    """

    def sides(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> HalfLineInfima:
        best = risk(a, b, difference, gamma, parameters)
        excess = gap(a, b, difference, gamma, parameters)
        positive = difference >= 0
        return HalfLineInfima(
            positive=np.where(positive, best, best + excess),
            negative=np.where(positive, best + excess, best),
            difference=np.where(positive, -excess, excess),
        )

    return sides


def mirrored(function: Callable[..., Array]) -> Callable[..., Array]:
    """Extend a formula valid for gamma >= 1 by C_gamma(a, b) = C_{1/gamma}(b, a)/gamma."""

    def extended(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> Array:
        if gamma >= 1:
            return function(a, b, difference, gamma, parameters)
        return function(b, a, -difference, 1 / gamma, parameters) / gamma

    return extended


def squared_risk(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> Array:
    """((1+gamma)^2/gamma) a b/(a + gamma b): section 4.2."""
    return (1 + gamma) ** 2 / gamma * a * b / (a + gamma * b)


def squared_gap(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> Array:
    """(a - b)^2/(a + gamma b)."""
    return difference * difference / (a + gamma * b)


def hinge_risk(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> Array:
    """((1+gamma)/gamma) min(a, b): section 4.1."""
    return (1 + gamma) / gamma * np.minimum(a, b)


def hinge_gap(a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]) -> Array:
    """a - b for a >= b, else (b - a)/gamma."""
    return np.where(difference >= 0, difference, -difference / gamma)


def only_even_margins(gamma: float, parameters: dict[str, float]) -> bool:
    """The formula is for gamma = 1."""
    return gamma == 1


def symmetric_sides(
    a: Array, b: Array, difference: Array, gamma: float, parameters: dict[str, float]
) -> HalfLineInfima:
    """gamma = 1 and phi(t) + phi(-t) = 1, phi from 1 down to 0: the risk is monotone in t."""
    half = (a + b) / 2
    return HalfLineInfima(positive=np.minimum(half, b), negative=np.minimum(half, a), difference=-difference / 2)
