"""What a stream of decisions loses against decisions that know all rows of the period.

    python benchmarks/streamed_decisions.py

Each of 300 days has about 2,000 rows; at most 50 may be flagged, and about 500 would pay. Printed is the share of the
offline saving (the 50 rows of the day that gain most) that each rule keeps, and the fullest day:

- first come: flag every row that pays until no place is left;
- fixed threshold: the price at which 50 rows are expected, until no place is left;
- stream: `uneven.Stream`.

The number of rows of a day is Poisson, or differs by up to 40 % from what is expected, or the probabilities drift.
"""

from __future__ import annotations

import numpy as np

import uneven

DAYS, ROWS, PLACES = 300, 2000, 50
COSTS = {"fp_cost": 5.0}


def draw(rng: np.random.Generator, count: int, drift: float) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities and amounts; a drift makes positives likelier."""
    return np.minimum(rng.beta(0.3, 6, count) * (1 + drift), 1.0), rng.lognormal(4, 1, count)


def keep_first(gain: np.ndarray, price: float) -> float:
    """What the first rows above a price gain, as many as there are places."""
    return float(gain[gain > price][:PLACES].sum())


def main() -> None:
    print(f"{'days':34} {'first come':>11} {'fixed':>7} {'stream':>7} {'fullest day':>12}")
    for name, spread, drift in (
        ("as expected", 0.0, 0.0),
        ("rows differ by up to 40 %", 0.4, 0.0),
        ("probabilities 30 % higher", 0.0, 0.3),
        ("probabilities 30 % lower", 0.0, -0.3),
    ):
        rng = np.random.default_rng(0)
        p, amount = draw(rng, 100 * ROWS, 0.0)
        past = uneven.decide(p, **COSTS, fn_cost=amount)
        fixed = float(np.sort(past.gain)[-100 * PLACES])
        stream = uneven.Stream(past, at_most=PLACES, rows_per_period=ROWS)
        sums, fullest = np.zeros(4), 0
        for day in range(DAYS):
            count = int(rng.poisson(ROWS * (1 + spread * rng.uniform(-1, 1))))
            p, amount = draw(rng, count, drift)
            today = uneven.decide(p, **COSTS, fn_cost=amount)
            best = uneven.decide(p, **COSTS, fn_cost=amount, at_most=PLACES)
            made = stream.decide(today, period=day)
            fullest = max(fullest, int(made.flagged.sum()))
            kept = keep_first(today.gain, 0.0), keep_first(today.gain, fixed), float(made.saving.sum())
            sums += [float(best.saving.sum()), *kept]
        first, threshold, streamed = (100 * sums[1:] / sums[0]).tolist()
        print(f"{name:34} {first:10.1f}% {threshold:6.1f}% {streamed:6.1f}% {fullest:12}")


if __name__ == "__main__":
    main()
