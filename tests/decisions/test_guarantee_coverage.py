"""The guarantee of a shift against the truth of finite worlds, where expected losses are sums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from finite_worlds import World

from uneven.costs import RowCosts
from uneven.decisions.guarantee import shift_guarantee
from uneven.decisions.scored_rows import ScoredRows
from uneven.decisions.shift_bounds import (
    BoundedRows,
    LossCurves,
    Rule,
    all_edges,
    kl_limit,
)

ORDER = 4
SHIFTS = np.array([-1.0, 0.0, 0.7, 2.0])


def random_world(rng: np.random.Generator, *, per_row: bool) -> World:
    size = 12
    distance = rng.normal(0, 1.5, size)
    regrets = (10 * rng.beta(1, 3, size), rng.beta(1, 3, size)) if per_row else (np.full(size, 10.0), np.ones(size))
    return World(
        rng.dirichlet(np.ones(size)), 1 / (1 + np.exp(2 - distance + rng.normal(0, 1, size))), distance, *regrets
    )


def seen(world: World, points: np.ndarray, positive: np.ndarray, distances: np.ndarray, smallest: int) -> BoundedRows:
    return BoundedRows(
        distances=distances,
        is_positive=positive,
        regrets=np.where(positive, world.fn_regret[points], world.fp_regret[points]),
        count=points.size,
        smallest_fold=smallest,
        largest_positive=10.0,
        largest_negative=1.0,
    )


def failures(rows: BoundedRows, cost: np.ndarray, window: np.ndarray, least: tuple[float, float], doubt: float) -> int:
    """How many of the bounds at all shifts do not hold; a doubt of infinity takes the means for the truth."""
    edges = all_edges(rows.smallest_fold)
    kept = np.arange(edges.size)
    pairs = [
        (LossCurves.of_costs(rows, edges, kept), cost, least[0]),
        (LossCurves.of_window(rows, edges, kept, ORDER), window, least[1]),
    ]
    wrong = 0
    for k, shift in enumerate(SHIFTS):
        rule = Rule.at(shift, edges)
        limit = kl_limit(rule, edges, rows.smallest_fold, doubt) if np.isfinite(doubt) else 1e-9
        for curves, truth, best in pairs:
            wrong += truth[k] > curves.loss_bound(rule, limit)
            wrong += truth[k] - best > curves.excess_bound(rule, limit)
    return wrong


@pytest.mark.slow
@pytest.mark.parametrize("per_row", [False, True])
def test_one_model_all_shifts_at_once(per_row: bool) -> None:
    """No bound fails in 30 samples at a doubt of 0.5, at any shift; the means themselves, taken as bounds, often do."""
    rng = np.random.default_rng(15 + per_row)
    failed = naive = 0
    for _ in range(30):
        world = random_world(rng, per_row=per_row)
        points, positive = world.draw(rng, 300)
        rows = seen(world, points, positive, world.distance[points], 300)
        truth = world.cost(SHIFTS), world.window_loss(SHIFTS, ORDER)
        least = world.least_cost(), world.least_window_loss(ORDER)
        failed += failures(rows, *truth, least, 0.5) > 0
        naive += failures(rows, *truth, least, np.inf) > 0
    assert failed == 0  # far fewer than half: the theorem pays for all shifts, all cells and both losses
    assert naive > 15


@pytest.mark.slow
@pytest.mark.parametrize("stratified", [False, True])
def test_cross_fitting(stratified: bool) -> None:
    """Models that learn class frequencies from the other folds, each judged by its own fold."""
    rng = np.random.default_rng(7)
    folds, count, failed, naive = 5, 400, 0, 0
    for _ in range(12):
        world = random_world(rng, per_row=False)
        points, positive = world.draw(rng, count)
        order = np.argsort(positive, kind="stable") if stratified else np.arange(count)
        fold = np.empty(count, dtype=int)
        fold[order] = np.arange(count) % folds  # stratified: dealt out class by class
        distances = np.empty(count)
        cost, window, costs_of_all = np.zeros(SHIFTS.size), np.zeros(SHIFTS.size), []
        grid = np.concatenate([np.linspace(-9, 9, 301), [-700.0, 700.0]])
        window_of_all = np.zeros(grid.size)
        for j in range(folds):
            others = fold != j
            hits = np.bincount(points[others], positive[others], world.mass.size)
            seen_points = np.bincount(points[others], minlength=world.mass.size)
            log_odds = np.log((hits + 0.5) / (seen_points - hits + 0.5)) + np.log(10)  # minus those of alpha = 1/11
            distances[fold == j] = log_odds[points[fold == j]]
            share = np.mean(positive[fold == j]) if stratified else world.eta @ world.mass
            # At the class shares of the fold: the classes' own distributions, mixed anew.
            odds = share / (1 - share) / (world.eta @ world.mass / ((1 - world.eta) @ world.mass))
            joint = world.mass * (world.eta * odds + 1 - world.eta)
            eta = world.mass * world.eta * odds / joint
            model = World(joint / joint.sum(), eta, log_odds, world.fn_regret, world.fp_regret)
            cost += model.cost(SHIFTS) / folds
            window += model.window_loss(SHIFTS, ORDER) / folds
            costs_of_all.append(model)
            window_of_all += model.window_loss(grid, ORDER) / folds
        changes = np.concatenate([[-99.0], *(model.distance for model in costs_of_all)])
        least_cost = float(sum(model.cost(changes) for model in costs_of_all).min() / folds)
        rows = seen(world, points, positive, distances, count // folds)
        truth = cost, window, (least_cost, float(window_of_all.min()))
        failed += failures(rows, *truth, 0.5) > 0
        naive += failures(rows, *truth, np.inf) > 0
    assert failed == 0
    assert naive > 6


def test_random_shift_pays_less_for_its_spread() -> None:
    """A shift spread over cells is covered by the same theorem, at the price of its divergence instead of ln N."""
    rng = np.random.default_rng(3)
    edges = all_edges(500)
    failed = 0
    for _ in range(12):
        world = random_world(rng, per_row=False)
        points, positive = world.draw(rng, 500)
        rows = seen(world, points, positive, world.distance[points], 500)
        low = np.arange(60, 90)  # chosen here; any choice after seeing the rows is covered
        shares = rng.dirichlet(np.ones(low.size))
        rule = Rule(low, low + 1, shares, float(-shares @ np.log(shares)))
        at = (edges[low] + edges[low + 1]) / 2
        kept = np.arange(edges.size)
        curves = LossCurves.of_costs(rows, edges, kept)
        limit = kl_limit(rule, edges, 500, 0.5)
        assert limit < kl_limit(Rule.at(0.0, edges), edges, 500, 0.5)
        expected = float(shares @ world.cost(at))
        failed += expected > curves.loss_bound(rule, limit)
        failed += expected - world.least_cost() > curves.excess_bound(rule, limit)
    assert failed == 0


def flattered(worlds: list[World], seen_costs: Callable[[float], float]) -> tuple[float, float, float]:
    """Of all shifts the one at which the rows flatter most, its true cost, and the least true cost."""
    shifts = np.unique(np.concatenate([[-99.0], *(world.distance for world in worlds)]))
    truth = np.mean([world.cost(shifts) for world in worlds], axis=0)
    worst = int(np.argmax(truth - [seen_costs(float(shift)) for shift in shifts]))
    return float(shifts[worst]), float(truth[worst]), float(truth.min())


def scored(distances: np.ndarray, positive: np.ndarray, fn_cost: float) -> ScoredRows:
    costs = RowCosts.read(positive.size, fp_cost=1, fn_cost=fn_cost)
    return ScoredRows(distances - np.log(fn_cost), positive, costs, np.ones(positive.size))


def seen_cost(parts: list[ScoredRows], shift: float, fn_cost: float) -> float:
    """Mean cost of the rows at a shift."""
    paid = [np.where(part.distances > shift, ~part.is_positive, fn_cost * part.is_positive) for part in parts]
    return float(np.concatenate(paid).mean())


def holds(parts: list[ScoredRows], shift: float, cost: float, least: float) -> tuple[bool, bool]:
    """Whether the bounds hold at a confidence of 0.5, and whether the mean of the rows would have done."""
    found = shift_guarantee(parts, shift=shift, order=ORDER, confidence=0.5).mean
    return cost <= found.cost_bound and cost - least <= found.regret_bound, cost <= found.cost


@pytest.mark.parametrize(("count", "size"), [(60, 12), (600, 150)])
def test_an_adversary_chooses_the_shift(count: int, size: int) -> None:
    """Someone who knows the truth takes the shift at which these rows look best compared with it."""
    rng = np.random.default_rng(count)
    outcomes = []
    for _ in range(20):
        eta = np.minimum(rng.random(size) * 2 / 11, 1.0)
        world = World(np.full(size, 1 / size), eta, np.sort(rng.normal(0, 2, size)), np.full(size, 10.0), np.ones(size))
        points, positive = world.draw(rng, count)
        parts = [scored(world.distance[points], positive, 10.0)]
        outcomes.append(holds(parts, *flattered([world], lambda shift, parts=parts: seen_cost(parts, shift, 10.0))))
    assert all(bound for bound, _ in outcomes)
    assert sum(mean for _, mean in outcomes) <= 4


@pytest.mark.parametrize("kind", ["mean", "memory", "parity"])
def test_an_adversary_trains_the_folds(kind: str) -> None:
    """Models that use the other folds so that all folds err in the same direction, where nothing can be learnt."""
    rng = np.random.default_rng(len(kind))
    size, count, folds, fn_cost = 40, 100, 5, 3.0
    eta = np.full(size, 1 / (1 + fn_cost))
    outcomes = []
    for _ in range(20):
        base = World(np.full(size, 1 / size), eta, np.zeros(size), np.full(size, fn_cost), np.ones(size))
        points, positive = base.draw(rng, count)
        fold, parts, worlds = np.arange(count) % folds, [], []
        for number in range(folds):
            others = fold != number
            hits = np.bincount(points[others], positive[others], size)
            known = np.bincount(points[others], minlength=size)
            odd, many = positive[others].sum() % 2 == 1, positive[others].mean() > eta[0]
            distance = {
                "mean": np.full(size, 1.0 if many else -1.0),
                "memory": hits - known * eta,
                "parity": np.full(size, 1.0 if odd else -1.0),
            }[kind]
            worlds.append(replace(base, distance=distance))
            parts.append(scored(distance[points[fold == number]], positive[fold == number], fn_cost))
        outcomes.append(holds(parts, *flattered(worlds, lambda shift, parts=parts: seen_cost(parts, shift, fn_cost))))
    assert all(bound for bound, _ in outcomes)
    assert sum(mean for _, mean in outcomes) <= 4
