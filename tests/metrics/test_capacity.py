"""Costs at a limit on flagged rows, against a count over all orders of equals and against every choice of rows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uneven.errors import CostError
from uneven.metrics import cost_at_capacity, cost_by_capacity, expected_cost, lift, metric_interval, recall_at


@st.composite
def small_tables(draw):
    """Labels, probabilities with many ties, groups, and costs of rows with benefits."""
    n = draw(st.integers(2, 7))
    numbers = lambda *values: draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))  # noqa: E731
    y = np.array(numbers(0, 1))
    y[0], y[1] = 0, 1
    costs = {"fp_cost": np.array(numbers(1.0, 2.0, 5.0)), "fn_cost": np.array(numbers(1.0, 9.0, 30.0)), "tp_cost": -1.0}
    return y, np.array(numbers(0.0, 0.2, 0.5, 0.9, 1.0)), np.array(numbers("a", "b")), costs


def flagged_in_every_order(key, group, limit, pays):
    """The mean of 0 and 1 over all orders of the rows: a stable sort flags the first of equals."""
    orders = list(itertools.permutations(range(key.size)))
    total = np.zeros(key.size)
    for order in map(np.array, orders):
        ranked = order[np.argsort(-key[order], kind="stable")]
        for name in np.unique(group):
            mine = [row for row in ranked if group[row] == name and pays[row]]
            total[mine[: int(limit)]] += 1
    return total / len(orders)


@settings(max_examples=40)
@given(small_tables(), st.integers(0, 7), st.sampled_from(["saving", "score"]))
@pytest.mark.slow
def test_equals_are_flagged_by_chance(table, limit, by):
    y, p, group, costs = table
    if y.size > 6:
        y, p, group = y[:6], p[:6], group[:6]
        costs = {name: value if np.ndim(value) == 0 else value[:6] for name, value in costs.items()}
    saving = p * (costs["fn_cost"] + 1) - (1 - p) * costs["fp_cost"]
    key, pays = (saving, saving > 0) if by == "saving" else (p, np.ones(p.size, dtype=bool))
    flagged = flagged_in_every_order(key, group, limit, pays)
    yes, no = (np.where(y == 1, -1.0, costs["fp_cost"]), np.where(y == 1, costs["fn_cost"], 0.0))
    truth = float(np.mean(flagged * yes + (1 - flagged) * no))
    found = cost_at_capacity(y, p, at_most=limit, by=by, per=group, **costs)
    assert found == pytest.approx(truth, abs=1e-12)
    assert cost_by_capacity(y, p, by=by, per=group, **costs).at(limit) == pytest.approx(truth, abs=1e-12)


@settings(max_examples=60)
@given(small_tables(), st.integers(0, 7))
def test_no_choice_of_so_many_rows_is_expected_to_be_cheaper(table, limit):
    """Labels drawn by the probabilities: the mean of the cost over all labels is linear, so exact by rows."""
    _, p, group, costs = table
    yes = p * -1.0 + (1 - p) * costs["fp_cost"]
    no = p * costs["fn_cost"]

    def mean_over_labels(flagged):
        return float((flagged * yes + (1 - flagged) * no).sum())

    choices = (np.array(choice) for choice in itertools.product([0, 1], repeat=p.size))
    allowed = [c for c in choices if all(c[group == name].sum() <= limit for name in np.unique(group))]
    best = min(map(mean_over_labels, allowed))
    # Two opposite labels for each row, weighted by its probability: the metric itself takes this mean.
    y, twice, weight = np.repeat([1, 0], p.size), np.tile(p, 2), np.concatenate([p, 1 - p])
    doubled = {name: value if np.ndim(value) == 0 else np.tile(value, 2) for name, value in costs.items()}
    for name in np.unique(group):
        mine = np.tile(group == name, 2)
        part = {key: value if np.ndim(value) == 0 else value[mine] for key, value in doubled.items()}
        share = min(1.0, limit / (mine.sum() / 2))
        cost = cost_at_capacity(y[mine], twice[mine], at_most_share=share, sample_weight=weight[mine], **part)
        best -= cost * mine.sum() / 2
    assert best == pytest.approx(0.0, abs=1e-9)


@given(small_tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_the_unit_do_not_matter(table, random):
    y, p, group, costs = table
    order = list(range(y.size))
    random.shuffle(order)
    moved = {name: 100 * (value if np.ndim(value) == 0 else value[order]) for name, value in costs.items()}
    first = cost_by_capacity(y, p, per=group, **costs)
    second = cost_by_capacity(y[order], p[order], per=group[order], **moved)
    np.testing.assert_allclose(second.cost, 100 * first.cost, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(second.found, first.found, rtol=1e-12)


@given(small_tables(), st.floats(0, 12))
def test_a_weight_is_so_many_rows(table, limit):
    y, p, _, costs = table
    weight = np.arange(y.size) % 3
    weight[:2] = 1
    repeated = {name: value if np.ndim(value) == 0 else np.repeat(value, weight) for name, value in costs.items()}
    y_many, p_many = np.repeat(y, weight), np.repeat(p, weight)
    weighted = cost_by_capacity(y, p, sample_weight=weight, **costs)
    plain = cost_by_capacity(y_many, p_many, **repeated)
    assert weighted.at(limit) == pytest.approx(plain.at(limit), abs=1e-12)
    at = cost_at_capacity(y, p, at_most=limit, sample_weight=weight, **costs)
    assert at == pytest.approx(plain.at(limit), abs=1e-12)
    for metric in (recall_at, lift):
        one = metric(y, p, at_most=limit + 1, sample_weight=weight)
        assert one == pytest.approx(metric(y_many, p_many, at_most=limit + 1), abs=1e-12)


def test_without_a_limit_it_is_the_expected_cost_of_the_cheapest_decisions():
    rng = np.random.default_rng(0)
    y, p, amount = rng.integers(0, 2, 300), rng.random(300), rng.lognormal(2, 2, 300)
    costs = {"fp_cost": 3.0, "fn_cost": amount}
    decided = p * amount > (1 - p) * 3
    assert cost_at_capacity(y, p, at_most=300, **costs) == pytest.approx(expected_cost(y, decided, **costs))
    everyone = cost_by_capacity(y, p, by="score", **costs)
    assert everyone.cost[-1] == pytest.approx(expected_cost(y, np.ones(300, dtype=bool), **costs))
    assert everyone.cost[0] == pytest.approx(expected_cost(y, np.zeros(300, dtype=bool), **costs))
    assert everyone.flagged[-1] == pytest.approx(1)
    assert everyone.found[-1] == pytest.approx(1)


@pytest.mark.parametrize("weighted", [False, True])
def test_small_costs_keep_their_digits_beside_large_ones(weighted):
    """One row costs 1e15 times the others: at every limit beyond it the curve still has all digits of the others."""
    y, p = np.array([1, 1, 0, 0, 1, 0]), np.array([0.99, 0.8, 0.7, 0.6, 0.5, 0.1])
    costs = {"fp_cost": 1e-3, "fn_cost": np.array([1e15, 0.7, 0.1, 0.1, 0.3, 0.1])}
    weight = np.ones(6) if weighted else None
    curve = cost_by_capacity(y, p, by="score", sample_weight=weight, **costs)
    for limit in range(7):
        at = cost_at_capacity(y, p, by="score", at_most=limit, sample_weight=weight, **costs)
        assert curve.at(limit) == pytest.approx(at, rel=1e-14)


def test_lift_is_recall_over_the_share_that_is_flagged():
    y, score = [1, 0, 0, 1, 0, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    assert recall_at(y, score, at_most_share=0.5) == 1.0
    assert lift(y, score, at_most_share=0.5) == 2.0
    assert lift(y, score, at_most=8) == 1.0


def test_an_interval_of_a_capacity_cost():
    rng = np.random.default_rng(1)
    p = rng.random(400) ** 3
    y = rng.random(400) < p
    found = metric_interval(cost_at_capacity, y, p, at_most_share=0.1, fp_cost=1, fn_cost=10, draws=100)
    assert found.low < found.value < found.high


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "give one of at_most and at_most_share, got none"),
        ({"at_most": 1, "at_most_share": 0.1}, "got both"),
        ({"at_most": -1}, "at_most must not be negative, got -1"),
        ({"at_most_share": 1.5}, "at_most_share must lie between 0 and 1, got 1.5"),
        ({"at_most": "many"}, "at_most must be a finite number"),
        ({"at_most": 1, "y_score": [0.1, 0.2, 1.5]}, "must hold probabilities"),
        ({"at_most": 1, "by": "rank"}, "by must be one of"),
        ({"at_most": 1, "per": ["a", "b"]}, "one group for each of 3 rows"),
        ({"at_most": 1, "per": [1, "a", None]}, "of one type"),
        ({"at_most": 1, "per": [1, 1, 2], "sample_weight": [1, 1, 2]}, "together are not supported"),
    ],
)
def test_bad_input_gets_a_sentence(change, words):
    with pytest.raises((CostError, ValueError), match=words):
        cost_at_capacity(**{"y_true": [0, 1, 0], "y_score": [0.1, 0.2, 0.5], **change})


def test_no_positives_and_no_limit():
    with pytest.raises(CostError, match="no positive row"):
        recall_at([0, 0], [0.1, 0.2], at_most=1)
    with pytest.raises(CostError, match="no lift"):
        lift([0, 1], [0.1, 0.2], at_most=0)
