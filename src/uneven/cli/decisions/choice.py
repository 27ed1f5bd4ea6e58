"""Which candidate is saved and why, in sentences; and whether anything beats a constant rule."""

from __future__ import annotations

from dataclasses import dataclass

from uneven.cli.decisions.answers import (
    RULES,
    better_constant,
    capitalised,
    chance_in_words,
    may_be_chance,
    per_thousand,
)
from uneven.metrics import CostEstimate

_CHANCE = "the difference may be chance"


@dataclass(frozen=True)
class Choice:
    """The classifier to save, and what all of them cost.

    Attributes
    ----------
    rows : list of CostEstimate
        The chosen one first, then the others by cost.
    free : bool
        Whether the cheapest was chosen; else it was asked for.
    unit : str or None
    broken : str
        A warning that the costs are not those of the model that is saved; "" if they are.
    """

    rows: list[CostEstimate]
    free: bool
    unit: str | None = None
    broken: str = ""

    @property
    def useless(self) -> bool:
        """Whether a constant rule costs no more."""
        return better_constant(self.rows).cost <= self.rows[0].cost

    def in_words(self) -> str:
        """Which model is the cheapest, by how much, and whether that may be chance; constant rules are no models."""
        ours, *others = self.rows
        models = [row for row in others if row.name not in RULES]
        if not models:
            return ""
        rival = min(models, key=lambda row: row.cost)
        of = f"Cheapest of {len(models) + 1} models: "
        if rival.cost == ours.cost:
            reason = "the simpler one is saved" if self.free else "it was asked for"
            return f"{of}{ours.name}, at the same cost as {rival.name}; {reason}."
        gap, dearer = abs(rival.cost - ours.cost), max(rival.cost, ours.cost)
        chance = chance_in_words(rival, 1 if ours.cost < rival.cost else -1, _CHANCE)
        less = f"{per_thousand(gap, self.unit)}{f' ({100 * gap / dearer:.0f} %)' if dearer > gap else ''} less"
        if ours.cost < rival.cost:
            return f"{of}{ours.name}. Per 1,000 rows it costs {less} than {rival.name}, the next{chance}."
        return (
            f"{of}{rival.name}, not {ours.name}. Per 1,000 rows it costs {less}{chance}. --learner auto "
            "saves the cheapest."
        )

    def warning(self) -> str:
        """That a constant rule costs no more, or that the model may be cheaper by chance, if so; else ""."""
        rule, ours = better_constant(self.rows), self.rows[0]
        name = RULES[rule.name]
        if not self.useless:
            if not may_be_chance(rule):
                return ""
            subject = "no model is" if self.free else f"{ours.name} is not"
            saved = per_thousand(rule.cost - ours.cost, self.unit)
            return (
                f"WARNING: {subject} shown to beat {name}. {capitalised(ours.name)} saves {saved} per "
                f"1,000 rows{chance_in_words(rule, chance='')}: this may be chance."
            )
        more = "as much" if rule.cost == ours.cost else f"{per_thousand(ours.cost - rule.cost, self.unit)} more"
        if self.free:
            found = f"no model beats {name}. The cheapest model, {ours.name}, costs {more} per 1,000 rows"
        else:
            found = f"{ours.name} does not beat {name}. It costs {more} per 1,000 rows"
        chance = chance_in_words(rule, -1, _CHANCE)
        return f"WARNING: {found}{chance}. Rather do that, or find better columns, more rows or other costs."
