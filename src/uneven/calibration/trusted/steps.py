"""The steps of a proof: what each says, how it is written down, and how it is checked.

F stands for a L1 + b L-1, with the weights (a, b) of the step.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, TypeVar

from uneven.calibration.trusted.claims import number, read_end, read_number
from uneven.calibration.trusted.rules import RULES, End, Level, Pair, Rules
from uneven.errors import CertificateError
from uneven.ops.balls import Undefined

WHOLE_LINE = (-math.inf, math.inf)
_AT_ZERO, _OPEN = "at 0", "beyond 0"
_T = TypeVar("_T")


class Step(ABC):
    """One step of a proof."""

    name: ClassVar[str]

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The step as the JSON of a certificate holds it."""

    @classmethod
    @abstractmethod
    def from_dict(cls, data: dict[str, Any]) -> Step:
        """Read what ``to_dict`` wrote."""

    @abstractmethod
    def check(self, rules: Rules) -> None:
        """Raise :class:`CertificateError` if the step does not hold."""


@dataclass(frozen=True)
class Sign(Step):
    """sign * (the derivative of F of this order) >= 0 from low to high: shown on each cell, or by the formulas."""

    name = "sign"
    weights: Pair
    order: int
    sign: int
    low: End
    high: End
    cells: tuple[tuple[End, End], ...] | None  # None: the formulas show the sign on the whole line

    def to_dict(self) -> dict[str, Any]:
        return {
            "step": self.name,
            "weights": _written(self.weights),
            "order": self.order,
            "sign": self.sign,
            "from": number(self.low),
            "to": number(self.high),
            "cells": None if self.cells is None else [[number(low), number(high)] for low, high in self.cells],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Sign:
        _require_keys(data, {"weights", "order", "sign", "from", "to", "cells"})
        cells = data["cells"]
        return cls(
            _weights(data["weights"]),
            _one_of(data["order"], (0, 1, 2)),
            _one_of(data["sign"], (1, -1)),
            read_end(data["from"]),
            read_end(data["to"]),
            None if cells is None else tuple((read_end(low), read_end(high)) for low, high in _rows(cells, 2)),
        )

    def check(self, rules: Rules) -> None:
        if self.cells is None:
            if not rules.has_sign_by_structure(self.order, self.weights, self.sign):
                raise CertificateError("the formulas do not show the sign")
            return
        _require_cover(self.cells, self.low, self.high)
        # A function that is convex on each of two neighbouring cells is convex on both only if its slope does not fall
        # where they meet.
        if self.order == 2 and len(self.cells) > 1 and not rules.has_no_kink_inside(self.low, self.high):
            raise CertificateError("the slope may jump where two cells meet")
        for low, high in self.cells:
            if not rules.has_sign(self.order, self.weights, self.sign, low, high):
                raise CertificateError(f"the sign could not be shown on the cell [{number(low)}, {number(high)}]")


@dataclass(frozen=True)
class Floor(Step):
    """F >= level for all t of a side (1: t >= 0, -1: t <= 0) with |t| >= ``start``; each cell has its rule.

    A floor that is ``open`` is about t > 0 only, the positive decisions: t = 0 is a negative one. Where F may jump,
    the cells are about the formulas that hold beside 0, and t = 0 is looked at by itself.
    """

    name = "floor"
    weights: Pair
    side: int
    level: Level
    cells: tuple[tuple[End, End, str], ...]
    start: Fraction = Fraction(0)
    open: bool = False

    @property
    def eta(self) -> Fraction:
        return self.weights[0]

    def to_dict(self) -> dict[str, Any]:
        return {
            "step": self.name,
            "weights": _written(self.weights),
            "side": self.side,
            "start": _OPEN if self.open else number(self.start),
            "level": _AT_ZERO if self.level is None else number(self.level),
            "cells": [[number(low), number(high), rule] for low, high, rule in self.cells],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Floor:
        _require_keys(data, {"weights", "side", "start", "level", "cells"})
        cells = ((read_end(u), read_end(v), _one_of(rule, RULES)) for u, v, rule in _rows(data["cells"], 3))
        level = None if data["level"] == _AT_ZERO else read_number(data["level"])
        is_open = data["start"] == _OPEN
        start = Fraction(0) if is_open else read_number(data["start"])
        return cls(_weights(data["weights"]), _one_of(data["side"], (1, -1)), level, tuple(cells), start, is_open)

    def check(self, rules: Rules) -> None:
        if min(self.weights) < 0 or max(self.weights) == 0:
            raise CertificateError("the weights of a floor must not be negative, and not both 0")
        if self.start < 0:
            raise CertificateError("start must not be negative")
        ends = (self.start, math.inf) if self.side > 0 else (-math.inf, -self.start)
        _require_cover([cell[:2] for cell in self.cells], *ends)
        beside, level = self._beside_zero(rules)
        for low, high, rule in self.cells:
            if not beside.is_floor(rule, self.weights, level, low, high):
                raise CertificateError(
                    f"the rule {rule!r} does not bound the risk on the cell [{number(low)}, {number(high)}]"
                )

    def _beside_zero(self, rules: Rules) -> tuple[Rules, Level]:
        """The rules and the level for the cells, after t = 0 was looked at, where that is not done by a cell."""
        if self.open and (self.side < 0 or self.level is None):
            raise CertificateError("only a floor of t > 0 with a number as its level may be open")
        beside = rules.beyond(self.side)
        level = rules.exact_level(self.weights, self.level)  # "at 0" is about F, not about the formula beside 0
        if beside is rules or level is None:
            return rules, self.level
        try:
            shown = self.open or self.start > 0 or rules.is_at_least(self.weights, Fraction(0), level)
        except Undefined:
            shown = False
        if not shown:
            raise CertificateError("the risk at t = 0 could not be shown to be at least the level")
        return beside, level


@dataclass(frozen=True)
class Point(Step):
    """F(t) <= value; at an infinite t, the limit of F is at most the value."""

    name = "point"
    weights: Pair
    t: End
    value: Fraction

    @property
    def eta(self) -> Fraction:
        return self.weights[0]

    def to_dict(self) -> dict[str, Any]:
        return {
            "step": self.name,
            "weights": _written(self.weights),
            "t": number(self.t),
            "value": number(self.value),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Point:
        _require_keys(data, {"weights", "t", "value"})
        return cls(_weights(data["weights"]), read_end(data["t"]), read_number(data["value"]))

    def decides(self, side: int, rules: Rules) -> bool:
        """Whether t is a decision of this side, or a limit of such; t = 0 is a negative decision (side -1)."""
        if self.t == 0:
            return side < 0 or rules.is_continuous_at_zero(self.weights, 1)
        return self.t * side > 0

    def check(self, rules: Rules) -> None:
        try:
            if isinstance(self.t, Fraction):
                holds = rules.upper_at(self.weights, self.t) <= self.value
            else:
                limit = rules.limit_at(self.weights, self.t)
                holds = limit is not None and limit <= self.value
        except Undefined:
            holds = False
        if not holds:
            most = number(self.value)
            raise CertificateError(f"the risk at t = {number(self.t)} could not be shown to be at most {most}")


@dataclass(frozen=True)
class Descent(Step):
    """L1 and L-1 are differentiable at 0, with L1'(0) < 0 < L-1'(0)."""

    name = "descent at 0"

    def to_dict(self) -> dict[str, Any]:
        return {"step": self.name}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Descent:
        _require_keys(data, set())
        return cls()

    def check(self, rules: Rules) -> None:
        if not rules.descends_at_zero():
            raise CertificateError("L1'(0) < 0 < L-1'(0) could not be shown")


@dataclass(frozen=True)
class Slope(Step):
    """The slope of F at 0, from the right (side 1) or from the left, has this sign; 0 means exactly 0."""

    name = "slope at 0"
    weights: Pair
    side: int
    sign: int

    def to_dict(self) -> dict[str, Any]:
        return {"step": self.name, "weights": _written(self.weights), "side": self.side, "sign": self.sign}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Slope:
        _require_keys(data, {"weights", "side", "sign"})
        return cls(_weights(data["weights"]), _one_of(data["side"], (1, -1)), _one_of(data["sign"], (-1, 0, 1)))

    def check(self, rules: Rules) -> None:
        balanced = self.sign == 0 and rules.is_balanced(self.weights)
        if not balanced and rules.slope_sign_at_zero(self.weights, self.side) != self.sign:
            sign = {-1: "negative", 0: "0", 1: "positive"}[self.sign]
            raise CertificateError(f"the slope at t = 0 could not be shown to be {sign}")


@dataclass(frozen=True)
class Kink(Step):
    """The one-sided slopes at 0 of the positive or the negative partial loss differ."""

    name = "kink at 0"
    of: str

    def to_dict(self) -> dict[str, Any]:
        return {"step": self.name, "of": self.of}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Kink:
        _require_keys(data, {"of"})
        return cls(_one_of(data["of"], ("positive", "negative")))

    def check(self, rules: Rules) -> None:
        if not rules.has_kink_at_zero(("positive", "negative").index(self.of)):
            raise CertificateError(f"a kink of the {self.of} partial loss at t = 0 could not be shown")


@dataclass(frozen=True)
class Mirror(Step):
    """L-1(t) = k L1(-t), so that A = B at eta = k/(1 + k)."""

    name = "mirror"
    eta: Fraction

    def to_dict(self) -> dict[str, Any]:
        return {"step": self.name, "eta": number(self.eta)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Mirror:
        _require_keys(data, {"eta"})
        return cls(read_number(data["eta"]))

    def check(self, rules: Rules) -> None:
        if rules.mirrored_at() != self.eta:
            raise CertificateError(f"the partial losses are not mirror images with A = B at eta = {number(self.eta)}")


_KINDS: dict[str, type[Step]] = {kind.name: kind for kind in (Sign, Floor, Point, Descent, Slope, Kink, Mirror)}


def read_step(data: Any) -> Step:
    """A step from its dictionary."""
    if not isinstance(data, dict) or not isinstance(data.get("step"), str) or data["step"] not in _KINDS:
        known = ", ".join(map(repr, _KINDS))
        raise CertificateError(f"the field 'step' of a step must be one of {known}")
    return _KINDS[data["step"]].from_dict(data)


def _written(weights: Pair) -> list[str]:
    return [number(weight) for weight in weights]


def _weights(data: Any) -> Pair:
    if not isinstance(data, list) or len(data) != 2:
        raise CertificateError("weights must be a list of two numbers")
    return read_number(data[0]), read_number(data[1])


def _rows(data: Any, width: int) -> list[list[Any]]:
    if not isinstance(data, list) or not data or any(not isinstance(x, list) or len(x) != width for x in data):
        raise CertificateError(f"cells must be a list of lists with {width} entries")
    return data


def _one_of(value: Any, allowed: tuple[_T, ...]) -> _T:
    for choice in allowed:
        if type(value) is type(choice) and value == choice:
            return choice
    raise CertificateError(f"a value must be one of {', '.join(map(repr, allowed))}, got {str(value)[:60]!r}")


def _require_keys(data: dict[str, Any], wanted: set[str]) -> None:
    if set(data) != wanted | {"step"}:
        raise CertificateError(f"the fields of the step must be {', '.join(sorted(wanted | {'step'}))}")


def _require_cover(cells: Any, low: End, high: End) -> None:
    """The cells must go from low to high; each must start where the previous one ends."""
    if cells[0][0] != low or cells[-1][1] != high:
        raise CertificateError(f"the cells do not reach from {number(low)} to {number(high)}")
    for left, right in cells:
        if not left < right:
            raise CertificateError(f"the cell [{number(left)}, {number(right)}] is empty")
    for (_, end), (start, _) in pairwise(cells):
        if end != start:
            raise CertificateError(f"the cells leave a gap or overlap between {number(end)} and {number(start)}")
