"""Logistic regression in the three usual ways is scikit-learn's, and its decisions follow from its probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier

from uneven.app.models.apply_model import decide_rows
from uneven.app.models.candidates import MOVED, PLAIN, WEIGHTED, LogisticRule
from uneven.costs import RowCosts

WAYS = (PLAIN, WEIGHTED, MOVED)


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(1)
    X = random.normal(size=(300, 3))
    return X, (X[:, 0] + random.logistic(size=300) > 1).astype(int)


@pytest.mark.parametrize("way", WAYS)
def test_predictions_are_those_of_scikit_learn(way: str, data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    ours = LogisticRule(way, 2.0, 7.0).fit(X, y)
    plain = LogisticRegression(max_iter=2000)
    theirs = {
        PLAIN: plain,
        WEIGHTED: LogisticRegression(max_iter=2000, class_weight={0: 1.0, 1: 3.5}),
        MOVED: FixedThresholdClassifier(plain, threshold=2 / 9, response_method="predict_proba"),
    }[way].fit(X, y)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    assert 0 < ours.predict(X).sum() < y.size


@pytest.mark.parametrize("way", WAYS)
def test_a_row_is_flagged_where_its_probability_is_above_the_threshold(
    way: str, data: tuple[np.ndarray, np.ndarray]
) -> None:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = data
    pipeline = make_pipeline(StandardScaler(), LogisticRule(way, 2.0, 7.0)).fit(X, y)
    same = RowCosts.read(300, fp_cost=2, fn_cost=7)
    each = RowCosts.read(300, fp_cost=2, fn_cost=np.linspace(0.5, 30, 300))
    for costs, told in ((same, False), (same, True), (each, True)):
        found = decide_rows(pipeline, X, costs, told=told)
        assert found.probability is not None
        assert np.array_equal(found.said_positive, found.probability > found.threshold)
        assert np.array_equal(found.said_positive, found.score > 0)
    if way == MOVED:
        assert np.array_equal(found.said_positive, each.prefers_positive(found.probability))


def test_where_both_mistakes_pay_the_sign_turns(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    rule = LogisticRule(MOVED).fit(X, y)
    costs = {"fp_cost": np.full(300, -1.0), "fn_cost": np.where(np.arange(300) % 2, -2.0, 3.0)}
    said = rule.predict(X, **costs)
    p = rule.predict_proba(X)[:, 1]
    assert np.array_equal(said == 1, RowCosts.read(300, **costs).prefers_positive(p))
    assert said[::2].all()


def test_empty_columns_of_a_sparse_matrix_change_nothing(data: tuple[np.ndarray, np.ndarray]) -> None:
    from scipy.sparse import csr_matrix

    X, y = data
    wide = np.zeros((300, 50))
    wide[:, [3, 20, 41]] = X
    ours = LogisticRule(MOVED, 1.0, 3.0).fit(csr_matrix(wide), y)
    assert ours.model_.coef_.shape == (1, 3)
    wide[:, 7] = 1.0  # a word that is new
    assert np.allclose(ours.predict_proba(csr_matrix(wide)), LogisticRule(PLAIN).fit(X, y).predict_proba(X))
