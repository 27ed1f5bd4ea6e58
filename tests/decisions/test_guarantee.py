"""The guarantee of a shift: its numbers follow the rows, its words say what they mean."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace

import numpy as np
import pytest
from finite_worlds import window
from places import DOCS, ROOT

from uneven.costs import RowCosts
from uneven.decisions.guarantee import ShiftGuarantee, shift_guarantee
from uneven.decisions.posterior import ShiftPosterior, shift_posterior
from uneven.decisions.scored_rows import ScoredRows
from uneven.decisions.shift_bounds import BoundedRows, LossCurves, Rule, all_edges, kept_edges, kl_limit
from uneven.errors import CostError, ParameterError


def rows_of(count: int, seed: int = 0, *, shift: float = 0.5, unit: float = 1.0, fn_cost: object = 10.0) -> ScoredRows:
    """A model whose log-odds are right up to a shift."""
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(-2.5, 2, count)
    is_positive = rng.random(count) < 1 / (1 + np.exp(-log_odds))
    costs = RowCosts.read(count, fp_cost=unit, fn_cost=unit * np.asarray(fn_cost))
    return ScoredRows(log_odds + shift, is_positive, costs, np.ones(count))


def folds_of(rows: ScoredRows, folds: int) -> list[ScoredRows]:
    return [rows.take(np.arange(k, rows.log_odds.size, folds)) for k in range(folds)]


def bounds(found: ShiftGuarantee) -> np.ndarray:
    return np.array(list(vars(found.mean).values())[:-1])


@pytest.mark.slow
def test_bounds_shrink_with_the_rows() -> None:
    """The regret bound falls nearly like m^(-2/3), the one by psi like m^(-1/3)."""
    found = [shift_guarantee([rows_of(n)], shift=0.5, order=8) for n in (1_000, 8_000, 64_000)]
    direct = [part.mean.regret_bound for part in found]
    assert direct[0] > 2.5 * direct[1] > 6.25 * direct[2]
    assert found[1].mean.psi_regret_bound > 1.4 * found[2].mean.psi_regret_bound
    assert found[0].mean.cost_bound > found[1].mean.cost_bound > found[2].mean.cost_bound > found[2].mean.cost


def test_small_data_have_no_guarantee_and_it_says_so() -> None:
    found = shift_guarantee(folds_of(rows_of(200), 5), shift=0.5, order=8, refitted=True)
    assert found.vacuous
    assert found.psi_vacuous
    assert found.in_words().startswith("No useful guarantee: 40 rows per fold are too few.")
    assert "5 fold models with this shift, on average, not for the model that was fitted again" in found.in_words()
    assert (found.folds, found.rows, found.rows_per_fold) == (5, 200, 40)


def test_large_data_have_one() -> None:
    rows = rows_of(20_000)
    posterior = shift_posterior(rows, 8)
    found = shift_guarantee([rows], posterior, order=8)
    assert not found.vacuous
    assert found.shift == posterior.mean
    assert "costs at most" in found.in_words()
    assert "has not learnt from these rows." in found.in_words()
    assert found.gibbs is not None
    assert found.gibbs.divergence < found.mean.divergence
    assert found.gibbs.regret_bound < found.mean.regret_bound  # spread over cells, it pays less for its choice
    assert abs(found.gibbs.cost - found.mean.cost) < 0.01
    again = json.loads(json.dumps(found.to_dict()))
    assert again["mean"]["regret_bound"] == found.mean.regret_bound
    assert again["vacuous"] is False


def test_improbable_shifts_do_not_count() -> None:
    """A density that underflows in the tails: the divergence lies between 0 and that of a single cell."""
    rows = rows_of(2_000)
    shifts = np.linspace(-2, 3, 2001)
    for spread in (0.002, 0.02, 0.2, 50.0):
        density = np.exp(-0.5 * ((shifts - 0.5) / spread) ** 2)
        found = shift_guarantee([rows], ShiftPosterior(shifts, shifts, density / density.sum()), order=8)
        assert found.gibbs is not None
        assert 0 <= found.gibbs.divergence <= found.mean.divergence
        assert 0.02 < found.gibbs.regret_bound < np.inf


def test_words_round_upwards() -> None:
    found = shift_guarantee([rows_of(20_000)], shift=0.5, order=8)
    shown = float(found.in_words().split("costs at most ")[1].split()[0])
    assert found.mean.regret_bound <= shown <= 1.011 * found.mean.regret_bound
    for amount in (0.1001, 0.9999, 9.991, 123.4, 3e-9):
        words = replace(found, constant_cost=1e9, mean=replace(found.mean, regret_bound=amount)).in_words()
        assert amount <= float(words.split("costs at most ")[1].split()[0]) <= 1.011 * amount


@pytest.mark.slow
def test_the_table_of_the_page_is_rounded_upwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "benchmarks"), *sys.path])
    from shift_guarantee import lines

    page = (DOCS / "guarantee.md").read_text()
    for count in (200, 2_000, 20_000):
        assert "\n".join(lines(count)) in page


def test_unit_of_the_costs() -> None:
    """Costs in another unit give the same bounds in that unit."""
    one, other = (shift_guarantee([rows_of(2_000, unit=unit)], shift=0.4, order=4) for unit in (1.0, 7.0))
    np.testing.assert_allclose(7 * bounds(one), bounds(other), rtol=1e-6)


def test_turned_labels() -> None:
    """The other class as the positive one, with costs and log-odds turned, is the same problem."""
    rows = rows_of(2_000)
    costs = RowCosts.read(2_000, fp_cost=10, fn_cost=1)
    turned = ScoredRows(-rows.log_odds, ~rows.is_positive, costs, rows.weight)
    one, other = shift_guarantee([rows], shift=0.4, order=4), shift_guarantee([turned], shift=-0.4, order=4)
    np.testing.assert_allclose(bounds(one), bounds(other), rtol=1e-6)


def test_costs_of_each_row() -> None:
    """Costs given row by row need numbers that no mistake exceeds, also if all rows have the same ones."""
    fixed = shift_guarantee([rows_of(3_000)], shift=0.5, order=8)
    same = shift_guarantee([rows_of(3_000, fn_cost=np.full(3_000, 10.0))], shift=0.5, order=8)
    np.testing.assert_array_equal(bounds(same)[:-1], bounds(fixed)[:-1])
    assert same.mean.psi_regret_bound != fixed.mean.psi_regret_bound  # theorem 1 at alpha needs the same costs always
    assert (fixed.believed, fixed.fixed_costs, same.believed, same.fixed_costs) == (False, True, True, False)
    assert "costs that were fixed beforehand" in fixed.in_words()
    assert "largest ones seen (1 and 10)" in same.in_words()
    rows = rows_of(3_000, fn_cost=np.random.default_rng(1).uniform(2, 12, 3_000))
    believed = shift_guarantee([rows], shift=0.5, order=8)
    assert believed.believed
    assert "largest ones seen" in believed.in_words()
    given = shift_guarantee([rows], shift=0.5, order=8, largest_fn_regret=15)  # a false positive costs 1 in all rows
    assert (given.believed, given.fixed_costs) == (False, False)
    assert "no mistake costs more than you said (1 and 15)" in given.in_words()
    assert given.mean.regret_bound > believed.mean.regret_bound
    with pytest.raises(
        ParameterError, match=r"largest_fn_regret must be at least the largest one of the rows, 1.*got 5"
    ):
        shift_guarantee([rows], shift=0.5, order=8, largest_fn_regret=5)


def test_a_rare_dear_row_that_is_not_in_the_sample() -> None:
    """One row in 100,000 costs a million times as much: most samples do not show it, and no bound covers it unasked."""
    count, rare, dear = 1_000, 1e-5, 1e6
    log_odds = np.linspace(-8, 4, 400)
    share = np.exp(-((log_odds + 2.5) ** 2) / 8)
    share /= share.sum()
    positive = 1 / (1 + np.exp(-log_odds))
    expected = (1 + rare * dear) * share @ np.where(log_odds > np.log(0.1), 1 - positive, 10 * positive)
    missed = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        point = rng.choice(400, count, p=share)
        unit = np.where(rng.random(count) < rare, dear, 1.0)
        costs = RowCosts.read(count, fp_cost=unit, fn_cost=10 * unit)
        rows = ScoredRows(log_odds[point], rng.random(count) < positive[point], costs, np.ones(count))
        found = shift_guarantee([rows], shift=0.0, order=8)
        missed += found.mean.cost_bound < expected
        assert found.believed
        assert found.in_words().endswith("no mistake costs more than the largest ones seen (1 and 10).")
        given = shift_guarantee([rows], shift=0.0, order=8, largest_fp_regret=dear, largest_fn_regret=10 * dear)
        assert not given.believed
        assert expected <= given.mean.cost_bound
    assert missed == 10


def test_costs_that_differ_by_fold_are_costs_of_each_row() -> None:
    one, other = folds_of(rows_of(2_000), 2)
    dearer = replace(other, costs=RowCosts.read(1_000, fp_cost=1, fn_cost=12))
    found = shift_guarantee([one, dearer], shift=0.5, order=8)
    assert (found.largest_fp_regret, found.largest_fn_regret, found.believed) == (1.0, 12.0, True)


def test_both_mistakes_pay_in_some_rows() -> None:
    """Regrets of the other sign: as if label and decision were turned, so nothing changes for the bounds."""
    rows = rows_of(2_000)
    sign = np.where(np.arange(2_000) % 2, 1.0, -1.0)
    costs = RowCosts.read(2_000, fp_cost=sign, fn_cost=10 * sign)
    one, other = (shift_guarantee([part], shift=0.4, order=8) for part in (rows, replace(rows, costs=costs)))
    np.testing.assert_allclose(bounds(one)[:-1], bounds(other)[:-1], rtol=1e-9)  # but for psi: alpha 1/11, or rows


def test_fewer_edges_give_a_weaker_bound_and_groups_stay_within_their_error() -> None:
    part = rows_of(50_000)
    rows = BoundedRows(
        part.distances, part.is_positive, part.costs.regrets(part.is_positive), 50_000, 50_000, 10.0, 1.0
    )
    edges = all_edges(50_000)
    rule = Rule.at(0.5, edges)
    limit = kl_limit(rule, edges, 50_000, 0.05)
    few, all_of_them = kept_edges(rule, edges), np.arange(edges.size)
    assert few.size < edges.size / 2
    fine = LossCurves.of_costs(rows, edges, all_of_them).excess_bound(rule, limit)
    assert fine <= LossCurves.of_costs(rows, edges, few).excess_bound(rule, limit) <= 1.3 * fine
    some = few[::40]
    grouped = LossCurves.of_window(rows, edges, some, 8)
    inner = edges[some][1:-1, None]
    for label, sign, curve, error in (
        (True, 1, grouped.positive, grouped.positive_error),
        (False, -1, grouped.negative, grouped.negative_error),
    ):
        exact = window(sign * (rows.distances[rows.is_positive == label] - inner), 8).sum(axis=1) / 50_000
        assert 0 < np.abs(exact - curve[1:-1]).max() <= error


def test_more_choices_and_more_confidence_cost_more() -> None:
    rows = [rows_of(4_000)]
    plain = shift_guarantee(rows, shift=0.5, order=8).mean.regret_bound
    assert plain < shift_guarantee(rows, shift=0.5, order=8, choices=1000).mean.regret_bound
    assert plain < shift_guarantee(rows, shift=0.5, order=8, confidence=0.999).mean.regret_bound


def test_far_shifts_and_shifts_on_an_edge() -> None:
    """Any finite shift has finite bounds: at most that all rows are decided wrongly."""
    for shift in (-1e6, -30.0, 0.0, math.sinh(1.0), 1e300):
        found = shift_guarantee([rows_of(500)], shift=shift, order=8)
        assert 0 < found.mean.regret_bound <= found.mean.cost_bound <= 11


def test_bad_input() -> None:
    rows = rows_of(50)
    with pytest.raises(ParameterError, match="a guarantee needs rows, got none"):
        shift_guarantee([], shift=0.0, order=8)
    with pytest.raises(ParameterError, match="give the shift in use, or the posterior"):
        shift_guarantee([rows], order=8)
    with pytest.raises(ParameterError, match="finite number, got nan"):
        shift_guarantee([rows], shift=math.nan, order=8)
    with pytest.raises(ParameterError, match="confidence must lie strictly between 0 and 1"):
        shift_guarantee([rows], shift=0.0, order=8, confidence=1)
    with pytest.raises(ParameterError, match="choices must be a whole number of at least 1, got 0"):
        shift_guarantee([rows], shift=0.0, order=8, choices=0)
    weight = np.ones(50)
    weight[0] = 2
    with pytest.raises(ParameterError, match="does not cover different sample weights"):
        shift_guarantee([replace(rows, weight=weight)], shift=0.0, order=8)
    with pytest.raises(CostError, match="use another unit of money"):
        shift_guarantee([replace(rows, costs=RowCosts.read(50, fp_cost=1, fn_cost=1e300))], shift=0.0, order=8)
    with pytest.raises(CostError, match="nothing to guarantee"):
        shift_guarantee([replace(rows, costs=RowCosts.read(50, fp_cost=0, fn_cost=1))], shift=0.0, order=8)
