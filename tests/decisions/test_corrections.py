"""Corrections of log-odds: laws that every method keeps, and what each promises."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import betainc, expit, logit

from uneven.costs import RowCosts
from uneven.decisions.alpha import alpha_log_odds
from uneven.decisions.correction import CorrectedOdds, Correction
from uneven.decisions.correction_methods import METHODS, costs_by_shift
from uneven.decisions.out_of_fold_rows import OutOfFoldRows, shift_curve
from uneven.decisions.posterior import shift_posterior
from uneven.decisions.scored_rows import ScoredRows, group_rows, log_odds_range, log_odds_within, window_losses

SHIFTS = ("gibbs", "argmin", "cost")


def drawn(count: int, seed: int = 0, offset: float = 1.0, slope: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Log-odds and labels: those of the labels are slope * log-odds - offset."""
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(-1.5, 1.5, count)
    return log_odds, rng.random(count) < expit(slope * log_odds - offset)


def rows_of(log_odds: Any, is_positive: Any, weight: Any = None, **costs: Any) -> ScoredRows:
    log_odds = np.asarray(log_odds, dtype=np.float64)
    weight = np.ones(log_odds.size) if weight is None else np.asarray(weight, dtype=np.float64)
    costs = {"fp_cost": 1.0, "fn_cost": 9.0, **costs}
    return ScoredRows(log_odds, np.asarray(is_positive, dtype=bool), RowCosts.read(log_odds.size, **costs), weight)


def row_costs(count: int, seed: int = 3) -> dict[str, Any]:
    """Costs with every kind of row: ordinary ones, both mistakes pay, one decision always best."""
    rng = np.random.default_rng(seed)
    costs = {"fp_cost": rng.exponential(size=count) + 0.1, "fn_cost": 5 * rng.exponential(size=count) + 0.1}
    kind = rng.integers(0, 8, count)
    costs["fp_cost"] = np.where(kind == 0, -costs["fp_cost"], costs["fp_cost"])
    costs["fn_cost"] = np.where((kind == 0) | (kind == 1), -costs["fn_cost"], costs["fn_cost"])
    return costs


@pytest.mark.parametrize("order", [1, 2, 5, 8, 16, 64])
def test_window_losses_are_incomplete_beta_functions(order: int) -> None:
    log_odds, is_positive = drawn(40)
    rows = rows_of(log_odds, is_positive)
    shifts = np.array([-3.0, -0.5, 0.0, 0.25, 4.0])
    signs = np.where(is_positive, 1.0, -1.0)
    regret = np.where(is_positive, 9.0, 1.0)
    margin = signs[:, None] * (log_odds[:, None] - logit(0.1) - shifts)
    expected = regret @ betainc(order + 1, order, expit(-margin)) / regret.mean()
    np.testing.assert_allclose(window_losses(rows, order, shifts), expected, rtol=1e-12)


def test_the_window_loss_of_a_row_is_its_cost_when_the_order_is_large() -> None:
    """Whatever the signs of the regrets: cost minus what the row costs at least, where it is far from its threshold."""
    rng = np.random.default_rng(8)
    log_odds, is_positive = drawn(300)
    costs = row_costs(300)
    for shift in (-1.0, 0.0, 1.5):
        rows = rows_of(log_odds, is_positive, **costs)
        alpha, _ = alpha_log_odds(rows.costs)
        far = np.abs(log_odds - alpha - shift) > 1.5
        rows = ScoredRows(log_odds[far], is_positive[far], rows.costs.take(far), rng.random(int(far.sum())))
        said = CorrectedOdds(Correction(shift=shift), (-9.0, 9.0)).decision(expit(rows.log_odds), rows.costs) > 0
        paid = rows.costs.paid(rows.is_positive, said)
        least = np.minimum(
            *(rows.costs.paid(rows.is_positive, choice) for choice in (rows.is_positive, ~rows.is_positive))
        )
        expected = rows.weight[rows.informative] @ (paid - least)[rows.informative]
        found = window_losses(rows, 64, np.array([shift]))[0] * rows.unit
        assert found == pytest.approx(expected, rel=1e-3)
        # the same number from the sorted rows
        shifts, cost = costs_by_shift(rows)
        assert cost[np.searchsorted(shifts, shift, side="right") - 1] * rows.unit == pytest.approx(expected)


