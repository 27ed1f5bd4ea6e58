"""The smallest change of one column that changes a decision; each one is verified by asking the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from uneven.errors import ParameterError
from uneven.inputs import brief, require_integer
from uneven.learners.explaining.mixed_rows import AT_ONCE, Pool, is_frame
from uneven.solvers.running import Bar

#: Values of a column of numbers or dates that are tried first, from its least to its largest.
_GRID = 17
#: Halvings of the gap between two of them, in which the decision changes.
_HALVINGS = 16
#: A column of texts with more different values is no list of categories, and is not changed.
_MOST_CATEGORIES = 50
#: How large a change of a category counts among changes of numbers, which are shares of the rows that are passed.
_CATEGORY_CHANGE = 0.5

#: What NaN, NaT and NA of pandas are called.
_MISSING = ("nan", "NaT", "<NA>")

#: From changed rows and the numbers of the rows that they were, whether ``predict`` flags them.
Flags = Callable[[Any, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Change:
    """A change of one column that changes the decision about a row; the model was asked.

    Attributes
    ----------
    column : str
    value, new_value : object
        Of the row, and with the other decision.
    beyond : {"at most", "at least", ""}
        Whether every value that was tried beyond the new one changes the decision, too.
    size : float
        The share of the rows whose values lie between the two; 0.5 for a category.
    """

    column: str
    value: Any
    new_value: Any
    beyond: str
    size: float

    def in_words(self, flagged: bool, decimal: str = ".") -> str:
        """The change as a sentence without its full stop, for a row that was flagged or not."""
        return f"Would {'not ' if flagged else ''}be flagged if {self.condition(decimal)}"

    def condition(self, decimal: str = ".") -> str:
        """What would have to be different, in words, with the decimal sign of a table."""
        beyond = f"{self.beyond} " if self.beyond else ""
        return f"{self.column} were {beyond}{in_words(self.new_value, decimal)}"


def in_words(value: Any, decimal: str = ".") -> str:
    """A value of a table as a person writes it, with the decimal sign of the table."""
    if value is None or (not isinstance(value, str) and str(value) in _MISSING):
        return "missing"
    if isinstance(value, float):
        return f"{value:.6g}".replace(".", decimal)
    text = str(value)
    return text.removesuffix(" 00:00:00") if hasattr(value, "isoformat") else text


def changes_of_columns(
    flags: Flags, pool: Pool, known: tuple[str, ...], columns: Sequence[str] | None, flagged: np.ndarray, most: int
) -> list[list[Change]]:
    """:func:`find_changes` of columns by their names; by default of all."""
    require_integer("most", most)
    allowed = known if columns is None else tuple(columns)
    unknown = [name for name in allowed if name not in known]
    if unknown:
        raise ParameterError(f"columns must be among {brief(list(known))}, got {brief(unknown[0])}")
    return find_changes(flags, pool, [known.index(name) for name in allowed], flagged, most)


def find_changes(flags: Flags, pool: Pool, columns: list[int], flagged: np.ndarray, most: int) -> list[list[Change]]:
    """For each row of the pool's rows to explain at most so many changes, each of another column, smallest first."""
    found: list[list[Change]] = [[] for _ in range(pool.count)]
    bar = Bar(None, "changes", len(columns), "columns")
    for j in columns:
        column = _Column.of(pool, j)
        for row, change in () if column is None else column.changes(flags, flagged):
            found[row].append(change)
        bar.advance()
    return [sorted(changes, key=lambda one: one.size)[:most] for changes in found]


