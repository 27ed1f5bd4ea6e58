"""Decisions within limits: brute force is never cheaper, guarantees hold, and words and errors are clear."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

import uneven
from uneven.costs import RowCosts
from uneven.decisions.held_out import price_for_recall, prices_of_misses
from uneven.errors import CostError, ParameterError

THREE = uneven.Actions(clear=(100, 0), review=(8, 5), block=(0, 20))


def random_problem(rng: np.random.Generator, count: int, actions: int) -> tuple[np.ndarray, uneven.Actions]:
    """Probabilities, some of them equal, and actions with costs of each row or with numbers."""
    p = rng.choice([0.0, 0.1, 0.25, 0.5, 0.9, 1.0, *rng.random(6)], count)
    shape = () if rng.random() < 0.5 else (count,)
    costs = {"rest": (rng.uniform(5, 40, shape), rng.uniform(-1, 2, shape))}
    costs |= {f"a{k}": (rng.uniform(-2, 15, shape), rng.uniform(0, 15, shape)) for k in range(actions - 1)}
    return p, uneven.Actions(**costs)


def all_choices(count: int, actions: int) -> np.ndarray:
    return np.array(list(itertools.product(range(actions), repeat=count)))


def costs_of(p: np.ndarray, actions: uneven.Actions, choices: np.ndarray) -> np.ndarray:
    return actions.expected_costs(p)[np.arange(p.size), choices].sum(axis=1)


def check_against_brute_force(
    found: uneven.Decisions, choices: np.ndarray, allowed: np.ndarray, *, exact: bool
) -> None:
    costs = costs_of(found.probability, found.actions, choices)
    least = costs[allowed].min()
    row = int(np.flatnonzero((choices == found.choice).all(axis=1))[0])
    assert allowed[row], "the limits are not kept"
    assert found.total_cost == pytest.approx(costs[row])
    assert found.total_cost <= least + found.gap + 1e-9, "the gap is no bound"
    assert found.constraint_cost == pytest.approx(costs[row] - costs.min(), abs=1e-9)
    if exact:
        assert found.gap == pytest.approx(0, abs=1e-9)
        assert found.total_cost == pytest.approx(least)


# -- two actions are today's predictions ------------------------------------------------------------------------------


def test_without_limits_every_row_gets_its_cheapest_action() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        costs = {"fp_cost": rng.choice([1, 2.5, -3, 0], 40), "fn_cost": rng.normal(3, 4, 40), "tn_cost": 0.1}
        rows = RowCosts.read(40, tp_cost=0.0, **costs)
        p = np.where(rng.random(40) < 0.5, np.clip(rows.thresholds()[0], 0, 1), rng.random(40))
        found = uneven.decide(p, **costs)
        np.testing.assert_array_equal(found.action == "positive", rows.prefers_positive(p))
        assert found.constraint_cost == 0
        assert found.gap == 0
        assert found.price_of_one_more is None
        p, actions = random_problem(rng, 30, 4)
        np.testing.assert_array_equal(uneven.decide(p, actions=actions).action, actions.choose(p))


# -- brute force ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("actions", [2, 3])
def test_a_capacity_is_used_as_cheaply_as_possible(actions: int) -> None:
    rng = np.random.default_rng(actions)
    choices = all_choices(7, actions)
    group = np.array([0, 0, 0, 0, 1, 1, 1])
    for _ in range(120):
        p, problem = random_problem(rng, 7, actions)
        most, name = int(rng.integers(0, 5)), problem.names[-1]
        for limit, used in ((most, choices > 0), ({name: most}, choices == actions - 1)):
            found = uneven.decide(p, actions=problem, at_most=limit)
            check_against_brute_force(found, choices, used.sum(axis=1) <= most, exact=True)
            one_more = uneven.decide(p, actions=problem, at_most=most + 1 if limit is most else {name: most + 1})
            saved = found.total_cost - one_more.total_cost
            assert found.price_of_one_more == pytest.approx(saved, abs=1e-9)
            found = uneven.decide(p, actions=problem, at_most=limit, per=group)
            kept = (used[:, :4].sum(axis=1) <= most) & (used[:, 4:].sum(axis=1) <= most)
            check_against_brute_force(found, choices, kept, exact=True)
        found = uneven.decide(p, actions=problem, flag_rate=0.3, per=group)
        kept = ((choices > 0)[:, :4].sum(axis=1) == 1) & ((choices > 0)[:, 4:].sum(axis=1) == 1)
        check_against_brute_force(found, choices, kept, exact=True)


@pytest.mark.slow
@pytest.mark.parametrize("actions", [2, 3])
def test_floors_are_kept_and_the_gap_is_a_bound(actions: int) -> None:
    rng = np.random.default_rng(10 + actions)
    choices = all_choices(7, actions)
    flagged = choices > 0
    gaps = []
    for _ in range(150):
        p, problem = random_problem(rng, 7, actions)
        wanted = float(rng.choice([0.3, 0.8, 0.95, 1.0]))
        recall = flagged @ p >= wanted * p.sum() - 1e-9
        found = uneven.decide(p, actions=problem, recall_at_least=wanted)
        check_against_brute_force(found, choices, recall, exact=False)
        gaps.append(found.gap)
        assert found.gap <= np.abs(found.gain).max() + 1e-9  # what turning one row costs
        precise = flagged @ (p - 0.6) >= -1e-9
        check_against_brute_force(
            uneven.decide(p, actions=problem, precision_at_least=0.6), choices, precise, exact=False
        )
        takes = rng.uniform(0, 3, 7)
        paid = flagged @ takes <= 4 + 1e-9
        found = uneven.decide(p, actions=problem, budget=(4, takes))
        check_against_brute_force(found, choices, paid, exact=False)
        few = flagged.sum(axis=1) <= 4
        for limits, kept in (
            ({"recall_at_least": wanted, "at_most": 4}, recall & few),
            ({"recall_at_least": wanted, "precision_at_least": 0.4}, recall & (flagged @ (p - 0.4) >= -1e-9)),
            ({"recall_at_least": wanted, "budget": (4, takes)}, recall & paid),
            ({"recall_at_least": wanted, "flag_rate": 3 / 7}, recall & (flagged.sum(axis=1) == 3)),
        ):
            try:
                found = uneven.decide(p, actions=problem, **limits)
            except ParameterError as error:
                assert not kept.any() or "contradict" not in str(error) or len(limits) == 2
                continue
            check_against_brute_force(found, choices, kept, exact=False)
    assert np.median(gaps) < 2


def test_contradictions_are_found_exactly_for_a_capacity_and_a_recall() -> None:
    rng = np.random.default_rng(3)
    choices = all_choices(6, 2)
    seen = set()
    for _ in range(200):
        p, problem = random_problem(rng, 6, 2)
        possible = ((choices.sum(axis=1) <= 2) & (choices @ p >= 0.7 * p.sum() - 1e-9)).any()
        try:
            uneven.decide(p, actions=problem, at_most=2, recall_at_least=0.7)
        except ParameterError as error:
            assert not possible
            assert "contradicts the limit of 2 rows" in str(error)
        else:
            assert possible
        seen.add(bool(possible))
    assert seen == {True, False}


def test_the_lower_bound_is_that_of_the_linear_program() -> None:
    """With rows that may be decided in part: three actions, reviews limited in each group, a recall, a budget."""
    rng = np.random.default_rng(11)
    count, groups = 120, 4
    for number in range(8):
        p, group, amount = rng.beta(0.4, 2, count), rng.integers(0, groups, count), rng.lognormal(3, 1, count)
        actions = uneven.Actions(clear=(amount, 0), review=(3 + 0.1 * amount, 3), block=(0, 9))
        takes = rng.uniform(0, 4, count)
        budget: dict[str, Any] = {"budget": (160, takes)} if number % 2 else {}
        found = uneven.decide(p, actions=actions, at_most={"review": 4}, per=group, recall_at_least=0.8, **budget)
        flags = np.array([0.0, 1.0, 1.0])
        above = [np.kron(group == k, [0.0, 1.0, 0.0]) for k in range(groups)] + [np.kron(-p, flags)]
        limits = [4.0] * groups + [-0.8 * p.sum()]
        if budget:
            above, limits = [*above, np.kron(takes, flags)], [*limits, 160.0]
        program = linprog(
            actions.expected_costs(p).ravel(),
            A_ub=np.array(above),
            b_ub=limits,
            A_eq=np.kron(np.eye(count), np.ones(3)),
            b_eq=np.ones(count),
            bounds=(0, 1),
        )
        assert program.fun <= found.total_cost + 1e-6
        assert found.total_cost - found.gap <= program.fun + 1e-6
        assert found.total_cost - found.gap >= program.fun - 0.005 * abs(program.fun)
        assert found.gap <= 0.03 * found.total_cost


def test_a_limit_is_another_alpha() -> None:
    """For costs that are numbers: those of a place that has its price."""
    p = np.random.default_rng(12).random(200)
    found = uneven.decide(p, fp_cost=2, fn_cost=8, at_most=30)
    price = found.price_of_one_more
    alpha = (2 + price) / (2 + 8)
    np.testing.assert_array_equal(found.flagged, p > alpha + 1e-12)
    priced = uneven.decide(p, fp_cost=2 + price, fn_cost=8, tp_cost=price)
    assert np.count_nonzero(priced.flagged != found.flagged) <= 1  # the row at the price itself is a tie


# -- units, labels, order ---------------------------------------------------------------------------------------------

LIMITS: list[dict[str, Any]] = [
    {"at_most": 9},
    {"at_most_share": 0.2, "per": np.arange(60) % 3},
    {"recall_at_least": 0.9},
    {"precision_at_least": 0.7},
    {"budget": (12, np.linspace(0.1, 2, 60))},
    {"recall_at_least": 0.6, "at_most": 30},
]


@pytest.mark.parametrize("limits", LIMITS, ids="+".join)
def test_units_and_the_order_of_rows(limits: dict[str, Any]) -> None:
    rng = np.random.default_rng(4)
    p = rng.beta(0.5, 1.5, 60)
    costs = {"fp_cost": 1.0, "fn_cost": rng.uniform(1, 20, 60)}
    found = uneven.decide(p, **costs, **limits)
    in_cents = uneven.decide(p, fp_cost=100.0, fn_cost=100 * costs["fn_cost"], **limits)
    np.testing.assert_array_equal(in_cents.choice, found.choice)
    assert in_cents.constraint_cost == pytest.approx(100 * found.constraint_cost)
    turned = rng.permutation(60)
    moved = {name: value[turned] if isinstance(value, np.ndarray) else value for name, value in limits.items()}
    if "budget" in limits:
        moved["budget"] = (12, limits["budget"][1][turned])
    again = uneven.decide(p[turned], fp_cost=1.0, fn_cost=costs["fn_cost"][turned], **moved)
    np.testing.assert_array_equal(again.choice, found.choice[turned])


def test_the_other_class() -> None:
    """If the classes change names, the decisions stay."""
    rng = np.random.default_rng(5)
    p = rng.random(50)
    turned = uneven.Actions(clear=(0, 100), review=(5, 8), block=(20, 0))
    for limits in ({}, {"at_most": {"review": 4}}, {"at_most": 10}, {"flag_rate": 0.3}):
        found = uneven.decide(p, actions=THREE, **limits)
        np.testing.assert_array_equal(uneven.decide(1 - p, actions=turned, **limits).choice, found.choice)


def test_extreme_numbers() -> None:
    """Probabilities 0 and 1, alpha near 1e-12, costs near 1e300 and 1e-300: decisions are right, and nothing is NaN."""
    p = np.array([0.0, 1e-13, 1e-11, 0.5, 1 - 1e-16, 1.0])
    for unit in (1e-290, 1.0, 1e290):
        for limits in ({}, {"at_most": 2}, {"recall_at_least": 0.999}, {"precision_at_least": 0.9}, {"flag_rate": 0.5}):
            found = uneven.decide(p, fp_cost=unit, fn_cost=1e12 * unit if unit < 1e280 else 1e300, **limits)
            assert np.isfinite(found.expected_cost).all()
            assert np.isfinite([found.constraint_cost, found.gap, found.total_cost]).all()
            assert found.action[-1] == "positive"
            assert "nan" not in found.summary()
    free = uneven.decide(p, fp_cost=1.0, fn_cost=1e12)
    assert free.choice.tolist() == [0, 0, 1, 1, 1, 1]
    assert uneven.decide([0.3], fp_cost=1, fn_cost=1, at_most=0).choice.tolist() == [0]
    dear = uneven.decide([0.5, 0.6], fp_cost=1e300, fn_cost=1e300, budget=(1e-200, 1e-200))
    assert dear.choice.tolist() == [0, 1]
    assert list(dear.prices.values()) == [0.0]
    dear = uneven.decide([0.9, 0.6], fp_cost=1e300, fn_cost=1e300, budget=(1e-200, 1e-200))
    assert dear.choice.tolist() == [1, 0]
    assert list(dear.prices.values()) == [np.inf]
    certain = uneven.decide([0.0, 0.0], fp_cost=1, fn_cost=1, recall_at_least=0.9)
    assert certain.choice.tolist() == [0, 0]


# -- what the result says ---------------------------------------------------------------------------------------------


def test_ranks_savings_and_words() -> None:
    p = np.array([0.9, 0.02, 0.3, 0.6, 0.1, 0.3])
    found = uneven.decide(p, actions=THREE, at_most={"review": 2}, per=["mon", "mon", "mon", "tue", "tue", "tue"])
    assert found.action.tolist() == ["block", "clear", "review", "block", "review", "review"]
    assert found.price_of_one_more == pytest.approx({"mon": 0.0, "tue": 1.2})
    gain = np.minimum(THREE.expected_costs(p)[:, 0], THREE.expected_costs(p)[:, 2]) - THREE.expected_costs(p)[:, 1]
    np.testing.assert_allclose(found.gain, gain)
    assert found.rank.tolist() == [3, 2, 1, 3, 2, 1]
    np.testing.assert_allclose(found.saving, THREE.expected_costs(p)[:, 0] - found.expected_cost)
    assert found.counts == {"clear": 1, "review": 3, "block": 2}
    assert found.recall == pytest.approx(1 - 0.02 / p.sum())
    assert found.precision == pytest.approx((p.sum() - 0.02) / 5)
    assert len(found) == 6
    words = found.summary("EUR")
    assert words.startswith("6 rows: 1 clear, 3 review, 2 block. Expected cost")
    assert "One more place in each of the 2 groups would save 1.2 EUR, the largest part in tue (1.2 EUR)." in words
    frame = found.to_frame()
    assert frame.columns.tolist() == [
        "action", "probability", "cost of clear", "cost of review", "cost of block", "saving", "rank", "group",
    ]  # fmt: skip
    assert frame["group"].tolist() == ["mon"] * 3 + ["tue"] * 3
    free = uneven.decide(p, actions=THREE, at_most=6)
    assert "The limits cost nothing: the cheapest decisions keep them." in free.summary()
    assert "One more place would save 0." in free.summary()
    assert repr(free) == "<Decisions: 6 rows: 1 clear, 4 review, 1 block>"
    nobody = uneven.decide([0.0, 0.0], fp_cost=1, fn_cost=1)
    assert np.isnan(nobody.recall)
    assert np.isnan(nobody.precision)
    assert "nan" not in nobody.summary()


def test_pictures() -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    p = np.array([0.9, 0.02, 0.3, 0.6, 0.1, 0.3])
    found = uneven.decide(p, fp_cost=1, fn_cost=9, at_most=2)
    axes = found.plot(unit="EUR")
    values = axes.patches[0].get_data().values
    np.testing.assert_allclose(values, np.sort(found.gain)[::-1][: values.size])
    told = axes.get_legend_handles_labels()[1]
    assert sorted(told) == ["one more place saves 2 EUR", "positive: 2 rows", "saved"]
    grouped = uneven.decide(p, actions=THREE, at_most={"review": 1}, per=[0, 0, 0, 1, 1, 1]).plot()
    assert grouped.get_ylabel() == "saved by review"
    assert grouped.get_xlabel() == "rank of the row in its group"
    assert "saved, mean over 2 groups" in grouped.get_legend_handles_labels()[1]
    uneven.decide([0.0, 0.0], fp_cost=1, fn_cost=1).plot()  # nothing to flag
    plt.close("all")


def test_the_index_of_a_series_stays() -> None:
    p = pd.Series([0.2, 0.9], index=["x", "y"])
    assert uneven.decide(p, fp_cost=1, fn_cost=1).to_frame().index.tolist() == ["x", "y"]


def test_shares_are_read_as_they_are_written() -> None:
    p = np.linspace(0.5, 0.9, 10)
    assert uneven.decide(p, fp_cost=1, fn_cost=5, at_most_share=0.3).counts["positive"] == 3
    assert uneven.decide(p, fp_cost=1, fn_cost=5, flag_rate=0.25).counts["positive"] == 3
    assert uneven.decide(p, fp_cost=1, fn_cost=5, at_most_share=0).counts["positive"] == 0
    assert uneven.decide(p, fp_cost=9, fn_cost=1, flag_rate=1).counts["positive"] == 10


def test_groups_of_any_kind() -> None:
    p = np.full(6, 0.9)
    for per in (
        ["a", "b", "a", "b", "a", "b"],
        [1, 2, 1, 2, 1, 2],
        np.array(["2024-01-01", "2024-01-02"] * 3, "M8[D]"),
    ):
        found = uneven.decide(p, fp_cost=1, fn_cost=1, at_most=1, per=per)
        assert found.choice.tolist() == [1, 1, 0, 0, 0, 0]
    mixed = np.array([None, "a", None, "a", 1, 1], dtype=object)
    assert uneven.decide(p, fp_cost=1, fn_cost=1, at_most=1, per=mixed).choice.tolist() == [1, 1, 0, 0, 1, 0]


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"at_most": 2.5}, "at_most must be a whole number"),
        ({"at_most": -1}, "at_most must be a whole number"),
        ({"at_most": True}, "at_most must be a whole number"),
        ({"at_most": {"clear": 1}}, "a limit can be on review or block, got 'clear'"),
        ({"at_most": {"review": 1, "block": 2}}, "name one action"),
        ({"at_most": 1, "flag_rate": 0.5}, "give one of at_most and flag_rate"),
        ({"at_most_share": 1.5}, r"at_most_share must lie in \[0, 1\]"),
        ({"recall_at_least": 0}, r"recall_at_least must lie in \(0, 1\]"),
        ({"precision_at_least": 1}, "precision_at_least must be below 1"),
        ({"budget": 5}, "budget must be what may be spent and what it takes"),
        ({"budget": (5, [1, 2])}, "for each of the 3 rows"),
        ({"budget": (-5, 1)}, "at least 0"),
        ({"per": [1, 2, 3]}, "per= is for a limit in each group"),
        ({"per": [1, 2], "at_most": 1}, "the group of each of the 3 rows"),
        ({"recall_at_least": 0.9, "at_most": 0}, "contradicts the limit of 0 rows"),
        ({"recall_at_least": 0.99, "precision_at_least": 0.99}, "contradict each other"),
        ({"recall_at_least": 0.99, "budget": (0, 1)}, "contradict each other"),
    ],
)
def test_bad_limits_get_one_sentence(limits: dict[str, Any], words: str) -> None:
    for unit in (1.0, 1e-290, 1e290):
        actions = uneven.Actions(clear=(100 * unit, 0), review=(8 * unit, 5 * unit), block=(0, 20 * unit))
        with pytest.raises(ParameterError, match=words):
            uneven.decide([0.2, 0.5, 0.6], actions=actions, **limits)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "give actions, or fp_cost and fn_cost"),
        ({"actions": THREE, "fp_cost": 1}, "give actions or fp_cost, not both"),
        ({"actions": {"a": (1, 2)}}, "actions must be uneven.Actions"),
        ({"actions": uneven.Actions(a=([1, 2], 0), b=(0, 1))}, "costs of 2 rows, and there are 3"),
    ],
)
def test_bad_costs_get_one_sentence(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(CostError, match=words):
        uneven.decide([0.2, 0.5, 0.6], **arguments)
    for shape in (0.5, [], [[0.1, 0.9]]):
        with pytest.raises(ParameterError, match="one number for each"):
            uneven.decide(shape, fp_cost=1, fn_cost=1)


# -- guarantees from held-out rows ------------------------------------------------------------------------------------


def world(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of a bad model, and labels: what is guaranteed needs no right probabilities."""
    x = rng.normal(size=count)
    is_positive = rng.random(count) < 1 / (1 + np.exp(2 - 1.5 * x))
    return 1 / (1 + np.exp(-np.round(3 * x - 1, 1))), is_positive


