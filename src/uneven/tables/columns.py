"""What a column of a table is: decided at fit, from sums that can be added over parts of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from uneven.tables import dates
from uneven.tables.dates import DateSums, dates_in_texts
from uneven.tables.text_hashes import rows_with_words, text_hashes
from uneven.tables.written_numbers import NumberSums, arrow_texts, decimal_signs, is_numeric, numbers_in_texts

#: Texts that are kept of a column with more different ones than are counted: those with the smallest hashes.
SAMPLE = 100
DECIMALS = (".", ",")


@dataclass(frozen=True)
class Sizes:
    """How many columns texts may become.

    Attributes
    ----------
    most_categories : int
        Different texts of a column that are counted. With more of them, no text has a column of its own.
    buckets : int
        Columns that the words of a column are hashed into; 0 if words are not to be counted here.
    """

    most_categories: int
    buckets: int


@dataclass(frozen=True)
class Meanings:
    """What texts can be read as.

    Attributes
    ----------
    numbers : dict of NumberSums or None
        By the decimal sign; None if they are not numbers.
    dates : dict of DateSums
        By the format; empty if they are not dates.
    words : ndarray
        In how many rows each hashed word occurs.
    """

    numbers: dict[str, NumberSums | None]
    dates: dict[str, DateSums]
    words: np.ndarray

    @classmethod
    def of(cls, texts: dict[str, int], buckets: int, like: Meanings | None = None) -> Meanings:
        """Read texts, of which each has a number of rows; ``like`` names the only meanings that matter."""
        decimals = DECIMALS if like is None else [sign for sign, sums in like.numbers.items() if sums is not None]
        formats = None if like is None else list(like.dates)
        return cls(
            {sign: numbers_in_texts(texts, sign) if sign in decimals else None for sign in DECIMALS},
            dates_in_texts(texts, formats),
            rows_with_words(texts, buckets),
        )

    def __add__(self, other: Meanings) -> Meanings:
        numbers: dict[str, NumberSums | None] = {}
        for sign in DECIMALS:
            first, second = self.numbers[sign], other.numbers[sign]
            numbers[sign] = None if first is None or second is None else first + second
        both = [form for form in self.dates if form in other.dates]
        return Meanings(
            numbers, {form: self.dates[form] + other.dates[form] for form in both}, self.words + other.words
        )


@dataclass(frozen=True)
class TextSums:
    """Texts of some rows, summed up.

    The same rows in other parts have the same sums. Up to so many different texts as are counted, nothing is lost.

    Attributes
    ----------
    sizes : Sizes
    rows, missing : int
        Rows, and those without a text.
    texts : dict of int
        How many rows have each text. If there are too many, some of them, chosen by their hashes.
    meanings : Meanings or None
        What all of them can be read as; None if ``texts`` has all of them.
    declared : bool
        Whether the type of the column says that its texts are categories.
    """

    sizes: Sizes
    rows: int
    missing: int
    texts: dict[str, int]
    meanings: Meanings | None = None
    declared: bool = False

    @classmethod
    def of(cls, sizes: Sizes, codes: np.ndarray, names: Any, declared: bool = False) -> TextSums:
        """The sums of a column: for each row the number of its text, or -1 if it is missing."""
        counts = np.bincount(codes[codes >= 0], minlength=len(names)).tolist()
        texts = {name: count for name, count in zip(names, counts, strict=True) if count}
        found = cls(sizes, codes.size, codes.size - sum(counts), texts, declared=declared)
        return found._limited()

    @property
    def counted(self) -> bool:
        """Whether all texts are known, with their rows."""
        return self.meanings is None

    @property
    def known(self) -> Meanings:
        """What the texts can be read as."""
        return Meanings.of(self.texts, self.sizes.buckets) if self.meanings is None else self.meanings

    def sample(self) -> list[str]:
        """Some texts, in an order that does not depend on the rows."""
        return _first(self.texts)

    def _limited(self) -> TextSums:
        """The same with a sample of the texts, if there are more than are counted."""
        if self.meanings is None and len(self.texts) <= self.sizes.most_categories:
            return self
        return replace(self, texts={text: self.texts[text] for text in _first(self.texts)}, meanings=self.known)

    def __add__(self, other: TextSums) -> TextSums:
        texts = {**self.texts}
        for text, count in other.texts.items():
            texts[text] = texts.get(text, 0) + count
        if self.meanings is not None and other.meanings is not None:
            meanings: Meanings | None = self.meanings + other.meanings
        elif self.meanings is not None:
            meanings = self.meanings + Meanings.of(other.texts, self.sizes.buckets, self.meanings)
        elif other.meanings is not None:
            meanings = Meanings.of(self.texts, self.sizes.buckets, other.meanings) + other.meanings
        else:
            meanings = None
        found = TextSums(
            self.sizes,
            self.rows + other.rows,
            self.missing + other.missing,
            texts,
            meanings,
            self.declared or other.declared,
        )
        return found._limited()


def _first(texts: dict[str, int]) -> list[str]:
    """The texts with the smallest hashes. Those of all parts together contain those of the whole, with all rows."""
    names = list(texts)
    return [names[k] for k in np.argsort(text_hashes(names), kind="stable")[:SAMPLE]]


# -- what a column is --------------------------------------------------------------------------------------------------

#: What a column is. "many" has too many categories for trees to have a column of 0 and 1 each; "text" has texts whose
#: parts matter.
NUMBER, CATEGORY, MANY, TEXT, DATE = "number", "category", "many", "text", "date"
#: Names the column of 0 and 1 that says where a value is missing.
MISSING = "missing"
#: A column of texts has few categories up to here, and trees see parts of its texts beyond ``_TEXTS``.
_FEW = 20
_TEXTS = 100
#: Words of a text on average from which a column is free text.
_WORDS = 3


@dataclass(frozen=True)
class Column:
    """How to read a column.

    Attributes
    ----------
    name : str
    role : {"number", "category", "many", "text", "date"}
    marks : list of str
        Texts of this column that mean "missing" besides the usual ones.
    format : str
        How dates are written; "" if the table holds dates as such.
    first : str
        The first date.
    parts : list of str
        Parts of the date that are used.
    decimal : str
        The decimal sign of numbers that are written as texts.
    words : bool
        Whether linear models see the words of the texts.
    counted : bool
        Whether frequent texts have a column of their own in linear models: not if there are too many to count.
    """

    name: str
    role: str
    marks: list[str] = field(default_factory=list)
    format: str = ""
    first: str = ""
    parts: list[str] = field(default_factory=list)
    decimal: str = "."
    words: bool = False
    counted: bool = True

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain data, for the model file."""
        return {**self.__dict__, "marks": [*self.marks], "parts": [*self.parts]}


