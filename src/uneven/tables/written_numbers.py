"""Numbers written as text: decimal comma or point, thousands separators, currency and per cent signs, truth values."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np

_CODES = "EUR|USD|GBP|CHF|JPY|CNY|SEK|NOK|DKK|PLN|CZK|HUF|CAD|AUD|NZD|BRL|INR|ZAR|TRY|MXN"
_CURRENCY = rf"(?:[A-Z]{{0,2}}\p{{Sc}}|{_CODES}|kr\.?|Fr\.?|zł|Kč|Ft)"
#: Texts of a column that are looked at to find its decimal sign.
_SAMPLE = 5000
#: Texts that show whether a long column is worth reading as numbers.
FIRST = 500
#: A column is numeric if at least this share of its rows has numbers, and few different texts are not.
_ENOUGH = 0.9
_MOST_OTHERS = 5
#: Different texts that show whether the others are worth reading as numbers.
_FIRST_NAMES = 50
#: Digits that name something: with leading zeros, or with more digits than a double holds.
_CODE = r"^0\d+$|^\d{16,}$"
#: Truth values as programs write them, and Excel in some languages; a column of nothing else has the numbers 0 and 1.
_TRUTH = {
    **dict.fromkeys(("true", "wahr", "vrai", "verdadero", "vero", "verdadeiro"), 1.0),
    **dict.fromkeys(("false", "falsch", "faux", "falso"), 0.0),
}


@dataclass(frozen=True)
class Numbers:
    """A column of numbers: NaN where missing, infinite or not a number.

    Attributes
    ----------
    values : ndarray
    others : ndarray of bool
        Where there is a text that is not a number.
    infinite : int
        How many numbers are infinite.
    example : (str, float) or None
        A text that a plain reader would not have understood, and its value.
    """

    values: np.ndarray
    others: np.ndarray
    infinite: int = 0
    example: tuple[str, float] | None = None


def as_numbers(texts: Any, decimal: str) -> Numbers:
    """Read texts (an Arrow array, null where missing) as numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = plain_numbers([texts], decimal) or _truth_values(texts)
    if plain is not None:
        return plain[0]
    bare, per_cent = _bare(texts)
    sign, group = (r"\.", r"[,' ]") if decimal == "." else (",", r"[.' ]")
    body = rf"^[-+]?(?:(?:\d+(?:{sign}\d*)?|{sign}\d+)(?:[eE][-+]?\d+)?|\d{{1,3}}(?:{group}\d{{3}})+(?:{sign}\d*)?)$"
    valid = pc.fill_null(pc.match_substring_regex(bare, body), False)
    digits = pc.replace_substring_regex(pc.replace_substring_regex(bare, group, ""), r"^\+", "")
    digits = pc.if_else(valid, digits if decimal == "." else pc.replace_substring(digits, ",", "."), None)
    values = np.array(pc.cast(digits, pa.float64()).to_numpy(zero_copy_only=False), dtype=float)
    read = finite_numbers(values, np.isnan(values) & ~np.asarray(pc.is_null(texts)))
    values = np.where(np.asarray(pc.fill_null(per_cent, False)), read.values / 100, read.values)
    return replace(read, values=values, example=_example(texts, values, decimal))


