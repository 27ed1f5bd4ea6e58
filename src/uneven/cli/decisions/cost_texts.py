"""What an outcome costs, as the user writes it: a number, a column, or an arithmetic of columns.

The arithmetic is parsed by the little language and never evaluated as Python. It has numbers, columns, + - * / ( ), min
and max. A column whose name would be read otherwise is put between backticks.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from uneven import _inputs
from uneven._inputs import brief
from uneven.errors import CostError, ExpressionError
from uneven.expression import Node, parse
from uneven.expression.tree import Add, Call, Inv, Mul, Neg, Number, Symbol, put
from uneven.ops import evaluate
from uneven.ops.rationals import RATIONALS

if TYPE_CHECKING:
    from uneven.tables.table import Table

_DIGITS = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_NUMBER = re.compile(rf"[-+]?{_DIGITS}(?:/{_DIGITS})?")
_FUNCTIONS = {"min": np.minimum, "max": np.maximum}


def is_number(text: str) -> bool:
    """Whether a text is a number such as 20, 0.5 or 1/3, so that it cannot mean a column."""
    return _NUMBER.fullmatch(text.strip()) is not None


def number_in(option: str, text: str) -> Fraction | None:
    """The number that a text is, or an arithmetic of numbers such as 3*25; None if it needs columns."""
    if is_number(text):
        return _inputs.exact(option, text.strip(), CostError)
    try:
        tree = parse(text)
        plain = all(isinstance(part, Number | Add | Mul | Neg | Inv) for part in tree.walk())
        return _inputs.exact(option, evaluate(tree, RATIONALS, Fraction(0)), CostError) if plain else None
    except (ExpressionError, ZeroDivisionError):
        return None


def columns_in(option: str, text: str, table: Table) -> list[str]:
    """The columns that a cost is made of; an error if the text makes no sense."""
    return sorted({part.name for part in _tree(option, text, table).walk() if isinstance(part, Symbol)})


def cost_of_rows(option: str, text: str, table: Table) -> np.ndarray:
    """The cost of each row; an error names the first row that has none."""
    tree = _tree(option, text, table)
    columns = {part.name: _column(option, part.name, table) for part in set(tree.walk()) if isinstance(part, Symbol)}
    with np.errstate(all="ignore"):
        values = np.broadcast_to(_value(tree, columns), (len(table),)).astype(float)
    strange = np.flatnonzero(~np.isfinite(values))
    if strange.size:
        row = int(strange[0])
        shown = ", ".join(f"{name} = {column[row]:.6g}" for name, column in columns.items())
        raise CostError(
            f"{_place(table, row)}: {option} {brief(text)} is not a finite number there"
            + (f" ({shown})" if shown else "")
        )
    return values


def _place(table: Table, row: int) -> str:
    return f"{table.path}, row {table.frame.index[row] + 1} below the header"


def _column(option: str, name: str, table: Table) -> np.ndarray:
    """A column of numbers without gaps."""
    found = table.numbers(name)
    wrong = np.flatnonzero(np.isnan(found.values))
    if wrong.size:
        row = int(wrong[0])
        value = table.written(name)[row].as_py()
        has = "is empty" if value is None else f"has {brief(value)}, which is not a number"
        raise CostError(
            f"{_place(table, row)}: column {name!r} {has}, but {option} needs a number in every row; fill it in, or "
            "leave these rows out"
        )
    return found.values


def _value(node: Node, columns: dict[str, np.ndarray]) -> np.ndarray | np.float64:
    match node:
        case Number(number):
            return np.float64(_inputs.to_float(number))
        case Symbol(name):
            return columns[name]
        case Neg(argument):
            return -_value(argument, columns)
        case Inv(argument):
            return np.float64(1) / _value(argument, columns)
        case Call(name, arguments):
            first, second = (np.asarray(_value(argument, columns)) for argument in arguments)
            return np.asarray(_FUNCTIONS[name](first, second))
    parts = [_value(child, columns) for child in node.children]
    total = parts[0]
    for child, part in zip(node.children[1:], parts[1:], strict=True):
        if isinstance(node, Add):
            total = total + part
        elif isinstance(child, Inv):  # a quotient is rounded once
            total = total / _value(child.argument, columns)
        else:
            total = total * part
    return total


# -- from text to tree ------------------------------------------------------------------------------------------------


def _tree(option: str, text: str, table: Table) -> Node:
    """The tree of a cost; its symbols have the names of columns."""
    known = [str(name) for name in table.frame.columns]
    written = text.strip()
    if written in known and not is_number(written):
        return Symbol(written)
    if not written:
        raise CostError(f"{option} must be a number, a column or an arithmetic of columns, got an empty text")
    if "**" in written or "^" in written:
        raise CostError(f"{option} {brief(written)}: costs have no powers; amount*amount would work")
    if re.fullmatch(r"[^\W\d][\w ]*", written):
        table.require([written], f", which {option} needs")
    names: list[str] = []
    plain = _with_placeholders(option, written, table, known, names)
    try:
        tree = parse(plain, [f"c{k}" for k in range(len(names))])
    except ExpressionError as error:
        message = re.sub(r", at column \d+ of .*$", "", str(error), flags=re.S)
        message = message.replace(" **)", ")").replace("a name", "a column")
        message = re.sub(r"'c(\d+)'", lambda match: repr(names[int(match.group(1))]), message)
        comma = "; numbers have a decimal point" if re.search(r"\d,\d", written) else ""
        raise CostError(f"{option} {brief(written)} is not understood: {message}{comma}") from None
    _require_arithmetic(option, written, tree)
    return put(tree, {f"c{k}": Symbol(name) for k, name in enumerate(names)})


def _with_placeholders(option: str, text: str, table: Table, known: list[str], names: list[str]) -> str:
    """The text with c0, c1, ... in place of the columns, which are added to ``names``."""
    columns = sorted((name for name in known if re.search(r"\w", name) and not is_number(name)), key=len, reverse=True)
    bare = "|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in columns) or r"(?!)"
    token = re.compile(
        rf"""`(?P<quoted>[^`]*)`|(?P<function>(?<!\w)(?:min|max))(?=\s*\()|(?P<bare>{bare})"""
        rf"""|(?P<number>{_DIGITS}(?!\w))|(?P<name>[^\W\d]\w*)(?P<call>\s*\()?|(?P<other>.)""",
        re.S,
    )
    pieces = []
    for match in token.finditer(text):
        if match["call"]:
            raise CostError(
                f"{option} {brief(text)}: there is no function {brief(match['name'])} for costs (allowed: min, max; "
                "+ - * / and parentheses)"
            )
        column = match["quoted"] if match["quoted"] is not None else match["bare"] or match["name"]
        if column is None:
            pieces.append(match[0])
            continue
        table.require([column], f", which {option} {brief(text)} needs")
        if column not in names:
            names.append(column)
        pieces.append(f" c{names.index(column)} ")
    return "".join(pieces)


def _require_arithmetic(option: str, text: str, tree: Node) -> None:
    for part in tree.walk():
        if not isinstance(part, Number | Symbol | Add | Mul | Neg | Inv | Call):
            raise CostError(f"{option} {brief(text)}: a cost is made of numbers, columns, + - * / ( ), min and max")
