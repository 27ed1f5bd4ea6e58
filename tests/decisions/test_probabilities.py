"""A probability is a probability: costs do not move it, and money that is said agrees with what happens."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

import uneven
from uneven.costs import RowCosts
from uneven.decisions.correction import CorrectedOdds
from uneven.decisions.correction_methods import METHODS
from uneven.decisions.out_of_fold_rows import OutOfFoldRows
from uneven.decisions.scored_rows import compress, decompress, log_odds_of

MEMBERS = {"bayes": GaussianNB(), "forest": RandomForestClassifier(10, random_state=0)}


def deciders(**params: Any) -> dict[str, Any]:
    """Both classifiers that find probabilities first."""
    return {
        "ensemble": uneven.UnevenEnsembleClassifier(members=MEMBERS, **params),
        "threshold": uneven.UnevenThresholdClassifierCV(GaussianNB(), **params),
    }


def rows(count: int, seed: int = 0, rate: float = -2.0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(count, 4))
    log_odds = rate + X @ np.array([1.5, -1.0, 0.5, 0.0]) + 0.7 * (X[:, 0] * X[:, 1])
    return X, (random.random(count) < 1 / (1 + np.exp(-log_odds))).astype(int)


@pytest.mark.slow
@pytest.mark.parametrize("name", deciders())
@pytest.mark.parametrize("method", METHODS)
def test_costs_move_the_threshold_and_nothing_else(name: str, method: str) -> None:
    X, y = rows(400)
    models = [deciders(fp_cost=1, fn_cost=cost, method=method)[name].fit(X, y) for cost in (1, 10, 50, 500)]
    first, *others = (model.predict_proba(X) for model in models)
    for other in others:
        np.testing.assert_array_equal(other, first)
    np.testing.assert_array_equal(models[0].predict_proba(X, fn_cost=500), first)
    cuts = [model.threshold_ for model in models]
    assert cuts == sorted(cuts, reverse=True)
    for model in models:
        np.testing.assert_array_equal(model.predict(X), (first[:, 1] > model.threshold_).astype(int))
        np.testing.assert_array_equal(model.predict(X), (model.decision_function(X) > 0).astype(int))


@pytest.mark.parametrize("name", deciders())
@pytest.mark.parametrize("fn_cost", [1e-12, 1e-3, 1, 7, 1e3, 1e12])
def test_predict_is_the_probability_above_the_threshold_exactly(name: str, fn_cost: float) -> None:
    """Also for forests, which often say the threshold itself, and 0 and 1; and for either class as the positive one."""
    X, y = rows(300)
    for positive in (1, 0):
        model = deciders(fp_cost=1, fn_cost=fn_cost, pos_label=positive)[name].fit(X, y)
        probability = model.predict_proba(X)[:, positive]
        said = np.where(probability > model.threshold_, positive, 1 - positive)
        np.testing.assert_array_equal(model.predict(X), said)
        per_row = RowCosts.read(y.size, fp_cost=1, fn_cost=fn_cost * (1 + np.arange(y.size) % 3))
        said = np.where(probability > model.thresholds(per_row), positive, 1 - positive)
        np.testing.assert_array_equal(model.predict(X, fn_cost=per_row.fn_cost), said)


@pytest.mark.slow
def test_thresholds_before_and_after_a_map_mean_the_same() -> None:
    random = np.random.default_rng(0)
    probability = random.beta(0.4, 2.0, 5000)
    truth = random.random(5000) < probability**1.3
    found = OutOfFoldRows(probability, truth, np.ones(5000))
    for cost in (1e-9, 0.5, 30.0, 1e9):
        costs = RowCosts.read(5000, fp_cost=1, fn_cost=cost)
        for method in METHODS:
            odds: CorrectedOdds = found.find_correction(costs, method, 4)
            above = log_odds_of(probability) > odds.thresholds(costs)
            np.testing.assert_array_equal(above, odds.decision(probability, costs) > 0, err_msg=f"{method} {cost}")


@pytest.mark.parametrize("limits", [(-5.0, 5.0), (-1e-3, 700.0), (-np.inf, np.inf)])
def test_compressed_log_odds_come_back(limits: tuple[float, float]) -> None:
    log_odds = np.concatenate([np.linspace(-745, 745, 401), [-np.inf, np.inf]])
    back = decompress(compress(log_odds, limits), limits)
    np.testing.assert_allclose(back, log_odds, rtol=1e-12)
    assert (np.diff(compress(log_odds[:401], limits)) > 0).all()


def test_few_rows_leave_probabilities_nearly_alone() -> None:
    """The slope has a prior: with 20 rows it is near 1, with many it is what the rows say."""
    random = np.random.default_rng(1)
    log_odds = random.normal(size=20_000) * 2
    truth = random.random(20_000) < 1 / (1 + np.exp(-log_odds / 2))  # twice too sure
    raw = 1 / (1 + np.exp(-log_odds))
    ends = np.array([-3.0, 3.0])
    few, many = (
        np.diff(OutOfFoldRows(raw[:n], truth[:n], np.ones(n)).find_calibration().correction.log_odds(ends)).item() / 6
        for n in (20, 20_000)
    )
    assert many == pytest.approx(0.5, abs=0.02)
    assert many < few < 1.1


def test_many_rows_bend_the_line() -> None:
    """A model too careful with its surest rows: each tenth of the rows then has the probability it should have."""
    random = np.random.default_rng(2)
    log_odds = random.normal(-3, 2, size=60_000)
    true = np.where(log_odds < -3, 3 * log_odds + 6, log_odds)  # far below, the truth is rarer than the model says
    truth = random.random(log_odds.size) < 1 / (1 + np.exp(-true))
    learnt, new = slice(0, 40_000), slice(40_000, None)
    raw = 1 / (1 + np.exp(-log_odds))
    found = OutOfFoldRows(raw[learnt], truth[learnt], np.ones(40_000)).find_calibration()
    said, right = found.probability(raw[new]), 1 / (1 + np.exp(-true[new]))
    for tenth in np.array_split(np.argsort(log_odds[new]), 10):
        mean = right[tenth].mean()
        assert abs(said[tenth].mean() - mean) < 3 * np.sqrt(mean / 4000)  # so many rows were learnt from
    low = log_odds[new] < -3
    assert said[low].mean() == pytest.approx(right[low].mean(), rel=0.1)
    assert raw[new][low].mean() > 1.5 * right[low].mean()


@pytest.mark.parametrize("count", [50, 5_000, 30_000])
def test_the_map_to_probabilities_rises_everywhere(count: int) -> None:
    """Also beyond the rows it was found on, and for rows that log-odds separate: no two become one probability."""
    random = np.random.default_rng(3)
    for width, flip in ((0.1, 0.5), (3.0, 0.2), (30.0, 0.0)):
        log_odds = np.round(random.normal(size=count), 2) * width
        truth = (log_odds > 0) ^ (random.random(count) < flip)
        raw = 1 / (1 + np.exp(-log_odds))
        found = OutOfFoldRows(raw, truth, np.ones(count)).find_calibration()
        ladder = np.linspace(-700, 700, 2001)
        mapped = found.correction.log_odds(compress(ladder, found.limits))
        assert np.isfinite(mapped).all()
        assert (np.diff(mapped) > 0).all()


# -- money ------------------------------------------------------------------------------------------------------------


def tasks() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Twenty decisions on the real tables that come with scikit-learn."""
    X, y = load_digits(return_X_y=True)
    yield from ((f"digit {k}", X, y == k) for k in range(10))
    X, y = load_wine(return_X_y=True)
    yield from ((f"wine {k}", X, y == k) for k in range(3))
    X, y = load_iris(return_X_y=True)
    yield from ((f"iris {k}", X, y == k) for k in (1, 2))
    X, y = load_breast_cancer(return_X_y=True)
    yield from ((f"tumour {k}", X, y == k) for k in (0, 1))
    X, y = load_diabetes(return_X_y=True)
    yield from ((f"diabetes above {k}", X, y > np.quantile(y, k)) for k in (0.5, 0.75, 0.9))


