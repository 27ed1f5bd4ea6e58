"""UnevenCascadeClassifier: exits, features, what it costs, and how close to the cheapest exits it comes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone

import uneven
from uneven import UnevenAdaBoostClassifier, UnevenCascadeClassifier
from uneven.errors import UnevenError
from uneven.learners.cascade_exits import Bill, StagedRows, cheapest_exits, try_exits


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


@pytest.mark.slow
def test_exits(model: UnevenCascadeClassifier) -> None:
    """A row leaves at the first stage whose exits it is beyond, with the score that it has there."""
    X, _ = rare(3000, seed=1)
    scores, last = model._stages.run(X)
    slow, alive, begin = np.full(len(X), model.init_score_), np.ones(len(X), bool), 0
    for k, (end, (low, high)) in enumerate(zip(model.stage_ends_, model.stage_exits_, strict=True)):
        assert low <= 0 <= high
        model._trees.add_scores(X, slow, begin, int(end))
        leaving = alive & ((slow <= low) | (slow > high))
        np.testing.assert_array_equal(last == k, leaving)
        np.testing.assert_allclose(scores[leaving], slow[leaving], rtol=1e-12)
        alive, begin = alive & ~leaving, int(end)
    assert not alive.any()
    np.testing.assert_array_equal(model.predict(X) == 1, scores > 0)
    probability = model.predict_proba(X)[:, 1]
    for k, (least, most) in enumerate(model.stage_alphas_):
        assert ((probability[last == k] <= least + 1e-12) | (probability[last == k] > most - 1e-12)).all()


def test_without_a_price_it_is_one_boosting() -> None:
    X, y = rare(3000)
    how = {"fn_cost": 30, "algorithm": "real", "learning_rate": 0.5, "n_estimators": 20, "margin_gamma": 2}
    one, cascade = UnevenAdaBoostClassifier(**how).fit(X, y), UnevenCascadeClassifier(**how).fit(X, y)
    np.testing.assert_array_equal(cascade.decision_function(X), one.decision_function(X))
    assert (cascade.features_evaluated(X) == np.unique(one.tree_features_).size).all()
    report = cascade.report(X, y)
    assert (report.mistake_cost, report.features) == (report.full_mistake_cost, report.full_features)
    assert report.feature_cost == 0


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
    full = np.full(len(X), model.init_score_)
    model._trees.add_scores(X, full)
    truth = uneven.metrics.expected_cost(y, (full > 0).astype(int), fn_cost=30, sample_weight=weight)
    assert (report.full_mistake_cost, report.full_features) == pytest.approx((truth, model.stage_features_[-1]))
    with pytest.raises(UnevenError, match="y must hold the classes"):
        model.report(X, y + 5)


def test_it_is_cheaper_than_one_boosting_and_looks_at_far_fewer_features(model: UnevenCascadeClassifier) -> None:
    Z, truth = rare(60_000, seed=4)
    report = model.report(Z, truth)
    assert report.features < report.full_features / 3
    assert report.cost < 0.6 * (report.full_mistake_cost + 0.01 * report.full_features)
    assert report.mistake_cost < 1.2 * report.full_mistake_cost
    np.testing.assert_allclose(model.stage_alphas_[-1], 1 / 31)
    assert (model.stage_alphas_[:, 0] < 1 / 31 + 1e-9).all()
    assert (model.stage_alphas_[:, 1] > 1 / 31 - 1e-9).all()
    told = model.out_of_fold_report_  # trees of four fifths of the rows, which cost more
    assert told.features == pytest.approx(report.features, rel=0.1)
    assert told.mistake_cost / told.full_mistake_cost == pytest.approx(1.1, abs=0.1)


@pytest.mark.slow
def test_a_price_that_is_chosen_hardly_raises_the_cost_of_mistakes() -> None:
    X, y = rare(6000)
    Z, truth = rare(60_000, seed=4)
    cascade = UnevenCascadeClassifier(fn_cost=30, feature_price="auto", n_estimators=40).fit(X, y)
    told = cascade.out_of_fold_report_
    assert told.mistake_cost <= told.full_mistake_cost
    assert cascade.feature_price_ > 0
    report = cascade.report(Z, truth)
    assert report.mistake_cost < 1.1 * report.full_mistake_cost
    assert report.features < report.full_features / 1.5
    careless = clone(cascade).set_params(max_rise=0.5).fit(X, y)
    assert careless.feature_price_ > cascade.feature_price_
    assert careless.report(Z, truth).features < report.features


@pytest.mark.slow
def test_a_higher_price_buys_fewer_features() -> None:
    X, y = rare(4000)
    made = [
        UnevenCascadeClassifier(fn_cost=30, feature_price=price, n_estimators=31).fit(X, y) for price in (0, 0.05, 1e3)
    ]
    seen = [model.report(X, y).features for model in made]
    assert seen[0] > 1.5 * seen[1] > 1.5 * seen[2]
    assert (made[2].features_evaluated(X) == 1).all()  # nothing is worth a second look


def walks(n: int, seed: int) -> StagedRows:
    """Scores that wander, and outcomes whose probability is known from the last of them; one column per stage."""
    random = np.random.default_rng(seed)
    scores = -1 + np.cumsum(random.normal(size=(n, 8)) * SIZES, axis=1)
    y = (random.random(n) < expit(scores[:, -1] - np.log(FN))).astype(np.int8)  # the last score is 0 at alpha
    return StagedRows(scores, y, np.ones(n), np.arange(n) % 4, np.tile(np.arange(1, 9), (4, 1)))


SIZES = np.array([2.0, 1.5, 1, 1, 1, 0.7, 0.7, 0.7])
FN = 20.0


def least_cost(price: float) -> float:
    """The expected bill of a row under the best exits of all, by dynamic programming on a fine grid."""
    grid = np.linspace(-16, 16, 1601)
    eta = expit(grid - np.log(FN))
    value = np.minimum(FN * eta, 1 - eta) + 8 * price
    for k in range(7, 0, -1):
        kernel = np.exp(-0.5 * ((grid[:, None] - grid) / SIZES[k]) ** 2)
        kernel /= kernel.sum(axis=1, keepdims=True)
        eta = kernel @ eta
        value = np.minimum(np.minimum(FN * eta, 1 - eta) + k * price, kernel @ value)
    first = np.exp(-0.5 * ((grid + 1) / SIZES[0]) ** 2)
    return float(first @ value / first.sum())


@pytest.mark.parametrize("price", [0.003, 0.02, 0.1])
def test_exits_are_nearly_the_best_of_all(price: float) -> None:
    bill = Bill(1.0, FN, price)
    exits = cheapest_exits(walks(4000, 0), bill)
    new = walks(400_000, 1)
    last = exits.last_stages(new.scores)
    said = new.scores[np.arange(last.size), last] > 0
    paid = bill.mistakes(said, new.y) + price * (last + 1)
    error = paid.std() / paid.size**0.5
    best = least_cost(price)
    assert best - 4 * error < paid.mean() < 1.07 * best + 4 * error
    one = (bill.mistakes(new.scores[:, -1] > 0, new.y) + price * 8).mean()
    assert paid.mean() - best < 0.5 * (one - best) + 4 * error  # most of what exits can save is saved


def test_exits_are_tried_on_folds_that_they_were_not_chosen_on() -> None:
    """The outcomes of a fold have no say in where its rows leave."""
    rows, bill = walks(800, 0), Bill(1.0, FN, 0.02)
    turned = StagedRows(rows.scores, np.where(rows.fold == 2, 1 - rows.y, rows.y), rows.weight, rows.fold, rows.columns)
    for before, after in zip(try_exits(rows, bill), try_exits(turned, bill), strict=True):
        np.testing.assert_array_equal(before[rows.fold == 2], after[rows.fold == 2])
        assert (before != after).any()


@pytest.mark.slow
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


def test_data_that_one_column_tells_apart_need_no_more() -> None:
    random = np.random.default_rng(0)
    y = np.tile([0, 0, 0, 1], 50)
    X = np.column_stack([y + 0.1 * random.normal(size=200), random.normal(size=200)])
    model = UnevenCascadeClassifier(fn_cost=5, feature_price=0.01, n_estimators=31).fit(X, y)
    assert (model.features_evaluated(X) == 1).all()
    np.testing.assert_array_equal(model.predict(X), y)


def test_a_table_without_any_split() -> None:
    y = np.tile([0, 0, 0, 1], 10)
    model = UnevenCascadeClassifier(feature_price=0.1, cv=2).fit(np.ones((40, 2)), y)
    assert model.features_evaluated(np.ones((3, 2))).tolist() == [0, 0, 0]
    assert model.predict_proba(np.ones((1, 2)))[0, 1] == pytest.approx(0.25)