def number_column(
    name: str, sums: NumberSums, rows: int, marks: list[str] | None = None, decimal: str = "."
) -> Column | None:
    """A column of numbers; None if it has no values or only one."""
    if not sums.known or (sums.low == sums.high and sums.known == rows):
        return None
    return Column(name, NUMBER, marks or [], decimal=decimal)


def date_column(name: str, sums: DateSums, rows: int, form: str = "", marks: list[str] | None = None) -> Column | None:
    """A column of dates with the parts that vary; None if there is nothing to learn from it."""
    parts = sums.parts()
    if not sums.known or (not parts and sums.known == rows):
        return None
    return Column(name, DATE, marks or [], form, str(sums.first), parts or ["days"])


def text_column(
    name: str, sums: TextSums, decimal: str = ".", day_first: bool | None = None, *, numbers: bool = True
) -> Column | None:
    """What a column of texts is; None if it has no texts or only one. Without ``numbers`` it has none, as is known."""
    if not sums.texts or (sums.counted and len(sums.texts) == 1 and not sums.missing):
        return None
    if not sums.declared:
        meanings = sums.known
        read = meanings.numbers[decimal] if numbers else None
        if read is not None and is_numeric(read):
            return number_column(name, read, sums.rows, list(read.others), decimal)
        written = dates.chosen_format(meanings.dates, day_first, decimal_comma=decimal == ",")
        if written is not None:
            return date_column(name, written.sums, sums.rows, written.format, list(written.others))
    if sums.counted and len(sums.texts) <= _FEW:
        return Column(name, CATEGORY)
    words = is_free_text(sums) or not sums.counted
    many = sums.counted and len(sums.texts) <= _TEXTS and not words
    return Column(name, MANY if many else TEXT, words=words, counted=sums.counted)


def is_free_text(sums: TextSums) -> bool:
    """Whether texts have several words on average, as far as a sample shows."""
    return bool(np.mean([text.count(" ") + 1 for text in sums.sample()]) >= _WORDS)


def decimals_of(columns: Mapping[str, TextSums]) -> dict[str, str]:
    """The decimal sign of each column of texts: its own, else that of most numbers of the others, else a point."""
    signs = decimal_signs([arrow_texts(list(sums.texts)) for sums in columns.values()]) if columns else []
    points, commas = sum(one[0] for one in signs), sum(one[1] for one in signs)
    usual = "," if commas > points else "."
    return {
        name: usual if point == comma else "." if point > comma else ","
        for name, (point, comma, _) in zip(columns, signs, strict=True)
    }


def part_name(column: Column, part: str) -> str:
    """The name of a part of a date."""
    return f"{column.name}: {dates.part_in_words(part, column.first)}"


def date_parts(values: np.ndarray, column: Column) -> dict[str, Any]:
    """The parts of dates by their names: floats (NaN: missing) or categories."""
    import pandas as pd

    first = np.datetime64(column.first, "s")
    found: dict[str, Any] = {}
    for part in column.parts:
        numbers, names = dates.date_part(values, part, first)
        made = pd.Categorical.from_codes(numbers, categories=names, ordered=True) if names else numbers
        found[part_name(column, part)] = made
    return found


def typed_names(columns: list[Column]) -> tuple[list[str], list[str]]:
    """Names of the numbers and of the categories that columns and parts of dates become."""
    numeric = [column.name for column in columns if column.role == NUMBER]
    categories = [column.name for column in columns if column.role in (CATEGORY, MANY, TEXT)]
    for column in columns:
        for part in column.parts:
            (numeric if part in dates.NUMERIC_PARTS else categories).append(part_name(column, part))
    return numeric, categories