@pytest.mark.slow
def test_a_guaranteed_recall_is_broken_no_more_often_than_stated() -> None:
    """2,000 tables of held-out rows; the recall of each rule is that on 200,000 new positives."""
    rng = np.random.default_rng(7)
    p, is_positive = world(rng, 1_000_000)
    new = uneven.decide(p[is_positive], fp_cost=3, fn_cost=1)
    prices = np.sort(prices_of_misses(new.regrets, new.probability))
    broken = 0
    for _ in range(2000):
        old, labels = world(rng, 300)
        cost = uneven.decide(old, fp_cost=3, fn_cost=1).regrets
        price = price_for_recall(cost, old, labels, Fraction(4, 5), 0.9)
        broken += np.searchsorted(prices, price, side="right") < 0.8 * prices.size
    assert broken <= 0.1 * 2000 + 3 * np.sqrt(2000 * 0.09)
    assert broken > 40, "far too careful: the order statistic is not the least one"


def test_the_rule_of_a_guaranteed_recall_is_its_price() -> None:
    rng = np.random.default_rng(8)
    (p, _), (old, labels) = world(rng, 2000), world(rng, 300)
    found = uneven.decide(p, fp_cost=1, fn_cost=3, recall_at_least=0.9, held_out=(old, labels))
    past = uneven.decide(old, fp_cost=1, fn_cost=3)
    price = price_for_recall(past.regrets, old, labels, Fraction(9, 10), 0.95)
    assert found.prices["recall_at_least=0.9"] == price > 0
    np.testing.assert_array_equal(found.flagged, prices_of_misses(found.regrets, p) <= price)
    assert (found.flagged >= uneven.decide(p, fp_cost=1, fn_cost=3).flagged).all()


