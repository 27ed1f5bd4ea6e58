"""Classifiers on the same folds, and the interval of their cost."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

import uneven
from uneven.costs import RowCosts
from uneven.errors import CostError
from uneven.metrics import compare, expected_cost
from uneven.metrics.comparison import constant_costs, estimated_cost
from uneven.metrics.intervals import bootstrap_interval

COST = uneven.Cost(fp_cost=1, fn_cost=9)
Y = np.array([0] * 30 + [1] * 10)


def test_costs_are_compared_on_the_same_folds() -> None:
    X = np.zeros((40, 1))
    models = {
        "always": DummyClassifier(strategy="constant", constant=1),
        "never": DummyClassifier(strategy="most_frequent"),
    }
    shares: list[float] = []
    rows = compare(models, X, Y, fp_cost=1, fn_cost=9, progress=lambda _, share: shares.append(share))
    assert shares == pytest.approx(np.arange(10) / 10)
    never, always = constant_costs(Y == 1, COST)
    assert (rows[0].cost, rows[0].false_positives, rows[0].false_negatives) == (always.cost, 30, 0)
    assert (rows[1].cost, rows[1].false_positives, rows[1].false_negatives) == (never.cost, 0, 10)
    assert rows[0].low <= rows[0].cost <= rows[0].high
    assert rows[0].to_dict()["name"] == "always"
    with pytest.raises(CostError, match="two examples of each class"):
        compare(models, X, np.array([0] * 39 + [1]), fp_cost=1, fn_cost=9)


def test_labels_and_tables_of_any_kind() -> None:
    random = np.random.default_rng(1)
    y = (random.uniform(size=60) < 0.4).astype(int)
    X = random.normal(size=(60, 3)) + y[:, None]
    models = {"logistic": LogisticRegression()}
    (plain,) = compare(models, X, y, fn_cost=5)
    words = np.where(y == 1, "bad", "good")
    for table in (pd.DataFrame(X, index=np.arange(60)[::-1]), sparse.csr_array(X)):
        assert compare(models, table, words, fn_cost=5, pos_label="bad") == [plain]
    with pytest.raises(CostError, match="pos_label must say which"):
        compare(models, X, words, fn_cost=5)


def test_a_mean_of_costs_per_example_is_the_expected_cost() -> None:
    said = np.roll(Y, 3) == 1
    costs = RowCosts.of(COST, Y.size)
    found = costs.paid(Y == 1, said)
    assert set(found) == {0.0, 1.0, 9.0}
    assert found.mean() == pytest.approx(expected_cost(Y, said.astype(int), fp_cost=1, fn_cost=9))
    assert estimated_cost("rolled", COST, Y == 1, said).cost == found.mean()
    assert costs.paid(Y == 1, Y == 0).tolist() == [1] * 30 + [9] * 10


def test_the_interval_is_that_of_drawn_examples() -> None:
    random = np.random.default_rng(5)
    for values in (random.choice([0.0, 1.0, 20.0], 500, p=[0.9, 0.07, 0.03]), random.lognormal(size=300)):
        drawn = values[random.integers(0, values.size, (20_000, values.size))].mean(axis=1)
        assert bootstrap_interval(values) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), rel=0.05)


def test_a_million_examples_need_little_memory() -> None:
    values = np.where(np.arange(1_000_000) % 50 == 0, 20.0, 0.0)
    tracemalloc.start()
    low, high = bootstrap_interval(values)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert low < 0.4 < high
    assert high - low < 0.02
    assert peak < 100e6
