"""UnevenThresholdClassifierCV: scikit-learn's contract, and the laws of its decisions."""

from __future__ import annotations

import pickle
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit, logit
from scored_model import MarginModel, ScoredModel
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, RepeatedStratifiedKFold, ShuffleSplit, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import uneven
from uneven import UnevenThresholdClassifierCV as Threshold
from uneven.costs import RowCosts
from uneven.decisions.correction_methods import METHODS
from uneven.decisions.out_of_fold_rows import OutOfFoldRows
from uneven.decisions.scored_rows import log_odds_range, log_odds_within
from uneven.metrics import expected_cost

COSTS = {"fp_cost": 1, "fn_cost": 9}


#: scikit-learn expects the decision at 1/2 from everyone with probabilities.
OWN_THRESHOLD = {"check_classifiers_train": "predict compares predict_proba with threshold_, which need not be 1/2"}


@parametrize_with_checks(
    [
        Threshold(LogisticRegression(), cv=3),
        Threshold(LinearSVC(), cv=2, method="isotonic"),
        Threshold(LogisticRegression(), cv=3, method="none"),
        Threshold(LogisticRegression(), cv=3, cost_range=(0.125, 8)),
    ],
    expected_failed_checks=lambda one: {} if one.method == "none" or one.cost_range else OWN_THRESHOLD,
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    return make_classification(300, 6, n_informative=4, weights=[0.8], flip_y=0.1, class_sep=0.6, random_state=5)


def scored(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Log-odds as a column, and labels whose log-odds are smaller by 1."""
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(-1.5, 1.5, count)
    return log_odds[:, None], (rng.random(count) < expit(log_odds - 1)).astype(int)


def prefit(X: np.ndarray, y: Any, *, move: float = 0.0, **parameters: Any) -> Threshold:
    parameters = {**COSTS, **parameters}
    return Threshold(ScoredModel(move).fit(X, y), prefit=True, **parameters)


def row_costs(count: int, seed: int = 2) -> dict[str, np.ndarray]:
    amount = np.random.default_rng(seed).lognormal(0.0, 1.0, count)
    return {"fp_cost": 0.3 * amount + 0.2, "fn_cost": 4 * amount}


# -- what it does -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_it_corrects_what_the_folds_say(data: tuple[np.ndarray, np.ndarray], method: str) -> None:
    """By hand: out-of-fold probabilities of scikit-learn, the correction, and a model fitted on all rows."""
    X, y = data
    forest = RandomForestClassifier(20, min_samples_leaf=2, random_state=0)
    model = Threshold(forest, **COSTS, method=method, cv=4).fit(X, y)
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    probability = cross_val_predict(forest, X, y, cv=folds, method="predict_proba")[:, 1]
    np.testing.assert_array_equal(model.out_of_fold_probability_, probability)
    rows = OutOfFoldRows(probability, y == 1, np.ones(y.size)).with_costs(RowCosts.read(y.size, **COSTS))
    correction = METHODS[method](rows, 8)
    assert model.shift_ == correction.shift or np.isnan(model.shift_) == (method == "isotonic")
    own = forest.fit(X, y).predict_proba(X)[:, 1]
    before = log_odds_within(own, log_odds_range(300, np.array([logit(0.1)])))
    positive = correction.log_odds(before) > logit(0.1) + 1e-9
    np.testing.assert_array_equal(model.predict(X), positive.astype(int))
    np.testing.assert_array_equal(model.predict(X), (model.predict_proba(X)[:, 1] > model.threshold_).astype(int))
    np.testing.assert_array_equal(model.predict(X), (model.decision_function(X) > 0).astype(int))
    if method == "none":
        np.testing.assert_array_equal(model.predict_proba(X)[:, 1], own)
        assert model.threshold_ == pytest.approx(0.1, rel=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    assert model.score(X, y) == -expected_cost(y, model.predict(X), **COSTS)
    assert (model.posterior_ is not None) == (method == "gibbs")


@pytest.mark.slow
def test_a_wrong_prior_is_repaired() -> None:
    """A model trained with class weights is off by their logarithm; the default method finds it."""
    X, y = scored(20_000)
    model = prefit(X, y, move=np.log(1000)).fit(X, y)
    assert model.shift_ == pytest.approx(1 + np.log(1000), abs=0.1)
    assert model.threshold_ == pytest.approx(0.1, rel=0.05)  # of probabilities that are right now
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), rel=0.01)
    cut = prefit(X, y, move=np.log(1000), method="none").fit(X, y)
    assert cut.shift_ == 0
    assert model.out_of_fold_cost_.cost < 0.75 * cut.out_of_fold_cost_.cost
    assert model.out_of_fold_cost_.difference_high < 0
    assert model.out_of_fold_cost_.cost == pytest.approx(-model.score(X, y), rel=0.01)
    assert model.out_of_fold_cost_.cost == pytest.approx(
        np.interp(model.shift_, model.curve_.shift, model.curve_.cost), rel=0.01
    )


@pytest.mark.parametrize("method", ["argmin", "cost"])
def test_a_moved_model_decides_the_same(method: str) -> None:
    X, y = scored(1000)
    plain = prefit(X, y, method=method).fit(X, y)
    for move in (-3.0, 0.5, 6.0):
        moved = prefit(X, y, move=move, method=method).fit(X, y)
        assert moved.shift_ == pytest.approx(plain.shift_ + move, abs=1e-4)
        np.testing.assert_array_equal(moved.predict(X), plain.predict(X))


def test_scores_without_probabilities_are_scaled() -> None:
    X, y = scored(4000)
    margins = MarginModel().fit(X, y)
    assert not hasattr(margins, "predict_proba")
    model = Threshold(margins, prefit=True, **COSTS).fit(X, y)
    assert model.shift_ == pytest.approx(0.0, abs=0.2)  # Platt's scaling has repaired it already
    best = prefit(X, y).fit(X, y)
    assert (model.predict(X) == best.predict(X)).mean() > 0.97
    folds = Threshold(MarginModel(), **COSTS, cv=3).fit(X, y)
    np.testing.assert_array_equal(folds.predict(X), model.predict(X))
    turned = Threshold(MarginModel(), fp_cost=9, fn_cost=1, pos_label=0).fit(X, y)
    assert (turned.predict(X) == model.predict(X)).mean() > 0.995


@pytest.mark.slow
def test_the_guarantee_is_that_of_the_folds(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = scored(30_000)
    model = prefit(X, y, keep_training_rows=True).fit(X, y)
    found = model.guarantee_
    assert found is model.guarantee_
    assert found.folds == 1
    assert not found.vacuous
    assert found.shift == model.shift_
    assert not found.refitted
    assert model.guarantee(0.5).mean.regret_bound < found.mean.regret_bound < found.constant_cost
    assert "_guarantee" not in model.__getstate__()
    X, y = data
    small = Threshold(GaussianNB(), **COSTS, cv=3).fit(X, y)
    assert small.guarantee_.vacuous
    assert "for the 3 fold models" in small.guarantee_.in_words()
    assert "not for the model that was fitted again to all rows" in small.guarantee_.in_words()
    assert (small.guarantee_.folds, small.guarantee_.rows_per_fold) == (3, 100)
    assert small.fit(X[:200], y[:200]).guarantee_.rows == 200
    costs = row_costs(y.size)
    rows = Threshold(GaussianNB()).fit(X, y, **costs)
    assert rows.guarantee_.believed
    assert not rows.guarantee(largest_fp_regret=100, largest_fn_regret=500).believed
    for bad, words in (
        (Threshold(GaussianNB(), method="affine"), "method='affine' does more than to shift"),
        (Threshold(GaussianNB(), method="isotonic"), "method='isotonic' does more than to shift"),
        (Threshold(LinearSVC()), "LinearSVC has no predict_proba"),
        (Threshold(GaussianNB(), cv=RepeatedStratifiedKFold(n_splits=3, n_repeats=2)), "tested by several folds"),
    ):
        with pytest.raises(uneven.errors.ParameterError, match=words):
            bad.fit(X, y).guarantee()


# -- laws -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_the_unit_of_the_costs_does_not_matter(data: tuple[np.ndarray, np.ndarray], method: str) -> None:
    X, y = data
    one, other = (Threshold(GaussianNB(), fp_cost=2 * c, fn_cost=14 * c, method=method).fit(X, y) for c in (1, 100))
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    assert other.score(X, y) == pytest.approx(100 * one.score(X, y))


@pytest.mark.parametrize("method", METHODS)
def test_the_names_of_the_classes_do_not_matter(data: tuple[np.ndarray, np.ndarray], method: str) -> None:
    """Swapped labels with swapped costs, and labels as words in either order."""
    X, y = data
    model = Threshold(LogisticRegression(), **COSTS, method=method).fit(X, y)
    swapped = Threshold(LogisticRegression(), fp_cost=9, fn_cost=1, method=method, pos_label=0).fit(X, y)
    tolerance = 1e-3 if method in ("affine", "platt") else 1e-7
    np.testing.assert_allclose(swapped.decision_function(X), model.decision_function(X), atol=tolerance)
    for names in (["ok", "fraud"], ["fine", "risky"]):
        words = np.array(names)[y]
        named = Threshold(LogisticRegression(), **COSTS, method=method, pos_label=names[1]).fit(X, words)
        np.testing.assert_array_equal(named.predict(X), np.array(names)[model.predict(X)])
        column = named.classes_.tolist().index(names[1])
        np.testing.assert_allclose(named.predict_proba(X)[:, column], model.predict_proba(X)[:, 1], atol=1e-6)
        assert named.score(X, words) == pytest.approx(model.score(X, y))


@pytest.mark.parametrize("method", METHODS)
def test_constant_costs_of_each_row_are_numbers(data: tuple[np.ndarray, np.ndarray], method: str) -> None:
    X, y = data
    numbers = Threshold(GaussianNB(), fp_cost=2, fn_cost=7, tp_cost=1, method=method).fit(X, y)
    given = {"fp_cost": np.full(y.size, 2.0), "fn_cost": [7] * y.size, "tp_cost": 1}
    rows = Threshold(GaussianNB(), method=method).fit(X, y, **given)
    np.testing.assert_array_equal(rows.decision_function(X), numbers.decision_function(X))
    np.testing.assert_array_equal(rows.decision_function(X, **given), numbers.decision_function(X))
    assert rows.threshold_ == numbers.threshold_
    assert rows.score(X, y) == numbers.score(X, y)


@pytest.mark.parametrize("count", [300, 20_500])
def test_the_guarantee_remembers_that_costs_came_for_each_row(count: int) -> None:
    """Also of a model from a file, and of one that keeps groups of rows in place of the rows."""
    X, y = scored(count)
    numbers = prefit(X, y, fp_cost=2, fn_cost=7).fit(X, y)
    rows = prefit(X, y).fit(X, y, fp_cost=2, fn_cost=np.full(count, 7.0))
    assert rows.threshold_ == numbers.threshold_
    assert (numbers.guarantee_.believed, numbers.guarantee_.fixed_costs) == (False, True)
    for model in (rows, pickle.loads(pickle.dumps(rows))):
        assert (model.guarantee_.believed, model.guarantee_.fixed_costs) == (True, False)
        assert not model._row_costs.is_fixed("fn_regret")


def test_weights_are_repetitions() -> None:
    X, y = scored(200)
    weight = np.random.default_rng(0).integers(0, 4, 200)
    again = np.repeat(np.arange(200), weight)
    for method in METHODS:
        weighted = prefit(X, y, method=method).fit(X, y, sample_weight=weight)
        repeated = prefit(X, y, method=method).fit(X[again], y[again])
        np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-3)
    assert weighted.out_of_fold_cost_.cost == pytest.approx(repeated.out_of_fold_cost_.cost)


def test_few_rows_leave_the_model_alone() -> None:
    X, y = np.array([[0.5], [-0.2], [1.0], [0.1]]), np.array([1, 0, 0, 1])
    assert abs(prefit(X, y, fp_cost=1, fn_cost=1).fit(X, y).shift_) < 0.5
    assert prefit(X, y, fp_cost=1, fn_cost=1).fit(X, y).posterior_.standard_deviation > 0.5


@pytest.mark.slow
def test_a_million_rows() -> None:
    X, y = scored(1_000_000)
    model = prefit(X, y).fit(X, y)
    assert model.shift_ == pytest.approx(1.0, abs=0.01)
    assert model.predict(X, fn_cost=99).mean() > model.predict(X).mean()
    assert model.curve_.cost.min() == pytest.approx(model.out_of_fold_cost_.cost, rel=0.01)


# -- costs at predict -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_other_numbers_find_the_correction_again(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    forest = RandomForestClassifier(20, random_state=0)
    model = Threshold(forest, **COSTS).fit(X, y)
    for costs in ({"fn_cost": 30}, {"fp_cost": 7, "fn_cost": 2}, {"fn_cost": 9, "tp_cost": 4}):
        other = Threshold(forest, **{**COSTS, **costs}).fit(X, y)
        np.testing.assert_array_equal(model.decision_function(X, **costs), other.decision_function(X))
        np.testing.assert_array_equal(model.predict(X, **costs), other.predict(X))
        np.testing.assert_array_equal(model.predict_proba(X, **costs), other.predict_proba(X))
        assert model.score(X, y, **costs) == other.score(X, y)
    for k in range(20):
        model.predict(X[:1], fn_cost=10 + k)
    assert model.shift_ == Threshold(forest, **COSTS).fit(X, y).shift_


def test_costs_of_each_row(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    costs = row_costs(y.size)
    model = Threshold(GaussianNB()).fit(X, y, **costs)
    assert model.threshold_ is None
    cut = model.thresholds(RowCosts.read(y.size, **costs))
    np.testing.assert_array_equal(model.predict(X, **costs), (model.predict_proba(X)[:, 1] > cut).astype(int))
    for k in (3, 17):  # a row's decision does not depend on the others
        one = {name: cost[k : k + 1] for name, cost in costs.items()}
        np.testing.assert_array_equal(
            model.decision_function(X[k : k + 1], **one), model.decision_function(X, **costs)[k]
        )
    assert model.score(X, y, **costs) == -expected_cost(y, model.predict(X, **costs), **costs)
    numbers = model.predict(X, fp_cost=1, fn_cost=9)
    np.testing.assert_array_equal(numbers, Threshold(GaussianNB(), **COSTS).fit(X, y).predict(X))
    # a fit with numbers decides rows by their own costs, with its own correction
    plain = Threshold(GaussianNB(), **COSTS).fit(X, y)
    cut = plain.thresholds(RowCosts.read(y.size, **costs))
    np.testing.assert_array_equal(plain.predict(X, **costs), (plain.predict_proba(X)[:, 1] > cut).astype(int))


def test_rows_whose_decision_is_fixed(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    costs = row_costs(y.size)
    free, paid, both = np.arange(0, 90), np.arange(90, 120), np.arange(120, 150)
    costs["fp_cost"][free] = -1.0  # a false positive earns: always positive
    costs["fn_cost"][paid] = -1.0
    costs["fp_cost"][both], costs["fn_cost"][both] = -1.0, -2.0
    model = Threshold(GaussianNB()).fit(X, y, **costs)
    said = model.predict(X, **costs)
    assert (said[free] == 1).all()
    assert (said[paid] == 0).all()
    assert np.isinf(model.decision_function(X, **costs)[:120]).all()
    assert np.isnan(model.thresholds(RowCosts.read(y.size, **costs))[both]).all()
    np.testing.assert_array_equal(said[both], model.predict(X, fp_cost=1, fn_cost=np.full(y.size, 2.0))[both] ^ 1)
    assert np.isfinite(model.out_of_fold_cost_.cost)


# -- fitting ----------------------------------------------------------------------------------------------------------


def test_ways_to_split(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    by_number = Threshold(GaussianNB(), cv=4).fit(X, y)
    by_splitter = Threshold(GaussianNB(), cv=StratifiedKFold(4, shuffle=True, random_state=0)).fit(X, y)
    assert by_number.shift_ == by_splitter.shift_
    assert Threshold(GaussianNB(), cv=StratifiedKFold(4)).fit(X, y).shift_ != by_number.shift_  # a splitter as it is
    shuffled = Threshold(GaussianNB(), cv=4, random_state=3).fit(X, y)
    assert (
        shuffled.shift_ == Threshold(GaussianNB(), cv=StratifiedKFold(4, shuffle=True, random_state=3)).fit(X, y).shift_
    )
    assert shuffled.shift_ != by_number.shift_
    some = Threshold(GaussianNB(), cv=ShuffleSplit(2, test_size=0.2, random_state=0)).fit(X, y)
    assert 60 <= (~np.isnan(some.out_of_fold_probability_)).sum() < 120
    assert Threshold(GaussianNB(), cv=None).fit(X, y).shift_ == Threshold(GaussianNB()).fit(X, y).shift_
    one = Threshold(GaussianNB(), cv=0.25, refit=False, random_state=0).fit(X, y)
    tested = ~np.isnan(one.out_of_fold_probability_)
    assert tested.sum() == 75
    np.testing.assert_array_equal(one.estimator_.predict(X), GaussianNB().fit(X[~tested], y[~tested]).predict(X))
    assert np.allclose(Threshold(GaussianNB(), cv=0.25, random_state=0).fit(X, y).shift_, one.shift_)


def test_prefit_leaves_the_model_as_it_is(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    fitted = GaussianNB().fit(X[:200], y[:200])
    model = Threshold(fitted, prefit=True, **COSTS).fit(X[200:], y[200:])
    assert model.estimator_ is fitted
    np.testing.assert_array_equal(model.out_of_fold_probability_, fitted.predict_proba(X[200:])[:, 1])
    assert model.n_features_in_ == 6


def test_threads_change_nothing(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    forest = RandomForestClassifier(10, random_state=0)
    one, two = (Threshold(forest, n_jobs=n, **COSTS).fit(X, y) for n in (None, 2))
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


def test_tables_and_sparse_matrices(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = Threshold(LogisticRegression(), **COSTS).fit(frame, pd.Series(y))
    assert model.feature_names_in_.tolist() == list("abcdef")
    plain = Threshold(LogisticRegression(), **COSTS).fit(X, y)
    np.testing.assert_array_equal(model.predict(frame), plain.predict(X))
    assert not hasattr(model.fit(X, y), "feature_names_in_")
    thin = Threshold(LogisticRegression(), **COSTS).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(thin.decision_function(sparse.csr_matrix(X)), plain.decision_function(X), atol=1e-3)


def test_our_own_learners_can_be_wrapped(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    for learner in (uneven.UnevenLinearClassifier("logistic", fn_cost=4), uneven.UnevenSVC(fn_cost=4)):
        model = Threshold(learner, **COSTS, cv=3).fit(X, y)
        everyone = expected_cost(y, np.ones_like(y), **COSTS)
        assert -model.score(X, y) < everyone


def test_the_picture(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    model = Threshold(GaussianNB(), **COSTS).fit(X, y)
    axes = model.plot()
    lines = {line.get_label(): line.get_xydata() for line in axes.lines}
    np.testing.assert_array_equal(lines["realised cost"][:, 1], model.curve_.cost)
    assert lines[f"shift in use: {model.shift_:.2f}"][0, 0] == model.shift_
    assert any("posterior" in str(band.get_label()) for band in axes.collections)
    other = Threshold(GaussianNB(), **COSTS, method="isotonic").fit(X, y)
    display = uneven.figures.ThresholdShiftDisplay.from_estimator(other, name="Bayes", unit="EUR")
    assert not display.ax_.collections
    assert display.ax_.get_ylabel() == "out-of-fold cost per row (EUR)"
    with pytest.raises(uneven.errors.ParameterError, match="fitted UnevenThresholdClassifierCV"):
        uneven.figures.ThresholdShiftDisplay.from_estimator(Threshold(GaussianNB()))
    plt.close("all")


def test_unshuffled_folds_of_another_kind(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    parts = list(KFold(3).split(X))
    assert Threshold(GaussianNB(), cv=parts).fit(X, y).shift_ == Threshold(GaussianNB(), cv=KFold(3)).fit(X, y).shift_
