"""UnevenCascadeClassifier: exits, features, what it costs, and that its alphas follow the costs."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import uneven
from uneven import UnevenAdaBoostClassifier, UnevenCascadeClassifier
from uneven.errors import UnevenError
from uneven.learners.cascade_training import Bill


def rare(n: int, seed: int = 0, d: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """3 % positives; the first column tells most negatives, the others together tell the rest."""
    random = np.random.default_rng(seed)
    y = (random.random(n) < 0.03).astype(int)
    X = random.normal(size=(n, d))
    X[:, 0] += 2.5 * y
    X[:, 1:12] += 0.9 * y[:, None]
    return X, y


@pytest.fixture(scope="module")
def model() -> UnevenCascadeClassifier:
    X, y = rare(12_000)
    return UnevenCascadeClassifier(fn_cost=30, feature_price=0.01, n_estimators=63).fit(X, y)


def test_exits(model: UnevenCascadeClassifier) -> None:
    """A row stops at the first stage whose score is not positive, and only rows that pass all are positive."""
    X, _ = rare(3000, seed=1)
    stages, count = model._stages, model.n_stages_
    scores, last = stages.run(X)
    slow = np.zeros(len(X))
    alive = np.ones(len(X), bool)
    begin = 0
    for k, end in enumerate(model.stage_ends_):
        part = slow + model.stage_starts_[k]
        stages.trees.add_scores(X, part, begin, int(end))
        slow = np.where(alive, part, slow)
        np.testing.assert_allclose(scores[alive & (last == k)], slow[alive & (last == k)], rtol=1e-12)
        stopped = alive & (slow <= 0) if k + 1 < count else alive
        np.testing.assert_array_equal(last == k, stopped)
        alive, begin = alive & ~stopped, int(end)
    np.testing.assert_array_equal(model.predict(X) == 1, (last == count - 1) & (slow > 0))
    np.testing.assert_array_equal(model.decision_function(X) > 0, model.predict(X) == 1)
    assert model.predict_proba(X).min() >= 0


def test_features_that_a_row_does_not_show_do_not_matter(model: UnevenCascadeClassifier) -> None:
    """A row that stops at stage k is decided alike whatever its other columns hold."""
    X, _ = rare(500, seed=2)
    last = model._stages.run(X)[1]
    assert len(np.unique(last)) > 3
    scores = model.decision_function(X)
    for k in np.unique(last):
        seen = model._trees.part(0, model.stage_ends_[k]).columns()
        changed = np.full_like(X, 1e6)
        changed[:, seen] = X[:, seen]
        np.testing.assert_array_equal(model.decision_function(changed)[last == k], scores[last == k])
        assert (model.features_evaluated(X)[last == k] == len(seen)).all()


def test_the_report_adds_up(model: UnevenCascadeClassifier) -> None:
    X, y = rare(4000, seed=3)
    weight = np.random.default_rng(0).uniform(0.5, 2, y.size)
    report = model.report(X, y, weight)
    mistakes = uneven.metrics.expected_cost(y, model.predict(X), fn_cost=30, sample_weight=weight)
    assert report.mistake_cost == pytest.approx(mistakes)
    assert report.features == pytest.approx(np.average(model.features_evaluated(X), weights=weight))
    assert report.cost == pytest.approx(mistakes + 0.01 * report.features)
    assert report.reached[0] == pytest.approx(1)
    assert (np.diff(report.reached) <= 0).all()
    with pytest.raises(UnevenError, match="y must hold the classes"):
        model.report(X, y + 5)


def test_it_costs_no_more_than_one_boosting_and_looks_at_far_fewer_features(model: UnevenCascadeClassifier) -> None:
    X, y = rare(12_000)
    Z, truth = rare(60_000, seed=4)
    one = UnevenAdaBoostClassifier(fn_cost=30, algorithm="real", learning_rate=0.5, n_estimators=63).fit(X, y)
    single = uneven.metrics.expected_cost(truth, one.predict(Z), fn_cost=30)
    columns = np.unique(one.tree_features_).size
    report = model.report(Z, truth)
    assert report.mistake_cost < 1.1 * single
    assert report.features < columns / 3
    assert report.cost < single + 0.01 * columns
    assert model.stage_alphas_[-1] == pytest.approx(1 / 31)
    assert (model.stage_alphas_[:-1] < 1 / 31).all()


def test_a_higher_price_buys_fewer_features() -> None:
    X, y = rare(8000)
    seen = [
        UnevenCascadeClassifier(fn_cost=30, feature_price=price, n_estimators=31).fit(X, y).report(X, y).features
        for price in (0.0, 0.05, 1.0)
    ]
    assert seen[0] > 1.5 * seen[1] > seen[2]


def test_the_odds_are_where_rejecting_and_passing_cost_the_same() -> None:
    """v_- / (c_FN - v_+), checked against all thresholds on a finite world with known costs to come."""
    fn, v = 10.0, {0: 0.3, 1: 2.0}  # from here on a negative costs 0.3 and a positive 2
    eta = np.linspace(0, 1, 2001)
    passing, rejecting = eta * v[1] + (1 - eta) * v[0], eta * fn
    odds = v[0] / (fn - v[1])
    np.testing.assert_array_equal(passing < rejecting, eta / np.maximum(1 - eta, 1e-300) > odds)
    bill = Bill(1.0, fn, 0.1)
    columns, last = np.array([2, 5]), np.array([0, 1, 1])
    assert bill.of(columns, last, np.array([False, True, False]), np.array([1, 0, 0])).tolist() == [10.2, 1.5, 0.5]


def test_laws_of_units_labels_and_weights() -> None:
    X, y = rare(3000)
    plain = UnevenCascadeClassifier(fn_cost=20, feature_price=0.02, n_estimators=15).fit(X, y)
    cents = clone(plain).set_params(fp_cost=100, fn_cost=2000, feature_price=2).fit(X, y)
    np.testing.assert_allclose(cents.decision_function(X), plain.decision_function(X), rtol=1e-6, atol=1e-8)
    assert cents.report(X, y).cost == pytest.approx(100 * plain.report(X, y).cost)
    words = clone(plain).set_params(pos_label="face").fit(X, np.where(y == 1, "face", "wall"))
    np.testing.assert_array_equal(words.predict(X) == "face", plain.predict(X) == 1)
    np.testing.assert_array_equal(words.decision_function(X), -plain.decision_function(X))
    weight = np.random.default_rng(0).integers(0, 3, y.size).astype(float)
    dropped = clone(plain).fit(X[weight > 0], y[weight > 0], weight[weight > 0])
    np.testing.assert_array_equal(clone(plain).fit(X, y, weight).decision_function(X), dropped.decision_function(X))


def test_other_costs_at_predict(model: UnevenCascadeClassifier) -> None:
    X, _ = rare(5000, seed=6)
    probability = model.predict_proba(X)[:, 1]
    for ratio in (1, 300):
        np.testing.assert_array_equal(model.predict(X, fn_cost=ratio) == 1, probability > 1 / (1 + ratio))
    np.testing.assert_array_equal(model.predict(X, fn_cost=30), model.predict(X))


def test_data_that_one_stage_tells_apart_need_no_more() -> None:
    random = np.random.default_rng(0)
    y = np.tile([0, 0, 0, 1], 50)
    X = np.column_stack([y + 0.1 * random.normal(size=200), random.normal(size=200)])
    model = UnevenCascadeClassifier(fn_cost=5, n_estimators=31).fit(X, y)
    assert model.n_stages_ == 1
    np.testing.assert_array_equal(model.predict(X), y)
