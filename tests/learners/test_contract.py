"""Every public estimator keeps the promises of docs/estimators.md: one law each, over all estimators."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from local_cluster import thread_cluster
from places import DOCS
from public_estimators import ESTIMATORS, FINE, FRAUD, given, make, of_dask, rows
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import uneven
from uneven.decisions.action_cuts import costs_of_breaks
from uneven.errors import CostError, LossError, ParameterError, UnevenError
from uneven.metrics import expected_cost

COSTS = {"fp_cost": 2.0, "fn_cost": 7.0, "tp_cost": 0.5, "tn_cost": -0.25}
X, Y, AMOUNT = rows()
WEIGHT = np.random.default_rng(1).integers(1, 4, size=Y.size).astype(float)
PAGE = DOCS / "estimators.md"
#: Laws by the name of the promise on the page.
PROMISES: dict[str, Callable[..., None]] = {}


def promise(law: Callable[..., None]) -> Callable[..., None]:
    PROMISES[law.__name__.removeprefix("test_")] = law
    return pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: e.__name__)(law)


@pytest.fixture(autouse=True, scope="module")
def _cluster() -> Iterator[None]:
    with thread_cluster():
        yield


def fit(model: Any, *args: Any, **named: Any) -> Any:
    args, named = given(model, *args, **named)
    return model.fit(*args, **named)


def labelled(estimator: Any, /, **params: Any) -> Any:
    return make(estimator, **{**COSTS, "pos_label": FRAUD, **params})


def takes_row_costs(estimator: Any) -> bool:
    try:
        fit(labelled(estimator), X, Y, fn_cost=3 + AMOUNT)
    except CostError as error:
        assert "one cost for all rows" in str(error)
        return False
    return True


def test_all_estimators_are_found() -> None:
    assert {"UnevenXGBClassifier", "DaskUnevenLinearClassifier", "UnevenEnsembleClassifier"} <= {
        estimator.__name__ for estimator in ESTIMATORS
    }
    assert len(ESTIMATORS) == len(set(ESTIMATORS)) >= 12


def test_the_page_lists_the_promises() -> None:
    listed = re.findall(r"^\| `([a-z_]+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == list(PROMISES)


@promise
def test_score(estimator: Any) -> None:
    model = fit(labelled(estimator), X, Y)
    cost = {**COSTS, "pos_label": FRAUD}
    assert model.score(X, Y) == pytest.approx(-expected_cost(Y, model.predict(X), **cost), rel=1e-12)
    weighted = expected_cost(Y, model.predict(X), **cost, sample_weight=WEIGHT)
    assert model.score(X, Y, WEIGHT) == pytest.approx(-weighted, rel=1e-12)
    assert model.score(X, Y) != pytest.approx(np.mean(model.predict(X) == Y))
    if of_dask(estimator):
        args, named = given(estimator, X, Y, sample_weight=WEIGHT)
        assert model.score(*args, **named) == pytest.approx(-weighted, rel=1e-12)


@promise
def test_score_with_costs_of_rows(estimator: Any) -> None:
    costs = {"fn_cost": 3 + AMOUNT}
    if not takes_row_costs(estimator):
        pytest.skip("a cascade learns with one cost for all rows")
    model = fit(labelled(estimator), X, Y, **costs)
    with pytest.raises(CostError, match="the fit had fn_cost of each row, so score needs it for these rows, too"):
        model.score(X, Y)
    said = model.predict(X, **costs)
    paid = expected_cost(Y, said, **{**COSTS, **costs}, pos_label=FRAUD, sample_weight=WEIGHT)
    assert model.score(X, Y, WEIGHT, **costs) == pytest.approx(-paid, rel=1e-12)
    if of_dask(estimator):
        args, named = given(estimator, X, Y, sample_weight=WEIGHT, **costs)
        assert model.score(*args, **named) == pytest.approx(-paid, rel=1e-12)


@promise
def test_search(estimator: Any) -> None:
    if of_dask(estimator):
        pytest.skip("scikit-learn's searches cut arrays in memory")
    model, folds = labelled(estimator), StratifiedKFold(3)
    search = GridSearchCV(model, {"fp_cost": [2.0]}, cv=folds, error_score="raise").fit(X, Y)
    said = cross_val_predict(model, X, Y, cv=folds)
    parts = [expected_cost(Y[test], said[test], **COSTS, pos_label=FRAUD) for _, test in folds.split(X, Y)]
    assert search.best_score_ == pytest.approx(-np.mean(parts), rel=1e-12)
    if not takes_row_costs(estimator):
        return
    amount = 3 + AMOUNT
    with config_context(enable_metadata_routing=True):
        asked = clone(model).set_fit_request(fn_cost=True).set_score_request(fn_cost=True)
        routed = GridSearchCV(asked, {"fp_cost": [2.0]}, cv=folds, error_score="raise", refit=False)
        routed.fit(X, Y, fn_cost=amount)
    parts = []
    for train, test in folds.split(X, Y):
        alone = clone(model).fit(X[train], Y[train], fn_cost=amount[train])
        parts.append(alone.score(X[test], Y[test], fn_cost=amount[test]))
    assert routed.cv_results_["mean_test_score"][0] == pytest.approx(np.mean(parts), rel=1e-9)


@promise
def test_parameter_names(estimator: Any) -> None:
    # A class with named parameters only is refused by Python itself; one that passes names on must know them.
    with pytest.raises((TypeError, ParameterError), match="fn_csot") as refused:
        make(estimator, fn_csot=20)
    if isinstance(refused.value, ParameterError):
        assert str(refused.value).endswith("did you mean 'fn_cost'?")
        for wrong, right in (("max_dept", "max_depth"), ("learning_rat", "learning_rate")):
            with pytest.raises(ParameterError, match=f"parameter '{wrong}'; did you mean '{right}'"):
                make(estimator, **{wrong: 1})
    with pytest.raises(ValueError, match="fn_csot"):
        make(estimator).set_params(fn_csot=20)


@promise
def test_costs_at_predict(estimator: Any) -> None:
    model = fit(labelled(estimator), X, Y)
    assert np.array_equal(model.predict(X, **COSTS), model.predict(X))  # those of the fit are always taken
    probable = hasattr(model, "predict_proba")
    for costs in ({"fn_cost": 3 + AMOUNT}, {"fn_cost": 100}):
        if probable:
            assert set(model.predict(X, **costs)) <= {FRAUD, FINE}
        else:
            with pytest.raises(LossError, match="decides for the costs of its fit only"):
                model.predict(X, **costs)
    with pytest.raises(CostError, match=r"fn_cost must be a number or 240 numbers, one for each row, got shape \(3,\)"):
        model.predict(X, fn_cost=[1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match="fn_csot"):
        model.predict(X, fn_csot=1)


#: A world of four points: their masses, P(positive), and rows in which the same is observed in another way.
MASS, ETA = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.02, 0.06, 0.15, 0.5])
IN_USE = uneven.Cost(fp_cost=1, fn_cost=10)


def observed_worlds() -> Iterator[tuple[uneven.ObservedCost, np.ndarray, np.ndarray]]:
    """Costs for observed rows, and the masses of observed positives and negatives at each point."""
    p, q = MASS * ETA, MASS * (1 - ETA)
    noisy = 0.7 * p + 0.1 * q, 0.3 * p + 0.9 * q
    flipped = IN_USE.for_noisy_labels(positive=0.3, negative=0.1)
    yield flipped, *noisy
    yield IN_USE.for_unlabelled(label_frequency=0.3), 0.3 * p, q + 0.7 * p
    yield IN_USE.for_prevalence(train=0.5, use=p.sum()), p / p.sum(), q / q.sum()
    up, down = (one / one.sum() for one in noisy)
    yield flipped.for_prevalence(train=0.5, use=noisy[0].sum()), up, down


def observed_rows(p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """About 1,500 rows, one column for each point."""
    counts = np.round(np.stack([p, q], axis=1).ravel() / (p.sum() + q.sum()) * 1500).astype(int)
    mixed = np.random.default_rng(0).permutation(counts.sum())
    return np.repeat(np.eye(4), counts.reshape(4, 2).sum(axis=1), axis=0)[mixed], np.repeat([1, 0] * 4, counts)[mixed]


@pytest.mark.slow
@promise
def test_observed_rows(estimator: Any) -> None:
    points, cheaper = np.eye(4), IN_USE.alpha < ETA
    for cost, p, q in observed_worlds():
        rows, labels = observed_rows(p, q)
        assert np.array_equal(fit(make(estimator, **cost), rows, labels).predict(points), cheaper)
    assert not np.array_equal(fit(make(estimator, **IN_USE), rows, labels).predict(points), cheaper)
    if takes_row_costs(estimator):
        price = np.array([0.1, 0.3, 4.0, 20.0])  # of a false positive at each point: every decision turns
        assert np.array_equal(price * (1 - ETA) < 10 * ETA, ~cheaper)
        longer = {"n_estimators": 100} if "n_estimators" in make(estimator).get_params() else {}
        model = fit(make(estimator, **cost, **longer), rows, labels, **cost.at(fp_cost=rows @ price))
        assert np.array_equal(model.predict(points, **cost.at(fp_cost=price)), ~cheaper)


@promise
def test_neg_label(estimator: Any) -> None:
    plain = fit(labelled(estimator), X, Y)
    encoded = fit(labelled(estimator, neg_label=FINE), X, (Y == FINE).astype(int))  # as scikit-learn's tools encode it
    assert encoded.classes_.tolist() == [0, 1]
    assert np.array_equal(np.where(encoded.predict(X) == 0, FRAUD, FINE), plain.predict(X))
    with pytest.raises(CostError, match="pos_label and neg_label must be the two labels"):
        fit(labelled(estimator, neg_label="fine"), X, Y)


@promise
def test_constant_costs(estimator: Any) -> None:
    cases: list[tuple[dict[str, Any], dict[str, Any]]] = [({}, {}), ({"sample_weight": WEIGHT}, {})]
    if takes_row_costs(estimator) and not of_dask(estimator):
        cases += [({}, {"fn_cost": 3 + AMOUNT}), ({"sample_weight": WEIGHT}, {"fn_cost": 3 + AMOUNT})]
    for weights, costs in cases:
        found = fit(labelled(estimator), X, Y, **weights, **costs).constant_costs_
        assert list(found) == ["all positive", "all negative"]
        for label, one in zip((FRAUD, FINE), found.values(), strict=True):
            said = np.full(Y.size, label)
            paid = expected_cost(Y, said, **{**COSTS, **costs}, pos_label=FRAUD, **weights)
            assert one.cost == pytest.approx(paid, rel=1e-12)
            assert one.low < one.cost < one.high
            assert one.false_positives == (((Y == FINE) & (said == FRAUD)).sum())
            assert one.false_negatives == (((Y == FRAUD) & (said == FINE)).sum())


@promise
def test_columns(estimator: Any) -> None:
    frame = pd.DataFrame(X, columns=["amount", "age", "hour"])
    model = fit(labelled(estimator), frame, Y if not of_dask(estimator) else pd.Series(Y, index=frame.index))
    assert model.n_features_in_ == 3
    for wrong, said in (
        (frame[["age", "hour", "amount"]], "Feature names must be in the same order as they were in fit"),
        (frame[["amount", "age"]], "Feature names seen at fit time, yet now missing"),
        (frame.rename(columns={"hour": "day"}), "Feature names unseen at fit time"),
    ):
        for method in ("predict", "decision_function"):
            with pytest.raises(ValueError, match=said):
                getattr(model, method)(wrong)


@promise
def test_attributes(estimator: Any) -> None:
    for model in (labelled(estimator), fit(labelled(estimator), X, Y), fit(make(estimator), X, Y)):
        for name in [*dir(model), "guarantee_", "constant_costs_"]:
            hasattr(model, name)  # raises whatever is no AttributeError


@promise
def test_early_stopping(estimator: Any) -> None:
    asked = [name for name in make(estimator).get_params() if name.startswith(("early_stopping", "od_"))]
    if not asked:
        pytest.skip("it has no early stopping that needs rows of the user")
    values = {"od_type": "Iter", "od_pval": 0.01}
    for name in asked:
        model = labelled(estimator, **{name: values.get(name, 5)})
        with pytest.raises(ParameterError, match=f"{name}=.* needs eval_set: early stopping looks at"):
            model.fit(X, Y)
        with pytest.raises(ParameterError, match="needs eval_set"):
            uneven.UnevenClassifierCV(model, margin_gammas=[1.0, 2.0]).fit(X, Y)
        assert hasattr(model.fit(X, Y, eval_set=[(X, Y)]), "booster_")


@promise
def test_repr(estimator: Any) -> None:
    model = fit(labelled(estimator), X, Y)
    assert re.match(r"\w+\(", repr(model))
    assert len(repr(model)) < 1000
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 60)))
    big = [frame, frame.to_numpy(), make_pipeline(StandardScaler(), model), dict.fromkeys("abcdefgh", model)]
    for value in big:
        filled = clone(make(estimator))
        for name in filled.get_params(deep=False):
            setattr(filled, name, value)
        assert len(repr(filled)) < 1000


class Slow(GaussianNB):
    """A classifier that takes no weights."""

    def fit(self, X: Any, y: Any) -> Any:
        return super().fit(X, y)


class Broken(LogisticRegression):
    """A member that fails."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        raise ValueError("no")


