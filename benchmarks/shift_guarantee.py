"""The table of docs/guarantee.md: what is guaranteed for a shift, by number of rows.

    python benchmarks/shift_guarantee.py

Log-odds are normal (mean -2.5, standard deviation 2), labels follow them, and the model's log-odds are 0.5 too high. A
false negative costs 10, a false positive 1. The rows are dealt out to the folds; all "fold models" are this one model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from uneven.costs import RowCosts
from uneven.decisions.guarantee import shift_guarantee
from uneven.decisions.posterior import shift_posterior
from uneven.decisions.scored_rows import ScoredRows

ORDER = 8


def main() -> None:
    shown = ("cost on the rows", "cost at most", "above the best shift at most", "for a random shift", "by psi")
    print(f"| rows | folds | {' | '.join(shown)} |")
    print("|---|---|---|---|---|---|---|")
    for count in (200, 2_000, 20_000, 1_000_000):
        print("\n".join(lines(count)))


def lines(count: int) -> Iterator[str]:
    """The lines of the table for so many rows."""
    rng = np.random.default_rng(0)
    log_odds = rng.normal(-2.5, 2, count)
    is_positive = rng.random(count) < 1 / (1 + np.exp(-log_odds))
    costs = RowCosts.read(count, fp_cost=1, fn_cost=10)
    rows = ScoredRows(log_odds + 0.5, is_positive, costs, np.ones(count))
    posterior = shift_posterior(rows, ORDER)
    for folds in (5, 1):
        parts = [rows.take(np.arange(k, count, folds)) for k in range(folds)]
        found = shift_guarantee(parts, posterior, order=ORDER)
        numbers = (
            found.mean.cost_bound,
            found.mean.regret_bound,
            found.gibbs.regret_bound,
            found.mean.psi_regret_bound,
        )
        shown = [
            f"{_up(number, 3):.3f}" if number < found.constant_cost else f"({_up(number, 2):.2f})" for number in numbers
        ]
        yield f"| {count:,} | {folds} | {found.mean.cost:.3f} | " + " | ".join(shown) + " |"


def _up(number: float, digits: int) -> float:
    """Rounded upwards: these are bounds."""
    return math.ceil(number * 10**digits) / 10**digits


if __name__ == "__main__":
    main()