@pytest.mark.slow
def test_a_guaranteed_precision_is_broken_no_more_often_than_stated() -> None:
    """500 tables of held-out rows; for constant costs the rule is a threshold, judged on 200,000 new rows."""
    rng = np.random.default_rng(9)
    p, is_positive = world(rng, 200_000)
    order = np.argsort(p)
    precision = is_positive[order][::-1].cumsum()[::-1] / np.arange(p.size, 0, -1)  # of rows from here on
    broken = answered = 0
    for _ in range(500):
        old, labels = world(rng, 600)
        try:
            found = uneven.decide(
                p[:400], fp_cost=1, fn_cost=3, held_out=(old, labels), confidence=0.8, precision_at_least=0.4
            )
        except ParameterError as error:
            assert "is not shown by the held-out rows" in str(error)
            continue
        answered += 1
        least = p[:400][found.flagged].min()
        broken += precision[np.searchsorted(p[order], least)] < 0.4
    assert answered > 250
    assert broken <= 0.2 * 500 + 3 * np.sqrt(500 * 0.16)


def test_a_guarantee_for_several_actions_and_costs_of_each_row() -> None:
    rng = np.random.default_rng(8)
    (p, _), (old, labels) = world(rng, 500), world(rng, 600)
    found = uneven.decide(p, actions=THREE, recall_at_least=0.95, held_out=(old, labels))
    assert found.guarantee is not None
    assert found.guarantee.startswith("With 95 % confidence, of new positives, at least 95 % are flagged, if new rows")
    assert found.guarantee in found.summary()
    costs = {"fp_cost": 1.0, "fn_cost": rng.uniform(1, 5, 500)}
    with pytest.raises(CostError, match="held_out needs those of its rows"):
        uneven.decide(p, **costs, recall_at_least=0.9, held_out=(old, labels))
    past = {"fp_cost": 1.0, "fn_cost": rng.uniform(1, 5, 600)}
    first = uneven.decide(p, **costs, recall_at_least=0.9, held_out=(old, labels, past))
    second = uneven.decide(p, **costs, recall_at_least=0.9, held_out=(old, labels, uneven.Actions.binary(**past)))
    np.testing.assert_array_equal(first.choice, second.choice)
    easy = uneven.decide(p, fp_cost=1, fn_cost=1e6, recall_at_least=0.5, held_out=(old, labels))
    np.testing.assert_array_equal(easy.choice, uneven.decide(p, fp_cost=1, fn_cost=1e6).choice)
    assert easy.prices == {"recall_at_least=0.5": 0.0}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"recall_at_least": 0.9, "held_out": ([0.5] * 28, [1] * 28)}, "needs 29 held-out positives or more, got 28"),
        ({"recall_at_least": 1, "held_out": ([0.5] * 28, [1] * 28)}, "cannot be guaranteed"),
        (
            {"recall_at_least": 0.9, "held_out": ([0.5] * 40, [1] * 40), "at_most": 1},
            "contradicts the limit on the number",
        ),
        ({"at_most": 1, "held_out": ([0.5], [1])}, "one of recall_at_least and precision_at_least"),
        ({"recall_at_least": 0.9, "held_out": 3}, "probabilities and labels"),
        ({"recall_at_least": 0.9, "held_out": ([0.5], ["yes"])}, "0 and 1, or False and True"),
        ({"recall_at_least": 0.9, "held_out": ([0.5], [1]), "confidence": 1}, "confidence must lie strictly"),
        ({"precision_at_least": 0.9, "held_out": ([0.95] * 9, [1] * 9)}, "needs at least 51 flagged ones"),
    ],
)
def test_too_few_rows_and_bad_guarantees(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        uneven.decide([0.2, 0.5, 0.6, 0.01], fp_cost=3, fn_cost=4, **arguments)


NEAR_1 = "0.99999999999999999999"


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"recall_at_least": 0.5, "confidence": NEAR_1}, "confidence=1 cannot be guaranteed"),
        ({"precision_at_least": 0.5, "confidence": NEAR_1}, "confidence=1 cannot be guaranteed"),
        ({"recall_at_least": NEAR_1}, "recall_at_least=1 cannot be guaranteed"),
        ({"precision_at_least": NEAR_1}, "precision_at_least=1 cannot be guaranteed"),
        ({"recall_at_least": 1 - 1e-12}, r"needs 2,99\d,\d{3},\d{3},\d{3} held-out positives or more"),
    ],
)
def test_guarantees_near_1_say_what_they_need(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        uneven.decide([0.1, 0.9], fp_cost=1, fn_cost=2, held_out=([0.1] * 100, [1] * 100), **asked)


@pytest.mark.parametrize("limits", [{}, {"recall_at_least": 0.99}, {"at_most": 3}])
def test_costs_whose_sum_is_no_double(limits: dict[str, Any]) -> None:
    with pytest.raises(CostError, match="the sum of the costs of all rows is too large"):
        uneven.decide([0.1, 0.9] * 100, fp_cost=1e308, fn_cost=1e308, **limits)


def test_limits_that_are_no_limits() -> None:
    ragged = [[0.5, 0.5], [0.2]]
    for name, value in {
        "at_most": np.timedelta64(1, "D"),
        "per": ragged,
        "fn_cost": ragged,
        "budget": {1, 2},
        "held_out": pd.DataFrame({"p": [0.1, 0.2]}),
    }.items():
        given = {"fp_cost": 1, "fn_cost": 2, "at_most" if name == "per" else "recall_at_least": 1, name: value}
        with pytest.raises((CostError, ParameterError)):
            uneven.decide([0.2, 0.7], **given)
    spent = pd.Series([1.0, 1.0], index=["most", "each"])
    assert uneven.decide([0.8, 0.9], fp_cost=1, fn_cost=2, budget=spent).counts["positive"] == 1


def test_sums_over_many_rows_keep_their_digits() -> None:
    """Flagging nobody keeps every precision, flagging everybody every recall: rounding of sums must not deny it."""
    p = np.random.default_rng(0).choice([0.1, 0.2, 0.5], 300_000)
    none = uneven.decide(p, fp_cost=1, fn_cost=2, precision_at_least=0.575)
    everyone = uneven.decide(p, fp_cost=1, fn_cost=2, recall_at_least=1)
    assert none.counts["positive"] == 0
    assert everyone.counts["negative"] == 0
