"""Where the names of the columns stand: titles above them, none at all, units below them, a total at the end."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

#: Rows at the start of a table that show how it is laid out.
LOOKED_AT = 200
#: Rows above the names that may be titles, notes and empty rows.
_MOST_TITLES = 20

_NUMBER = re.compile(r"[-+(]?[\d.,' \u00a0\u202f]*\d[\d.,]*(?:[eE][-+]?\d+)?\)? ?[%€$£]?")
_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([ T]\d{1,2}:\d{2}.*)?")
_MISSING = frozenset({"", "-", "--", "?", "na", "n/a", "nan", "null", "none", "#n/a", "k.a.", "k. a."})
_UNIT = re.compile(
    r"\[.*\]|\(.*\)|[€$£%‰]|eur|euro|usd|gbp|chf|t?eur|m?eur|kg|g|mg|t|km|m|cm|mm|l|ml|m²|m2|qm|s|sec|min|h|hours?|"
    r"std\.?|stunden|d|days?|(?:tag)e?|weeks?|months?|monate?|years?|jahre?|a|stk\.?|stück|pcs|°c|kwh|kw|w|bar|ppm|mmhg|"
    r"mmol/l|mg/dl|bpm|yyyy-mm-dd|dd\.mm\.yyyy|tt\.mm\.jjjj|yes/no|ja/nein|0/1",
    re.IGNORECASE,
)
_TOTAL = re.compile(
    r"(grand |sub)?totals?|sum|summe|gesamt(summe)?|insgesamt|zwischensumme|total général|totale|suma|totaal",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Layout:
    """Where the names of the columns stand among the rows that are not empty.

    Attributes
    ----------
    above : int
        Rows above the names, or above the data if there are no names.
    named : bool
        Whether there is a row of names.
    units : bool
        Whether the row below the names holds units.
    """

    above: int = 0
    named: bool = True
    units: bool = False


def usual_width(rows: Sequence[Sequence[str]]) -> int:
    """The number of filled cells that most rows have; of two that are as frequent, the larger."""
    widths = [sum(map(bool, row)) for row in rows]
    return max(set(widths), key=lambda width: (widths.count(width), width), default=0)


def find_layout(rows: Sequence[Sequence[str]]) -> Layout:
    """The layout of a table by its first rows, as trimmed texts; whatever is not clear is taken for names in row 1.

    Titles are rows above the names with less than half of the usual number of filled cells. They are skipped only if
    a row of names follows: different texts, none of them a number, and as many as the rows below have.
    """
    usual = usual_width(rows)
    above = next((k for k, row in enumerate(rows[: _MOST_TITLES + 1]) if 2 * sum(map(bool, row)) > usual), 0)
    if above and not _names_columns(rows[above], rows[above + 1 :], usual):
        above = 0
    if not above and lacks_names(rows):
        return Layout(named=False)
    return Layout(above, units=_holds_units(rows[above + 1 :]))


def _names_columns(row: Sequence[str], below: Sequence[Sequence[str]], usual: int) -> bool:
    filled = [cell for cell in row if cell]
    if not below or usual < 2 or len(set(filled)) < len(filled) or len(filled) < usual:
        return False
    return not any(_is_value(cell) for cell in filled)


def lacks_names(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row is one like the others: numbers where they have numbers, and no text of its own.

    Names may be numbers too, such as years. So the row must either repeat texts of the rows below it in every column of
    texts, or hold only numbers, and then not numbers that are counted up, as names are.
    """
    if len(rows) < 3:
        return False
    first, *below = rows
    below = [row for row in below if len(row) == len(first)]
    if not below or not any(first):
        return False
    columns = list(zip(*below, strict=True))
    numeric = [all(_is_value(cell) or _is_missing(cell) for cell in column) and any(column) for column in columns]
    numbers = [cell for cell, number in zip(first, numeric, strict=True) if number and not _is_missing(cell)]
    if not numbers or not all(map(_is_value, numbers)):
        return False
    texts = [
        (cell, column)
        for cell, column, number in zip(first, columns, numeric, strict=True)
        if not number and any(column)
    ]
    if texts:
        repeated = [cell in column for cell, column in texts if cell]
        varies = [len(set(column)) > len(column) // 2 for _, column in texts]
        return any(repeated) and all(again or free for again, free in zip(repeated, varies, strict=False))
    return not _counts_up(numbers)


def _counts_up(cells: Sequence[str]) -> bool:
    """Whether cells are whole numbers without gaps, such as 0, 1, 2 or 2023, 2024."""
    if len(cells) < 2 or not all(re.fullmatch(r"\d{1,9}", cell) for cell in cells):
        return False
    values = [int(cell) for cell in cells]
    return values == list(range(values[0], values[0] + len(values)))


def _holds_units(below: Sequence[Sequence[str]]) -> bool:
    """Whether the first of these rows names the units of the numbers in those that follow."""
    if len(below) < 3:
        return False
    first, *others = below
    others = [row for row in others if len(row) == len(first)]
    if len(others) < 2:
        return False
    units = 0
    for cell, column in zip(first, zip(*others, strict=True), strict=True):
        if not all(_is_value(other) or _is_missing(other) for other in column) or not any(column):
            continue
        if _is_missing(cell):
            continue
        if _is_value(cell) or not _UNIT.fullmatch(cell):  # (3.50) is an amount that somebody owes
            return False
        units += 1
    return units > 0


def is_total(row: Sequence[str], usual: int) -> bool:
    """Whether a last row is a total: a word for it, in a row with fewer cells filled than the others have."""
    filled = [cell for cell in row if cell]
    return len(filled) < usual and any(_TOTAL.fullmatch(cell.rstrip(": ")) for cell in filled)


def _is_missing(cell: str) -> bool:
    return cell.casefold() in _MISSING


def _is_value(cell: str) -> bool:
    """Whether a text is a number or a date, which a name hardly is."""
    return bool(_NUMBER.fullmatch(cell) or _DATE.fullmatch(cell))


def layout_in_words(layout: Layout, totals: int) -> str:
    """What is special about the layout, to follow how a table is written; "" if the names are in the first row."""
    found = []
    if layout.named and layout.above:
        rows = "row" if layout.above == 1 else "rows"
        found.append(f"names of columns below {layout.above} {rows} of title")
    if not layout.named:
        found.append("no names of columns, so they are called 'column 1', 'column 2' and so on")
    if layout.units:
        found.append("the row of units skipped")
    if totals:
        found.append("the total at the end skipped" if totals == 1 else f"{totals} totals at the end skipped")
    return "".join(f", {words}" for words in found)
