"""``actions`` of the two learners with a corrected threshold: laws about what they decide, cost and guarantee."""

from __future__ import annotations

import itertools
import pickle
import re
from typing import Any

import numpy as np
import pytest
import skops.io
from public_estimators import FINE, FRAUD, make, rows
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, TimeSeriesSplit, cross_val_score
from sklearn.naive_bayes import GaussianNB

import uneven
from uneven import UnevenEnsembleClassifier as Ensemble
from uneven import UnevenThresholdClassifierCV as Threshold
from uneven.costs import GivenCosts, RowCosts
from uneven.decisions.action_cuts import Cut, costs_of_breaks, count_breaks, find_cuts
from uneven.decisions.correction import CorrectedOdds, Correction
from uneven.decisions.out_of_fold_rows import OutOfFoldRows
from uneven.errors import CostError, ParameterError
from uneven.learners.several_actions import estimate_actions
from uneven.metrics.intervals import estimates

X, Y, AMOUNT = rows(500, seed=4)
THREE = uneven.Actions(clear=(100, 0), review=(30, 5), block=(1, 20))
FOUR = uneven.Actions(none=(30, 0.5), visit=(1, 6), mail=(22, 0.75), call=(8, 2), fax=(25, 3))  # fax never pays
each = pytest.mark.parametrize("estimator", [Threshold, Ensemble], ids=lambda e: e.__name__)


def acting(estimator: Any, actions: Any, /, **params: Any) -> Any:
    base = {"estimator": GaussianNB()} if estimator is Threshold else {"members": {"bayes": GaussianNB()}}
    return make(estimator, **{**base, "actions": actions, "pos_label": FRAUD, **params})


def paid(actions: uneven.Actions, taken: np.ndarray, y: np.ndarray = Y) -> np.ndarray:
    costs = {name: np.array(pair) for name, pair in actions.costs.items()}
    return np.array([costs[name][0 if label == FRAUD else 1] for name, label in zip(taken, y, strict=True)])


# -- two actions are two costs ----------------------------------------------------------------------------------------


@pytest.mark.slow
@each
@pytest.mark.parametrize("method", ["gibbs", "affine", "isotonic", "none"])
def test_two_actions_are_today_s_classifier(estimator: Any, method: str) -> None:
    four = {"fn_cost": 9.5, "tn_cost": 0.25, "tp_cost": 1.0, "fp_cost": 3.0}
    fixed = acting(estimator, None, method=method, **four).fit(X, Y)
    pair = {"leave": (9.5, 0.25), "stop": (1.0, 3.0)}
    for actions in (
        uneven.Actions(**pair),
        uneven.Actions(**pair, never=(20, 30)),
        uneven.Actions(**dict(reversed(pair.items()))),
    ):
        model = acting(estimator, actions, method=method).fit(X, Y)
        for costs in ({}, {"fn_cost": 40}, {"fp_cost": AMOUNT}):
            np.testing.assert_array_equal(model.predict(X, **costs), fixed.predict(X, **costs))
        np.testing.assert_array_equal(model.decision_function(X), fixed.decision_function(X))
        np.testing.assert_array_equal(model.decide(X).action == "stop", fixed.predict(X) == FRAUD)
        assert model.action_thresholds_ == {"stop": fixed.threshold_}
        assert model.out_of_fold_cost_ == fixed.out_of_fold_cost_
        assert model.constant_costs_ == fixed.constant_costs_
        assert model.score(X, Y) == fixed.score(X, Y)
        if method == "gibbs":
            assert model.guarantee_ == fixed.guarantee_
            assert model.shift_ == fixed.shift_
    assert model.decide(X).probability.tolist() == pytest.approx(fixed.decide(X).probability.tolist(), rel=1e-12)


def test_estimates_of_two_actions_are_those_of_two_classes() -> None:
    random = np.random.default_rng(0)
    is_positive, said, other = (random.random(400) < share for share in (0.2, 0.3, 0.25))
    weight = random.integers(1, 4, 400).astype(float)
    actions = uneven.Actions(leave=(9.5, 0.25), stop=(1.0, 3.0))
    costs = RowCosts.read(400, fn_cost=9.5, tn_cost=0.25, tp_cost=1.0, fp_cost=3.0)
    ways = {"one": said, "other": other, "all positive": np.ones(400, dtype=bool)}
    for weights in (None, weight):
        two = estimates(costs, is_positive, {name: way[None] for name, way in ways.items()}, weights)
        several = estimate_actions(actions, is_positive, {name: way.astype(int) for name, way in ways.items()}, weights)
        for one, same in zip(several, two, strict=True):
            numbers = {name: value for name, value in same.to_dict().items() if isinstance(value, float)}
            assert {name: one.to_dict()[name] for name in numbers} == pytest.approx(numbers, rel=1e-9)
            assert (one.name, one.rough, one.difference_rough) == (same.name, same.rough, same.difference_rough)