@dataclass(frozen=True, eq=False)
class _Column:
    """A column that may be changed.

    Attributes
    ----------
    pool : Pool
    j : int
        Its number.
    numbers : ndarray or None
        Its values as numbers, NaN where missing; None for categories.
    is_date, is_whole : bool
    """

    pool: Pool
    j: int
    numbers: np.ndarray | None
    is_date: bool = False
    is_whole: bool = False

    @classmethod
    def of(cls, pool: Pool, j: int) -> _Column | None:
        """None for free texts, and for columns with one value."""
        values = pool.column(j)
        codes = pool.codes[:, j]
        distinct = np.unique(codes[codes >= 0]).size
        kind = np.asarray(values).dtype.kind if not is_frame(pool.table) else _kind(values)
        if distinct < 2:
            return None
        if kind == "M":
            days = values.to_numpy(dtype="datetime64[ns]") if is_frame(pool.table) else values
            return cls(pool, j, np.where(np.isnat(days), np.nan, days.astype(np.int64)), is_date=True)
        if kind in "iuf":
            numbers = (
                values.to_numpy(dtype=np.float64, na_value=np.nan) if is_frame(pool.table) else values.astype(float)
            )
            known = numbers[np.isfinite(numbers)]
            return cls(pool, j, numbers, is_whole=bool((known == np.rint(known)).all()))
        return cls(pool, j, None) if distinct <= _MOST_CATEGORIES else None

    def changes(self, flags: Flags, flagged: np.ndarray) -> Iterator[tuple[int, Change]]:
        """The smallest change of this column in each row in which there is one."""
        return self._of_categories(flags, flagged) if self.numbers is None else self._of_numbers(flags, flagged)

    # -- categories -------------------------------------------------------------------------------------------------

    def _of_categories(self, flags: Flags, flagged: np.ndarray) -> Iterator[tuple[int, Change]]:
        """The most frequent other value with the other decision."""
        codes = self.pool.codes[:, self.j]
        known, first, counts = np.unique(codes, return_index=True, return_counts=True)
        order = [k for k in np.argsort(-counts, kind="stable") if known[k] >= 0]
        waiting = np.arange(self.pool.count)
        for k in order:
            asked = waiting[codes[waiting] != known[k]]
            index = np.repeat(asked[:, None], self.pool.width, axis=1)
            index[:, self.j] = first[k]
            turned = asked[self._turned(flags, partial(_mixed, self.pool, index), asked, flagged)]
            for row in turned:
                yield int(row), self._change(row, self.pool.value(int(first[k]), self.j), "", _CATEGORY_CHANGE)
            waiting = np.setdiff1d(waiting, turned, assume_unique=True)

    # -- numbers and dates ------------------------------------------------------------------------------------------

    def _of_numbers(self, flags: Flags, flagged: np.ndarray) -> Iterator[tuple[int, Change]]:
        """The nearest value with the other decision, below or above."""
        assert self.numbers is not None
        ordered = np.sort(self.numbers[np.isfinite(self.numbers)])
        places = np.linspace(0, ordered.size - 1, _GRID).astype(np.intp)
        grid = np.unique(ordered[places])
        rows = np.arange(self.pool.count)
        tried = self._try(flags, np.repeat(rows, grid.size), np.tile(grid, rows.size), flagged).reshape(-1, grid.size)
        own = self.numbers[: self.pool.count]
        sides: list[tuple[Any, ...]] = []
        for upward in (False, True):
            beyond = (grid > own[:, None]) if upward else (grid < own[:, None])
            candidate = tried & beyond
            has = np.flatnonzero(candidate.any(axis=1))
            near = candidate[has].argmax(axis=1) if upward else grid.size - 1 - candidate[has, ::-1].argmax(axis=1)
            before = np.where(upward, near - 1, np.minimum(near + 1, grid.size - 1))
            short = grid[np.maximum(before, 0)]
            start = np.maximum(short, own[has]) if upward else np.minimum(short, own[has])
            value = self._narrow(flags, has, start, grid[near], flagged)
            all_beyond = (tried[has] | (grid < value[:, None] if upward else grid > value[:, None])).all(axis=1)
            size = np.abs(np.searchsorted(ordered, value) - np.searchsorted(ordered, own[has])) / ordered.size
            sides.append((has, value, all_beyond, size))
        best: dict[int, Change] = {}
        for upward, (has, value, all_beyond, size) in zip((False, True), sides, strict=True):
            word = "at least" if upward else "at most"
            for row, new, every, passed in zip(has, value, all_beyond, size, strict=True):
                one = self._change(int(row), self._written(new), word if every else "", float(passed))
                if int(row) not in best or one.size < best[int(row)].size:
                    best[int(row)] = one
        yield from best.items()

    def _narrow(
        self, flags: Flags, rows: np.ndarray, same: np.ndarray, other: np.ndarray, flagged: np.ndarray
    ) -> np.ndarray:
        """Values near the change of the decision, with the other decision: ``other`` has it, ``same`` does not."""
        same, other = same.copy(), other.copy()
        for _ in range(_HALVINGS):
            middle = (same + other) / 2
            if self.is_whole:
                middle = np.where(other > same, np.ceil(middle), np.floor(middle))
            open_ = np.flatnonzero((middle != same) & (middle != other))
            if not open_.size or self.is_date:
                break
            turned = self._try(flags, rows[open_], middle[open_], flagged)
            other[open_] = np.where(turned, middle[open_], other[open_])
            same[open_] = np.where(turned, same[open_], middle[open_])
        if self.is_date or not rows.size:
            return other
        for digits in (4, 3, 2):  # fewer digits, if the decision is still the other one
            rounded = _round_away(other, same, digits)
            turned = self._try(flags, rows, rounded, flagged)
            other = np.where(turned, rounded, other)
        return other

    def _try(self, flags: Flags, rows: np.ndarray, values: np.ndarray, flagged: np.ndarray) -> np.ndarray:
        """Whether the decision about rows changes with these values in the column."""
        return self._turned(flags, lambda part: self._with(rows[part], values[part]), rows, flagged)

    def _with(self, rows: np.ndarray, values: np.ndarray) -> Any:
        changed = self.pool.rows(rows)
        if not is_frame(changed):
            changed = changed.copy()
            changed[:, self.j] = values
            return changed
        names = changed.columns
        column: Any = values
        if self.is_date:
            column = values.astype(np.int64).view("datetime64[ns]")
        elif self.is_whole and np.isfinite(values).all() and changed.dtypes.iloc[self.j].kind in "iu":
            column = values.astype(np.int64)
        changed = changed.reset_index(drop=True)
        parts = {k: (column if k == self.j else changed.iloc[:, k]) for k in range(len(names))}
        return type(changed)(parts).set_axis(names, axis=1)

    def _turned(self, flags: Flags, make: Callable[[slice], Any], rows: np.ndarray, flagged: np.ndarray) -> np.ndarray:
        """Whether the decisions about changed rows, made in parts that fit into memory, are the other ones."""
        step = max(1, AT_ONCE // self.pool.width)
        parts = [slice(first, first + step) for first in range(0, rows.size, step)]
        found = [flags(make(part), rows[part]) != flagged[rows[part]] for part in parts]
        return np.concatenate(found) if found else np.empty(0, dtype=bool)

    def _written(self, value: float) -> Any:
        if self.is_date:
            import pandas as pd

            return pd.Timestamp(int(value))
        return int(value) if self.is_whole and abs(value) < 2**53 else float(value)

    def _change(self, row: Any, new: Any, beyond: str, size: float) -> Change:
        return Change(self.pool.names[self.j], self.pool.value(int(row), self.j), new, beyond, size)


def _kind(values: Any) -> str:
    """The kind of a column of a data frame, as NumPy names it; "O" for texts and categories."""
    dtype = values.dtype
    kind = getattr(dtype, "kind", "O")
    if hasattr(dtype, "categories"):
        return "O"
    if kind == "M" and getattr(dtype, "tz", None) is not None:
        return "O"
    return str(kind)


def _mixed(pool: Pool, index: np.ndarray, part: slice) -> Any:
    return pool.mix(index[part])


def _round_away(value: np.ndarray, origin: np.ndarray, digits: int) -> np.ndarray:
    """Values with so many digits, rounded away from where they come from."""
    with np.errstate(divide="ignore"):
        size = np.where(value == 0, 0.0, np.floor(np.log10(np.abs(value))))
    unit = 10.0 ** (size - digits + 1)
    steps = value / unit
    near = np.rint(steps)
    steps = np.where(np.abs(steps - near) < 1e-9, near, np.where(value > origin, np.ceil(steps), np.floor(steps)))
    rounded = steps * unit
    return np.where(unit < 1, np.round(rounded, 12), rounded)
