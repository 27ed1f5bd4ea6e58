"""The interval of a mean cost: laws, exact cases, and the weights that are not drawn."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import stats

from uneven.costs import RowCosts
from uneven.metrics import compare_predictions
from uneven.metrics.intervals import interval_of_outcomes, outcome_cells
from uneven.metrics.mean_interval import Cell, CountedRows, MeanInterval, mean_interval, share_interval


def cells_of(amounts: list[float], counts: list[int]) -> list[Cell]:
    """Rows that pay numbers, each of which any row could pay."""
    rows = sum(counts)
    pairs = zip(amounts, counts, strict=True)
    return [Cell(CountedRows.alike(x, count), CountedRows.alike(x, rows)) for x, count in pairs]


def uneven_rows(seed: int, n: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    truth = random.random(n) < 0.3
    return truth, np.where(random.random(n) < 0.1, ~truth, truth), random.lognormal(3, 1, n)


def interval(
    truth: np.ndarray, said: np.ndarray, *, weight: np.ndarray | None = None, rule: bool = False, **costs: object
) -> MeanInterval:
    cells = outcome_cells(RowCosts.read(truth.size, **costs), truth, said[None], weight=weight)
    return interval_of_outcomes(cells, fixed=(rule, rule))


@pytest.mark.parametrize("misses", [0, 1, 3, 10, 40, 100])
def test_two_amounts_have_the_interval_of_clopper_and_pearson(misses: int) -> None:
    exact = stats.binomtest(misses, 100).proportion_ci(method="exact")
    found = mean_interval(cells_of([0, 7], [100 - misses, misses]))
    assert (found.low, found.high) == pytest.approx((7 * exact.low, 7 * exact.high), rel=1e-8, abs=1e-12)
    assert share_interval(misses / 100, 100) == pytest.approx((exact.low, exact.high), rel=1e-8, abs=1e-12)
    nearly = mean_interval(cells_of([0, 1e-7, 7], [99 - misses, 1, misses] if misses < 100 else [0, 0, 100]))
    assert (nearly.low, nearly.high) == pytest.approx((found.low, found.high), rel=0.03, abs=1e-6)  # by saddlepoint


def test_the_ends_are_quantiles_under_random_weights() -> None:
    """Weights are never drawn; here they are, with the unseen row among the rows."""
    random = np.random.default_rng(0)
    for amounts, counts in (([0, 1, 20], [900, 60, 3]), ([0, 1, 500], [990, 10, 0]), ([-9, 0, 2, 30], [4, 90, 9, 1])):
        weights = {side: random.standard_gamma(np.array(counts) + unseen, (200_000, len(counts))) for side, unseen in (
            ("low", np.eye(len(counts))[0]), ("high", np.eye(len(counts))[-1]))}  # fmt: skip
        means = {side: part @ amounts / part.sum(axis=1) for side, part in weights.items()}
        found, size = mean_interval(cells_of(amounts, counts)), max(amounts)
        assert found.low == pytest.approx(np.quantile(means["low"], 0.025), rel=0.02, abs=1e-4 * size)
        assert found.high == pytest.approx(np.quantile(means["high"], 0.975), rel=0.02)


def test_a_mistake_that_no_row_has_shown_is_in_the_interval() -> None:
    """The old interval of 0 misses in 1,000 rows went from 0 to 0."""
    truth, said = np.repeat([1, 0], [100, 900]), np.repeat([1, 0], [100, 900])
    (found,) = compare_predictions(truth, {"model": said}, fn_cost=1000)
    assert (found.cost, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(3.68, abs=0.01)


def test_rules_that_cannot_miss_do_not_miss() -> None:
    truth = np.repeat([True, False], [100, 900])
    how = {"fp_cost": 1, "fn_cost": 1000, "rule": True}
    everyone, no_one = (interval(truth, np.full(1000, said), **how) for said in (True, False))
    exact = stats.binomtest(100, 1000).proportion_ci(method="exact")
    assert (1 - everyone.high, 1 - everyone.low) == pytest.approx((exact.low, exact.high))
    assert (no_one.low, no_one.high) == pytest.approx((1000 * exact.low, 1000 * exact.high))


@pytest.mark.parametrize("seed", range(5))
def test_units_of_costs_and_weights_do_not_matter(seed: int) -> None:
    truth, said, amount = uneven_rows(seed)
    weight = np.random.default_rng(seed).uniform(0.5, 2, truth.size)

    def ends(unit: float, mass: float, gift: float = 0.0) -> tuple[float, float]:
        costs = {"fp_cost": unit + gift, "fn_cost": unit * amount + gift, "tp_cost": gift, "tn_cost": gift}
        how = {"sample_weight": mass * weight, "pos_label": True, **costs}
        (found,) = compare_predictions(truth, {"model": said}, **how)
        return (found.low - gift) / unit, (found.high - gift) / unit

    plain = ends(1.0, 1.0)
    assert ends(1e-300, 1e-6) == pytest.approx(plain, rel=1e-6)
    assert ends(1e300, 1e6) == pytest.approx(plain, rel=1e-6)
    assert ends(1.0, 1.0, gift=5.0) == pytest.approx(plain, rel=1e-4)


@pytest.mark.parametrize("weighted", [False, True])
def test_parts_and_groups_hardly_change_the_interval(weighted: bool) -> None:
    truth, said, amount = uneven_rows(1, 12_000)
    weight = np.random.default_rng(1).uniform(0.5, 2, truth.size) if weighted else None
    costs = RowCosts.read(truth.size, fp_cost=amount / 10, fn_cost=amount)
    whole = interval_of_outcomes(outcome_cells(costs, truth, said[None], weight=weight))
    parts = [
        outcome_cells(
            costs.take(rows),
            truth[rows],
            said[None, rows],
            weight=None if weight is None else weight[rows],
            whole=False,
        )
        for rows in np.array_split(np.arange(truth.size), 7)
    ]
    joined = parts[0]
    for part in parts[1:]:
        joined = {key: cell.joined(part[key]) for key, cell in joined.items()}
    found = interval_of_outcomes(joined)
    width = whole.high - whole.low
    assert (found.low, found.high) == pytest.approx((whole.low, whole.high), abs=0.02 * width)


def test_with_many_mistakes_it_is_the_normal_interval() -> None:
    random = np.random.default_rng(3)
    truth = random.random(200_000) < 0.3
    said = random.random(200_000) < 0.3
    amount = random.uniform(1, 5, 200_000)
    found = interval(truth, said, fp_cost=1.0, fn_cost=amount)
    paid = RowCosts.read(truth.size, fp_cost=1.0, fn_cost=amount).paid(truth, said)
    half = 1.96 * paid.std() / np.sqrt(paid.size)
    assert (found.low, found.high) == pytest.approx((paid.mean() - half, paid.mean() + half), abs=0.03 * half)


def test_one_row_that_dwarfs_the_others_makes_it_wide_and_rough() -> None:
    truth, said, amount = uneven_rows(2)
    assert not interval(truth, said, fp_cost=1.0, fn_cost=amount).rough
    amount[np.flatnonzero(truth & said)[0]] = 1e6  # found here; its like may be missed
    found = interval(truth, said, fp_cost=1.0, fn_cost=amount)
    assert found.rough
    assert found.high > 1e6 / truth.size


def test_costs_that_are_nearly_a_number_have_nearly_the_interval_of_the_number() -> None:
    truth, said, amount = uneven_rows(4)
    number = interval(truth, said, fp_cost=1.0, fn_cost=20.0)
    nearly = interval(truth, said, fp_cost=1.0, fn_cost=20 + 1e-3 * np.log(amount))
    assert (nearly.low, nearly.high) == pytest.approx((number.low, number.high), rel=2e-3)


@pytest.mark.parametrize("costs", ["number", "rows"])
def test_a_million_rows_need_little_memory(costs: str) -> None:
    random = np.random.default_rng(5)
    truth, said = random.random((2, 1_000_000)) < 0.02
    fn_cost = 20.0 if costs == "number" else random.lognormal(3, 1, truth.size)
    tracemalloc.start()
    found = interval(truth, said, fp_cost=1.0, fn_cost=fn_cost)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.low < found.high < 1.2 * found.low
    assert peak < 100e6


@pytest.mark.parametrize(("n", "rate"), [(100, 0.01), (20, 0.1)])
def test_a_model_that_flagged_no_row_may_flag_one(n: int, rate: float) -> None:
    """The only mistake that costs is a false alarm: the interval is that of Clopper and Pearson, also without any."""
    random = np.random.default_rng(0)
    y = np.zeros(n, dtype=int)
    y[0] = 1
    held = 0
    for _ in range(300):
        said = (random.random(n) < rate).astype(int)
        (found,) = compare_predictions(y, {"model": said}, fp_cost=7, fn_cost=1e-9)
        held += found.low <= 7 * rate * (n - 1) / n <= found.high
    assert held >= 0.93 * 300
    no_one = np.zeros(n, dtype=int)
    (rule,) = compare_predictions(y, {"no one": no_one}, fp_cost=7, fn_cost=1e-9, rules=["no one"])
    assert rule.high < 1e-8, "a rule cannot raise a false alarm"
