"""The declaration of a phi: its expression, and facts that the expression alone does not show."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from uneven import _inputs
from uneven._inputs import Exact
from uneven.errors import ParameterError

Array = Any


def require_name(kind: str, name: object) -> None:
    """Raise unless the name can be given to a new phi or parameter."""
    from uneven.losses.margin_function import RESERVED  # which imports this module

    if not (isinstance(name, str) and name.isidentifier() and name.isascii() and name == name.lower()):
        raise ParameterError(
            f"the name of a {kind} is a lower-case identifier such as 'my_{kind}', got {_inputs.brief(name)}"
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
                object.__setattr__(self, field, _inputs.exact(f"{field} of {self.name}", bound))
        object.__setattr__(self, "default", self._within(f"the default of {self.name}", self.default))

    def read(self, value: Exact) -> Fraction:
        """A value given for it."""
        return self._within(self.name, value)

    def _within(self, label: str, value: Exact) -> Fraction:
        number = _inputs.exact(label, value)
        for field, words, holds in _RANGES:
            bound = getattr(self, field)
            if bound is not None and not holds(number, bound):
                raise ParameterError(f"{label} must be {words} {bound}, got {_inputs.brief(value)}")
        if self.whole and number.denominator != 1:
            raise ParameterError(f"{label} must be a whole number, got {_inputs.brief(value)}")
        return number


@dataclass(frozen=True)
class HalfLineInfima:
    """Infima of a phi(t) + (b/gamma) phi(-gamma t) over t >= 0 and over t <= 0, and their difference."""

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
            number, scalar = _inputs.float_array("minimiser", self.minimiser)
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
                raise ParameterError(
                    f"the phi {name or self.sentence!r} {takes}, got {key}={_inputs.brief(given[key])}"
                )
        return tuple((p.name, p.read(given.get(p.name, p.default))) for p in self.parameters)


def _require(name: str, what: str, holds: bool, given: object) -> None:
    if not holds:
        raise ParameterError(f"{name} must be {what}, got {_inputs.brief(given)}")


def _is_none_or_pair(limits: object) -> bool:
    return limits is None or (
        isinstance(limits, tuple) and len(limits) == 2 and all(isinstance(sentence, str) for sentence in limits)
    )