@pytest.mark.slow
@promise
def test_warnings(estimator: Any) -> None:
    paying = np.where(np.arange(Y.size) < 5, -9.0, 7.0)
    few = np.where(np.arange(Y.size) < 3, FRAUD, FINE)
    names = make(estimator).get_params(deep=False)
    model = labelled(estimator)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if not of_dask(estimator):
            model.fit(X, Y[:, None])
            make_pipeline(StandardScaler(), labelled(estimator)).fit(X, Y[:, None])
            assert caught, "a column of labels is read with a warning"
        if takes_row_costs(estimator):
            args, named = given(estimator, X, Y, fn_cost=paying)
            labelled(estimator).fit(*args, **named)
        args, _ = given(estimator, X, Y)
        if "max_iter" in names:
            labelled(estimator, max_iter=1).fit(*args)
        if "penalty" in names:
            apart, _ = given(estimator, X, np.where(X[:, 0] > 0, FRAUD, FINE))
            labelled(estimator, penalty=None).fit(*apart)
        if "cv" in names and not of_dask(estimator):
            labelled(estimator).fit(X, few)
        if names.get("estimator") is not None and not isinstance(names["estimator"], str):
            labelled(estimator, estimator=Slow()).fit(X, Y, sample_weight=WEIGHT)
        if "members" in names:
            labelled(estimator, members={"nb": GaussianNB(), "broken": Broken()}).fit(X, Y)
            labelled(estimator, members={"knn": KNeighborsClassifier()}, time_limit=1e-9).fit(X, Y)
        if hasattr(estimator, "load"):
            uneven_costs = labelled(estimator, fn_cost=1000).fit(X, Y)
            uneven_costs.predict_proba(X)
            make_pipeline(FunctionTransformer(), uneven_costs).predict_proba(X)
    ours = [one for one in caught if not issubclass(one.category, DeprecationWarning | FutureWarning)]
    assert ours or of_dask(estimator)
    assert {(one.filename, str(one.message)) for one in ours if one.filename != __file__} == set()


