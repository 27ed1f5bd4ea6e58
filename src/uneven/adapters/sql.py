"""Fitted models as a query: a database computes probability and decision of the rows of a table."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from uneven.adapters.source.source_models import write_model
from uneven.adapters.source.source_writer import Output, SourceWriter
from uneven.errors import ParameterError
from uneven.inputs import Exact, brief, require_choice
from uneven.tables.column_values import EXACT_MARKS, MARKS
from uneven.tables.columns import Column

__all__ = ["DIALECTS", "to_sql"]

#: Databases for which queries are written.
DIALECTS = ("postgresql", "duckdb", "sqlite")
#: Spaces that do not count around a text, by their numbers in Unicode.
_SPACES = (9, 10, 11, 12, 13, 32, 160)
#: Beyond it a number counts as infinite, so as missing.
_LARGEST = "1.79e308"
#: Begins the names of all columns and subqueries that the query makes.
_PREFIX = "uneven_"
_RESULTS = ("probability", "decision")


def to_sql(
    model: Any,
    table: str | tuple[str, ...],
    *,
    dialect: str = "postgresql",
    keep: list[str] | tuple[str, ...] | None = None,
    columns: list[str] | None = None,
    fp_cost: Exact | str | None = None,
    fn_cost: Exact | str | None = None,
    tp_cost: Exact | str | None = None,
    tn_cost: Exact | str | None = None,
) -> str:
    """A fitted linear or small-tree model as a query of one table.

    The query has the columns of ``keep``, ``probability`` (of the positive class) and ``decision`` (a label). It needs
    no extension of the database, and contains no name or text of the model that is not quoted.

    Parameters
    ----------
    model : fitted classifier or Pipeline
        UnevenLinearClassifier, UnevenPerceptron, UnevenAdaBoostClassifier, UnevenThresholdClassifierCV around a
        logistic regression, decision tree, forest or gradient boosting of scikit-learn, UnevenClassifierCV of these,
        and an ensemble of such members; before them FrameEncoder or StandardScaler. Trees may have 20,000 leaves.
    table : str or tuple of str
        The name of the table; with a schema, such as ("sales", "customers"), a tuple.
    dialect : {"postgresql", "duckdb", "sqlite"}
    keep : list of str, optional
        Columns of the table that the result has too, such as the one that names the rows; by default those that the
        model uses.
    columns : list of str, optional
        Names of the columns of X, if the model was fitted to an array; by default x0, x1 and so on.
    fp_cost, fn_cost, tp_cost, tn_cost : number or str, optional
        Other costs than those of the fit. A text is a column of the table with the cost of each row.

    Returns
    -------
    str

    Notes
    -----
    Numbers and dates must be such in the table. SQLite has no types: numbers and ISO dates that are written as texts
    are read, and a row with another text there gets NULL as probability and decision; other databases stop with an
    error. So does a row without a number that the model cannot do without. Infinite numbers count as missing.

    Probabilities agree with ``predict_proba`` up to rounding: sums are in another order. So a row exactly at the
    threshold may be decided otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> import uneven
    >>> from uneven.adapters.sql import to_sql
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> model = uneven.UnevenLinearClassifier("logistic", fn_cost=4).fit(X, y)
    >>> query = to_sql(model, "customers", columns=["visits"], keep=["id"], dialect="sqlite")

    >>> import sqlite3
    >>> database = sqlite3.connect(":memory:")
    >>> _ = database.execute("CREATE TABLE customers (id TEXT, visits REAL)")
    >>> _ = database.executemany("INSERT INTO customers VALUES (?, ?)", [("a", 0), ("b", 3), ("c", None)])
    >>> [(id, label) for id, probability, label in database.execute(query)]
    [('a', 0), ('b', 1), ('c', None)]
    """
    costs = {"fp_cost": fp_cost, "fn_cost": fn_cost, "tp_cost": tp_cost, "tn_cost": tn_cost}
    return sql_source(model, table, dialect, keep, costs, columns=columns)


def sql_source(model: Any, table: Any, dialect: str, keep: Any, costs: dict[str, Any], **others: Any) -> str:
    """See :func:`to_sql`; ``others`` are those of :func:`~uneven.adapters.source.source_models.write_model`."""
    require_choice("dialect", dialect, DIALECTS)
    parts = (table,) if isinstance(table, str) else tuple(table)
    if not parts or not all(isinstance(part, str) and part and "\0" not in part for part in parts):
        raise ParameterError(f"table must be a name, or a tuple of schema and name, got {brief(table)}")
    writer = SqlWriter(dialect)
    output = write_model(writer, model, costs, **others)
    return writer.query(output, ".".join(map(_quoted, parts)), keep)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class SqlWriter(SourceWriter):
    """Expressions of SQL. Values that are used again become columns of one subquery after another."""

    language, missing = "SQL", "NULL"

    def __init__(self, dialect: str) -> None:
        super().__init__()
        self._is_sqlite = dialect == "sqlite"
        self._made: dict[str, str] = {}  # expression: name
        self._level: dict[str, int] = {}  # name: number of the subquery that computes it
        self._refused: dict[str, None] = {}

    # -- columns ----------------------------------------------------------------------------------------------------

    def _read_number(self, name: str) -> str:
        column = f"t.{_quoted(name)}"
        if not self._is_sqlite:
            value = self._add(f"CAST({column} AS DOUBLE PRECISION)", of_table=True)
            return self._add(f"CASE WHEN ABS({value}) <= {_LARGEST} THEN {value} END")
        is_number = f"(TYPEOF({column}) IN ('integer', 'real') OR CAST({column} AS NUMERIC) = {column})"
        mark = self._is_mark(f"TRIM({column}, {self._spaces})", ())
        self._refused[
            self._add(f"CASE WHEN NOT {is_number} AND NOT {mark} THEN 1 ELSE 0 END", of_table=True) + " = 1"
        ] = None
        return self._add(
            f"CASE WHEN {is_number} AND ABS({column}) <= {_LARGEST} THEN CAST({column} AS REAL) END", of_table=True
        )

    def _read_text(self, column: Column) -> str:
        given = f"t.{_quoted(column.name)}"
        if self._is_sqlite:
            whole = f"TYPEOF({given}) = 'real' AND {given} = CAST({given} AS INTEGER)"
            given = f"CASE WHEN {whole} THEN CAST(CAST({given} AS INTEGER) AS TEXT) ELSE CAST({given} AS TEXT) END"
        else:
            given = f"CAST({given} AS VARCHAR)"
        text = self._add(f"TRIM({given}, {self._spaces})", of_table=True)
        return self._add(
            f"CASE WHEN {self._is_mark(text, tuple(column.marks))} THEN NULL WHEN LOWER({text}) = 'true' THEN 'True' "
            f"WHEN LOWER({text}) = 'false' THEN 'False' ELSE {text} END"
        )

    def _read_date(self, column: Column, part: str) -> str:
        if column.first.startswith("1900-01-01T"):
            raise ParameterError(
                f"column {column.name!r} holds times of day, which cannot be written in SQL; Python can"
            )
        first = int(np.datetime64(column.first, "s").astype(np.int64))
        given = f"t.{_quoted(column.name)}"
        if self._is_sqlite:
            text = self._add(f"TRIM(CAST({given} AS TEXT), {self._spaces})", of_table=True)
            is_date = f"({text} GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*' AND JULIANDAY({text}) IS NOT NULL)"
            mark = self._is_mark(text, tuple(column.marks))
            self._refused[self._add(f"CASE WHEN NOT {is_date} AND NOT {mark} THEN 1 ELSE 0 END") + " = 1"] = None
            parts = {
                "year": "CAST(STRFTIME('%Y', {0}) AS INTEGER)",
                "days": f"(CAST(STRFTIME('%s', {{0}}) AS INTEGER) - {first}) / 86400.0",
                "month": "CAST(STRFTIME('%m', {0}) AS INTEGER) - 1",
                "day of week": "(CAST(STRFTIME('%w', {0}) AS INTEGER) + 6) % 7",
                "hour": "CAST(STRFTIME('%H', {0}) AS INTEGER)",
            }
            return self._add(f"CASE WHEN {is_date} THEN {parts[part].format(text)} END")
        moment = self._add(f"CAST({given} AS TIMESTAMP)", of_table=True)
        parts = {
            "year": "EXTRACT(YEAR FROM {0})",
            "days": f"(FLOOR(EXTRACT(EPOCH FROM {{0}})) - {first}) / 86400.0",
            "month": "EXTRACT(MONTH FROM {0}) - 1",
            "day of week": "EXTRACT(ISODOW FROM {0}) - 1",
            "hour": "EXTRACT(HOUR FROM {0})",
        }
        return self._add(f"CAST({parts[part].format(moment)} AS DOUBLE PRECISION)")

    def require(self, name: str, value: str) -> None:
        self._refused[f"{value} IS NULL"] = None

    def _is_mark(self, text: str, marks: tuple[str, ...]) -> str:
        plain, exact = ", ".join(map(self.text, MARKS)), ", ".join(map(self.text, (*EXACT_MARKS, *marks)))
        return f"(LOWER({text}) IN ({plain}) OR {text} IN ({exact}))"

    @property
    def _spaces(self) -> str:
        if self._is_sqlite:
            return f"CHAR({', '.join(map(str, _SPACES))})"
        return " || ".join(f"CHR({number})" for number in _SPACES)

    # -- steps ------------------------------------------------------------------------------------------------------

    def keep(self, value: str) -> str:
        if value in self._level or re.fullmatch(r"\(?-?[0-9.e+-]+\)?", value):
            return value
        return self._add(value if self._is_sqlite else f"CAST({value} AS DOUBLE PRECISION)")

    def _add(self, value: str, *, of_table: bool = False) -> str:
        """The name of a column of a subquery: of the first if it reads the table, else of one after those it uses.

        A text that looks like such a name can only make it a later one.
        """
        if value not in self._made:
            name = f"{_PREFIX}{len(self._made) + 1}"
            used = [] if of_table else [self._level.get(one, 0) for one in re.findall(rf"{_PREFIX}\d+", value)]
            self._made[value], self._level[name] = name, 1 + max(used, default=-1)
        return self._made[value]

    def text(self, value: str) -> str:
        if "\0" in value:
            raise ParameterError(f"the category {value!r} cannot be written in SQL: it has a zero character")
        return "'" + value.replace("'", "''") + "'"

    def number(self, value: float) -> str:
        written = super().number(value)
        if self._is_sqlite or "e" in written:
            return written
        return written.replace(")", "e0)") if written.endswith(")") else f"{written}e0"  # a double, not a decimal

    def choose(self, condition: str, yes: str, no: str) -> str:
        return f"CASE WHEN {condition} THEN {yes} ELSE {no} END"

    def is_missing(self, value: str) -> str:
        return f"{value} IS NULL"

    def exceeds(self, value: str, threshold: float, *, if_missing: bool) -> str:
        above = f"{value} > {self.number(threshold)}"
        return f"({above} OR {value} IS NULL)" if if_missing else above

    def equals(self, value: str, literal: str) -> str:
        return f"{value} = {literal}"

    def look_up(self, value: str, table: dict[str, str], missing: str, other: str) -> str:
        cases = "".join(f" WHEN {value} = {literal} THEN {entry}" for literal, entry in table.items())
        return f"CASE WHEN {value} IS NULL THEN {missing}{cases} ELSE {other} END"

    def exp(self, x: str) -> str:
        least, most = ("MIN", "MAX") if self._is_sqlite else ("LEAST", "GREATEST")
        return f"EXP({least}({most}({x}, {self.number(-600.0)}), {self.number(600.0)}))"

    def log(self, x: str) -> str:
        return f"LN({x})"

    # -- the query --------------------------------------------------------------------------------------------------

    def query(self, output: Output, table: str, keep: Any) -> str:
        """The whole query."""
        kept = list(dict.fromkeys(self.columns if keep is None else keep))
        for name in kept:
            if not isinstance(name, str) or "\0" in name:
                raise ParameterError(f"keep must be names of columns, got {brief(name)}")
            if name.lower() in _RESULTS or re.fullmatch(rf"{_PREFIX}\d+", name.lower()):
                raise ParameterError(f"the column {name!r} has the name of a result of the query; rename it")
        probability = "NULL" if output.probability is None else output.probability
        refused = " OR ".join(self._refused)
        negative, positive = map(self._label, output.labels)
        said = [
            (probability, "probability"),
            (
                f"CASE WHEN {output.decision} THEN {positive} WHEN NOT ({output.decision}) THEN {negative} END",
                "decision",
            ),
        ]
        if refused:
            said = [(f"CASE WHEN NOT ({refused}) THEN {value} END", name) for value, name in said]
        lines = [f"-- {output.model}, written by uneven; the decisions are those of its costs."]
        source, own = f"{table} AS t", [f"t.{_quoted(name)}" for name in kept]
        for level in range(1 + max(self._level.values(), default=-1)):
            made = [(value, name) for value, name in self._made.items() if self._level[name] == level]
            body = ",\n  ".join([*(["*"] if level else own), *(f"{value} AS {name}" for value, name in made)])
            opening = "," if level else "WITH"
            lines.append(f"{opening} {_PREFIX}layer{level} AS MATERIALIZED (\n  SELECT {body}\n  FROM {source}\n)")
            source = f"{_PREFIX}layer{level}"
        results = [*(_quoted(name) for name in kept), *(f"{value} AS {name}" for value, name in said)]
        lines.append("SELECT " + ",\n  ".join(results) + f"\nFROM {source};")
        return "\n".join(lines) + "\n"

    def _label(self, label: Any) -> str:
        value = label.item() if hasattr(label, "item") else label
        if isinstance(value, bool):
            return str(int(value)) if self._is_sqlite else str(value).upper()
        if isinstance(value, int):
            return str(value)
        return self.number(value) if isinstance(value, float) else self.text(str(value))
