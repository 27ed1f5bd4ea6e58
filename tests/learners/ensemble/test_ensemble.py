"""UnevenEnsembleClassifier: what it keeps, its members, its limits of time, awkward data and files."""

from __future__ import annotations

import threading
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, ShuffleSplit, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from skops import io
from small_members import use_small_members
from stopped_clock import StoppedClock

import uneven
from uneven.costs import RowCosts
from uneven.errors import CostError, ParameterError
from uneven.learners import out_of_fold
from uneven.learners.ensemble import plan
from uneven.metrics import expected_cost

Ensemble = uneven.UnevenEnsembleClassifier
TWO = {"bayes": GaussianNB(), "logistic": LogisticRegression()}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    use_small_members(monkeypatch)


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    return make_classification(200, 5, n_informative=3, weights=[0.8], flip_y=0.1, class_sep=0.7, random_state=1)


class Slow(GaussianNB):
    """Its fit takes longer than any time limit, and ends when it is released."""

    clock = StoppedClock()
    release = threading.Event()

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Slow:
        Slow.clock.move(1e6)
        Slow.release.wait(600)
        return super().fit(X, y, sample_weight)


class Stops(GaussianNB):
    """Someone presses Ctrl-C in its fit."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Stops:
        raise KeyboardInterrupt


class OnlySmall(ClassifierMixin, BaseEstimator):
    """Can be fitted on folds, not on all rows: Ctrl-C comes there."""

    def fit(self, X: Any, y: Any) -> OnlySmall:
        if len(X) == 200:
            raise KeyboardInterrupt
        self.model_ = GaussianNB().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        return self.model_.predict_proba(X)


# -- what it does -----------------------------------------------------------------------------------------------------


def test_it_is_the_weighted_mean_of_its_members_shifted(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    model = Ensemble(fp_cost=1, fn_cost=8, members=TWO, weighting="equal").fit(X, y)
    assert model.weights_ == {"bayes": 0.5, "logistic": 0.5}
    mean = np.mean([member.fit(X, y).predict_proba(X)[:, 1] for member in TWO.values()], axis=0)
    log_odds = np.log(mean / (1 - mean))
    alpha = np.log(1 / 8)
    inside = np.abs(log_odds) < 5
    line = model.calibration_  # of the probabilities; decisions are those of the shifted mean
    beyond = line.slope * (log_odds - model.shift_ - alpha)
    np.testing.assert_allclose(model.decision_function(X)[inside], beyond[inside], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        model.predict_proba(X)[inside, 1], expit(line.slope * log_odds[inside] - line.shift), rtol=1e-9
    )
    assert model.posterior_ is not None
    assert model.shift_ == model.posterior_.mean


def test_the_shift_is_found_out_of_fold(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    folds = StratifiedKFold(5)
    same: dict[str, Any] = {"fp_cost": 1, "fn_cost": 8, "order": 8, "cv": folds}  # the defaults of the order differ
    ensemble = Ensemble(members={"bayes": GaussianNB()}, **same).fit(X, y)
    wrapper = uneven.UnevenThresholdClassifierCV(GaussianNB(), **same).fit(X, y)
    assert ensemble.shift_ == wrapper.shift_
    assert ensemble.predict(X, fn_cost=3).tolist() == wrapper.predict(X, fn_cost=3).tolist()
    assert ensemble.predict_proba(X).tolist() == wrapper.predict_proba(X).tolist()
    assert ensemble.guarantee_.choices == 1
    assert ensemble.guarantee_.mean == wrapper.guarantee_.mean


def test_costs_of_members_and_of_constant_rules(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    model = Ensemble(fp_cost=1, fn_cost=8, members=TWO).fit(X, y)
    for name, member in TWO.items():
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        probability = cross_val_predict(member, X, y, cv=folds, method="predict_proba")[:, 1]
        expected = expected_cost(y, probability > 1 / 9, fp_cost=1, fn_cost=8)
        assert model.member_costs_[name] == pytest.approx(expected)
    assert model.constant_costs_["all positive"].cost == pytest.approx((y == 0).mean())
    assert model.constant_costs_["all negative"].cost == pytest.approx(8 * y.mean())
    estimate = model.out_of_fold_cost_
    assert estimate.low < estimate.cost < estimate.high
    assert model.constant_costs_["all negative"].difference == pytest.approx(8 * y.mean() - estimate.cost)


@pytest.mark.slow
def test_the_out_of_fold_cost_does_not_know_the_labels_it_judges() -> None:
    random = np.random.default_rng(0)
    found = []
    for _ in range(40):  # labels without any relation to X: no rule is cheaper than a constant one
        X, y = random.normal(size=(60, 2)), random.permutation(np.arange(60) % 2)
        model = Ensemble(members={"n": KNeighborsClassifier(5), "b": GaussianNB()}, method="cost", cv=4).fit(X, y)
        found.append(model.out_of_fold_cost_.cost)
    assert np.mean(found) > 0.47


def test_the_setting_of_least_log_loss_is_chosen(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    model = Ensemble(fp_cost=1, fn_cost=8, members=["linear"]).fit(X, y)
    assert model.settings_["linear"]["C"] in (0.001, 0.01, 0.1, 1.0)
    noise = np.random.default_rng(0).permutation(y)
    assert Ensemble(fp_cost=1, fn_cost=8, members=["linear"]).fit(X, noise).settings_["linear"]["C"] < 0.1


def test_costs_of_each_row_decide_each_row(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    amount = np.exp(np.random.default_rng(0).normal(size=200))
    model = Ensemble(fp_cost=1, members=TWO).fit(X, y, fn_cost=8 * amount)
    cut = model.thresholds(RowCosts.read(200, fp_cost=1, fn_cost=8 * amount))
    assert (model.predict(X, fn_cost=8 * amount) == (model.predict_proba(X)[:, 1] > cut)).all()
    assert model.score(X, y, fn_cost=8 * amount) == pytest.approx(
        -expected_cost(y, model.predict(X, fn_cost=8 * amount), fp_cost=1, fn_cost=8 * amount)
    )
    with pytest.raises(CostError, match="the fit had fn_cost of each row, so predict needs it"):
        model.predict(X)


def test_labels_of_any_kind(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    number = Ensemble(fp_cost=1, fn_cost=8, members=["linear"]).fit(X, y)
    texts = np.where(y == 1, "fraud", "ok")
    text = Ensemble(fp_cost=1, fn_cost=8, members=["linear"], pos_label="fraud").fit(X, texts)
    assert ((text.predict(X) == "fraud") == (number.predict(X) == 1)).all()
    np.testing.assert_allclose(text.predict_proba(X)[:, 0], number.predict_proba(X)[:, 1])
    np.testing.assert_allclose(text.decision_function(X), -number.decision_function(X))
    both = Ensemble(fp_cost=1, fn_cost=8, members=["linear"], pos_label="fraud", neg_label="ok").fit(X, 1 - y)
    assert ((both.predict(X) == 0) == (number.predict(X) == 1)).all()


def test_members_see_labels_and_tables_as_they_are() -> None:
    texts = [f"{'good' if k % 3 else 'bad'} thing number {k % 7}" for k in range(60)]
    labels = ["ham" if k % 3 else "spam" for k in range(60)]
    members = {"words": make_pipeline(TfidfVectorizer(), MultinomialNB())}
    model = Ensemble(fp_cost=1, fn_cost=2, members=members, pos_label="spam").fit(texts, labels)
    assert model.predict(["bad thing", "good thing"]).tolist() == ["spam", "ham"]
    assert isinstance(model.members_["words"][0].steps[0][1], TfidfVectorizer)


def test_permutation_importance_is_in_the_unit_of_the_costs(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    X = np.column_stack([X, np.zeros(200)])
    model = Ensemble(fp_cost=1, fn_cost=8, members=TWO).fit(X, y)
    found = model.permutation_importance(X, y, n_repeats=3)
    assert found.importances_mean.shape == (6,)
    assert found.importances_mean[5] == 0
    assert found.importances_mean.max() > 0
    ten = Ensemble(fp_cost=10, fn_cost=80, members=TWO).fit(X, y).permutation_importance(X, y, n_repeats=3)
    np.testing.assert_allclose(ten.importances_mean, 10 * found.importances_mean)


# -- what goes wrong --------------------------------------------------------------------------------------------------


def test_a_member_that_fails_is_left_out_with_a_warning(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    members = {"bayes": GaussianNB(), "many": KNeighborsClassifier(1000)}
    with pytest.warns(UserWarning, match="member 'many' failed and is left out: .*n_neighbors"):
        model = Ensemble(members=members).fit(X, y)
    assert list(model.weights_) == ["bayes"]
    assert "n_neighbors" in model.left_out_["many"]
    with pytest.raises(ParameterError, match=r"every member failed, so there is no ensemble: many: .*n_neighbors"):
        Ensemble(members={"many": KNeighborsClassifier(1000)}).fit(X, y)


def test_the_time_limit_keeps_what_is_finished(
    data: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In threads: a system without processes that take files."""
    X, y = data
    monkeypatch.setattr(plan, "can_start_processes", lambda: False)
    monkeypatch.setattr(time, "monotonic", Slow.clock)
    Slow.release.clear()
    try:
        model = Ensemble(members={"bayes": GaussianNB(), "slow": Slow()}, time_limit=5).fit(X, y)
    finally:
        Slow.release.set()
    assert model.weights_ == {"bayes": 1.0}
    assert model.left_out_ == {"slow": "not finished (time limit)"}
    assert len(model.members_["bayes"]) == 5  # the time was over: the models of the folds
    mean = np.mean([one.predict_proba(X)[:, 1] for one in model.members_["bayes"]], axis=0)
    inside = (mean > 0.01) & (mean < 0.99)  # certainties are clipped
    line = model.calibration_
    expected = expit(line.slope * np.log(mean / (1 - mean)) - line.shift)
    np.testing.assert_allclose(model.predict_proba(X)[inside, 1], expected[inside])


