"""Out-of-fold probabilities: right rows, weights, errors, deadlines and Ctrl-C."""

import threading
import time
from typing import Any

import numpy as np
import pytest
from sklearn import config_context, get_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from stopped_clock import StoppedClock

from uneven.decisions.platt import Sigmoid
from uneven.errors import ParameterError
from uneven.learners.out_of_fold import out_of_fold, positive_probability, weight_parameters


def _data(count: int = 60) -> tuple[np.ndarray, np.ndarray, list[Any]]:
    random = np.random.default_rng(0)
    X = random.normal(size=(count, 3))
    y = np.where(X[:, 0] + random.normal(size=count) > 0.5, "fraud", "ok")
    return X, y, list(StratifiedKFold(3).split(X, y))


class Patient(ClassifierMixin, BaseEstimator):
    """Its second fit takes longer than any time limit, and ends when it is released. Learns nothing."""

    clock = StoppedClock()
    release = threading.Event()
    fits = 0

    def fit(self, X: Any, y: Any) -> "Patient":
        Patient.fits += 1
        if Patient.fits > 1:
            Patient.clock.move(1e6)
            Patient.release.wait(600)
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        return np.full((len(X), 2), 0.5)


class Interrupted(GaussianNB):
    """Someone presses Ctrl-C in its fit."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Interrupted":
        raise KeyboardInterrupt


class Nothing(ClassifierMixin, BaseEstimator):
    """Has neither probabilities nor scores."""

    def fit(self, X: Any, y: Any) -> "Nothing":
        self.classes_ = np.unique(y)
        return self


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_the_probabilities_are_those_of_cross_val_predict(n_jobs: int | None) -> None:
    X, y, splits = _data()
    members = {"bayes": GaussianNB(), "neighbours": KNeighborsClassifier(7)}
    found = out_of_fold(members, X, y, splits, positive="fraud", n_jobs=n_jobs)
    assert list(found) == ["bayes", "neighbours"]
    for name, member in members.items():
        expected = cross_val_predict(member, X, y, cv=splits, method="predict_proba")[:, 0]
        assert found[name].finished
        assert found[name].probability.tolist() == expected.tolist()
        assert all(seconds > 0 for seconds in found[name].seconds)
        test = splits[1][1]
        again = positive_probability(found[name].models[1], X[test], "fraud")
        assert again.tolist() == expected[test].tolist()


def test_rows_that_no_fold_tests_are_nan_and_rows_tested_twice_have_the_mean() -> None:
    X, y, splits = _data()
    train, test = splits[0]
    twice = [(train, test), (np.concatenate([splits[1][0][:20], splits[2][0][-20:]]), test)]
    single = [out_of_fold({"b": GaussianNB()}, X, y, [split], positive="ok")["b"].probability for split in twice]
    both = out_of_fold({"b": GaussianNB()}, X, y, twice, positive="ok")["b"].probability
    np.testing.assert_allclose(both[test], (single[0] + single[1])[test] / 2, rtol=1e-14)
    assert np.isnan(np.delete(both, test)).all()


@pytest.mark.parametrize("positive", ["fraud", "ok"])
def test_scores_become_probabilities_by_the_sigmoid_of_least_log_loss(positive: str) -> None:
    X, y, splits = _data(200)
    found = out_of_fold({"svc": LinearSVC()}, X, y, splits, positive=positive)["svc"]
    assert found.sigmoid is not None
    rng = np.random.default_rng(1)
    loss = log_loss(y == positive, found.probability)
    scores = (np.log(found.probability / (1 - found.probability)) - found.sigmoid.offset) / found.sigmoid.slope
    for slope, offset in rng.normal(scale=0.3, size=(20, 2)):
        other = Sigmoid(found.sigmoid.slope + slope, found.sigmoid.offset + offset)
        assert log_loss(y == positive, other.probability(scores)) > loss - 1e-3  # Platt's targets are not 0 and 1
    model = found.models[0]
    sign = 1 if positive == model.classes_[1] else -1
    expected = found.sigmoid.probability(sign * model.decision_function(X))
    assert positive_probability(model, X, positive, found.sigmoid).tolist() == expected.tolist()
    with pytest.raises(ParameterError, match=r"LinearSVC has no predict_proba.*CalibratedClassifierCV"):
        positive_probability(model, X, positive)


def test_a_sigmoid_of_separated_scores_is_not_certain_and_one_of_useless_scores_is_constant() -> None:
    truth = np.arange(10) >= 5
    sigmoid = Sigmoid.fit(np.arange(10.0), truth)
    assert 0.5 < sigmoid.probability(np.array([9.0]))[0] < 0.999
    for scores in (np.full(10, 3.0), -np.arange(10.0)):
        sigmoid = Sigmoid.fit(scores, truth)
        assert sigmoid.slope == 0
        np.testing.assert_allclose(sigmoid.probability(scores), 0.5, rtol=1e-14)


def test_a_sigmoid_sees_a_weight_of_two_as_two_rows() -> None:
    random = np.random.default_rng(0)
    scores, truth = random.normal(size=30), random.random(30) < 0.5
    weighted = Sigmoid.fit(scores, truth, np.where(np.arange(30) < 10, 2.0, 1.0))
    repeated = Sigmoid.fit(np.append(scores, scores[:10]), np.append(truth, truth[:10]))
    np.testing.assert_allclose([weighted.slope, weighted.offset], [repeated.slope, repeated.offset], rtol=1e-6)


def test_an_estimator_that_fails_says_why_and_the_others_go_on() -> None:
    X, y, splits = _data()
    members = {"none": Nothing(), "many": KNeighborsClassifier(1000), "bayes": GaussianNB()}
    found = out_of_fold(members, X, y, splits, positive="ok", n_jobs=2)
    assert found["none"].error == "ParameterError: Nothing has neither predict_proba nor decision_function"
    assert "n_neighbors" in str(found["many"].error)
    assert not found["none"].finished
    assert found["bayes"].finished
    assert found.ending == "finished"


def test_the_deadline_keeps_what_is_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, splits = _data()
    monkeypatch.setattr(time, "monotonic", Patient.clock)
    Patient.release.clear()
    Patient.fits = 0
    started = time.monotonic()
    try:
        members = {"bayes": GaussianNB(), "patient": Patient()}
        found = out_of_fold(members, X, y, splits, positive="ok", n_jobs=1, deadline=started + 3.0)
    finally:
        Patient.release.set()
    assert found.ending == "time limit"
    assert found["bayes"].finished
    assert [model is not None for model in found["patient"].models] == [True, False, False]
    tested = ~np.isnan(found["patient"].probability)
    assert np.flatnonzero(tested).tolist() == splits[0][1].tolist()


def test_ctrl_c_keeps_what_is_finished() -> None:
    X, y, splits = _data()
    found = out_of_fold({"bayes": GaussianNB(), "stop": Interrupted()}, X, y, splits, positive="ok")
    assert found.ending == "interrupted"
    assert found["bayes"].finished
    assert found["stop"].models == [None, None, None]


def test_ctrl_c_while_threads_work_keeps_what_is_finished() -> None:
    X, y, splits = _data()
    Patient.release.clear()
    Patient.fits = 1
    told: list[str] = []

    def press(name: str, fold: int) -> None:
        told.append(name)
        if told.count("bayes") == len(splits):
            raise KeyboardInterrupt

    found = out_of_fold(
        {"bayes": GaussianNB(), "patient": Patient()}, X, y, splits, positive="ok", n_jobs=2, tell=press
    )
    Patient.release.set()
    assert found.ending == "interrupted"
    assert found["bayes"].finished
    assert found["patient"].models == [None, None, None]


def test_progress_is_told_once_for_each_fit() -> None:
    X, y, splits = _data()
    told: list[tuple[str, int]] = []
    out_of_fold({"b": GaussianNB()}, X, y, splits, positive="ok", tell=lambda name, fold: told.append((name, fold)))
    assert told == [("b", 0), ("b", 1), ("b", 2)]


def test_weights_reach_every_estimator_that_takes_them() -> None:
    X, y, splits = _data()
    weight = np.where(np.arange(60) % 2, 3.0, 0.5)
    members = {
        "bayes": GaussianNB(),
        "pipe": make_pipeline(StandardScaler(), LogisticRegression()),
        "neighbours": KNeighborsClassifier(3),
    }
    weighted = out_of_fold(members, X, y, splits, positive="ok", sample_weight=weight)
    plain = out_of_fold(members, X, y, splits, positive="ok")
    train, test = splits[0]
    by_hand = GaussianNB().fit(X[train], y[train], weight[train]).predict_proba(X[test])[:, 1]
    assert weighted["bayes"].probability[test].tolist() == by_hand.tolist()
    assert (weighted["pipe"].probability != plain["pipe"].probability).all()
    assert weighted["neighbours"].probability.tolist() == plain["neighbours"].probability.tolist()


def test_further_arguments_of_fit_are_those_of_the_rows() -> None:
    X, y, splits = _data()
    weight = np.arange(1.0, 61.0)
    found = out_of_fold(
        {"b": GaussianNB()}, X, y, splits, positive="ok", fit_params=lambda rows: {"sample_weight": weight[rows]}
    )
    expected = out_of_fold({"b": GaussianNB()}, X, y, splits, positive="ok", sample_weight=weight)
    assert found["b"].probability.tolist() == expected["b"].probability.tolist()


def test_with_metadata_routing_weights_go_to_those_that_request_them() -> None:
    weight = np.ones(3)
    inner = LogisticRegression()
    assert weight_parameters(CalibratedClassifierCV(inner), weight).keys() == {"sample_weight"}
    with config_context(enable_metadata_routing=True):
        assert weight_parameters(RandomForestClassifier(), weight).keys() == {"sample_weight"}
        assert weight_parameters(make_pipeline(StandardScaler(), inner), weight) == {}
        inner.set_fit_request(sample_weight=True)
        assert weight_parameters(make_pipeline(StandardScaler(), inner), weight).keys() == {"sample_weight"}


def test_threads_work_with_the_callers_settings_of_scikit_learn() -> None:
    X, y, splits = _data()
    seen: list[bool] = []

    class Asks(GaussianNB):
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Asks":
            seen.append(get_config()["assume_finite"])
            return super().fit(X, y, sample_weight)

    with config_context(assume_finite=True):
        out_of_fold({"asks": Asks()}, X, y, splits, positive="ok", n_jobs=2)
    assert seen == [True, True, True]
