"""How long ``uneven.decide`` takes for a million probabilities, beside a limit made by hand with pandas.

    python benchmarks/decide_speed.py

Processor time in seconds, the median of three runs. By hand: the saving of each row, its rank in its day by
``groupby(...).rank``, and a comparison with the limit: two actions and one limit, and nothing else is told.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

import uneven

ROWS, DAYS, PLACES = 1_000_000, 365, 200


def seconds(run: Callable[[], Any]) -> float:
    times = []
    for _ in range(3):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return median(times)


def main() -> None:
    rng = np.random.default_rng(0)
    p, amount, day = rng.beta(0.3, 3, ROWS), rng.lognormal(4, 1, ROWS), rng.integers(0, DAYS, ROWS)
    names = np.array([f"day {number}" for number in range(DAYS)], dtype=object)[day]
    costs: dict[str, Any] = {"fp_cost": 5.0, "fn_cost": amount}
    actions = uneven.Actions.refer(fp_cost=20, fn_cost=amount, price=5, misses=0.1)

    def by_hand() -> np.ndarray:
        saving = pd.Series(p * amount - (1 - p) * 5.0)
        return ((saving > 0) & (saving.groupby(day).rank(ascending=False, method="first") <= PLACES)).to_numpy()

    assert (by_hand() == uneven.decide(p, **costs, at_most=PLACES, per=day).flagged).all()
    runs: dict[str, Callable[[], Any]] = {
        "by hand, a limit for each day": by_hand,
        "a limit for each day": lambda: uneven.decide(p, **costs, at_most=PLACES, per=day),
        "the same, days are texts": lambda: uneven.decide(p, **costs, at_most=PLACES, per=names),
        "three actions, reviews limited": lambda: uneven.decide(
            p, actions=actions, at_most={"review": PLACES}, per=day
        ),
        "recall": lambda: uneven.decide(p, **costs, recall_at_least=0.95),
        "budget": lambda: uneven.decide(p, **costs, budget=(1e5, amount)),
        "three actions, reviews, recall": lambda: uneven.decide(
            p, actions=actions, at_most={"review": PLACES}, per=day, recall_at_least=0.95
        ),
    }
    base = None
    for name, run in runs.items():
        taken = seconds(run)
        base = taken if base is None else base
        print(f"{name:34} {taken:7.2f} s {taken / base:6.2f} of the time by hand")


if __name__ == "__main__":
    main()
