"""The four costs of a model: kept as texts in its file, and computed anew for every table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from uneven._inputs import brief, to_float
from uneven._money import money
from uneven.cli.decisions.cost_texts import columns_in, cost_of_rows, number_in
from uneven.costs import RowCosts
from uneven.errors import CostError

if TYPE_CHECKING:
    from uneven.tables.table import Table

_OPTIONS = {"fp_cost": "--fp-cost", "fn_cost": "--fn-cost", "tp_cost": "--tp-cost", "tn_cost": "--tn-cost"}
_OUTCOMES = {"fn_cost": "a miss", "fp_cost": "a false alarm", "tp_cost": "a hit", "tn_cost": "a correct all-clear"}


@dataclass(frozen=True)
class GivenCosts:
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
        return f"{', '.join(parts[:-1])} and {parts[-1]}".replace("a miss", "A miss", 1) + "."


def scaled_misses(costs: RowCosts, factor: float) -> RowCosts:
    """The same costs, but what a miss costs more than a hit is multiplied."""
    fn_cost = costs.tp_cost + factor * (costs.fn_cost - costs.tp_cost)
    return RowCosts(costs.count, costs.fp_cost, fn_cost, costs.tp_cost, costs.tn_cost)


def four(costs: RowCosts) -> dict[str, Any]:
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
