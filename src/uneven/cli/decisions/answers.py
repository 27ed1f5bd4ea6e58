"""What a model saves in money, in sentences: against the same decision for everyone, against the usual models."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from uneven._money import money
from uneven.cli.decisions.candidates import EVERYONE, NO_ONE
from uneven.costs import RowCosts
from uneven.metrics import CostEstimate
from uneven.metrics.intervals import ROUGH_MEANS, ends_in_words

PER = 1000  # rows
#: What the constant rules do, by name.
RULES = {EVERYONE: "flagging everyone", NO_ONE: "flagging no one"}


@dataclass(frozen=True)
class WhatIf:
    """The comparison at other costs of a miss.

    Attributes
    ----------
    label : str
        Such as "half".
    ratio : str
        How many false alarms a miss costs, such as "10 : 1".
    mean : bool
        Whether that is a mean over rows.
    rows : list of CostEstimate
        Ours first.
    """

    label: str
    ratio: str
    mean: bool
    rows: list[CostEstimate]

    @property
    def cheapest(self) -> str:
        """The name of the cheapest; ours if it shares the first place."""
        return min(self.rows, key=lambda row: row.cost).name

    @property
    def may_be_chance(self) -> bool:
        """Whether the difference between ours and the cheapest, or the next if ours is it, may be chance."""
        return may_be_chance(min(self.rows[1:], key=lambda row: row.cost))


def better_constant(rows: list[CostEstimate]) -> CostEstimate:
    """The cheaper of the two constant rules."""
    return min((row for row in rows if row.name in RULES), key=lambda row: row.cost)


def per_thousand(value: float, unit: str | None = None) -> str:
    """A cost per row, for 1,000 rows."""
    return money(PER * value, unit)


def difference_in_words(row: CostEstimate, unit: str | None = None) -> str:
    """How much more a row costs than ours, with its interval."""
    if row.difference is None or row.difference_low is None or row.difference_high is None:
        return ""
    ends = _ends(row.difference_low, row.difference_high, rough=row.difference_rough)
    return f"{per_thousand(row.difference, unit)} ({ends})"


def cost_interval_in_words(row: CostEstimate) -> str:
    """The interval of the cost."""
    return _ends(row.low, row.high, rough=row.rough)


def chance_in_words(row: CostEstimate, sign: int = 1, chance: str = "it may be chance") -> str:
    """The interval of a difference, or of minus it, and whether it may be chance; "" for the first row."""
    if row.difference_low is None or row.difference_high is None:
        return ""
    low, high = sorted((sign * row.difference_low, sign * row.difference_high))
    note = f"; {chance}" if chance and may_be_chance(row) else ""
    return f" (95 % interval {_ends(low, high, rough=row.difference_rough)}{note})"


def rough_in_words(rows: Iterable[CostEstimate]) -> str:
    """What "rough" means, if it is said of one of these rows; else ""."""
    said = any(row.rough or (row.difference is not None and row.difference_rough) for row in rows)
    return ROUGH_MEANS if said else ""


def _ends(low: float, high: float, *, rough: bool) -> str:
    return ends_in_words(per_thousand(low), per_thousand(high), rough=rough)


def first_line(rows: list[CostEstimate], unit: str | None) -> str:
    """The answer: what the model saves against the better constant rule, or that it is dearer."""
    rule = better_constant(rows)
    name = RULES[rule.name]
    assert rule.difference is not None
    if rule.difference < 0:
        return (
            f"WARNING: this model is dearer than {name}: it costs {per_thousand(-rule.difference, unit)} more per "
            f"1,000 rows{chance_in_words(rule, -1)}. Rather do that, or find better columns, more rows or other costs."
        )
    if rule.difference == 0:
        return f"WARNING: this model saves nothing: it costs as much as {name}."
    saved = per_thousand(rule.difference, unit)
    return f"Per 1,000 rows this model saves {saved} against {name}{chance_in_words(rule)}."


def cheapest_in_words(rows: list[CostEstimate]) -> str:
    """Which row is the cheapest, seen from the first row, which is ours; the intervals are paired."""
    ours, *others = rows
    rival = min(others, key=lambda row: row.cost)
    if rival.cost == ours.cost:
        *first, last = [row.name for row in rows if row.cost == ours.cost]
        return f"{', '.join(first)} and {last} are the cheapest here, at the same cost."
    close = " (the difference may be chance)" if may_be_chance(rival) else ""
    if ours.cost < rival.cost:
        return f"{ours.name} is the cheapest here; next is {rival.name}{close}."
    return f"{rival.name} is the cheapest here, not {ours.name}{close}."


def capitalised(words: str) -> str:
    """Words that begin a sentence."""
    return words[:1].upper() + words[1:]


def may_be_chance(row: CostEstimate) -> bool:
    """Whether the interval of the difference from the first row holds 0."""
    low, high = row.difference_low, row.difference_high
    return low is None or high is None or low <= 0 <= high


def ratio_in_words(costs: RowCosts) -> str:
    """How many false alarms a miss costs, such as "20 : 1"; the mean over rows if they differ."""
    fp, fn = (float(np.mean(regret)) for regret in (costs.fp_regret, costs.fn_regret))
    if fp <= 0 or fn <= 0:
        return f"{money(fn)} : {money(fp)}"
    ratio = max(fn, fp) / min(fn, fp)
    shown = f"{ratio:.3g}" if ratio < 1000 else money(ratio)
    return f"{shown} : 1" if fn >= fp else f"1 : {shown}"


def question(given: WhatIf) -> str:
    """The title of the what-if table."""
    return f"Are you sure about {given.ratio}{' on average' if given.mean else ''}?"


def stability_in_words(what_ifs: list[WhatIf]) -> str:
    """Whether another cost of a miss changes which model is the cheapest."""
    given = next(what for what in what_ifs if what.label == "as given")
    changes: dict[str, list[WhatIf]] = {}
    for what in what_ifs:
        if what.cheapest != given.cheapest:
            changes.setdefault(what.cheapest, []).append(what)
    if not changes:
        return f"Whether a miss costs half or double: {given.cheapest} stays the cheapest."
    parts = [f"if it costs {' or '.join(what.label for what in some)}, it is {name}" for name, some in changes.items()]
    sure = any(not what.may_be_chance for some in changes.values() for what in some)
    advice = ": find out what a miss costs" if sure else ". These differences may be chance"
    return f"At your costs of a miss the cheapest is {given.cheapest}; {', and '.join(parts)}{advice}."


def probability_in_words(probability: float) -> str:
    """A probability in three digits; none is shown as 1 or 0 that is not."""
    if probability > 0.999:
        return ">0.999" if probability < 1 else "1"
    return f"{probability:.3f}" if probability >= 0.01 else f"{probability:.2g}"


def threshold_in_words(
    threshold: np.ndarray, *, has_probability: bool = True, action: str = "The model flags a row"
) -> str:
    """The decision threshold in probability: one number, or the range over the rows."""
    if not has_probability:
        return "This loss has no probabilities: the model flags a row where its score is above 0."
    known = threshold[~np.isnan(threshold)]
    others = threshold.size - known.size
    odd = f" In {others:,} {'row' if others == 1 else 'rows'} both mistakes pay." if others else ""
    if not known.size:
        return odd.strip()
    low, middle, high = (f"{part:.3g}" for part in np.quantile(known, [0, 0.5, 1]))
    if low == high:
        return f"{action} where the probability is above {low}.{odd}"
    spread = f"{low} to {high}, median {middle}"
    return f"{action} where the probability is above the threshold of the row: {spread}.{odd}"
