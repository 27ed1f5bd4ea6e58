"""How the columns of a table become columns of numbers: learnt once, then applied to every batch.

The matrix is that of ``FrameEncoder(view="linear")`` before numbers are standardised: numbers, flags where one is
missing, columns of 0 and 1 for categories, hashed words. The plan is a list of plain dictionaries, one for each column
of the table, so that a model with it can be stored and read anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.errors import CostError, UnevenError
from uneven.solvers.loops.part_passes import copy_columns
from uneven.tables import arrow_columns, dates
from uneven.tables.category_columns import MOST_CATEGORIES, OTHER, frequent, rare_below
from uneven.tables.column_values import DATES, NUMBERS, read_categories, read_dates, read_numbers
from uneven.tables.columns import (
    DATE,
    MISSING,
    NUMBER,
    Column,
    Sizes,
    TextSums,
    date_column,
    decimals_of,
    number_column,
    part_name,
    text_column,
)
from uneven.tables.dates import DateSums
from uneven.tables.text_columns import weighted_words, word_weights
from uneven.tables.written_numbers import NumberSums

#: Below this share of numbers that are not 0, a batch becomes a sparse matrix.
_SPARSE_BELOW = 0.3
#: Words of a text that are taken into account when the memory of a row is estimated.
_WORDS_OF_TEXT = 8

Plan = list[dict[str, Any]]


def column_of(entry: dict[str, Any]) -> Column:
    """The column that an entry of a plan is about."""
    return Column(**entry["column"])


def plain_entry(name: str) -> dict[str, Any]:
    """The entry of a column of numbers without missing values."""
    return entry_of(Column(name, NUMBER), [(name, "", 0.0)], flag=False)


def entry_of(
    column: Column,
    numbers: list[tuple[str, str, float]],
    *,
    flag: bool,
    categories: list[tuple[str, str, list[str], bool, bool]] | None = None,
    idf: np.ndarray | None = None,
) -> dict[str, Any]:
    """An entry of a plan.

    Parameters
    ----------
    column : Column
    numbers : list of (name, part of a date, mean)
    flag : bool
        Whether some of them are missing.
    categories : list of (name, part of a date, values with a column, whether some are missing, whether others occur)
    idf : ndarray, optional
        Weights of the words.
    """
    return {
        "name": column.name,
        "column": column.to_dict(),
        "numbers": [list(one) for one in numbers],
        "flag": flag,
        "categories": [list(one) for one in categories or []],
        "idf": None if idf is None else idf.tolist(),
    }


def _numbers(plan: Plan) -> Iterator[tuple[dict[str, Any], Any]]:
    """The columns of numbers in their order: those of the table, then the parts of dates."""
    for is_date in (False, True):
        for entry in plan:
            if (entry["column"]["role"] == DATE) == is_date:
                yield from ((entry, one) for one in entry["numbers"])


def _categories(plan: Plan) -> Iterator[tuple[dict[str, Any], Any]]:
    """The categories in their order: texts, parts of dates, and texts that are too many to count."""
    for kind in ("texts", "dates", "uncounted"):
        for entry in plan:
            column = entry["column"]
            of_kind = "dates" if column["role"] == DATE else "texts" if column["counted"] else "uncounted"
            if of_kind == kind:
                yield from ((entry, one) for one in entry["categories"])


def _category_names(one: Any) -> list[str]:
    name, _, values, missing, other = one
    return [f"{name} = {value}" for value in [*values, *[MISSING] * missing, *[OTHER] * other]]


def output_names(plan: Plan) -> list[str]:
    """Names of the columns of numbers."""
    names = [one[0] for _, one in _numbers(plan)]
    names += [f"{one[0]} = {MISSING}" for entry, one in _numbers(plan) if entry["flag"]]
    for _, one in _categories(plan):
        names += _category_names(one)
    return names + [f"{entry['name']}: words {k}" for entry in plan for k in range(len(entry["idf"] or ()))]


def is_number(plan: Plan) -> np.ndarray:
    """Which columns are standardised: numbers and the flags of missing ones."""
    found = np.zeros(len(output_names(plan)), dtype=bool)
    found[: _count_of_numbers(plan)] = True
    return found


def near_the_data(plan: Plan) -> np.ndarray:
    """A point near the rows that a plan makes: the means of numbers, and 0 for all else."""
    point = np.zeros(len(output_names(plan)))
    means = [one[2] for _, one in _numbers(plan)]
    point[: len(means)] = means
    return point


def _count_of_numbers(plan: Plan) -> int:
    return sum(1 + entry["flag"] for entry, _ in _numbers(plan))


class Encoded:
    """The columns of a table as arrays, from which matrices of its rows are made.

    Parameters
    ----------
    plan : list of dict
    table : pyarrow.Table
    dtype : dtype
        float64 or float32.
    place : str
        Where the table is from.
    """

    def __init__(self, plan: Plan, table: Any, dtype: np.dtype[Any], place: str) -> None:
        self._dtype, self._sparse = dtype, is_sparse(plan)
        #: The first column of the matrix, and its numbers, or which of the columns from there on is 1 (-1: none).
        self._numbers: list[tuple[int, np.ndarray]] = []
        self._marks: list[tuple[int, np.ndarray]] = []
        self._words: list[Any] = []
        made = [_Made(entry, table.column(entry["name"]), place) for entry in plan]
        read = dict(zip([entry["name"] for entry in plan], made, strict=True))
        self._width = sum(1 for _ in _numbers(plan))
        for at, (entry, (_, part, mean)) in enumerate(_numbers(plan)):
            values, missing = read[entry["name"]].numbers(part, mean)
            self._numbers.append((at, values))
            if entry["flag"]:
                self._numbers.append((self._width, missing))
                self._width += 1
        for entry, one in _categories(plan):
            self._marks.append((self._width, read[entry["name"]].places(one)))
            self._width += len(_category_names(one))
        self._dense_width = self._width
        for entry in plan:
            if entry["idf"] is not None:
                self._words.append(read[entry["name"]].words().astype(dtype))
                self._width += len(entry["idf"])
        #: Columns that need no change are copied at once: threads would wait for each other between single copies.
        same = [(at, one) for at, one in self._numbers if one.dtype == dtype and one.flags.c_contiguous]
        self._places = np.array([at for at, _ in same], dtype=np.int64)
        self._addresses = np.array([one.ctypes.data for _, one in same], dtype=np.int64)
        self._others = [(at, one) for at, one in self._numbers if not (one.dtype == dtype and one.flags.c_contiguous)]

    def matrix(self, rows: slice, memory: np.ndarray | None = None) -> Any:
        """Rows as a matrix, dense in F order or CSR; ``memory`` is used for a dense one, unless it is None."""
        n = rows.stop - rows.start
        if self._sparse:
            return self._sparse_matrix(rows, n)
        flat = np.empty(self._width * n, dtype=self._dtype) if memory is None else memory[: self._width * n]
        out = flat.reshape(self._width, n)
        if self._marks:
            out[:] = 0
        copy_columns(self._addresses, rows.start, self._places, out)
        for column, numbers in self._others:
            out[column] = numbers[rows]
        for column, places in self._marks:
            marked = np.flatnonzero(places[rows] >= 0)
            out[column + places[rows][marked], marked] = 1
        at = self._dense_width
        for words in self._words:
            out[at : at + words.shape[1]] = words[rows].toarray().T
            at += words.shape[1]
        return out.T

    def _sparse_matrix(self, rows: slice, n: int) -> Any:
        from scipy.sparse import csr_matrix, hstack

        filled = len(self._numbers) + len(self._marks)
        data, indices = np.ones((n, filled), dtype=self._dtype), np.empty((n, filled), dtype=np.int32)
        # In the order of their columns, as CSR matrices have them.
        parts = [(column, values, False) for column, values in self._numbers]
        parts += [(column, values, True) for column, values in self._marks]
        there = np.ones((n, filled), dtype=bool)
        for at, (column, values, marks) in enumerate(sorted(parts, key=lambda part: part[0])):
            indices[:, at] = column + values[rows] if marks else column
            if marks:
                there[:, at] = values[rows] >= 0
            else:
                data[:, at] = values[rows]
        ends = np.concatenate(([0], np.cumsum(there.sum(axis=1))))
        made = csr_matrix((data[there], indices[there], ends), shape=(n, self._dense_width))
        return hstack([made, *(words[rows] for words in self._words)], format="csr") if self._words else made


def is_sparse(plan: Plan) -> bool:
    """Whether rows are stored as a sparse matrix."""
    return _filled(plan) < _SPARSE_BELOW * len(output_names(plan))


def numbers_per_row(plan: Plan) -> int:
    """How many numbers of a row are stored."""
    return _filled(plan) if is_sparse(plan) else len(output_names(plan))


def _filled(plan: Plan) -> int:
    words = sum(entry["idf"] is not None for entry in plan)
    return _count_of_numbers(plan) + sum(1 for _ in _categories(plan)) + _WORDS_OF_TEXT * words


class _Made:
    """A column of a table as the plan reads it; its values are read when they are first needed."""

    def __init__(self, entry: dict[str, Any], values: Any, place: str) -> None:
        self._entry, self._arrow, self._place = entry, values, place
        self._values: Any = None
        column = column_of(entry)
        self._plain = column.role == NUMBER and arrow_columns.is_plain(values.type)
        if self._plain:
            return
        read = arrow_columns.values_of(values, column.name)
        if column.role == NUMBER:
            self._values = read_numbers(read, column)
        elif column.role == DATE:
            self._values, self._first = read_dates(read, column), np.datetime64(column.first, "s")
        else:
            self._values = read_categories(read, column)

    def numbers(self, part: str, mean: float) -> tuple[np.ndarray, np.ndarray]:
        """Numbers, of which missing ones are the mean, and where they are missing."""
        if self._plain:
            numbers = arrow_columns.as_numbers(self._arrow)
            if not self._arrow.null_count:
                missing = np.zeros(len(self._arrow), dtype=bool) if self._entry["flag"] else np.empty(0, dtype=bool)
                return np.asarray(numbers.to_numpy()), missing
            self._require_flag()
            missing = np.asarray(numbers.is_null().to_numpy())
            return np.asarray(numbers.fill_null(mean).to_numpy()), missing
        values = dates.date_part(self._values, part, self._first)[0] if part else self._values
        missing = np.isnan(values)
        if missing.any():
            self._require_flag()
        return np.where(missing, mean, values), missing

    def _require_flag(self) -> None:
        if not self._entry["flag"]:
            raise CostError(
                f"column {self._entry['name']!r} has missing values in {self._place}, but none in the rows of the fit; "
                "fill them in before"
            )

    def places(self, one: Any) -> np.ndarray:
        """For each row, which of the columns of a category is 1; -1: none."""
        _, part, kept, missing, other = one
        if part:
            codes, names = dates.date_part(self._values, part, self._first)
        else:
            codes, names = self._values.codes, self._values.categories.tolist()
        if not kept and not other:
            return np.where(codes < 0, 0 if missing else -1, -1)
        last = len(kept) + missing if other else -1
        position = {value: k for k, value in enumerate(kept)}
        places = [*(position.get(name, last) for name in names), len(kept) if missing else -1]
        return np.array(places, dtype=np.int64)[codes]

    def words(self) -> Any:
        """TF-IDF of the words of each row."""
        idf = np.array(self._entry["idf"])
        return weighted_words(self._values.categories.tolist(), np.asarray(self._values.codes), idf)


@dataclass(frozen=True)
class ColumnSummary:
    """Some rows of a table, summed up.

    Attributes
    ----------
    rows : int
    kinds : dict
        For each column whether it has numbers, dates or texts; None if all values are missing and nothing says which.
    sums : dict
        For each column with a kind, the sums of its values.
    """

    rows: int
    kinds: dict[str, str | None]
    sums: dict[str, NumberSums | DateSums | TextSums]

    @classmethod
    def of(cls, table: Any, sizes: Sizes) -> ColumnSummary:
        """The summary of an Arrow table."""
        kinds = {
            field.name: None if str(field.type) == "null" else arrow_columns.kind_of(field) for field in table.schema
        }
        sums: dict[str, NumberSums | DateSums | TextSums] = {}
        for name, kind in kinds.items():
            if kind is None:
                continue
            values = arrow_columns.values_of(table.column(name), name)
            if kind == NUMBERS:
                sums[name] = NumberSums.of(values.data)
            elif kind == DATES:
                sums[name] = DateSums.of(values.data)
            else:
                sums[name] = TextSums.of(sizes, values.data.codes, values.data.categories, values.declared)
        return cls(table.num_rows, kinds, sums)

    def __add__(self, other: ColumnSummary) -> ColumnSummary:
        kinds = dict(self.kinds)
        for name, kind in other.kinds.items():
            if kinds[name] is None:
                kinds[name] = kind
            elif kind not in (None, kinds[name]):
                raise CostError(
                    f"column {name!r} has {kinds[name]} in some rows and {kind} in others; make all of them texts, or "
                    "all numbers"
                )
        sums: dict[str, Any] = dict(self.sums)
        for name, one in other.sums.items():
            sums[name] = sums[name] + one if name in sums else one
        return ColumnSummary(self.rows + other.rows, kinds, sums)

    def plan(self) -> Plan:
        """How the columns become numbers. Those with one value or none are left out."""
        texts = {name: one for name, one in self.sums.items() if isinstance(one, TextSums)}
        decimals = decimals_of({name: one for name, one in texts.items() if not one.declared})
        found = [self._entry(name, one, decimals.get(name, ".")) for name, one in self.sums.items()]
        known = {entry["name"]: entry for entry in found if entry is not None}
        return [known[name] for name in self.kinds if name in known]

    def _entry(self, name: str, sums: NumberSums | DateSums | TextSums, decimal: str) -> dict[str, Any] | None:
        if isinstance(sums, TextSums):
            return self._texts(name, sums, decimal)
        if isinstance(sums, NumberSums):
            return self._numbers(number_column(name, sums, self.rows), sums)
        return self._dates(date_column(name, sums, self.rows), sums)

    def _numbers(self, column: Column | None, sums: NumberSums) -> dict[str, Any] | None:
        if column is None:
            return None
        return entry_of(column, [(column.name, "", sums.mean)], flag=sums.known < self.rows)

    def _dates(self, column: Column | None, sums: DateSums) -> dict[str, Any] | None:
        if column is None:
            return None
        missing = sums.known < self.rows
        numbers, categories = [], []
        for part in column.parts:
            name = part_name(column, part)
            if part in dates.NUMERIC_PARTS:
                numbers.append((name, part, sums.mean(part)))
                continue
            names = dates.date_part(np.array([sums.first]), part, sums.first)[1]
            kept, other = frequent(sums.rows_of[part], rare_below(self.rows), MOST_CATEGORIES)
            categories.append((name, part, [names[k] for k in kept], missing, other))
        return entry_of(column, numbers, flag=missing, categories=categories)

    def _texts(self, name: str, sums: TextSums, decimal: str) -> dict[str, Any] | None:
        missing = self.rows - (sums.rows - sums.missing)  # parts without any value do not say that they hold texts
        column = text_column(name, replace_rows(sums, self.rows, missing), decimal)
        if column is None:
            return None
        if column.role == NUMBER:
            read = sums.known.numbers[decimal]
            assert read is not None
            return self._numbers(column, read)
        if column.role == DATE:
            return self._dates(column, sums.known.dates[column.format])
        texts = sorted(sums.texts)
        most = MOST_CATEGORIES if column.counted else 0
        kept, other = frequent(np.array([sums.texts[text] for text in texts]), rare_below(self.rows), most)
        idf = word_weights(sums.known.words, self.rows - missing) if column.words else None
        return entry_of(
            column, [], flag=False, categories=[(name, "", [texts[k] for k in kept], missing > 0, other)], idf=idf
        )


def replace_rows(sums: TextSums, rows: int, missing: int) -> TextSums:
    """The same texts among more rows, in which they are missing."""
    return TextSums(sums.sizes, rows, missing, sums.texts, sums.meanings, sums.declared)


def require_columns(plan: Plan, names: Sequence[str], place: str) -> None:
    """Raise if a column of the plan is not there."""
    for column in plan:
        if column["name"] not in names:
            raise CostError(f"there is no column {column['name']!r} in {place}, but the model was fitted with it")


def encoded(plan: Plan, table: Any, place: str) -> Any:
    """The matrix of a table by the plan of a fit, dense or CSR; ``place`` says which table it is."""
    import pyarrow as pa

    require_columns(plan, table.column_names, place)
    try:
        columns = Encoded(plan, table, dtype_of(plan, table.schema), place)
        return columns.matrix(slice(0, table.num_rows))
    except CostError:
        raise
    except (UnevenError, pa.ArrowException) as error:
        raise CostError(
            f"a column of {place} does not hold what it held in the fit: {str(error).splitlines()[0]}"
        ) from None


def dtype_of(plan: Plan, schema: Any) -> np.dtype[Any]:
    """The type of the matrix: float32 if all numbers are exact in it."""
    fields = [schema.field(entry["name"]) for entry in plan if entry["numbers"]]
    single = all(entry["column"]["role"] == NUMBER for entry in plan if entry["numbers"])
    return np.dtype(np.float32 if single and all(map(arrow_columns.is_single, fields)) else np.float64)
