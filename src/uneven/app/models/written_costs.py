"""What an outcome costs, as the user writes it: a number, a column, or an arithmetic of columns.

The arithmetic is parsed by the little language and never evaluated as Python. It has numbers, columns, + - * / ( ), min
and max. A column whose name would be read otherwise is put between backticks.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from uneven import inputs
from uneven.costs import RowCosts, money
from uneven.errors import CostError, ExpressionError
from uneven.expression import Node, parse
from uneven.expression.tree import Add, Call, Inv, Mul, Neg, Number, Symbol, put
from uneven.inputs import brief, to_float
from uneven.ops import evaluate
from uneven.ops.rationals import RATIONALS

if TYPE_CHECKING:
    from uneven.app.files.table import Table


_DIGITS = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_NUMBER = re.compile(rf"[-+]?{_DIGITS}(?:/{_DIGITS})?")
_FUNCTIONS = {"min": np.minimum, "max": np.maximum}


def is_number(text: str) -> bool:
    """Whether a text is a number such as 20, 0.5 or 1/3, so that it cannot mean a column."""
    return _NUMBER.fullmatch(text.strip()) is not None


def number_in(option: str, text: str) -> Fraction | None:
    """The number that a text is, or an arithmetic of numbers such as 3*25; None if it needs columns."""
    if is_number(text):
        return inputs.exact(option, text.strip(), CostError)
    try:
        tree = parse(text)
        plain = all(isinstance(part, Number | Add | Mul | Neg | Inv) for part in tree.walk())
        return inputs.exact(option, evaluate(tree, RATIONALS, Fraction(0)), CostError) if plain else None
    except (ExpressionError, ZeroDivisionError):
        return None


def columns_in(option: str, text: str, table: Table) -> list[str]:
    """The columns that a cost is made of; an error if the text makes no sense."""
    return sorted({part.name for part in cost_tree(option, text, table).walk() if isinstance(part, Symbol)})


def cost_of_rows(option: str, text: str, table: Table) -> np.ndarray:
    """The cost of each row; an error tells how many rows have none, and names the first of them."""
    values, columns = _values_of_rows(option, text, table)
    strange = np.flatnonzero(~np.isfinite(values))
    if not strange.size:
        return values
    for name, column in columns.items():
        if np.isnan(column).any():
            raise _bad_cells(option, name, column, table)
    row = int(strange[0])
    shown = ", ".join(f"{name} = {column[row]:.6g}" for name, column in columns.items())
    raise CostError(
        f"{_place(table, row)}: {option} {brief(text)} is not a finite number there"
        + (f" ({shown})" if shown else "")
        + _and_others(strange.size)
        + f"; correct it, or {SKIP_BAD_COSTS} leaves such rows out"
    )


#: The option that leaves rows out whose costs are not known.
SKIP_BAD_COSTS = "--skip-bad-costs"


def _values_of_rows(option: str, text: str, table: Table) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The cost of each row, NaN or infinite where it has none, and the columns that it is made of."""
    tree = cost_tree(option, text, table)
    columns = {part.name: table.numbers(part.name).values for part in set(tree.walk()) if isinstance(part, Symbol)}
    with np.errstate(all="ignore"):
        values = np.broadcast_to(_value(tree, columns), (len(table),)).astype(float)
    return values, columns


def _place(table: Table, row: int) -> str:
    return f"{table.path}, row {table.frame.index[row] + 1} below the header"


def _bad_cells(option: str, name: str, values: np.ndarray, table: Table) -> CostError:
    """The error for cells of a column that are no numbers: how many are empty, how many hold something else."""
    wrong = np.flatnonzero(np.isnan(values))
    row = int(wrong[0])
    value = table.written(name)[row].as_py()
    has = "is empty" if not value else f"has {brief(value)}, which is not a number"
    empty = int((~np.asarray(table.numbers(name).others)[wrong]).sum())
    kinds = f": {empty:,} empty or missing, {wrong.size - empty:,} with other texts" if wrong.size > 1 else ""
    return CostError(
        f"{_place(table, row)}: column {name!r} {has}, but {option} needs a number in every row"
        f"{_and_others(wrong.size)}{kinds}; fill it in, or {SKIP_BAD_COSTS} leaves such rows out"
    )


def _and_others(count: int) -> str:
    """How many rows have the same fault, after the first was named."""
    return f" ({count:,} rows are like this)" if count > 1 else ""


def _value(node: Node, columns: dict[str, np.ndarray]) -> np.ndarray | np.float64:
    match node:
        case Number(number):
            return np.float64(inputs.to_float(number))
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


def cost_tree(option: str, text: str, table: Any) -> Node:
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


# -- the four costs of a model: texts in its file, computed anew for every table ---------------------------------------

_OPTIONS = {"fp_cost": "--fp-cost", "fn_cost": "--fn-cost", "tp_cost": "--tp-cost", "tn_cost": "--tn-cost"}
_OUTCOMES = {"fn_cost": "a miss", "fp_cost": "a false alarm", "tp_cost": "a hit", "tn_cost": "a correct all-clear"}