def test_the_cheapest_member_is_finished_anyway(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    with pytest.warns(UserWarning, match="no member was finished within time_limit; the cheapest one, 'bayes', is"):
        model = Ensemble(members=TWO, time_limit=1e-9).fit(X, y)
    assert list(model.weights_) == ["bayes"]


def test_ctrl_c_keeps_what_is_finished(data: tuple[np.ndarray, np.ndarray], capsys: pytest.CaptureFixture[str]) -> None:
    X, y = data
    model = Ensemble(members={"bayes": GaussianNB(), "stops": Stops()}).fit(X, y)
    assert list(model.weights_) == ["bayes"]
    assert model.left_out_ == {"stops": "not finished (interrupted)"}
    assert "interrupted: the model uses what is finished: bayes" in capsys.readouterr().err
    assert model.predict(X).shape == (200,)
    with pytest.raises(KeyboardInterrupt):
        Ensemble(members={"stops": Stops()}).fit(X, y)


def test_ctrl_c_in_the_last_fits_leaves_the_models_of_the_folds(
    data: tuple[np.ndarray, np.ndarray], capsys: pytest.CaptureFixture[str]
) -> None:
    X, y = data
    model = Ensemble(members={"small": OnlySmall()}).fit(X, y)
    assert len(model.members_["small"]) == 5
    assert "interrupted" in capsys.readouterr().err


def test_fits_at_the_same_time_fit_in_memory_and_give_the_same(
    data: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    found, workers = [], []
    run = out_of_fold.run_parts

    def counted(*args: Any, **kwargs: Any) -> Any:
        workers.append(kwargs["workers"])
        return run(*args, **kwargs)

    monkeypatch.setattr(out_of_fold, "run_parts", counted)
    for matrices in (20, 6, 1):  # a fit counts six
        monkeypatch.setattr(plan, "available_memory", lambda count=matrices: count * data[0].nbytes)
        found.append(Ensemble(members=["linear", "extra_trees"], n_jobs=3).fit(*data))
    assert workers == [3, 1, 1]
    for other in found[1:]:
        np.testing.assert_array_equal(other.predict_proba(data[0]), found[0].predict_proba(data[0]))
    assert plan.count_bytes(sparse.csr_array(np.eye(3))) == 3 * 8 + 3 * 4 + 4 * 4
    assert plan.count_bytes(pd.DataFrame({"a": np.arange(5.0)}, index=range(5))) >= 5 * 8
    assert plan.count_bytes([[1.0]]) == 0


def test_progress_is_shown_when_asked_for(
    data: tuple[np.ndarray, np.ndarray], capsys: pytest.CaptureFixture[str]
) -> None:
    X, y = data
    Ensemble(members=TWO, verbose=True).fit(X, y)
    shown = capsys.readouterr().err
    assert "members bayes, logistic" in shown
    assert "12 of 12 fits" in shown
    assert "weights " in shown
    Ensemble(members=TWO, verbose=False).fit(X, y)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"members": "all"}, "members must be 'auto', a list of names or a dictionary of classifiers, got 'all'"),
        ({"members": 3}, "members must be 'auto', a list of names or a dictionary of classifiers, got 3"),
        ({"members": []}, "members is empty; name at least one of linear"),
        ({"members": {}}, "members is empty; give at least one classifier by name"),
        ({"members": ["linear", "lasso"]}, "members must be names among linear, .*, got 'lasso'"),
        ({"members": {"a": 3}}, "members must be classifiers by name, got 'a': 3"),
        ({"members": {"a": GaussianNB}}, "members must be classifiers by name, got 'a': <class"),
        ({"weighting": "best"}, "weighting must be one of half_greedy, greedy, softmax, equal, got 'best'"),
        ({"method": "isotone"}, "method must be one of gibbs, "),
        ({"order": 0}, "order must be an integer from 1 to 64, got 0"),
        ({"order": 65}, "order must be an integer from 1 to 64, got 65"),
        ({"time_limit": 0}, "time_limit must be positive, got 0"),
        ({"fn_cost": -1}, "fn_cost must be positive, got -1"),
        ({"fn_cost": [1, 2]}, "fn_cost of the learner itself must be a number"),
        ({"pos_label": "x"}, "pos_label must be one of the labels 0 and 1, got 'x'"),
        ({"cv": 1}, "cv must be at least 2 folds"),
    ],
)
def test_bad_parameters_get_a_sentence(
    data: tuple[np.ndarray, np.ndarray], parameters: dict[str, Any], sentence: str
) -> None:
    X, y = data
    with pytest.raises(uneven.errors.UnevenError, match=sentence):
        Ensemble(**{"members": TWO, **parameters}).fit(X, y)


