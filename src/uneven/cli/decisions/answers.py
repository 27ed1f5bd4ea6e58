"""What a model saves in money, in sentences: against the same decision for everyone, against the usual models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uneven._money import money
from uneven.cli.decisions.candidates import EVERYONE, NO_ONE
from uneven.costs import RowCosts
from uneven.metrics import CostEstimate

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
    ends = f"{per_thousand(row.difference_low)} to {per_thousand(row.difference_high)}"
    return f"{per_thousand(row.difference, unit)} ({ends})"


def first_line(rows: list[CostEstimate], unit: str | None) -> str:
    """The answer: what the model saves against the better constant rule, or that it is dearer."""
    rule = better_constant(rows)
    name = RULES[rule.name]
    assert rule.difference is not None
    assert rule.difference_low is not None
    assert rule.difference_high is not None
    low, high = rule.difference_low, rule.difference_high
    if rule.difference < 0:
        chance = "; it may be chance" if high >= 0 else ""
        interval = f"95 % interval {per_thousand(-high)} to {per_thousand(-low)}{chance}"
        return (
            f"WARNING: this model is dearer than {name}: it costs {per_thousand(-rule.difference, unit)} more per "
            f"1,000 rows ({interval}). Rather do that, or find better columns, more rows or other costs."
        )
    if rule.difference == 0:
        return f"WARNING: this model saves nothing: it costs as much as {name}."
    ends = f"{per_thousand(low)} to {per_thousand(high)}"
    chance = "; it may be chance" if low <= 0 else ""
    saved = per_thousand(rule.difference, unit)
    return f"Per 1,000 rows this model saves {saved} against {name} (95 % interval {ends}{chance})."


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