def plain_numbers(columns: list[Any], decimal: str) -> list[Numbers] | None:
    """Columns of equally many texts as numbers; None if some of the texts are not written as Arrow reads numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pa.concat_arrays(columns)
    if decimal != "." and pc.any(pc.match_substring(texts, "."), min_count=0).as_py():
        return None
    try:
        read = pc.cast(texts, pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return None
    others = np.isnan(read) & ~np.asarray(pc.is_null(texts))
    infinite = np.isinf(read)
    split = [part.reshape(len(columns), -1) for part in (np.where(infinite, np.nan, read), others, infinite)]
    return [Numbers(values, strange, int(endless.sum())) for values, strange, endless in zip(*split, strict=True)]


def _truth_values(texts: Any) -> list[Numbers] | None:
    """The numbers 1 and 0 if every text is a truth value, else None; the first text usually decides."""
    coded = texts.dictionary_encode()
    first = coded.dictionary[:1].to_pylist()
    if not first or first[0].lower() not in _TRUTH:
        return None
    found = [_TRUTH.get(text.lower()) for text in coded.dictionary.to_pylist()]
    if None in found:
        return None
    values = np.append(np.array(found, dtype=float), np.nan)[np.asarray(coded.indices.fill_null(-1))]
    return [Numbers(values, np.zeros(values.size, dtype=bool))]


def finite_numbers(values: np.ndarray, others: np.ndarray | None = None) -> Numbers:
    """Numbers with NaN in place of infinities."""
    infinite = np.isinf(values)
    none = np.zeros(values.size, dtype=bool)
    return Numbers(np.where(infinite, np.nan, values), none if others is None else others, int(infinite.sum()))


def _bare(texts: Any) -> tuple[Any, Any]:
    """Texts without currency and per cent signs, with an ordinary minus in front; and where a per cent sign was."""
    import pyarrow.compute as pc

    bare = pc.replace_substring_regex(texts, r"[\x{00a0}\x{2007}\x{2009}\x{202f}]", " ")
    bare = pc.replace_substring_regex(pc.replace_substring_regex(bare, "[’‘`]", "'"), "[−–]", "-")
    bare = pc.replace_substring_regex(bare, r"^\((.*)\)$", r"-\1")
    bare = pc.replace_substring_regex(bare, rf"^([-+]?) *{_CURRENCY} *", r"\1")
    bare = pc.replace_substring_regex(bare, rf" *{_CURRENCY}$", "")
    per_cent = pc.match_substring_regex(bare, "%$")
    bare = pc.replace_substring_regex(bare, " *%$", "")
    return pc.replace_substring_regex(bare, r"^([0-9.,' ]*[0-9]) *-$", r"-\1"), per_cent


def _example(texts: Any, values: np.ndarray, decimal: str) -> tuple[str, float] | None:
    """The longest of the first texts with more in them than digits and a decimal sign."""
    import pyarrow.compute as pc

    more = np.asarray(pc.fill_null(pc.match_substring_regex(texts, rf"[^-\d{decimal}]"), False))
    places = np.flatnonzero(more & np.isfinite(values))
    if not places.size:
        return None
    shown = max(map(int, places[:100]), key=lambda place: len(str(texts[place])))
    return str(texts[shown]), float(values[shown])


def decimal_signs(columns: list[Any]) -> list[tuple[int, int, int]]:
    """For each column, how many texts must have a decimal point, how many a decimal comma, how many can have either.

    "1,234" can have either. All columns are looked at together: there may be thousands, and calls for one take long.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    samples = [texts.drop_null()[:_SAMPLE] for texts in columns]
    some = pa.concat_arrays(samples)
    with_sign = pc.match_substring_regex(some, r"\d[.,']|[.,]\d")
    column = np.repeat(np.arange(len(samples)), [len(sample) for sample in samples])[np.asarray(with_sign)]
    some = pc.filter(some, with_sign)
    more = pc.match_substring_regex(some, r"[^-+\d.,eE]|-$")
    some = pc.replace_with_mask(some, more, _bare(pc.filter(some, more))[0])

    def count(pattern: str) -> list[int]:
        found = np.asarray(pc.match_substring_regex(some, rf"^[-+]?(?:{pattern})$"))
        return np.bincount(column[found], minlength=len(columns)).tolist()

    either = r"[1-9]\d{0,2}[.,]\d{3}"
    return list(zip(count(_decided(r"\.", ",")), count(_decided(",", ".")), count(either), strict=True))


def _decided(sign: str, other: str) -> str:
    """The pattern of numbers in which one sign must be the decimal sign."""
    return (
        rf"\d*{sign}(?:\d{{1,2}}|\d{{4,}})|0{sign}\d+|\d{{4,}}{sign}\d+|\d+{sign}\d+[eE][-+]?\d+|"
        rf"\d{{1,3}}(?:[{other}' ]\d{{3}})+{sign}\d*|\d{{1,3}}(?:[{other}]\d{{3}}){{2,}}"
    )