# -- what is decided --------------------------------------------------------------------------------------------------


@each
@pytest.mark.parametrize("actions", [THREE, FOUR], ids=["three", "four"])
def test_at_each_break_it_decides_as_predict_does_at_its_costs(estimator: Any, actions: uneven.Actions) -> None:
    model = acting(estimator, actions).fit(X, Y)
    beyond = [
        model.predict(X, fp_cost=fp, fn_cost=fn, tp_cost=0, tn_cost=0) == FRAUD for fp, fn in costs_of_breaks(actions)
    ]
    assert all((after <= before).all() for before, after in itertools.pairwise(beyond))  # no break crosses
    taken = model.decide(X).action
    np.testing.assert_array_equal(taken, np.array(actions.envelope)[np.sum(beyond, axis=0)])
    assert set(taken) == set(actions.envelope)
    probability = model.predict_proba(X)[:, list(model.classes_).index(FRAUD)]
    cuts = model.action_thresholds_
    assert tuple(cuts) == actions.envelope[1:]
    np.testing.assert_array_equal(taken, np.array(actions.envelope)[np.searchsorted(list(cuts.values()), probability)])


@each
def test_predict_is_right_if_only_the_outermost_actions_exist(estimator: Any) -> None:
    model = acting(estimator, THREE).fit(X, Y)
    outer = acting(estimator, uneven.Actions(clear=(100, 0), block=(1, 20))).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), outer.predict(X))
    np.testing.assert_array_equal(model.predict(X) == FRAUD, outer.decide(X).action == "block")
    assert model.threshold_ == outer.threshold_
    assert model.score(X, Y, fn_cost=70) == outer.score(X, Y, fn_cost=70)  # costs given stand in place of the actions
    assert set(model.decide(X, fn_cost=70).action) == {FINE, FRAUD}


@each
def test_other_actions_need_no_new_fit(estimator: Any) -> None:
    plain = acting(estimator, None, fn_cost=3).fit(X, Y)
    for actions in (THREE, FOUR):
        one, other = plain.decide(X, actions=actions), acting(estimator, actions).fit(X, Y).decide(X)
        np.testing.assert_array_equal(one.choice, other.choice)
        np.testing.assert_array_equal(one.probability, other.probability)
        np.testing.assert_array_equal(one.regrets.argmin(axis=1), one.choice)  # costs agree with the thresholds
        said = plain.predict_proba(X)[:, list(plain.classes_).index(FRAUD)]
        assert (np.diff(one.probability[np.argsort(said, kind="stable")]) >= 0).all()  # moved, in the same order


@each
def test_units_and_turned_labels_change_nothing(estimator: Any) -> None:
    model = acting(estimator, THREE).fit(X, Y)
    taken, cuts = model.decide(X).action, list(model.action_thresholds_.values())
    unit = uneven.Actions(**{name: (8 * one, 8 * other) for name, (one, other) in THREE.costs.items()})
    same = acting(estimator, unit).fit(X, Y)
    np.testing.assert_array_equal(same.decide(X).action, taken)
    assert same.out_of_fold_cost_.cost == pytest.approx(8 * model.out_of_fold_cost_.cost, rel=1e-12)
    turned = uneven.Actions(**{name: pair[::-1] for name, pair in THREE.costs.items()})
    other = acting(estimator, turned, pos_label=FINE).fit(X, Y)
    np.testing.assert_array_equal(other.decide(X).action, taken)
    assert [1 - cut for cut in reversed(other.action_thresholds_.values())] == pytest.approx(cuts, rel=1e-9)


