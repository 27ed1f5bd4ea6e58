"""Fitted models as a Python module that needs the standard library only."""

from __future__ import annotations

import re
from typing import Any

from uneven.adapters.source.source_models import write_model
from uneven.adapters.source.source_writer import Output, SourceWriter
from uneven.errors import ParameterError
from uneven.inputs import Exact
from uneven.tables.column_values import EXACT_MARKS, MARKS
from uneven.tables.columns import Column
from uneven.tables.dates import ISO

__all__ = ["to_python"]


def to_python(
    model: Any,
    *,
    columns: list[str] | None = None,
    fp_cost: Exact | str | None = None,
    fn_cost: Exact | str | None = None,
    tp_cost: Exact | str | None = None,
    tn_cost: Exact | str | None = None,
) -> str:
    """A fitted linear or small-tree model as the source of a Python module.

    The module has one function, ``predict(row)``. Its argument is a mapping from names of columns to values; missing
    values are None or NaN. It returns the label that is decided, and the probability of the positive class (None if the
    model has none). The module needs Python 3.11 or later, and no other package.

    Parameters
    ----------
    model : fitted classifier or Pipeline
        As of :func:`uneven.adapters.sql.to_sql`.
    columns : list of str, optional
        Names of the columns of X, if the model was fitted to an array; by default x0, x1 and so on.
    fp_cost, fn_cost, tp_cost, tn_cost : number or str, optional
        Other costs than those of the fit. A text is a column with the cost of each row.

    Returns
    -------
    str

    Notes
    -----
    A column that is absent, a text in place of a number and a missing value that the model cannot do without are a
    ValueError with one sentence. Probabilities agree with ``predict_proba`` up to rounding: sums are in another order.

    Examples
    --------
    >>> import numpy as np
    >>> import uneven
    >>> from uneven.adapters.python import to_python
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> model = uneven.UnevenLinearClassifier("logistic", fn_cost=4).fit(X, y)
    >>> source = to_python(model, columns=["visits"])
    >>> from pathlib import Path
    >>> from runpy import run_path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "decide.py"
    ...     _ = path.write_text(source, encoding="utf-8")
    ...     predict = run_path(str(path))["predict"]                     # in production: from decide import predict
    >>> [predict({"visits": visits})[0] for visits in (0, 3)]
    [0, 1]
    """
    costs = {"fp_cost": fp_cost, "fn_cost": fn_cost, "tp_cost": tp_cost, "tn_cost": tn_cost}
    return python_source(model, costs, columns=columns)


def python_source(model: Any, costs: dict[str, Any], **others: Any) -> str:
    """See :func:`to_python`; ``others`` are those of :func:`~uneven.adapters.source.source_models.write_model`."""
    writer = PythonWriter()
    return writer.module(write_model(writer, model, costs, **others))


