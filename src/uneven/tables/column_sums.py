"""What must be known of a column of texts to decide what it is: sums, which can be added over parts of the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from uneven.tables.dates import DateSums, dates_in_texts
from uneven.tables.text_hashes import hashed_words, text_hashes
from uneven.tables.written_numbers import NumberSums, numbers_in_texts

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


def rows_with_words(texts: dict[str, int], buckets: int) -> np.ndarray:
    """In how many rows each hashed word occurs."""
    if not buckets:
        return np.empty(0)
    words = hashed_words(list(texts), buckets)
    rows = np.fromiter(texts.values(), dtype=np.float64, count=len(texts))
    return np.bincount(words.indices, weights=np.repeat(rows, np.diff(words.indptr)), minlength=buckets)


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