def test_breaks_that_cross_become_one() -> None:
    pairs = costs_of_breaks(FOUR)
    shifts = {pairs[0]: 3.0, pairs[1]: 0.0, pairs[2]: 0.0}  # the first break would lie above the second
    asked: list[tuple[float, float]] = []

    def find(fp: float, fn: float) -> CorrectedOdds:
        asked.append((fp, fn))
        return CorrectedOdds(Correction(shift=shifts.get((fp, fn), 0.5)), (-30.0, 30.0))

    cuts = find_cuts(pairs, find)
    assert [cut.breaks for cut in cuts] == [2, 1]
    assert asked[2] == (pairs[0][0] + pairs[1][0], pairs[0][1] + pairs[1][1])
    assert cuts[0].log_odds == pytest.approx(np.log(asked[2][0] / asked[2][1]) + 0.5)
    p = expit(np.linspace(-8, 8, 400))
    assert set(count_breaks(cuts, p)) == {0, 2, 3}
    np.testing.assert_array_equal(
        count_breaks(cuts, p), 2 * (logit(p) > cuts[0].log_odds) + (logit(p) > cuts[1].log_odds)
    )


@pytest.mark.slow
def test_a_model_in_which_breaks_crossed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The action between is never taken; the bounds at both breaks are those of the cut in use."""
    model = acting(Threshold, THREE).fit(X, Y)
    fp, fn = np.sum(costs_of_breaks(THREE), axis=0).tolist()
    joint = Cut(2, fp, fn, model._odds_for(RowCosts(1, fp, fn), GivenCosts()))
    monkeypatch.setattr(model, "_cuts_for", lambda actions: [joint])
    thresholds = model.action_thresholds_
    assert thresholds["review"] == thresholds["block"] == pytest.approx(model.threshold_, rel=1e-12)
    found = model.decide(X)
    assert found.counts["review"] == 0
    np.testing.assert_array_equal(found.action == "block", model.predict(X) == FRAUD)
    level = count_breaks([joint], model.out_of_fold_probability_)
    above = paid(THREE, np.array(THREE.envelope)[level]) - np.where(Y == FRAUD, 1, 0)
    bounds = model.guarantee_
    assert sum(part.mean.cost for part in bounds.breaks.values()) == pytest.approx(above.mean(), rel=1e-9)


class _Given(GaussianNB):
    """Its log-odds are the first column."""

    def predict_proba(self, X: Any) -> Any:
        p = expit(np.asarray(X)[:, 0])
        return np.stack([1 - p, p], axis=1)


# -- what it costs ----------------------------------------------------------------------------------------------------


@each
@pytest.mark.parametrize("actions", [THREE, FOUR], ids=["three", "four"])
def test_score_and_constant_costs_are_those_of_the_actions(estimator: Any, actions: uneven.Actions) -> None:
    model = acting(estimator, actions).fit(X, Y)
    each_row, weight = paid(actions, model.decide(X).action), np.linspace(0, 2, Y.size)
    assert model.score(X, Y) == pytest.approx(-each_row.mean(), rel=1e-12)
    assert model.score(X, Y, sample_weight=weight) == pytest.approx(-np.average(each_row, weights=weight), rel=1e-12)
    names = {"all negative": actions.envelope[0], "all positive": actions.envelope[-1]}
    names |= {f"all {name}": name for name in actions.envelope[1:-1]}
    found = model.constant_costs_
    assert set(found) == set(names)
    for rule, name in names.items():
        assert found[rule].cost == pytest.approx(paid(actions, np.full(Y.size, name)).mean(), rel=1e-12)
        assert found[rule].low <= found[rule].cost <= found[rule].high
    inner = cross_val_score(acting(estimator, actions), X, Y, cv=2, error_score="raise")
    assert (inner < 0).all()


@pytest.mark.parametrize("splitter", [StratifiedKFold(4), TimeSeriesSplit(4)], ids=["folds", "time"])
def test_the_out_of_fold_cost_is_that_of_models_that_did_not_see_the_row(splitter: Any) -> None:
    model = acting(Threshold, THREE, cv=splitter).fit(X, Y)
    folds, taken = [test for _, test in splitter.split(X, Y)], np.full(Y.size, "unknown")
    p = np.asarray(model.out_of_fold_probability_)
    for number, test in enumerate(folds):
        known = folds[:number] + ([] if isinstance(splitter, TimeSeriesSplit) else folds[number + 1 :])
        if known:
            past = np.concatenate(known)
            rows_known = OutOfFoldRows(p[past], Y[past] == FRAUD, np.ones(past.size))
            cuts = rows_known.cuts(costs_of_breaks(THREE), "gibbs", 8)
            taken[test] = np.array(THREE.envelope)[count_breaks(cuts, p[test])]
        else:
            taken[test] = THREE.choose(p[test])
    tested = np.concatenate(folds)
    estimate = model.out_of_fold_cost_
    assert estimate.cost == pytest.approx(paid(THREE, taken[tested], Y[tested]).mean(), rel=1e-12)
    plain = paid(THREE, THREE.choose(p[tested]), Y[tested]).mean()
    assert estimate.difference == pytest.approx(estimate.cost - plain, abs=1e-12)
    missed = (taken[tested] == "clear") & (Y[tested] == FRAUD)
    assert estimate.false_negatives == missed.sum()
    ensemble = acting(Ensemble, THREE, cv=splitter).fit(X, Y)  # of one member: the same decisions
    assert ensemble.out_of_fold_cost_.cost == pytest.approx(estimate.cost, rel=0.1)
    assert ensemble.member_costs_ == {"bayes": pytest.approx(plain, rel=1e-12)}


# -- what is guaranteed -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_guarantee_holds_on_a_known_distribution() -> None:
    """Scores are log-odds that are 0.7 too high: expected costs of all thresholds are known."""
    random, grid = np.random.default_rng(0), np.linspace(-9, 9, 2001)
    density = np.exp(-((grid + 1.5) ** 2) / 8)
    density /= density.sum()
    eta, pairs = expit(grid), costs_of_breaks(THREE)
    fp, fn = np.array(pairs).T
    beyond = np.cumsum((density * eta)[::-1])[::-1], np.cumsum((density * (1 - eta))[::-1])[::-1]
    missed, alarmed = (density * eta).sum() - beyond[0], beyond[1]
    curves = [f * alarmed + m * missed for f, m in pairs]  # of the cut at each point of the grid
    kept = []
    for _ in range(12):
        log_odds = random.choice(grid, 3000, p=density)
        label = random.random(3000) < expit(log_odds)
        model = Threshold(_Given().fit(log_odds[:, None], label), prefit=True, actions=THREE)
        found = model.fit(log_odds[:, None] + 0.7, label).guarantee_
        raw = [cut.log_odds - 0.7 for cut in model._cuts_for(THREE)]
        cost = sum(curve[np.searchsorted(grid, at, side="right")] for curve, at in zip(curves, raw, strict=True))
        best = sum(curve.min() for curve in curves)
        kept.append(cost - best <= found.regret_bound and cost <= found.cost_bound)
        assert found.regret_bound < found.cost_bound
        assert found.breaks["review"].confidence == pytest.approx(0.975)
    assert all(kept)  # each with probability 0.95 at least, and the bounds are far from attained
    assert not found.vacuous
    assert "With 95 % confidence, the actions cost at most" in found.in_words()
    assert (
        found.to_dict()["regret_bound"]
        == found.regret_bound
        == pytest.approx(sum(part.mean.regret_bound for part in found.breaks.values()), rel=1e-9)
    )
    constant = min(fn.sum() * label.mean(), fp.sum() * (1 - label.mean()), (29 * label + 5 * ~label).mean())
    assert found.constant_cost == pytest.approx(constant, rel=1e-9)


def test_more_than_a_shift_has_no_guarantee() -> None:
    model = acting(Threshold, THREE, method="affine").fit(X, Y)
    with pytest.raises(AttributeError, match="does more than to shift"):
        _ = model.guarantee_
    with pytest.raises(ParameterError, match="are for costs of each row"):
        acting(Threshold, THREE).fit(X, Y).guarantee(largest_fp_regret=100)
    assert acting(Threshold, THREE).fit(X[:60], Y[:60]).guarantee_.in_words().startswith("No useful guarantee")


@pytest.mark.slow
def test_many_rows_are_kept_as_groups() -> None:
    many, labels, _ = rows(24_000, seed=1)
    fitted = LogisticRegression().fit(many[:4000], labels[:4000])
    few, all_rows = (
        Threshold(fitted, prefit=True, actions=THREE, pos_label=FRAUD, keep_training_rows=keep).fit(many, labels)
        for keep in (False, True)
    )
    assert few.guarantee_ == all_rows.guarantee_
    assert few.out_of_fold_cost_ == all_rows.out_of_fold_cost_
    assert (few.decide(many).choice == all_rows.decide(many).choice).mean() > 0.9999


# -- how it is given --------------------------------------------------------------------------------------------------


@each
def test_copies_and_files_keep_the_actions(estimator: Any) -> None:
    model = acting(estimator, FOUR)
    assert clone(model).get_params()["actions"] == FOUR
    _ = FOUR.breaks  # what was found is not part of a file
    model.fit(X, Y)
    stored = pickle.loads(pickle.dumps(model)), skops.io.loads(skops.io.dumps(model), trusted=uneven.trusted_types())
    for copy in stored:
        np.testing.assert_array_equal(copy.decide(X).action, model.decide(X).action)
        assert copy.score(X, Y) == model.score(X, Y)
        assert copy.actions == FOUR
    again = model.set_params(actions=None, fn_cost=3).fit(X, Y)
    assert set(again.decide(X).action) == {FINE, FRAUD}
    assert not hasattr(again, "action_thresholds_")


@each
def test_limits_hold_for_the_actions_of_the_fit(estimator: Any) -> None:
    model = acting(estimator, THREE).fit(X[:250], Y[:250])
    free = model.decide(X[250:])
    assert free.counts["review"] > 20
    few = model.decide(X[250:], at_most={"review": 20})
    assert few.counts["review"] == 20
    assert few.total_cost >= free.total_cost
    sure = model.decide(X[250:], recall_at_least=0.9, held_out=(X[:250], Y[:250]))
    assert sure.guarantee is not None
    rich = uneven.Actions(clear=(AMOUNT, 0), review=(0.1, 0.2), block=(0, 1))
    np.testing.assert_array_equal(
        model.decide(X, actions=rich).action, rich.choose(model.predict_proba(X)[:, list(model.classes_).index(FRAUD)])
    )


@each
def test_words_of_bad_actions(estimator: Any) -> None:
    bad = {
        "actions must be uneven.Actions(...), got 'review'": {"actions": "review"},
        "actions stand in place of the costs, got fn_cost=5 as well": {"fn_cost": 5},
        "actions stand in place of the costs, got cost_range=(5, 50) as well": {"cost_range": (5, 50)},
        "must have numbers as costs": {"actions": uneven.Actions(a=(AMOUNT, 0), b=(0, 1))},
        "a is the cheapest action at every probability": {"actions": uneven.Actions(a=(0, 0), b=(0, 1), c=(2, 1))},
    }
    for words, params in bad.items():
        with pytest.raises(CostError, match=re.escape(words)):
            acting(estimator, THREE, **{} if "actions" in params else params).set_params(**params).fit(X, Y)
    with pytest.raises(CostError, match="got fp_cost=2 as well"):
        acting(estimator, THREE).fit(X, Y, fp_cost=2)
    with pytest.raises(CostError, match="pos_label"):  # nobody knows who is to be blocked
        acting(estimator, uneven.Actions(a=(1, 0), b=(0, 1)), pos_label=None).fit(X, Y)
    with pytest.raises(CostError, match="give actions or fn_cost, not both"):
        acting(estimator, THREE).fit(X, Y).decide(X, actions=FOUR, fn_cost=3)


# -- extreme costs ----------------------------------------------------------------------------------------------------

EXTREME = {
    "a break of 2e-12": uneven.Actions(a=(1, 0), b=(0.5, 1e-12), c=(0, 1)),
    "a break below every double": uneven.Actions(a=(1, 0), b=("1/2", "5e-324"), c=(0, 1)),
    "large": uneven.Actions(a=(1e300, 0), b=(1e299, 1e298), c=(0, 1e300)),
    "small": uneven.Actions(a=(1e-300, 0), b=(1e-301, 1e-302), c=(0, 1e-300)),
    "benefits": uneven.Actions(a=(100, -5), b=(20, -3), c=(-50, 20)),
    "twenty breaks": uneven.Actions(**{f"a{k}": ((20 - k) ** 2, k**2) for k in range(21)}),
}


@pytest.mark.slow
@each
@pytest.mark.parametrize("actions", EXTREME.values(), ids=EXTREME)
def test_extreme_costs(estimator: Any, actions: uneven.Actions) -> None:
    model = acting(estimator, actions).fit(X, Y)
    found, cuts = model.decide(X), list(model.action_thresholds_.values())
    assert len(cuts) == len(actions.breaks)
    assert sorted(cuts) == cuts
    probability = model.predict_proba(X)[:, list(model.classes_).index(FRAUD)]
    np.testing.assert_array_equal(found.action, np.array(actions.envelope)[np.searchsorted(cuts, probability)])
    assert ((found.probability >= 0) & (found.probability <= 1)).all()
    assert np.isfinite([model.score(X, Y), model.out_of_fold_cost_.cost]).all()


def test_differences_beyond_doubles_are_an_error() -> None:
    wide = uneven.Actions(a=(1e308, -1e308), b=(0, 0), c=(-1e308, 1e308))
    with pytest.raises(CostError, match="range of double precision"):
        acting(Threshold, wide).fit(X, Y)