@pytest.mark.slow
def test_money_that_is_said_is_money_that_is_paid() -> None:
    """Over twenty decisions the total is within a tenth; each is within the interval that `uneven predict` shows."""
    said_total = paid_total = said_none = paid_none = 0.0
    outside = []
    for name, table, truth in tasks():
        X, new, y, y_new = train_test_split(table, truth.astype(int), test_size=0.5, stratify=truth, random_state=0)
        members = {"logistic": LogisticRegression(max_iter=5000, C=0.1), "forest": RandomForestClassifier(40)}
        members["forest"].set_params(random_state=0, min_samples_leaf=2)
        model = uneven.UnevenEnsembleClassifier(fp_cost=1, fn_cost=10, members=members).fit(X / X.std(), y)
        p, flagged = model.predict_proba(new / X.std())[:, 1], model.predict(new / X.std()) == 1
        said = np.where(flagged, 1 - p, 10 * p).sum()
        paid = np.where(flagged, y_new == 0, 10 * y_new).sum()
        spread = np.sqrt(np.sum(p * (1 - p) * np.where(flagged, 1.0, 10.0) ** 2))
        if abs(said - paid) > 1.96 * spread:
            outside.append((name, said, paid))
        said_total, paid_total = said_total + said, paid_total + paid
        said_none, paid_none = said_none + 10 * p.sum(), paid_none + 10 * y_new.sum()
    assert 0.9 < said_total / paid_total < 1.1
    assert 0.97 < said_none / paid_none < 1.03
    assert len(outside) <= 3, outside


