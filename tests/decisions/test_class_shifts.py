"""Shifts of several classes: the window is proper and that of two classes, the loops are right, the laws hold."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.special import softmax

from uneven import phi
from uneven.decisions.class_rules import FoldRules
from uneven.decisions.class_shifts import (
    ClassRows,
    calibrate,
    cheapest,
    find_shifts,
    grid_step,
    window_draws,
)
from uneven.solvers import loops


def rows_of(
    count: int = 400, classes: int = 3, actions: int | None = None, seed: int = 0, bias: float = 1.0
) -> ClassRows:
    """Rows whose models are wrong by constants in the log-odds."""
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(size=(count, classes)) * 1.5
    truth = (softmax(log_odds + np.linspace(0, bias, classes), axis=1).cumsum(axis=1) < rng.random((count, 1))).sum(1)
    costs = rng.integers(1, 10, size=(classes, actions or classes)).astype(float)
    np.fill_diagonal(costs, 0)
    return ClassRows(softmax(log_odds, axis=1), truth, np.ones(count), costs)


def window_loss(q: np.ndarray, draws: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """What each class pays if q is said: the mean over the draws of its costs times the draw."""
    taken = cheapest(draws * q, costs)
    return (draws * costs[:, taken].T).mean(axis=0)


@pytest.mark.parametrize("seed", range(5))
def test_the_window_loss_is_proper(seed: int) -> None:
    """No estimate has a smaller expected loss than the truth, with any finite number of draws."""
    rng = np.random.default_rng(seed)
    classes = int(rng.integers(2, 6))
    costs = rng.random((classes, int(rng.integers(2, 6)))) * 10
    draws = window_draws(classes, 8, 64)
    p = rng.dirichlet(np.ones(classes))
    least = p @ window_loss(p, draws, costs)
    others = [p @ window_loss(q, draws, costs) for q in rng.dirichlet(np.ones(classes), size=300)]
    near = [p @ window_loss(softmax(np.log(p) + rng.normal(size=classes) * 0.2), draws, costs) for _ in range(300)]
    assert min(others) >= least - 1e-12
    assert min(near) >= least - 1e-12


@pytest.mark.parametrize("order", [1, 2, 8])
def test_with_two_classes_it_is_the_window_of_the_phi_beta(order: int) -> None:
    draws, loss = window_draws(2, order, 2**14), phi("beta", order=order)
    costs = np.array([[0.0, 3.0], [7.0, 0.0]])
    for t in (-2.0, -0.5, 0.3, 1.5):
        odds = np.exp(t) * 3 / 7  # t is the log-odds less those of alpha
        q = np.array([1.0, odds]) / (1 + odds)
        expected = [3 * float(loss(-t)), 7 * float(loss(t))]
        np.testing.assert_allclose(window_loss(q, draws, costs), expected, atol=0.01)


@pytest.mark.parametrize("seed", range(6))
def test_costs_along_a_class_are_those_of_trying_each_shift(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rows_of(40, int(rng.integers(2, 5)), int(rng.integers(5, 7)), seed)
    classes = rows.probability.shape[1]
    draws, moved, weight = window_draws(classes, 4, 8), int(rng.integers(classes)), rng.random(40)
    regrets = rows.regrets
    if seed % 2:
        regrets = regrets * rng.random((40, 1, 1)) + 0.0
    found = loops.envelope_passes.costs_along(rows.probability, draws, regrets, rows.truth, weight, moved, 3.0, 25)
    for place, u in enumerate(np.linspace(-3, 3, 25)):
        shares = rows.probability * np.exp(-u * (np.arange(classes) == moved))
        total = 0.0
        for draw in draws:
            of_rows = np.broadcast_to(regrets, (40, *regrets.shape[1:]))
            taken = np.einsum("ny,nya->na", shares * draw, of_rows).argmin(axis=1)
            total += float(weight @ (draw[rows.truth] * of_rows[np.arange(40), rows.truth, taken]))
        assert found[place] == pytest.approx(total / len(draws), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_least_window_loss_is_that_of_brute_force(seed: int) -> None:
    """Class by class the search comes as low as trying all pairs of shifts, but for the rounding to the grid."""
    rows = rows_of(150, 3, 3, seed, bias=2.0)
    rule, draws = calibrate(rows), window_draws(3, 8, 128)
    shares, paid = rule.probability(rows.probability), rows.costs.T[:, rows.truth]

    def loss(shifts: np.ndarray) -> float:
        taken = [cheapest(shares * np.exp(-shifts) * draw, rows.costs) for draw in draws]
        return float(
            np.mean([draw[rows.truth] * paid[a, np.arange(150)] for draw, a in zip(draws, taken, strict=True)])
        )

    grid = np.linspace(-2.4, 2.4, 13)
    best = min(loss(np.array([0.0, u, v])) for u, v in itertools.product(grid, grid))
    found = loss(find_shifts(rows, rule, "argmin", 8))
    assert found <= loss(np.zeros(3)) + 0.01 * best
    assert found <= best * 1.02


def test_calibration_finds_a_bias_and_a_slope() -> None:
    rng = np.random.default_rng(0)
    log_odds = rng.normal(size=(20_000, 3)) * 2
    truth = (softmax(log_odds / 2 + [0, 0.5, -1], axis=1).cumsum(axis=1) < rng.random((20_000, 1))).sum(axis=1)
    rows = ClassRows(softmax(log_odds, axis=1), truth, np.ones(20_000), 1 - np.eye(3))
    rule = calibrate(rows)
    assert rule.slope == pytest.approx(0.5, rel=0.1)
    np.testing.assert_allclose(rule.offsets - rule.offsets[0], [0, 0.5, -1], atol=0.1)


@pytest.mark.parametrize("method", ["gibbs", "argmin", "cost"])
def test_units_constants_and_names_do_not_matter(method: str) -> None:
    rows = rows_of(300, 4, 5, seed=3)
    rule = calibrate(rows)
    shifts = find_shifts(rows, rule, method, 8)
    for unit, constant in ((1e-6, 0.0), (1e6, 0.0), (1.0, np.array([[3.0], [-8.0], [0.5], [64.0]]))):
        other = ClassRows(rows.probability, rows.truth, rows.weight, unit * rows.costs + constant)
        np.testing.assert_array_equal(find_shifts(other, rule, method, 8), shifts)
    order = np.array([2, 0, 3, 1])
    other = ClassRows(rows.probability[:, order], np.argsort(order)[rows.truth], rows.weight, rows.costs[order])
    turned = calibrate(other)
    assert turned.slope == rule.slope
    np.testing.assert_array_equal(turned.offsets, rule.offsets[order])
    np.testing.assert_array_equal(find_shifts(other, turned, method, 8), shifts[order])


def test_weights_are_repetitions() -> None:
    rows = rows_of(200, 3, 4, seed=5)
    times = np.random.default_rng(0).integers(1, 3, size=200)
    weighted = ClassRows(rows.probability, rows.truth, times.astype(float), rows.costs)
    repeated = rows.take(np.repeat(np.arange(200), times))
    one, other = calibrate(weighted), calibrate(repeated)
    assert one.slope == other.slope
    np.testing.assert_array_equal(one.offsets, other.offsets)
    np.testing.assert_allclose(
        find_shifts(weighted, one, "gibbs", 8), find_shifts(repeated, other, "gibbs", 8), atol=grid_step(300)
    )


def test_one_matrix_for_each_row_that_is_the_same_is_one_matrix() -> None:
    rows = rows_of(200, 3, 4, seed=1)
    of_rows = ClassRows(rows.probability, rows.truth, rows.weight, np.repeat(rows.costs[None], 200, axis=0))
    rule = calibrate(rows)
    np.testing.assert_array_equal(find_shifts(of_rows, rule, "gibbs", 8), find_shifts(rows, rule, "gibbs", 8))
    assert of_rows.unit == pytest.approx(rows.unit)


def test_shifts_are_used_only_if_they_pay_where_they_were_not_found() -> None:
    """Probabilities that are right need no shift; those wrong where one class is dear do."""
    fold, learnt = np.arange(1500) % 5, ~np.eye(5, dtype=bool)
    right = rows_of(1500, 3, 3, seed=0, bias=0.0)
    rules = FoldRules(right, fold, learnt, "gibbs", 8)
    assert (rules.pays > 0) == bool(rules.rule.shifts.any())
    assert rules.pays < 0.02
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 0.3], size=1500)
    said = p.copy()
    said[:, 2] = p[:, 2] ** 2  # too sure that there is no dear one, but only where it is rare: no constant mends that
    said /= said.sum(axis=1, keepdims=True)
    truth = (p.cumsum(axis=1) < rng.random((1500, 1))).sum(axis=1)
    costs = np.array([[0.0, 1, 1], [1, 0, 1], [40, 40, 0]])
    rules = FoldRules(ClassRows(said, truth, np.ones(1500), costs), fold, learnt, "gibbs", 8)
    assert rules.pays > 0
    assert rules.rule.shifts[2] < rules.rule.shifts[:2].min()
    assert FoldRules(right, fold, learnt, "none", 8).rule.shifts.tolist() == [0, 0, 0]


def test_many_rows_of_few_classes_are_thinned_and_rare_ones_kept() -> None:
    rows = rows_of(60_000, 3, 3, seed=0)
    truth = np.where(np.arange(60_000) % 1000 == 0, 2, np.minimum(rows.truth, 1))
    thin = ClassRows(rows.probability, truth, rows.weight, rows.costs).thin()
    assert thin.truth.size <= 20_000
    assert (thin.truth == 2).sum() == 60
    np.testing.assert_allclose(np.bincount(thin.truth, thin.weight), np.bincount(truth))