def test_bad_data_get_a_sentence(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    ensemble = Ensemble(fn_cost=3, members=TWO)
    with pytest.raises(CostError, match="one class only"):
        ensemble.fit(X, np.ones(200))
    with pytest.raises(CostError, match="cross-validation needs at least 2 examples of each class, got 1"):
        ensemble.fit(X, np.arange(200) == 3)
    with pytest.raises(CostError, match="fn_cost must be a number or 200 numbers"):
        ensemble.fit(X, y, fn_cost=[1, 2])
    with pytest.raises(CostError, match="sample_weight is 0 for every example of class"):
        ensemble.fit(X, y, sample_weight=y.astype(float))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ensemble.fit(X, y[:-1])
    fitted = ensemble.fit(X, y)
    with pytest.raises(ValueError, match="X has 3 features"):
        fitted.predict(X[:, :3])


@pytest.mark.slow
def test_the_guarantee_counts_what_could_be_chosen(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    model = Ensemble(fp_cost=1, fn_cost=8, members=["linear", "svc"]).fit(X, y)
    assert model.guarantee_.choices == 4 * 21
    assert model.guarantee_.folds == 5
    assert "not for the model that was fitted again to all rows" in model.guarantee_.in_words()
    with pytest.warns(UserWarning, match="member 'failing' failed"):
        fewer = Ensemble(members={**TWO, "failing": GaussianNB(priors=[2, 3])}).fit(X, y)
    assert fewer.guarantee_.choices == 231 + 3 * 21 + 3  # of three members, of any two, and of any one
    scaled = Ensemble(members={"svc": LinearSVC()}).fit(X, y)
    with pytest.raises(ParameterError, match="member 'svc' has no predict_proba"):
        scaled.guarantee()
    soft = Ensemble(members=TWO, weighting="softmax").fit(X, y)
    with pytest.raises(ParameterError, match="infinitely many weights"):
        soft.guarantee()


# -- awkward data -----------------------------------------------------------------------------------------------------

QUICK = ["linear", "kernel", "svc", "extra_trees"]


@pytest.mark.parametrize(
    "X",
    [
        np.random.default_rng(0).normal(size=(20, 2)),
        np.random.default_rng(0).normal(size=(24, 60)),
        np.column_stack([np.random.default_rng(0).normal(size=40), np.ones(40), np.full(40, np.nan)]),
        np.where(np.random.default_rng(1).random((40, 3)) < 0.3, np.nan, np.random.default_rng(0).normal(size=(40, 3))),
        np.zeros((30, 2)),
        1e200 * np.random.default_rng(0).normal(size=(30, 2)),
        np.arange(60).reshape(30, 2),
    ],
    ids=["20 rows", "wide", "constant and missing", "holes", "nothing", "huge", "integers"],
)
def test_awkward_arrays(X: np.ndarray) -> None:
    y = (np.arange(X.shape[0]) % 4 == 0).astype(int)
    model = Ensemble(fp_cost=1, fn_cost=3, members=QUICK).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert set(model.weights_) == set(QUICK)


def test_five_positives() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.arange(60) % 12 == 0
    model = Ensemble(fp_cost=1, fn_cost=30, members=QUICK).fit(X, y)
    assert set(model.weights_) == set(QUICK)
    with pytest.warns(UserWarning, match="only 3 examples of class True for 5 folds"):
        Ensemble(fp_cost=1, fn_cost=30, members=["linear"]).fit(X[:36], y[:36])


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array, sparse.coo_array])
def test_sparse_matrices(kind: Any) -> None:
    random = np.random.default_rng(0)
    dense = np.where(random.random((80, 12)) < 0.7, 0, random.normal(size=(80, 12)))
    y = (dense[:, 0] + 0.2 * random.normal(size=80) > 0.1).astype(int)
    model = Ensemble(fp_cost=1, fn_cost=3, members=["linear", "extra_trees"]).fit(kind(dense), y)
    assert model.score(kind(dense), y) > -0.4
    np.testing.assert_allclose(model.predict_proba(kind(dense)), model.predict_proba(sparse.csr_matrix(dense)))