@dataclass(frozen=True)
class WrittenCosts:
    """What the four outcomes cost, as texts: numbers, columns, or arithmetics of columns.

    Attributes
    ----------
    fp_cost, fn_cost, tp_cost, tn_cost : str
    unit : str or None
        Such as EUR.
    """

    fp_cost: str
    fn_cost: str
    tp_cost: str = "0"
    tn_cost: str = "0"
    unit: str | None = None

    def __post_init__(self) -> None:
        for mistake, right in (("fp_cost", "tn_cost"), ("fn_cost", "tp_cost")):
            cost, other = (number_in(_OPTIONS[name], getattr(self, name)) for name in (mistake, right))
            if cost is None or other is None or cost > other:
                continue
            above = f"above {_OPTIONS[right]} ({getattr(self, right)})" if other else "positive"
            raise CostError(f"{_OPTIONS[mistake]} must be {above}, got {brief(getattr(self, mistake))}")

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain data, for the model file."""
        return asdict(self)

    @property
    def per_row(self) -> bool:
        """Whether a cost needs a column."""
        return any(number_in(option, getattr(self, name)) is None for name, option in _OPTIONS.items())

    def numbers(self) -> dict[str, str]:
        """The costs as exact numbers, if none needs a column."""
        return {name: str(number_in(option, getattr(self, name))) for name, option in _OPTIONS.items()}

    def columns(self, table: Table, target: str) -> list[str]:
        """The columns that the costs need; an error names one that the table lacks, or the target."""
        found: dict[str, None] = {}
        for name, option in _OPTIONS.items():
            if number_in(option, getattr(self, name)) is None:
                found |= dict.fromkeys(columns_in(option, getattr(self, name), table))
                if target in found:
                    raise CostError(
                        f"{option} {brief(getattr(self, name))} needs the target {target!r}, which is not known when "
                        "you decide; the four costs say what each outcome costs"
                    )
        return list(found)

    def of(self, table: Table) -> RowCosts:
        """The costs of the rows of a table: an array where a column is needed, even if all its numbers are equal."""
        values: dict[str, Any] = {}
        for name, option in _OPTIONS.items():
            number = number_in(option, getattr(self, name))
            values[name] = cost_of_rows(option, getattr(self, name), table) if number is None else to_float(number)
        RowCosts.read(len(table), **values)
        return RowCosts(len(table), **values)

    def known_rows(self, table: Table) -> np.ndarray:
        """Where all four costs are finite numbers."""
        known = np.ones(len(table), dtype=bool)
        for name, option in _OPTIONS.items():
            if number_in(option, getattr(self, name)) is None:
                known &= np.isfinite(_values_of_rows(option, getattr(self, name), table)[0])
        return known

    def skip_unknown(self, table: Table) -> tuple[Table, str]:
        """The rows with known costs, and a sentence about the others; an error if none is left."""
        known = self.known_rows(table)
        left = int(known.size - known.sum())
        if not left:
            return table, ""
        if not known.any():
            raise CostError(f"{table.path}: no row has all of its costs as numbers; look at the columns of the costs")
        first = int(np.flatnonzero(~known)[0])
        rows = "row" if left == 1 else "rows"
        place = f"row {table.frame.index[first] + 1} below the header" + (" first" if left > 1 else "")
        return table.rows(known), f"{left:,} {rows} left out, because costs are not known there ({place})."

    def in_words(self, costs: RowCosts) -> str:
        """What the outcomes cost, with the range over the rows."""
        parts = []
        for name, outcome in _OUTCOMES.items():
            text, values = getattr(self, name), getattr(costs, name)
            if name in ("tp_cost", "tn_cost") and number_in(_OPTIONS[name], text) == 0:
                continue
            if isinstance(values, np.ndarray):
                low, high, mean = (float(part) for part in (values.min(), values.max(), values.mean()))
                spread = f"{money(low)} to {money(high, self.unit)}, mean {money(mean)}" if low < high else money(high)
                parts.append(f"{outcome} costs {text} ({spread})")
            else:
                parts.append(f"{outcome} costs {money(values, self.unit)}")
        said = f"{', '.join(parts[:-1])} and {parts[-1]}".replace("a miss", "A miss", 1) + "."
        if len(parts) == 2:
            return said
        fp, fn = (money(float(np.mean(regret)), self.unit) for regret in (costs.fp_regret, costs.fn_regret))
        so = "So on average" if costs.per_row else "So"
        return f"{said} {so} a miss costs {fn} more than a hit, and a false alarm {fp} more than a correct all-clear."


def scale_misses(costs: RowCosts, factor: float) -> RowCosts:
    """The same costs, but what a miss costs more than a hit is multiplied."""
    fn_cost = costs.tp_cost + factor * (costs.fn_cost - costs.tp_cost)
    return RowCosts(costs.count, costs.fp_cost, fn_cost, costs.tp_cost, costs.tn_cost)


def costs_by_name(costs: RowCosts) -> dict[str, Any]:
    """The four costs as keyword arguments."""
    return {name: getattr(costs, name) for name in _OPTIONS}


def mean_regrets(costs: RowCosts) -> tuple[float, float]:
    """What a false positive and a false negative cost on average more than the right decisions, where they do."""
    fp, fn = (float(np.mean(np.maximum(regret, 0))) for regret in (costs.fp_regret, costs.fn_regret))
    if fp <= 0 or fn <= 0:
        name, other = ("false alarm", "correct all-clear") if fp <= 0 else ("miss", "hit")
        raise CostError(f"in no row a {name} costs more than a {other}, so there is nothing to decide")
    return fp, fn


def reference_costs(costs: RowCosts) -> dict[str, str]:
    """One pair of costs in place of those of the rows: the ratio of their means, in three digits."""
    fp, fn = mean_regrets(costs)
    return {"fp_cost": "1", "fn_cost": f"{fn / fp:.3g}", "tp_cost": "0", "tn_cost": "0"}
