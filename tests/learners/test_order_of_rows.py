"""The order of the rows does not matter: a file in the order of time, class or branch is worth as much as shuffled."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from public_estimators import ESTIMATORS, make, of_dask
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import uneven
from uneven.costs import RowCosts
from uneven.learners.ensemble.member_models import PlattScaled
from uneven.metrics import compare, expected_cost

COSTS = {"fp_cost": 1, "fn_cost": 8}
#: What a learner needs to be quick here, besides the small settings of all tests.
SMALL: dict[str, dict[str, Any]] = {
    "UnevenThresholdClassifierCV": {"estimator": DecisionTreeClassifier(min_samples_leaf=5, random_state=0)},
    "UnevenEnsembleClassifier": {"members": {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=4)}},
    "UnevenCatBoostClassifier": {"allow_writing_files": False, "verbose": 0},
    "UnevenLGBMClassifier": {"verbosity": -1},
}
LEARNERS = [learner for learner in ESTIMATORS if not of_dask(learner)]  # whose partitions know no order


def rows(count: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A branch moves all columns and the rate of positives, so that blocks of a sorted file are unlike each other."""
    random = np.random.default_rng(seed)
    branch = random.integers(0, 4, count)
    X = random.normal(size=(count, 5)) + 0.8 * branch[:, None] * np.array([1, 0, -1, 0, 0.5])
    log_odds = X @ np.array([1.0, -1.0, 0.5, 0.0, 0.0]) - 1.5
    return X, (random.random(count) < 1 / (1 + np.exp(-log_odds))).astype(int), branch


X, Y, BRANCH = rows(600, 0)
X_NEW, Y_NEW, _ = rows(4000, 1)
ORDERS = {
    "by class": np.argsort(Y, kind="stable"),
    "by branch": np.argsort(BRANCH, kind="stable"),
    "by a column": np.argsort(X[:, 0], kind="stable"),
}