@pytest.mark.slow
@pytest.mark.parametrize("name", deciders())
def test_flagging_no_one_costs_the_same_at_every_price(name: str) -> None:
    """Mean probabilities were .133, .109 and .061 at miss costs of 10, 50 and 500, at a true rate of .121."""
    X, y = rows(3000)
    new, y_new = rows(20_000, seed=1)
    for cost in (10, 50, 500):
        model = deciders(fp_cost=1, fn_cost=cost)[name].fit(X, y)
        assert model.predict_proba(new)[:, 1].mean() == pytest.approx(y_new.mean(), rel=0.08)


# -- what is kept -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", deciders())
def test_many_rows_are_kept_as_groups_unless_asked(name: str) -> None:
    X, y = rows(30_000)
    members = {"members": {"bayes": GaussianNB()}} if name == "ensemble" else {}
    whole, few = (
        deciders(fp_cost=1, fn_cost=9)[name].set_params(keep_training_rows=keep, **members).fit(X, y)
        for keep in (True, False)
    )
    hashes = len(pickle.dumps(few._seen))  # of the rows of the fit, as many in both
    assert len(pickle.dumps(few)) - hashes < 0.2 * (len(pickle.dumps(whole)) - hashes)
    np.testing.assert_array_equal(few.predict(X), whole.predict(X))
    np.testing.assert_array_equal(few.predict_proba(X), whole.predict_proba(X))
    assert few.out_of_fold_cost_ == whole.out_of_fold_cost_
    assert few.guarantee_ == whole.guarantee_ == pickle.loads(pickle.dumps(few)).guarantee_
    score = whole.decision_function(X, fn_cost=40)
    np.testing.assert_allclose(few.decision_function(X, fn_cost=40), score, atol=1e-3)
    assert few.curve_.cost.min() == pytest.approx(whole.curve_.cost.min(), rel=0.01)
    assert whole.out_of_fold_rows_.probability.size == 30_000
    for gone in ("out_of_fold_rows_", *(["out_of_fold_probability_"] if name == "threshold" else [])):
        assert not hasattr(few, gone)
        with pytest.raises(AttributeError, match="keep_training_rows=True"):
            getattr(few, gone)
    with pytest.raises(uneven.errors.ParameterError, match="keep_training_rows=True"):
        few.guarantee(0.9)
    small = deciders(fp_cost=1, fn_cost=9)[name].fit(X[:500], y[:500])
    assert small.out_of_fold_rows_.probability.size == 500


@pytest.mark.parametrize("name", deciders())
def test_no_guarantee_is_no_attribute(name: str) -> None:
    X, y = rows(200)
    model = deciders(method="affine")[name]
    assert not hasattr(model, "guarantee_")
    assert not hasattr(model.fit(X, y), "guarantee_")
    with pytest.raises(AttributeError, match="method='affine' does more than to shift"):
        _ = model.guarantee_