def _table(count: int = 90) -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(0)
    number = random.normal(size=count)
    table = pd.DataFrame(
        {
            "amount": np.where(np.arange(count) % 9 == 0, np.nan, number),
            "country": random.choice(["AT", "DE", "CH"], count),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 900, count), "D"),
            "nothing": [None] * count,
            "remark": [" ".join(random.choice(["late", "paid", "refund", "new", "card"], 5)) for _ in range(count)],
        }
    )
    return table, np.where(number + random.normal(size=count) > 0.8, "fraud", "ok")


@pytest.mark.slow
def test_tables_go_straight_in() -> None:
    table, y = _table()
    model = Ensemble(fp_cost=1, fn_cost=5, members=["linear", "extra_trees"], pos_label="fraud").fit(table, y)
    assert model.feature_names_in_.tolist() == list(table.columns)
    assert -model.score(table, y) < min(one.cost for one in model.constant_costs_.values())
    unseen = table.iloc[:3].assign(country="FR", amount=np.nan, remark="")
    assert set(model.predict(unseen)) <= {"fraud", "ok"}
    found = model.permutation_importance(table, y, n_repeats=1)
    assert found.importances_mean.shape == (5,)


def test_large_tables_are_encoded_again_for_the_final_models(monkeypatch: pytest.MonkeyPatch) -> None:
    table, y = _table()
    ensemble = Ensemble(fp_cost=1, fn_cost=5, members=["linear"], pos_label="fraud", cv=3)
    kept = ensemble.fit(table, y).predict_proba(table)
    monkeypatch.setattr("uneven.learners.ensemble.members.Size.large", property(lambda size: True))
    monkeypatch.setattr("uneven.learners.ensemble.members.Size.small", property(lambda size: False))
    again = ensemble.fit(table, y)
    assert set(again.settings_["linear"].values()) <= {0.01, 0.1}
    np.testing.assert_allclose(again.predict_proba(table), kept, atol=0.2)