# -- probabilities ----------------------------------------------------------------------------------------------------


def _with_probabilities() -> list[str]:
    found = []
    for name in uneven.losses.names():
        try:
            uneven.calibrated_loss(name, alpha="1/11").inverse_link(0.0)
        except UnevenError:
            continue
        found.append(name)
    return found


def world(seed: int, count: int = 1500) -> tuple[np.ndarray, np.ndarray]:
    """Rows of which about 3 % are positive, on which deep trees learn noise."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(count, 4))
    return X, (1.2 * X[:, 0] - X[:, 1] + random.logistic(size=count) > 4.6).astype(int)


@pytest.mark.slow
@promise
def test_probabilities(estimator: Any) -> None:
    if "loss" not in make(estimator).get_params() or not hasattr(make(estimator), "predict_proba"):
        pytest.skip("its probabilities do not come from a loss")
    if of_dask(estimator):
        pytest.skip("probabilities are not checked after a fit on rows in parts")
    train, test = world(0), world(1)
    off = {}
    for name in _with_probabilities():
        for ratio in (10, 100, 1000):
            try:
                model = fit(make(estimator, loss=name, fn_cost=ratio), *train)
            except UnevenError:
                continue  # this learner cannot learn with this loss
            if not hasattr(model, "predict_proba"):
                continue  # a search may have chosen a margin at which the loss identifies none
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                mean = model.predict_proba(test[0])[:, 1].mean()
            factor = max(mean / test[1].mean(), test[1].mean() / max(mean, 1e-300))
            if factor > 2.5 and not any("do not take predict_proba" in str(one.message) for one in said):
                off[name, ratio] = factor
    assert off == {}
    if not hasattr(estimator, "load"):
        return
    for name in ("logistic", "savage"):  # checked on rows of the user, it warns if and only if it is off
        checked = make(estimator, loss=name, fn_cost=1000).fit(*train, eval_set=[test])
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            ratio = checked.predict_proba(test[0])[:, 1].mean() / test[1].mean()
        assert checked.probability_ratio_ == pytest.approx(ratio)
        told = f"on eval_set its mean is {ratio:.3g} times the share of positives"
        assert [told in str(one.message) for one in said] == ([] if 1 / 1.5 <= ratio <= 1.5 else [True])
    even = make(estimator).fit(*train, eval_set=[test])
    assert even.probability_ratio_ == pytest.approx(even.predict_proba(test[0])[:, 1].mean() / test[1].mean())


@promise
@pytest.mark.filterwarnings("ignore:predict_proba:UserWarning", "ignore:.*probabilities.*:UserWarning")
def test_decide(estimator: Any) -> None:
    model = fit(labelled(estimator), X, Y)
    if not hasattr(model, "predict_proba"):
        assert not hasattr(model, "decide")
        return
    found = model.decide(X)
    np.testing.assert_array_equal(found.action, model.predict(X))
    np.testing.assert_array_equal(model.decide(X, fn_cost=50).action, model.predict(X, fn_cost=50))
    few = model.decide(X, at_most=5)
    assert few.counts[FRAUD] == min(5, found.counts[FRAUD])
    assert (few.flagged <= found.flagged).all()
    actions = uneven.Actions(clear=(7, -0.25), review=(2, 1), block=(0.5, 2))
    taken = model.decide(X, actions=actions).action
    if "actions" in model.get_params():  # it has a threshold of its own at each break
        breaks = [{"fp_cost": fp, "fn_cost": fn, "tp_cost": 0, "tn_cost": 0} for fp, fn in costs_of_breaks(actions)]
        beyond = sum((model.predict(X, **costs) == FRAUD).astype(int) for costs in breaks)
        np.testing.assert_array_equal(taken, np.array(actions.names)[beyond])
    else:
        positive = model.predict_proba(X)[:, list(model.classes_).index(FRAUD)]
        np.testing.assert_array_equal(taken, actions.choose(positive))


@promise
@pytest.mark.filterwarnings("ignore:do not take predict_proba:UserWarning")
def test_explain(estimator: Any) -> None:
    model = fit(labelled(estimator), X, Y)
    some = slice(0, 12)
    moves = hasattr(model, "predict_proba")
    for costs in ({}, {"fn_cost": 50.0}, {"fn_cost": 3 + AMOUNT[some]}) if moves else ({},):
        why = model.explain(X[some], X[some.stop :], n_draws=4, **costs)
        positive = 1 if list(model.classes_)[1] == FRAUD else -1
        score = positive * np.asarray(model.decision_function(X[some], **costs))
        np.testing.assert_allclose(why.base_score + why.points.sum(axis=1), score, rtol=1e-6, atol=1e-6)
        np.testing.assert_array_equal(why.flagged, np.asarray(model.predict(X[some], **costs)) == FRAUD)
        if not moves:
            assert why.money is None
            continue
        p = np.asarray(model.predict_proba(X[some]))[:, list(model.classes_).index(FRAUD)]
        four = {**COSTS, **costs}
        saved = p * (four["fn_cost"] - four["tp_cost"]) - (1 - p) * (four["fp_cost"] - four["tn_cost"])
        np.testing.assert_allclose(why.base_saving + why.money.sum(axis=1), saved, rtol=1e-5, atol=1e-5)
        assert (why.money * why.points >= 0).all()