def test_decisions_are_those_of_the_costs() -> None:
    log_odds, _ = drawn(500)
    costs = RowCosts.read(500, **row_costs(500))
    said = CorrectedOdds(Correction(), (-50.0, 50.0)).decision(expit(log_odds), costs) > 0
    np.testing.assert_array_equal(said, costs.prefers_positive(expit(log_odds)))


@pytest.mark.parametrize("method", METHODS)
def test_the_unit_of_the_costs_never_matters(method: str) -> None:
    log_odds, is_positive = drawn(200)
    probe = np.linspace(-8, 8, 50)
    for factor in (1.0, 3.0, 2.0**-40, 7e200):
        rows = rows_of(log_odds, is_positive, fp_cost=2 * factor, fn_cost=30 * factor)
        first = rows_of(log_odds, is_positive, fp_cost=2, fn_cost=30)
        ours, one = (METHODS[method](each, 8).log_odds(probe) for each in (rows, first))
        if factor != 7e200:  # the others are exact multiples: not a bit differs
            np.testing.assert_array_equal(ours, one)
        np.testing.assert_allclose(ours, one, rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_duplicated_rows_are_rows_of_weight_2(method: str) -> None:
    log_odds, is_positive = drawn(60)
    weight = np.where(np.arange(60) % 3 == 0, 2.0, 1.0)
    weight[:5] = 0.0
    times = weight.astype(int)
    costs = row_costs(60)
    weighted = rows_of(log_odds, is_positive, weight, **costs)
    repeated = rows_of(
        np.repeat(log_odds, times),
        np.repeat(is_positive, times),
        **{name: np.repeat(c, times) for name, c in costs.items()},
    )
    probe = np.linspace(-6, 6, 40)
    ours, theirs = (METHODS[method](rows, 8).log_odds(probe) for rows in (weighted, repeated))
    np.testing.assert_allclose(ours, theirs, atol=2e-4 if method == "affine" else 1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_turned_labels_turn_the_correction(method: str) -> None:
    log_odds, is_positive = drawn(150)
    rows = rows_of(log_odds, is_positive, fp_cost=2, fn_cost=11)
    turned = rows_of(-log_odds, ~is_positive, fp_cost=11, fn_cost=2)
    probe = np.linspace(-5, 5, 31)
    ours, theirs = METHODS[method](rows, 8).log_odds(probe), METHODS[method](turned, 8).log_odds(-probe)
    if method == "platt":  # its targets are symmetric, its Newton steps end at a tolerance
        np.testing.assert_allclose(ours, -theirs, atol=1e-5)
    else:
        np.testing.assert_allclose(ours, -theirs, atol=2e-4 if method == "affine" else 1e-7)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("count", [2, 30, 3000])
def test_corrections_are_nondecreasing(method: str, count: int) -> None:
    log_odds, is_positive = drawn(count, seed=count)
    is_positive[:2] = [True, False]
    for slope in (1.0, -1.0):  # the second model is wrong everywhere
        found = METHODS[method](rows_of(slope * log_odds, is_positive), 8)
        assert (np.diff(found.log_odds(np.linspace(-12, 12, 400))) >= 0).all()


@pytest.mark.parametrize("method", ["argmin", "cost"])
def test_a_shifted_model_gets_the_shift_back(method: str) -> None:
    log_odds, is_positive = drawn(2000)
    plain = METHODS[method](rows_of(log_odds, is_positive), 8)
    for move in (-6.9, 0.3, 3.7):
        moved = METHODS[method](rows_of(log_odds + move, is_positive), 8)
        assert moved.shift == pytest.approx(plain.shift + move, abs=1e-6)
        ours, theirs = (plain.log_odds(log_odds), moved.log_odds(log_odds + move))
        np.testing.assert_array_equal(ours > logit(0.1), theirs > logit(0.1))


def test_gibbs_gets_the_shift_back_from_many_rows() -> None:
    """Also one of ln(1000), as class weights cause it: the prior does not hold it back."""
    log_odds, is_positive = drawn(60_000)
    for move in (0.0, math.log(1000), -4.0):
        found = METHODS["gibbs"](rows_of(log_odds + move, is_positive), 8)
        assert found.shift == pytest.approx(1.0 + move, abs=0.05)
        assert found.posterior is not None
        assert found.posterior.standard_deviation < 0.02


def test_gibbs_tends_to_argmin_and_to_nothing() -> None:
    distance, sizes = [], (300, 3000, 30_000)
    for count in sizes:
        rows = rows_of(*drawn(count))
        distance.append(abs(METHODS["gibbs"](rows, 8).shift - METHODS["argmin"](rows, 8).shift))
    assert distance[2] < 1e-3
    assert distance[2] < distance[0]
    tiny = rows_of([0.0, 1.0], [True, False])
    assert abs(METHODS["gibbs"](tiny, 8).shift) < 0.5
    light = rows_of(*drawn(500), weight=np.full(500, 1e-6))
    assert abs(METHODS["gibbs"](light, 8).shift) < 1e-3
    posterior = shift_posterior(light, 8)
    assert posterior.standard_deviation == pytest.approx(1.0, abs=5e-3)
    assert posterior.interval()[1] == pytest.approx(1.96, abs=0.01)


@pytest.mark.parametrize(("count", "order"), [(1, 8), (7, 1), (50, 8), (50, 64), (4000, 8)])
def test_the_posterior_is_the_integral(count: int, order: int) -> None:
    rows = rows_of(*drawn(count, seed=order), **({} if count > 7 else {"fn_cost": 3.0}))
    found = shift_posterior(rows, order)
    assert (np.diff(found.shifts) > 0).all()
    at = found.shifts[found.density.argmax()]
    least = window_losses(rows, order, np.array([at]))[0] + at**2 / 2

    def density(u: float) -> float:
        return math.exp(least - window_losses(rows, order, np.array([u]))[0] - u * u / 2)

    reach = 9 * found.standard_deviation
    ends, points = (found.mean - reach, found.mean + reach), found.mean + found.standard_deviation * np.arange(-4, 5)
    total, mean, square = (
        quad(lambda u, k=k: (u - found.mean) ** k * density(u), *ends, points=points, limit=400)[0] for k in range(3)
    )
    sd = math.sqrt(square / total - (mean / total) ** 2)
    assert mean / total == pytest.approx(0.0, abs=0.01 * sd)
    assert found.standard_deviation == pytest.approx(sd, rel=0.01)
    assert found.probability.sum() == pytest.approx(1.0)


def test_two_distant_optima_are_both_seen() -> None:
    """Sharp peaks of the same height at -3 and 3: the posterior has both, whichever the grid meets first."""
    distance = np.repeat([2.0, 4.0, -2.0, -4.0], 2000)
    is_positive = np.repeat([False, True, True, False], 2000)
    found = shift_posterior(rows_of(distance, is_positive, fp_cost=1, fn_cost=1), 8)
    assert found.mean == pytest.approx(0.0, abs=1e-6)
    assert found.standard_deviation == pytest.approx(3.0, abs=0.1)
    assert found.density[np.abs(found.shifts) < 2].max() < 1e-9


def test_affine_finds_slope_and_shift() -> None:
    log_odds, is_positive = drawn(150_000, slope=1.7, offset=-0.5)
    costs = {"fp_cost": 1.0, "fn_cost": np.exp(np.random.default_rng(0).normal(1.0, 0.7, log_odds.size))}
    found = METHODS["affine"](rows_of(log_odds, is_positive, **costs), 8)
    assert found.slope == pytest.approx(1.7, abs=0.1)
    assert found.shift == pytest.approx(-0.5, abs=0.1)
    few = METHODS["affine"](rows_of(log_odds[:3], is_positive[:3]), 8)
    assert few.slope == pytest.approx(1.0, abs=0.5)


def test_the_cheapest_shift_is_the_cheapest() -> None:
    for seed in range(20):
        log_odds, is_positive = drawn(40, seed=seed)
        costs = row_costs(40, seed)
        rows = rows_of(log_odds, is_positive, **costs)
        shift = METHODS["cost"](rows, 8).shift

        def cost(u: float, rows: ScoredRows = rows) -> float:
            said = CorrectedOdds(Correction(shift=u), (-99.0, 99.0)).decision(expit(rows.log_odds), rows.costs) > 0
            return float(rows.costs.paid(rows.is_positive, said).sum())

        tried = np.concatenate([rows.distances - 1e-6, rows.distances + 1e-6])
        assert cost(shift) == pytest.approx(min(map(cost, tried)))
        assert np.abs(rows.distances - shift).min() > 1e-9  # never on a row


def test_the_middle_of_the_best_interval() -> None:
    rows = rows_of([-2.0, 1.0, 4.0], [False, False, True], fp_cost=1, fn_cost=1)
    assert METHODS["cost"](rows, 8).shift == 2.5
    assert METHODS["cost"](rows_of([0.0, 1.0], [True, True], fp_cost=1, fn_cost=1), 8).shift == -1.0
    assert METHODS["cost"](rows_of([0.0, 1.0], [False, False], fp_cost=1, fn_cost=1), 8).shift == 2.0


@pytest.mark.parametrize("method", METHODS)
def test_extremes(method: str) -> None:
    """Exact probabilities, one positive, equal scores, a tiny alpha, no row that matters: always a finite answer."""
    weights = np.ones(6)
    one = np.array([False, False, False, False, False, True])
    cases = {
        "exact": (np.array([0.0, 0.0, 1.0, 0.2, 1.0, 1.0]), {"fp_cost": 1, "fn_cost": 10}),
        "equal": (np.full(6, 0.3), {"fp_cost": 1, "fn_cost": 10}),
        "tiny alpha": (np.array([0.0, 1e-13, 1e-12, 0.1, 0.5, 1.0]), {"fp_cost": 1e-12, "fn_cost": 1}),
        "huge ratio": (np.array([0.0, 1e-13, 1e-12, 0.1, 0.5, 1.0]), {"fp_cost": 1e-300, "fn_cost": 1e300}),
        "all fixed": (np.linspace(0, 1, 6), {"fp_cost": -1, "fn_cost": np.arange(1.0, 7.0)}),
    }
    for name, (probability, given) in cases.items():
        costs = RowCosts.read(6, **given)
        kept = OutOfFoldRows(probability, one, weights)
        found = kept.find_correction(costs, method, 8)
        decision = found.decision(probability, costs)
        assert not np.isnan(decision).any(), name
        assert ((corrected := found.probability(probability)) >= 0).all(), name
        assert (corrected <= 1).all(), name
        assert (decision > 0).all() or name != "all fixed"
        curve = shift_curve(kept.with_costs(costs), found.correction, 8)
        assert np.isfinite(curve.cost).all(), name
        assert np.isfinite(curve.window_cost).all(), name


def test_log_odds_of_a_model_that_is_too_sure() -> None:
    """As they are within the limits; beyond, finite and in the same order."""
    alpha = np.array([logit(1e-5), np.inf])
    low, high = limits = log_odds_range(998, alpha)
    assert (low, high) == pytest.approx((logit(1e-5) - 4, math.log(999)))
    probability = np.array([0.0, 1e-300, 1e-100, 1e-12, 1e-6, 1e-4, 0.5, 0.99, 1 - 1e-9, 1 - 1e-16, 1.0])
    found = log_odds_within(probability, limits)
    np.testing.assert_allclose(found[4:8], logit(probability[4:8]), atol=1e-12)
    assert (np.diff(found) > 0).all()
    assert np.isfinite(found).all()
    assert found[0] > low - 7
    # a row's own alpha at predict: only that row's limits are wider
    odds = CorrectedOdds(Correction(), (-5.0, 5.0))
    costs = RowCosts.read(2, fp_cost=1, fn_cost=[1.0, 1e9])
    decision = odds.decision(np.array([1e-12, 1e-10]), costs)
    assert -9 < decision[0] < -5
    assert decision[1] == pytest.approx(logit(1e-10) + math.log(1e9))


def test_a_model_that_is_much_too_sure_still_gets_its_threshold() -> None:
    """Ten times the right log-odds, and wrong ones: only their order is right."""
    log_odds, is_positive = drawn(3000, offset=0.0)
    rows = OutOfFoldRows(expit(10 * log_odds - 20), is_positive, np.ones(3000))
    costs = RowCosts.read(3000, fp_cost=1, fn_cost=9)
    right = OutOfFoldRows(expit(log_odds), is_positive, np.ones(3000)).find_correction(costs, "gibbs", 8)
    best = right.decision(expit(log_odds), costs) > 0
    for method in ("gibbs", "argmin", "cost"):
        said = rows.find_correction(costs, method, 8).decision(rows.probability, costs) > 0
        paid, least = (costs.paid(is_positive, which).mean() for which in (said, best))
        assert paid < 1.1 * least, (method, paid, least)


def test_groups_of_rows_are_as_good_as_the_rows() -> None:
    log_odds, is_positive = drawn(40_000)
    rows = rows_of(log_odds, is_positive)
    (means,), signs, weights = group_rows((rows.distances,), rows.signs, rows.weights)
    assert means.size < 10_000
    assert weights.sum() == pytest.approx(40_000)
    assert (signs * weights).sum() == pytest.approx(rows.signs @ rows.weights)
    found = shift_posterior(rows, 8)
    exact = window_losses(rows, 8, found.shifts[::20])
    np.testing.assert_allclose(found.losses[::20] - found.losses[0], exact - exact[0], atol=0.02)


def test_thresholds_of_corrections() -> None:
    rows = rows_of(*drawn(300))
    probe = np.linspace(-7, 7, 5001)
    for name, method in METHODS.items():
        found = method(rows, 8)
        for alpha in (-2.2, 0.0, 1.0, -30.0, 30.0):
            above = found.log_odds(probe) > alpha
            np.testing.assert_array_equal(above, probe > found.threshold(alpha), err_msg=f"{name} {alpha}")
    flat = Correction(slope=0.0, shift=1.0)
    assert flat.threshold(0.0) == math.inf
    assert flat.threshold(-2.0) == -math.inf


def test_the_curve_is_the_realised_cost() -> None:
    rng = np.random.default_rng(1)
    log_odds, is_positive = drawn(200)
    costs = {**row_costs(200), "tp_cost": 0.3, "tn_cost": rng.normal(size=200)}
    rows = rows_of(log_odds, is_positive, rng.random(200), **costs)
    found = METHODS["gibbs"](rows, 8)
    curve = shift_curve(rows, found, 8)
    assert curve.chosen == found.shift
    for k in (0, 300, 520, 800):
        odds = CorrectedOdds(Correction(shift=float(curve.shift[k])), (-99.0, 99.0))
        paid = rows.costs.paid(rows.is_positive, odds.decision(expit(log_odds), rows.costs) > 0)
        assert curve.cost[k] == pytest.approx(np.average(paid, weights=rows.weight))
    sharp = shift_curve(rows, found, 64)
    assert np.abs(sharp.window_cost - curve.cost).mean() < 0.05 * np.ptp(curve.cost)
