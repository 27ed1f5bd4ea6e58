"""What a language must be able to say so that fitted models can be written in it.

A writer turns small steps (a column, a sum, a choice) into texts of its language. :mod:`source_columns` and
:mod:`source_models` say what a model computes, and know no language. Missing values are the language's own (NULL,
None). Comparisons with them are false in every language.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.errors import ParameterError
from uneven.expression import Node
from uneven.expression.tree import Add, Call, Inv, Mul, Neg, Number, Pow, Symbol, Where
from uneven.inputs import to_float
from uneven.tables.columns import Column

#: Terms of a sum that stand in one level: databases limit how deep an expression is nested.
_TOGETHER = 40


@dataclass(frozen=True)
class Output:
    """What a model says about a row, as texts of a language.

    Attributes
    ----------
    decision : str
        The condition under which the row is positive.
    probability : str or None
        None if the loss does not identify probabilities.
    labels : tuple
        Of a negative and of a positive row.
    model : str
        The model in a few words.
    """

    decision: str
    probability: str | None
    labels: tuple[Any, Any]
    model: str


class SourceWriter(ABC):
    """Writes expressions of one language; ``columns`` are those of the table that were asked for."""

    language: str
    missing: str

    def __init__(self) -> None:
        self.columns: list[str] = []
        self._typed: dict[tuple[str, str], str] = {}

    # -- columns of the table ---------------------------------------------------------------------------------------

    def number_column(self, name: str) -> str:
        """The numbers of a column; missing where they are or are infinite."""
        return self._column("number", name, lambda: self._read_number(name))

    def text_column(self, column: Column) -> str:
        """The texts of a column without spaces around them; missing where a mark says so."""
        return self._column("text", column.name, lambda: self._read_text(column))

    def date_part(self, column: Column, part: str) -> str:
        """A part of a date as a number: the year, days since the first date, or the code of month, weekday or hour."""
        return self._column(part, column.name, lambda: self._read_date(column, part))

    def _column(self, kind: str, name: str, read: Any) -> str:
        if "\0" in name:
            raise ParameterError(f"a column named {name!r} cannot be written in {self.language}; rename it")
        if name not in self.columns:
            self.columns.append(name)
        if (kind, name) not in self._typed:
            self._typed[kind, name] = read()
        return self._typed[kind, name]

    @abstractmethod
    def _read_number(self, name: str) -> str: ...

    @abstractmethod
    def _read_text(self, column: Column) -> str: ...

    @abstractmethod
    def _read_date(self, column: Column, part: str) -> str: ...

    @abstractmethod
    def require(self, name: str, value: str) -> None:
        """Refuse rows without this number, which comes from a column: the model takes no missing values there."""

    # -- steps ------------------------------------------------------------------------------------------------------

    @abstractmethod
    def keep(self, value: str) -> str:
        """A short name for a value that is used several times."""

    @abstractmethod
    def text(self, value: str) -> str:
        """A text as it is."""

    def number(self, value: float) -> str:
        """A number that reads back as the same double."""
        written = repr(float(value))
        if not np.isfinite(float(value)):
            raise ParameterError(f"a model with the number {written} cannot be written in {self.language}")
        return f"({written})" if written.startswith("-") else written

    def total(self, terms: list[str]) -> str:
        """The sum of at least one term."""
        while len(terms) > 1:
            parts = [terms[k : k + _TOGETHER] for k in range(0, len(terms), _TOGETHER)]
            terms = [part[0] if len(part) == 1 else "(" + "\n + ".join(part) + ")" for part in parts]
        return terms[0]

    def difference(self, first: str, second: str) -> str:
        return f"({first} - {second})"

    def product(self, first: str, second: str) -> str:
        return f"({first} * {second})"

    def quotient(self, first: str, second: str) -> str:
        return f"({first} / {second})"

    def above(self, first: str, second: str) -> str:
        """The condition that one known number is larger than another."""
        return f"{first} > {second}"

    @abstractmethod
    def choose(self, condition: str, yes: str, no: str) -> str: ...

    @abstractmethod
    def is_missing(self, value: str) -> str: ...

    @abstractmethod
    def exceeds(self, value: str, threshold: float, *, if_missing: bool) -> str:
        """The condition that a number is above a threshold; ``if_missing`` is what holds without a number."""

    @abstractmethod
    def equals(self, value: str, literal: str) -> str:
        """The condition that a value, which may be missing, is this one."""

    @abstractmethod
    def look_up(self, value: str, table: dict[str, str], missing: str, other: str) -> str:
        """The entry of a table of literals; ``missing`` and ``other`` for what is not in it."""

    @abstractmethod
    def exp(self, x: str) -> str:
        """The exponential function of x, cut to -600 and 600: databases stop where it under- or overflows."""

    @abstractmethod
    def log(self, x: str) -> str:
        """The logarithm of a positive number."""

    # -- what can be said with these --------------------------------------------------------------------------------

    def expit(self, x: str) -> str:
        """The probability with these log-odds."""
        x, one = self.keep(x), self.number(1.0)
        falling, rising = self.exp(self.difference(self.number(0.0), x)), self.exp(x)
        upper = self.quotient(one, self.total([one, falling]))
        return self.keep(
            self.choose(self.above(x, self.number(0.0)), upper, self.quotient(rising, self.total([one, rising])))
        )

    def larger(self, first: str, second: str) -> str:
        first, second = self.keep(first), self.keep(second)
        return self.choose(self.above(first, second), first, second)

    def smaller(self, first: str, second: str) -> str:
        first, second = self.keep(first), self.keep(second)
        return self.choose(self.above(first, second), second, first)


def write_tree(writer: SourceWriter, tree: Node, symbols: dict[str, str]) -> str:
    """A sentence of the little language, with a text for each symbol."""
    match tree:
        case Number(value):
            return writer.number(to_float(value))
        case Symbol(name):
            if name in symbols:
                return symbols[name]
            return writer.number({"e": float(np.e), "pi": float(np.pi)}[name])
        case Neg(argument):
            return writer.difference(writer.number(0.0), write_tree(writer, argument, symbols))
        case Inv(argument):
            return writer.quotient(writer.number(1.0), write_tree(writer, argument, symbols))
        case Pow(base, Number(value)) if value.denominator == 1 and 0 < value <= 16:
            kept = writer.keep(write_tree(writer, base, symbols))
            power = kept
            for _ in range(int(value) - 1):
                power = writer.product(power, kept)
            return power
        case Add():
            return writer.total([write_tree(writer, child, symbols) for child in tree.children])
        case Mul():
            factors = [child for child in tree.children if not isinstance(child, Inv)]
            found = write_tree(writer, factors[0], symbols) if factors else writer.number(1.0)
            for factor in factors[1:]:
                found = writer.product(found, write_tree(writer, factor, symbols))
            for child in tree.children:
                if isinstance(child, Inv):  # a quotient is rounded once
                    found = writer.quotient(found, write_tree(writer, child.argument, symbols))
            return found
        case Where(op, left, right, yes, no) if op in _ABOVE:
            pair = [write_tree(writer, side, symbols) for side in (left, right)]
            holds, swapped = _ABOVE[op]
            values = [write_tree(writer, side, symbols) for side in (yes, no)]
            return writer.choose(writer.above(*(pair[::-1] if swapped else pair)), *(values if holds else values[::-1]))
        case Call(name, arguments) if name in _CALLS:
            return _CALLS[name](writer, *(write_tree(writer, argument, symbols) for argument in arguments))
    name = tree.name if isinstance(tree, Call) else type(tree).__name__
    raise ParameterError(
        f"a loss with {name!r} in the formula of its probabilities cannot be written in {writer.language}; 'logistic', "
        "'exponential' and 'squared' can"
    )


#: Comparisons by "above": whether it must hold, and whether its sides are swapped.
_ABOVE = {">": (True, False), "<": (True, True), "<=": (False, False), ">=": (False, True)}
_CALLS: dict[str, Callable[..., str]] = {
    "exp": lambda writer, x: writer.exp(x),
    "log": lambda writer, x: writer.log(x),
    "expit": lambda writer, x: writer.expit(x),
    "relu": lambda writer, x: writer.larger(x, writer.number(0.0)),
    "max": lambda writer, x, y: writer.larger(x, y),
    "min": lambda writer, x, y: writer.smaller(x, y),
}
