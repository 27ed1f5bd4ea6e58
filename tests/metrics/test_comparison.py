"""Classifiers on the same folds, and the interval of their cost."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
import sklearn
from cost_stubs import ByCosts, Plain
from row_costs import sample
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import uneven
from uneven.costs import RowCosts
from uneven.errors import CostError
from uneven.metrics import compare, compare_predictions, expected_cost
from uneven.metrics.intervals import interval_of_outcomes, outcome_cells

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
    assert (rows[0].cost, rows[0].false_positives, rows[0].false_negatives) == (30 / 40, 30, 0)
    assert (rows[1].cost, rows[1].false_positives, rows[1].false_negatives) == (90 / 40, 0, 10)
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
    (rolled,) = compare_predictions(Y, {"rolled": said.astype(int)}, fp_cost=1, fn_cost=9)
    assert rolled.cost == found.mean()
    assert costs.paid(Y == 1, Y == 0).tolist() == [1] * 30 + [9] * 10


class Remembers(ByCosts):
    """Keeps the costs of every fit in a list that copies share."""

    seen: ClassVar[list[dict[str, Any]]] = []

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **costs: Any) -> Remembers:
        super().fit(X, y, **costs)
        self.seen.append({"rows": np.asarray(X)[:, 1].astype(int), **costs})
        return self

    fit.__signature__ = inspect.signature(ByCosts.fit)  # type: ignore[attr-defined]


@pytest.mark.slow
def test_costs_of_rows_reach_fit_and_predict_of_the_models_that_take_them() -> None:
    rows = sample(70, 60)
    X = np.stack([rows.probability, np.arange(60)], axis=1)
    same = FunctionTransformer()
    by_alpha = RowCosts.read(60, **rows.costs).prefers_positive(rows.probability).astype(int)
    at_half = (rows.probability > 0.5).astype(int)
    Remembers.seen.clear()
    models = {
        "takes": Remembers(),
        "pipeline": make_pipeline(same, make_pipeline(same, Remembers())),
        "search": GridSearchCV(make_pipeline(same, Remembers()), {}, cv=2),
        "not": Plain(),
        "tuned": FixedThresholdClassifier(Remembers(), threshold=0.51),
    }
    found = compare(models, X, rows.y, sample_weight=rows.weight, **rows.costs)
    cheap, dear = (expected_cost(rows.y, said, sample_weight=rows.weight, **rows.costs) for said in (by_alpha, at_half))
    assert [row.cost for row in found] == pytest.approx([cheap, cheap, cheap, dear, dear])
    assert [row.difference for row in found[1:]] == pytest.approx([0, 0, dear - cheap, dear - cheap], abs=1e-12)
    assert found[0].difference is None
    assert sum(len(fit) > 1 for fit in Remembers.seen) == 10 + 10 + 10 * 3  # not where a threshold was set from outside
    for fit in (fit for fit in Remembers.seen if len(fit) > 1):
        for name, cost in rows.costs.items():
            assert np.array_equal(fit[name], cost[fit["rows"]])
    Remembers.seen.clear()
    plain = compare(models, X, rows.y, decide="predict", **rows.costs)
    assert {row.cost for row in plain} == {plain[-1].cost}
    alpha = compare({"not": Plain()}, X, rows.y, decide="alpha", **rows.costs)
    assert alpha[0].cost == pytest.approx(expected_cost(rows.y, by_alpha, **rows.costs))
    Remembers.seen.clear()
    compare({"takes": Remembers()}, X, rows.y, fp_cost=1, fn_cost=3)
    assert all(set(fit) == {"rows"} for fit in Remembers.seen)  # numbers are not passed


def test_costs_of_rows_follow_the_requests_if_routing_is_on() -> None:
    rows = sample(71, 60)
    X = np.stack([rows.probability, np.arange(60)], axis=1)
    with sklearn.config_context(enable_metadata_routing=True):
        asks = ByCosts().set_fit_request(fp_cost=True, fn_cost=True, tp_cost=True, tn_cost=True)
        models = {"asks": make_pipeline(FunctionTransformer(), asks), "plain": make_pipeline(Plain())}
        found = compare(models, X, rows.y, **rows.costs)
    assert found[0].cost < found[1].cost


def test_differences_are_paired() -> None:
    rows = sample(72, 400)
    other = np.where(np.arange(400) % 20 == 0, 1 - rows.guess, rows.guess)
    given = {"sample_weight": rows.weight, **rows.costs}
    ours, theirs = compare_predictions(rows.y, {"ours": rows.guess, "theirs": other}, **given)
    costs = [expected_cost(rows.y, said, **given) for said in (rows.guess, other)]
    assert [ours.cost, theirs.cost] == pytest.approx(costs)
    assert theirs.difference == pytest.approx(costs[1] - costs[0])
    assert theirs.difference_low < theirs.difference < theirs.difference_high
    unpaired = np.hypot(ours.high - ours.low, theirs.high - theirs.low)
    assert theirs.difference_high - theirs.difference_low < unpaired  # also if one row costs 3 times the next
    first, second = compare_predictions(rows.y, {"ours": rows.guess, "theirs": other}, fn_cost=20)
    assert second.difference_high - second.difference_low < 0.5 * (first.high - first.low)
    same, again = compare_predictions(rows.y, {"a": other, "b": other}, **given)
    assert again.difference == 0.0
    assert (same.cost, same.low, same.high) == (again.cost, again.low, again.high)
    with pytest.raises(CostError, match=r"y_true and predictions\['a'\] must have the same length, got 400 and 1"):
        compare_predictions(rows.y, {"a": [1]})
    with pytest.raises(CostError, match="at least one classifier"):
        compare_predictions(rows.y, {})


def test_the_unit_of_the_costs_scales_the_intervals() -> None:
    rows = sample(73, 300)
    both = {"ours": rows.guess, "theirs": np.roll(rows.guess, 1)}
    plain = compare_predictions(rows.y, both, **rows.costs)
    scaled = compare_predictions(rows.y, both, **{name: 8.0 * cost for name, cost in rows.costs.items()})
    for a, b in zip(plain, scaled, strict=True):
        assert (8 * a.cost, 8 * a.low, 8 * a.high) == pytest.approx((b.cost, b.low, b.high))
    assert 8 * plain[1].difference_high == pytest.approx(scaled[1].difference_high)


def test_intervals_of_folds_also_hold_what_varies_with_the_training_rows() -> None:
    """As wide as if fewer rows had been tested: the factor of Nadeau and Bengio for the variance."""
    X = np.stack([np.random.default_rng(0).uniform(size=40)], axis=1)
    half, low = compare({"half": Plain(), "low": Plain(0.2)}, X, Y, fn_cost=9, folds=5, repeats=3)
    costs = RowCosts.read(40, fp_cost=1, fn_cost=9)
    said = {t: np.tile(X[:, 0] > t, (3, 1)) for t in (0.5, 0.2)}
    worth = 1 / (1 / 3 + 40 / 32)
    for estimate, decided in ((half, said[0.5]), (low, said[0.2])):
        interval = interval_of_outcomes(outcome_cells(costs, Y == 1, decided), worth=worth)
        assert (estimate.low, estimate.high) == (interval.low, interval.high)
    fitted, also_fitted = compare_predictions(Y, {t: part[0].astype(int) for t, part in said.items()}, fn_cost=9)
    assert low.difference == pytest.approx(also_fitted.difference)
    assert low.difference_low < also_fitted.difference_low < also_fitted.difference_high < low.difference_high
    assert 1.1 < (half.high - half.low) / (fitted.high - fitted.low) < 1 / worth
    with pytest.raises(CostError, match="decide must be one of"):
        compare({"half": Plain()}, X, Y, decide="often")


def test_a_constant_rule_learns_nothing_from_the_folds() -> None:
    never = DummyClassifier(strategy="most_frequent")
    (folds,) = compare({"never": never}, np.zeros((40, 1)), Y, fn_cost=9, rules=["never"])
    (fitted,) = compare_predictions(Y, {"never": np.zeros(40, dtype=int)}, fn_cost=9, rules=["never"])
    assert (folds.low, folds.high) == (fitted.low, fitted.high)


def test_classifiers_that_always_agreed_may_differ_on_new_rows() -> None:
    """A difference of exactly 0 was shown with an interval from 0 to 0."""
    said = np.array([0] * 28 + [1] * 12)
    _, same = compare_predictions(Y, {"a": said, "b": said}, fn_cost=9)
    assert same.difference == 0
    assert same.difference_low == pytest.approx(-same.difference_high)
    assert same.difference_high > 3 * 9 / 40
