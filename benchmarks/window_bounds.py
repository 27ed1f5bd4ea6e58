"""The table of docs/window.md: the largest cost regret that a surrogate regret of 0.01 allows, by order of the window.

    python benchmarks/window_bounds.py

Every number is the proved bound, rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import uneven

ALPHAS = ("1/2", "1/11", "1/101")
ORDERS = (1, 2, 4, 8, 16, 32, 64)
REGRET = 0.01


def lines() -> Iterator[str]:
    """The lines of the table; no bound of any order is below the last column."""
    yield f"| $\\alpha$, $r$ | $k = 1$ | {' | '.join(map(str, ORDERS[1:]))} | limit |"
    yield "|---" * (len(ORDERS) + 2) + "|"
    for alpha in ALPHAS:
        bounds = [_bound(order, alpha) for order in ORDERS]
        shown = " | ".join(f"{math.ceil(1000 * Fraction(bound)) / 1000:.3f}" for bound in bounds)
        yield f"| {alpha}, {REGRET} | {shown} | {2 * REGRET:.3f} |"


def _bound(order: int, alpha: str) -> float:
    loss = uneven.calibrated_loss(uneven.phi("beta", order=order), alpha=alpha)
    return float(uneven.analyze(loss, alpha).regret_bound(REGRET))


if __name__ == "__main__":
    print("\n".join(lines()))
