"""What a file that declares a phi consists of: its sentence and what the sentence cannot know."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from uneven import _inputs
from uneven._inputs import Exact
from uneven.errors import LossError

Array = Any


@dataclass(frozen=True)
class Parameter:
    """A named number in the sentence of a phi, with its default and its range."""

    name: str
    default: Fraction | int
    at_least: Fraction | int | None = None
    above: Fraction | int | None = None
    at_most: Fraction | int | None = None

    def read(self, value: Exact) -> Fraction:
        number = _inputs.exact(self.name, value)
        if self.at_least is not None and number < self.at_least:
            raise LossError(f"{self.name} must be at least {self.at_least}, got {value!r}")
        if self.above is not None and number <= self.above:
            raise LossError(f"{self.name} must be greater than {self.above}, got {value!r}")
        if self.at_most is not None and number > self.at_most:
            raise LossError(f"{self.name} must be at most {self.at_most}, got {value!r}")
        return number


@dataclass(frozen=True)
class Sides:
    """Infima of a phi(t) + (b/gamma) phi(-gamma t) over t >= 0 and over t <= 0, and their difference."""

    positive: Array
    negative: Array
    difference: Array


@dataclass(frozen=True)
class ClosedForm:
    """An exact formula for both sides of the conditional risk, with beta = 1/gamma.

    Parameters
    ----------
    source : str
        The theorem or equation it comes from.
    sides : callable
        ``sides(a, b, difference, gamma, parameters) -> Sides``, where ``difference`` is a - b, known to
        the caller without cancellation (FORMULAS: the homogeneous form).
    holds : callable
        ``holds(gamma, parameters) -> bool``: for which gamma the formula is valid.
    """

    source: str
    sides: Callable[..., Sides]
    holds: Callable[..., bool] = lambda gamma, parameters: True


@dataclass(frozen=True)
class OwnAlpha:
    """The odds of the one alpha for which (phi(t), phi(-gamma t)/gamma) is calibrated.

    ``odds(gamma, parameters)`` returns None where nothing is declared: then it is computed.
    """

    source: str
    odds: Callable[..., float | None]


@dataclass(frozen=True)
class Family:
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
    closed_form, own_alpha
        See :class:`ClosedForm` and :class:`OwnAlpha`.
    """

    sentence: str
    parameters: tuple[Parameter, ...] = ()
    convex: bool | None = None
    limits: tuple[str, str] | None = None
    minimiser: float | None = None
    minimum: str | None = None
    special_value: Callable[[Array], Array] | None = None
    closed_form: ClosedForm | None = None
    own_alpha: OwnAlpha | None = None
    doc: str = ""

    def read(self, given: Mapping[str, Exact]) -> tuple[tuple[str, Fraction], ...]:
        """Values of the parameters, defaults filled in."""
        known = {parameter.name for parameter in self.parameters}
        for name in given:
            if name not in known:
                takes = f"takes {', '.join(sorted(known))}" if known else "takes no parameters"
                raise LossError(f"the phi {self.sentence!r} {takes}, got {name}={given[name]!r}")
        return tuple((p.name, p.read(given.get(p.name, p.default))) for p in self.parameters)