def new_cost(learner: Any, order: np.ndarray) -> float:
    """What decisions on new rows cost, per row."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a short search may say that it stopped early
        model = make(learner, **COSTS, **SMALL.get(learner.__name__, {})).fit(X[order], Y[order])
    return expected_cost(Y_NEW, model.predict(X_NEW), **COSTS)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: learner.__name__)
def test_the_order_of_the_rows_does_not_matter(learner: Any) -> None:
    """New rows cost within the noise of shuffles what they cost after a sorted file."""
    random = np.random.default_rng(0)
    shuffled = [new_cost(learner, random.permutation(Y.size)) for _ in range(4)]
    noise = 3 * max(np.std(shuffled, ddof=1), 0.02 * np.mean(shuffled))
    for name, order in ORDERS.items():
        assert abs(new_cost(learner, order) - np.mean(shuffled)) <= noise, name


@pytest.mark.parametrize("order", ORDERS)
def test_what_the_ensemble_promises_is_what_it_costs(order: str) -> None:
    """Flights by month, bank customers by date: a saved model flagged no one, and its out-of-fold cost was no guide."""
    members = {"logistic": LogisticRegression(), "tree": DecisionTreeClassifier(min_samples_leaf=10, random_state=0)}
    rows_in = ORDERS[order]
    model = uneven.UnevenEnsembleClassifier(**COSTS, members=members).fit(X[rows_in], Y[rows_in])
    promised, paid = model.out_of_fold_cost_, -model.score(X_NEW, Y_NEW)
    assert promised.low < paid < promised.high
    assert model.predict(X_NEW).mean() > 0.2
    assert min(model.member_costs_.values()) < min(one.cost for one in model.constant_costs_.values())


@pytest.mark.parametrize("order", ORDERS)
def test_scores_are_scaled_on_shuffled_folds(order: str) -> None:
    """The member "svc" scales its scores on folds within its training rows."""
    sigmoid = PlattScaled(LinearSVC()).fit(X[ORDERS[order]], Y[ORDERS[order]]).sigmoid_
    other = PlattScaled(LinearSVC()).fit(X, Y).sigmoid_
    assert sigmoid.slope == pytest.approx(other.slope, rel=0.1)
    assert sigmoid.offset == pytest.approx(other.offset, abs=0.15)


def test_a_comparison_of_a_sorted_file() -> None:
    models = {"logistic": LogisticRegression(), "tree": DecisionTreeClassifier(max_depth=3)}
    plain = compare(models, X, Y, **COSTS, decide="alpha")
    for order in ORDERS.values():
        for one, other in zip(compare(models, X[order], Y[order], **COSTS, decide="alpha"), plain, strict=True):
            assert other.low < one.cost < other.high


# -- folds on request -------------------------------------------------------------------------------------------------


def drifting(count: int = 3000) -> tuple[np.ndarray, np.ndarray]:
    """The log-odds of later rows are higher: a threshold that knows them is better than one that does not."""
    random = np.random.default_rng(2)
    X = random.normal(size=(count, 2))
    log_odds = 1.5 * X[:, 0] - 3 + np.linspace(0, 3, count)
    return X, (random.random(count) < 1 / (1 + np.exp(-log_odds))).astype(int)


@pytest.mark.parametrize("method", ["gibbs", "cost"])
def test_with_a_split_by_time_nothing_comes_from_later_rows(method: str) -> None:
    """Labels of the last fold are turned: what earlier folds cost stays the same, to the last digit."""
    X, y = drifting()
    splits = TimeSeriesSplit(5)
    *_, (_, last) = splits.split(X)
    later = y.copy()
    later[last] = 1 - later[last]

    def paid(labels: np.ndarray, model: Any) -> np.ndarray:
        model.fit(X, labels)
        rows, costs = model._rows, model._row_costs  # the decisions behind out_of_fold_cost_
        fold, learnt = model._fold, model._learnt
        said = rows.decide_out_of_fold(costs, method, int(model.order), fold, learnt) > 0
        return np.asarray(said[: -last.size])

    wrapped = uneven.UnevenThresholdClassifierCV(LogisticRegression(), **COSTS, method=method, cv=splits)
    np.testing.assert_array_equal(paid(y, wrapped), paid(later, wrapped))


def test_the_ensemble_by_time_knows_no_later_rows() -> None:
    """Its out-of-fold cost is what it would have cost to fit each time on the past alone."""
    X, y = drifting()
    members = {"bayes": GaussianNB(), "logistic": LogisticRegression()}
    splits = TimeSeriesSplit(4)
    ensemble = uneven.UnevenEnsembleClassifier(**COSTS, members=members, cv=splits).fit(X, y)
    said, truth = [], []
    parts = list(splits.split(X))
    for number, (past, now) in enumerate(parts):
        each = {name: member.fit(X[past], y[past]).predict_proba(X)[:, 1] for name, member in members.items()}
        if number == 0:  # nothing is known: members alike, cut at alpha
            said.append(np.mean(list(each.values()), axis=0)[now] > 1 / 9)
        else:
            known = uneven.UnevenEnsembleClassifier(**COSTS, members=members, cv=parts[:number]).fit(X[past], y[past])
            mean = np.sum([known.weights_[name] * each[name] for name in members], axis=0)
            odds = known._odds
            said.append(odds.decision(mean[now], RowCosts.read(now.size, **COSTS)) > 0)
        truth.append(y[now])
    cost = expected_cost(np.concatenate(truth), np.concatenate(said).astype(int), **COSTS)
    assert ensemble.out_of_fold_cost_.cost == pytest.approx(cost)


def test_a_splitter_is_used_as_it_is() -> None:
    blocks = uneven.UnevenThresholdClassifierCV(GaussianNB(), **COSTS, cv=KFold(5)).fit(X, Y)
    assert blocks.shift_ != uneven.UnevenThresholdClassifierCV(GaussianNB(), **COSTS).fit(X, Y).shift_
