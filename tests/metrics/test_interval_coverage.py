"""95 % intervals hold the truth in 94 % of samples, with few mistakes that are dear; the bootstrap did in 26 to 65 %.

``benchmarks/interval_coverage.py`` has more worlds and more draws.
"""

from __future__ import annotations

import numpy as np
import pytest

from uneven.costs import RowCosts
from uneven.metrics import CostEstimate
from uneven.metrics.intervals import estimates

#: Samples of each world. If 90 % were covered, one in 25,000 runs would show 94 % or more.
DRAWS = 1000
FP_COST = 1.0


def rows_of(misses: list[int], n: int, positives: int, alarms: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """The truth, and decisions of classifiers that miss different positives and raise the same false alarms."""
    truth = np.arange(n) < positives
    said, start = [], 0
    for count in misses:
        one = truth | (np.arange(n) >= n - alarms)
        one[start : start + count] = False
        start += count
        said.append(one)
    return truth, said


@pytest.mark.slow
@pytest.mark.parametrize("expected", [0.3, 1, 3, 10])
def test_intervals_cover_with_few_dear_misses(expected: float) -> None:
    random, n, fn_cost = np.random.default_rng(0), 400, 500.0
    chances = np.array([expected / n, 0.2 - expected / n, 0.04, 0.76 - expected / n + expected / n])
    truth = fn_cost * chances[0] + FP_COST * chances[2]
    costs = RowCosts.read(n, fp_cost=FP_COST, fn_cost=fn_cost)
    held, widths, known = 0, [], dict[tuple[int, ...], CostEstimate]()
    for drawn in random.multinomial(n, chances, DRAWS):
        key = (int(drawn[0]), int(drawn[0] + drawn[1]), int(drawn[2]))
        if key not in known:
            is_positive, said = rows_of([key[0]], n, *key[1:])
            (known[key],) = estimates(costs, is_positive, {"model": said[0][None]})
        held += known[key].low <= truth <= known[key].high
        widths.append(known[key].high - known[key].low)
    assert held >= 0.94 * DRAWS
    ideal = 2 * 1.96 * np.sqrt((fn_cost**2 * chances[0] + chances[2] - truth**2) / n)
    assert np.median(widths) < (2 if expected >= 10 else 4) * ideal


@pytest.mark.slow
@pytest.mark.parametrize("expected", [0.3, 1, 3, 10])
def test_paired_intervals_cover_with_few_dear_misses(expected: float) -> None:
    """Three of four misses that only one makes are the second's."""
    random, n, fn_cost = np.random.default_rng(1), 400, 500.0
    chances = np.array([0.25 * expected / n, 0.75 * expected / n, 1 - expected / n])
    truth = fn_cost * (chances[1] - chances[0])
    costs = RowCosts.read(n, fp_cost=FP_COST, fn_cost=fn_cost)
    held, known = 0, dict[tuple[int, int], CostEstimate]()
    for first, second, _ in random.multinomial(n, chances, DRAWS):
        key = (int(first), int(second))
        if key not in known:
            is_positive, said = rows_of([*key], n, 80, 16)
            known[key] = estimates(costs, is_positive, {"a": said[0][None], "b": said[1][None]})[1]
        held += known[key].difference_low <= truth <= known[key].difference_high
    assert held >= 0.94 * DRAWS


@pytest.mark.slow
@pytest.mark.parametrize("lean", [-0.5, 0.0, 0.5])
def test_intervals_cover_with_amounts_of_heavy_tails(lean: float) -> None:
    """Log-normal amounts; misses fall on all rows alike, on cheap ones, or on dear ones."""
    random, n, expected, draws = np.random.default_rng(2), 400, 5.0, 400
    middle = np.exp(1.2 * np.sqrt(2) * _erfinv((np.arange(100_000) + 0.5) / 50_000 - 1))

    def chances(amount: np.ndarray) -> np.ndarray:
        return np.minimum(expected / (0.25 * n) * amount**lean / np.mean(middle**lean), 1.0)

    truth, held = 0.25 * float(np.mean(middle * chances(middle))), 0
    for _ in range(draws):
        is_positive, amount = random.random(n) < 0.25, random.lognormal(0, 1.2, n)
        said = is_positive & (random.random(n) >= chances(amount))
        costs = RowCosts.read(n, fp_cost=0.1, fn_cost=amount)
        (found,) = estimates(costs, is_positive, {"model": said[None]})
        held += found.low <= truth <= found.high
    assert held >= 0.94 * draws


def _erfinv(values: np.ndarray) -> np.ndarray:
    from scipy.special import erfinv

    return np.asarray(erfinv(values))