def test_splitters_with_groups_and_rows_never_tested(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    grouped = Ensemble(members=TWO, cv=GroupKFold(4)).fit(X, y, groups=np.arange(200) // 10)
    assert not hasattr(grouped, "guarantee_")  # rows of one group are not independent
    assert grouped.out_of_fold_cost_.cost > 0
    partly = Ensemble(members=TWO, cv=ShuffleSplit(2, test_size=0.3, random_state=0)).fit(X, y)
    assert partly.predict(X).shape == (200,)
    with pytest.raises(ParameterError, match="some rows were tested by several folds"):
        partly.guarantee()


def test_a_member_without_weights_is_used_all_the_same(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    members = {"neighbours": KNeighborsClassifier(9), "constant": DummyClassifier()}
    model = Ensemble(members=members).fit(X, y, sample_weight=np.where(y == 1, 2.0, 1.0))
    assert set(model.weights_) == {"neighbours", "constant"}


def test_many_rows_are_predicted_in_parts(data: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data
    model = Ensemble(fn_cost=8, members=["linear", "extra_trees"], n_jobs=2).fit(X, y)
    whole = model.predict_proba(X)
    monkeypatch.setattr("uneven.learners.ensemble.mixture._AT_ONCE", 30)
    np.testing.assert_allclose(model.predict_proba(X), whole, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(sparse.csr_matrix(X)), whole, rtol=1e-12)


def test_warnings_of_the_user_stay_as_they_were(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    before = list(warnings.filters)
    Ensemble(members=["linear", "extra_trees"], n_jobs=2).fit(X, y)
    assert list(warnings.filters) == before


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_skops_keeps_arrays_and_tables(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    table, labels = _table()
    one = Ensemble(fp_cost=1, fn_cost=8, members=["linear", "svc", "extra_trees"], weighting="equal").fit(X, y)
    two = Ensemble(fp_cost=1, fn_cost=8, members=["linear", "extra_trees"], weighting="equal", pos_label="fraud")
    for model, rows in ((one, X), (two.fit(table, labels), table)):
        file = io.dumps(model)
        unknown = io.get_untrusted_types(data=file)
        assert all(name.startswith(("uneven.", "sklearn.", "numpy.", "scipy.sparse")) for name in unknown)
        again = io.loads(file, trusted=unknown)
        assert again.predict_proba(rows).tolist() == model.predict_proba(rows).tolist()
        assert again.predict(rows, fn_cost=2).tolist() == model.predict(rows, fn_cost=2).tolist()
        assert again.weights_ == model.weights_
        assert again.out_of_fold_cost_ == model.out_of_fold_cost_
        assert again.shift_ == model.shift_