def few_numbers(texts: Any, decimal: str) -> bool:
    """Whether the first texts of a column show that it is not numeric."""
    some = texts.drop_null()[:FIRST]
    return bool(as_numbers(some, decimal).others.sum() > len(some) / 2)


def looks_numeric(texts: Any, numbers: Numbers) -> tuple[str, ...] | None:
    """The texts of a numeric column that are not numbers; None if the column is not numeric."""
    import pyarrow.compute as pc

    count = len(texts) - texts.null_count
    others = int(numbers.others.sum())
    if others > (1 - _ENOUGH) * count or pc.any(pc.match_substring_regex(texts, _CODE), min_count=0).as_py():
        return None
    if not others:
        return ()
    strange = pc.unique(pc.filter(texts, numbers.others)).to_pylist()
    return tuple(strange) if len(strange) <= _MOST_OTHERS else None


@dataclass(frozen=True)
class NumberSums:
    """Numbers of some rows, summed up.

    Attributes
    ----------
    known : int
        Rows that have a number.
    total : float
    low, high : float
        The least and the greatest; infinite if there is none.
    others : dict of int
        Texts that are not numbers, and how many rows have each.
    """

    known: int = 0
    total: float = 0.0
    low: float = np.inf
    high: float = -np.inf
    others: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, values: np.ndarray, counts: np.ndarray | None = None) -> NumberSums:
        """The sums of numbers, NaN where missing; ``counts`` says how many rows have each."""
        there = ~np.isnan(values)
        if not there.any():
            return cls()
        some = values[there]
        weights = np.ones(some.size, dtype=np.int64) if counts is None else counts[there]
        return cls(int(weights.sum()), float(some @ weights), float(some.min()), float(some.max()))

    @property
    def mean(self) -> float:
        """The mean; 0 if there is no number."""
        return self.total / self.known if self.known else 0.0

    def __add__(self, other: NumberSums) -> NumberSums:
        others = {**self.others}
        for text, count in other.others.items():
            others[text] = others.get(text, 0) + count
        return NumberSums(
            self.known + other.known,
            self.total + other.total,
            min(self.low, other.low),
            max(self.high, other.high),
            others,
        )


def numbers_in_texts(texts: dict[str, int], decimal: str) -> NumberSums | None:
    """The sums of texts that are numbers, and how many rows have each; None if the texts are not a column of numbers.

    Whether there are too few numbers among them is decided when all rows are known.
    """
    import pyarrow.compute as pc

    first = arrow_texts(list(islice(texts, _FIRST_NAMES)))
    if as_numbers(first, decimal).others.sum() > _MOST_OTHERS:
        return None
    names = arrow_texts(list(texts))
    read = as_numbers(names, decimal)
    strange = np.flatnonzero(read.others)
    if strange.size > _MOST_OTHERS or pc.any(pc.match_substring_regex(names, _CODE), min_count=0).as_py():
        return None
    counts = np.fromiter(texts.values(), dtype=np.int64, count=len(texts))
    others = {names[int(k)].as_py(): int(counts[k]) for k in strange}
    return replace(NumberSums.of(read.values, counts), others=others)


def arrow_texts(names: list[str]) -> Any:
    """Texts as an Arrow array; halves of characters, which UTF-8 cannot hold, become question marks."""
    import pyarrow as pa

    try:
        return pa.array(names, type=pa.large_string())
    except UnicodeEncodeError:
        return pa.array([name.encode(errors="replace").decode() for name in names], type=pa.large_string())


def is_numeric(sums: NumberSums | None) -> bool:
    """Whether texts that were read as numbers are a column of numbers: nearly all rows have one."""
    if sums is None or len(sums.others) > _MOST_OTHERS:
        return False
    rows = sums.known + sum(sums.others.values())
    return sums.known > 0 and sum(sums.others.values()) <= (1 - _ENOUGH) * rows