class PythonWriter(SourceWriter):
    """Expressions of Python. Values that are used again become local variables."""

    language, missing = "Python", "None"

    def __init__(self) -> None:
        super().__init__()
        self._reads: list[str] = []
        self._steps: list[str] = []
        self._tables: dict[str, str] = {}
        self._made: dict[str, str] = {}
        self._required: dict[str, None] = {}
        self._helpers = {"number": False, "text": False, "date": False, "exp": False}

    # -- columns ----------------------------------------------------------------------------------------------------

    def _read_number(self, name: str) -> str:
        return self._read("number", f"_number(row, {name!r})")

    def _read_text(self, column: Column) -> str:
        return self._read("text", f"_text(row, {column.name!r}, {tuple(column.marks)!r})")

    def _read_date(self, column: Column, part: str) -> str:
        form = "" if column.format in ("", ISO) else column.format
        date = self._read("date", f"_date(row, {column.name!r}, {form!r}, {tuple(column.marks)!r})")
        parts = {
            "year": f"{date}.year",
            "days": f"({date} - datetime.datetime.fromisoformat({column.first!r})).total_seconds() / 86400",
            "month": f"{date}.month - 1",
            "day of week": f"{date}.weekday()",
            "hour": f"{date}.hour",
        }
        return self._read("date", f"None if {date} is None else {parts[part]}")

    def _read(self, helper: str, value: str) -> str:
        self._helpers[helper] = True
        if value not in self._made:
            self._made[value] = f"v{len(self._made) + 1}"
            self._reads.append(f"{self._made[value]} = {value}")
        return self._made[value]

    def require(self, name: str, value: str) -> None:
        self._required[f"_require({name!r}, {value})"] = None

    # -- steps ------------------------------------------------------------------------------------------------------

    def keep(self, value: str) -> str:
        if re.fullmatch(r"v\d+|\(?-?[0-9.e+-]+\)?", value):
            return value
        if value not in self._made:
            self._made[value] = f"v{len(self._made) + 1}"
            self._steps.append(f"{self._made[value]} = {value}")
        return self._made[value]

    def text(self, value: str) -> str:
        return repr(value)

    def total(self, terms: list[str]) -> str:
        if len(terms) < 3:
            return super().total(terms)
        inner = ",\n        ".join(terms)
        return f"math.fsum((\n        {inner},\n    ))"

    def choose(self, condition: str, yes: str, no: str) -> str:
        return f"({yes} if {condition} else {no})"

    def is_missing(self, value: str) -> str:
        return f"{value} is None"

    def exceeds(self, value: str, threshold: float, *, if_missing: bool) -> str:
        how = "is None or" if if_missing else "is not None and"
        return f"({value} {how} {value} > {self.number(threshold)})"

    def equals(self, value: str, literal: str) -> str:
        return f"{value} == {literal}"

    def look_up(self, value: str, table: dict[str, str], missing: str, other: str) -> str:
        entries = ", ".join([f"None: {missing}", *(f"{literal}: {entry}" for literal, entry in table.items())])
        name = self._tables.setdefault(entries, f"_TABLE_{len(self._tables) + 1}")
        return f"{name}.get({value}, {other})"

    def exp(self, x: str) -> str:
        self._helpers["exp"] = True
        return f"_exp({x})"

    def log(self, x: str) -> str:
        return f"math.log({x})"

    # -- the module -------------------------------------------------------------------------------------------------

    def module(self, output: Output) -> str:
        """The whole source."""
        if any("\0" in name for name in self.columns):
            raise ParameterError("names of columns must not have a zero character")
        labels = [label.item() if hasattr(label, "item") else label for label in output.labels]
        lines = [
            f'"""{output.model}, written by uneven; needs the standard library only."""',
            "",
            *(["import datetime"] if self._helpers["date"] else []),
            "import math",
            "",
            f"COLUMNS = {self.columns!r}",
            *(f"{name} = {{{entries}}}" for entries, name in self._tables.items()),
            "",
            "",
            "def predict(row):",
            '    """The decision on a row, a mapping from names of columns to values, and P(positive)."""',
            *(f"    {line}" for line in self._reads),
            *(f"    {line}" for line in self._required),
            *(f"    {line}" for line in self._steps),
            f"    decision = {labels[1]!r} if {output.decision} else {labels[0]!r}",
            f"    return decision, {output.probability}",
            "",
        ]
        source = "\n".join(lines)
        used = {name for name, asked in self._helpers.items() if asked}
        if used & {"number", "text", "date"}:
            used |= {"value"}
        if self._required:
            used |= {"require"}
        return source + "".join(_HELPERS[name] for name in _HELPERS if name in used)


#: Functions of the module, each only if it is used.
_HELPERS = {
    "value": f'''

_MARKS = frozenset({MARKS!r})
_EXACT_MARKS = frozenset({EXACT_MARKS!r})


def _value(row, name, marks=()):
    """A value without spaces around it; None if it is missing."""
    if name not in row:
        raise ValueError(f"the row has no column {{name!r}}")
    value = row[name]
    if isinstance(value, str):
        value = value.strip()
        if value.lower() in _MARKS or value in _EXACT_MARKS or value in marks:
            return None
    return None if value is None or value != value else value
''',
    "number": """

def _number(row, name):
    value = _value(row, name)
    if value is None:
        return None
    try:
        if isinstance(value, str) and "_" in value:
            raise ValueError
        number = float(value)
    except OverflowError:
        return None
    except (TypeError, ValueError):
        raise ValueError(f"column {name!r} must hold numbers, got {value!r}") from None
    return number if math.isfinite(number) else None
""",
    "text": """

def _text(row, name, marks):
    value = _value(row, name, marks)
    if value is None:
        return None
    if isinstance(value, float):
        if math.isinf(value):
            return None
        value = int(value) if value == int(value) else value
    text = str(value)
    return text.capitalize() if text.lower() in ("true", "false") else text
""",
    "date": '''

def _date(row, name, form, marks):
    """A date and time in UTC, in whole seconds."""
    value = _value(row, name, marks)
    if value is None:
        return None
    if isinstance(value, str):
        try:
            try:
                value = datetime.datetime.fromisoformat(value)
            except ValueError:
                value = datetime.datetime.strptime(value, form)
        except ValueError:
            raise ValueError(f"column {name!r} must hold dates, got {value!r}") from None
    if not isinstance(value, datetime.date):
        raise ValueError(f"column {name!r} must hold dates, got {value!r}")
    if not isinstance(value, datetime.datetime):
        return datetime.datetime(value.year, value.month, value.day)
    if value.tzinfo is not None:
        value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return value.replace(microsecond=0)
''',
    "require": """

def _require(name, value):
    if value is None:
        raise ValueError(f"column {name!r} is missing, and the model takes no missing values there")
""",
    "exp": """

def _exp(x):
    return math.exp(min(max(x, -600.0), 600.0))
""",
}
