"""The same comparison if a miss costs half as much, or double."""

from __future__ import annotations

from collections.abc import Callable

from uneven.cli.decisions.answers import WhatIf, ratio_in_words
from uneven.cli.decisions.given_costs import scaled_misses
from uneven.costs import RowCosts
from uneven.metrics import CostEstimate

_FACTORS = {"half": 0.5, "double": 2.0}


def what_ifs(
    costs: RowCosts, given: list[CostEstimate], compared_at: Callable[[str, RowCosts], list[CostEstimate]]
) -> list[WhatIf]:
    """The comparisons at half, the given and double costs of a miss; ``compared_at`` compares at other costs."""
    found = [WhatIf("as given", ratio_in_words(costs), costs.per_row, given)]
    for label, factor in _FACTORS.items():
        other = scaled_misses(costs, factor)
        what = WhatIf(label, ratio_in_words(other), costs.per_row, compared_at(label, other))
        found.insert(0 if factor < 1 else len(found), what)
    return found
