"""The guarantee of several classes: its prior, its bound against the truth of finite worlds, its words."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
import skops.io
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

import uneven
from uneven.costs import RowCosts
from uneven.decisions.class_guarantee import ClassGuarantee, class_guarantee, code_length
from uneven.decisions.class_shifts import ClassRows, ClassRule, cheapest, grid_step
from uneven.decisions.guarantee import shift_guarantee
from uneven.decisions.scored_rows import ScoredRows
from uneven.decisions.shift_bounds import kl_upper
from uneven.errors import CostError, ParameterError

Threshold = uneven.UnevenThresholdClassifierCV
COSTS = np.array([[0, 1, 4, 1.5], [2, 0, 1, 1.5], [9, 3, 0, 1.5]])


def rule_of(places: Any, count: int, power: int = 0) -> ClassRule:
    """A rule on the grid: how many steps each class is favoured by."""
    offsets = np.asarray(places, dtype=float) * grid_step(count)
    return ClassRule(2 ** (power / 8), offsets, np.zeros(offsets.size), -math.log(count + 2))


def world(seed: int, points: int = 12, classes: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points with their mass, the true probabilities of the classes there, and what a model says."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.full(classes, 0.7), points)
    said = truth * np.exp(rng.normal(0, 0.7, truth.shape))
    return rng.dirichlet(np.full(points, 3.0)), truth, said / said.sum(axis=1, keepdims=True)


def draw(rng: np.random.Generator, mass: np.ndarray, truth: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    point = rng.choice(mass.size, count, p=mass)
    y = (truth[point].cumsum(axis=1) < rng.random((count, 1))).sum(axis=1)
    return point, np.minimum(y, truth.shape[1] - 1)


def test_the_prior_is_one() -> None:
    """Over all slopes and all numbers of the classes, which have no common constant, it sums to at most 1."""
    for classes, reach in ((2, 400), (3, 20), (4, 5)):
        some = itertools.product(range(-reach, reach + 1), repeat=classes - 1)
        total = 33 * sum(math.exp(-code_length(rule_of((0, *rest), 500), 500)) for rest in some)
        assert 0.01 < total <= 1
    assert code_length(rule_of([0, 3, -2], 500, -16), 500) == code_length(rule_of([7, 10, 5], 500), 500)
    with pytest.raises(ParameterError, match=r"a grid with the step 0\.125, got one that is not on"):
        code_length(rule_of([0, 0.5, 0], 500), 500)


@pytest.mark.slow
@pytest.mark.parametrize("doubt", [0.05, 0.5])
def test_the_most_flattered_rule_costs_at_most_the_bound(doubt: float) -> None:
    """Of 400 rules the one that the rows flatter most; without the price of the choice the bound would often fail."""
    rng, count, draws = np.random.default_rng(3), 60, 200
    failed = cheap = naive = 0
    rules = [rule_of(rng.integers(-12, 13, 3), count, int(rng.integers(-8, 9))) for _ in range(400)]
    equal = 1.0 - np.eye(3)  # costs of 0 and 1 come nearest to the bound
    for seed in range(4):
        mass, truth, said = world(seed, points=40)
        action = np.array([rule.act(said, equal) for rule in rules])
        paid = equal[:, action]  # classes x rules x points
        expected = np.einsum("p,pk,krp->r", mass, truth, paid)
        for _ in range(draws // 4):
            point, y = draw(rng, mass, truth, count)
            table = np.zeros((mass.size, 3))
            np.add.at(table, (point, y), 1 / count)
            seen = np.einsum("pk,krp->r", table, paid)
            worst = int((expected - seen).argmax())
            rows = ClassRows(said[point], y, np.ones(count), equal)
            found = class_guarantee(rows, np.zeros(count, int), rules[worst], confidence=1 - doubt)
            assert found.cost == pytest.approx(seen[worst])
            failed += found.cost_bound < expected[worst]
            cheap += float(kl_upper(seen[worst], math.log(1 / doubt) / count)) < expected[worst]
            naive += found.cost < expected[worst]
    assert failed <= doubt * draws / 10
    assert naive > 0.95 * draws
    assert cheap > doubt * draws  # what fresh rows would say (Hoeffding) is not true of a rule chosen with them


class Frequencies(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """P(class) at each of some points, as counted."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Frequencies:
        self.classes_ = np.unique(y)
        self.counts_ = np.full((int(X.max()) + 40, self.classes_.size), 0.5)
        np.add.at(self.counts_, (X[:, 0].astype(int), np.searchsorted(self.classes_, y)), 1)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        found = self.counts_[X[:, 0].astype(int)]
        return np.asarray(found / found.sum(axis=1, keepdims=True))


@pytest.mark.slow
def test_cross_fitted_learners_cost_at_most_the_bound() -> None:
    """The true cost of the fold models, each with calibration and shifts of the fit; on the rows it is often less."""
    rng, count, failed, flattered = np.random.default_rng(5), 400, 0, 0
    matrix = uneven.CostMatrix(COSTS, actions=[0, 1, 2, "ask"])
    regrets = COSTS - COSTS.min(axis=1, keepdims=True)
    fold = np.arange(count) % 4
    parts = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(4)]
    for seed in range(8):
        mass, truth, _ = world(seed, points=60)
        point, y = draw(rng, mass, truth, count)
        model = Threshold(Frequencies(), costs=matrix, cv=parts, method="cost").fit(point[:, None], y)
        expected = 0.0
        for train, _ in parts:
            said = Frequencies().fit(point[train][:, None], y[train]).predict_proba(np.arange(60)[:, None])
            action = model._several.rule.act(said, COSTS)
            expected += float(np.einsum("p,pk,kp->", mass, truth, regrets[:, action])) / 4
        found = model.guarantee(0.5)
        assert (found.folds, found.rows_per_fold, found.refitted) == (4, 100, True)
        failed += found.cost_bound < expected
        flattered += found.cost < expected
    assert failed == 0
    assert flattered > 2


def few(count: int, seed: int = 0) -> ClassRows:
    mass, truth, said = world(seed)
    point, y = draw(np.random.default_rng(seed), mass, truth, count)
    return ClassRows(said[point], y, np.ones(count), COSTS)


def bound_of(rows: ClassRows, **how: Any) -> ClassGuarantee:
    count = rows.truth.size
    return class_guarantee(rows, np.zeros(count, int), rule_of([1, 0, -2], count), **how)


@pytest.mark.slow
def test_two_classes_agree_with_the_guarantee_of_a_shift() -> None:
    """The same mean cost as the theorem for two classes sees, and bounds of the same size."""
    rng = np.random.default_rng(0)
    for count in (500, 4_000):
        odds = rng.normal(-1, 2, count)
        positive = rng.random(count) < 1 / (1 + np.exp(-odds))
        p = 1 / (1 + np.exp(-odds - 0.5))
        rule = ClassRule(1.0, np.zeros(2), np.array([0, 0.5]), -math.inf)
        rows = ClassRows(np.stack([1 - p, p], axis=1), positive.astype(int), np.ones(count), np.array([[0, 1], [6, 0]]))
        one = class_guarantee(rows, np.zeros(count, int), rule)
        costs = RowCosts.read(count, fp_cost=1, fn_cost=6)
        other = shift_guarantee([ScoredRows(odds + 0.5, positive, costs, np.ones(count))], shift=0.5, order=8)
        assert one.cost == pytest.approx(other.mean.cost)
        assert one.constant_cost == pytest.approx(other.constant_cost)
        assert one.cost < one.cost_bound < 1.1 * other.mean.cost_bound


def test_units_labels_constants_rows_and_choices() -> None:
    rows = few(1_000)
    one = bound_of(rows)
    unit = bound_of(ClassRows(rows.probability, rows.truth, rows.weight, 7 * COSTS))
    assert unit.cost_bound == pytest.approx(7 * one.cost_bound)
    paid = bound_of(ClassRows(rows.probability, rows.truth, rows.weight, COSTS - [[3], [0], [50]]))
    assert paid.cost_bound == pytest.approx(one.cost_bound)
    order = np.array([2, 0, 1])
    turned = ClassRows(rows.probability[:, order], np.argsort(order)[rows.truth], rows.weight, COSTS[order])
    places = np.array([1, 0, -2])[order]
    again = class_guarantee(turned, np.zeros(1_000, int), rule_of(places, 1_000))
    assert again.cost_bound == pytest.approx(one.cost_bound)
    assert again.code_length == one.code_length
    folds = class_guarantee(rows, np.arange(1_000) % 5, rule_of([1, 0, -2], 1_000))
    assert folds.cost == one.cost < one.cost_bound < folds.cost_bound
    assert one.cost_bound < bound_of(rows, choices=1_000).cost_bound
    assert one.cost_bound < bound_of(rows, confidence=0.999).cost_bound
    assert one.cost_bound < 9
    large = bound_of(few(30_000))
    assert large.cost_bound - large.cost < 0.25 * (one.cost_bound - one.cost)


def test_each_class_alone_bounds_a_matrix_with_one_dear_class() -> None:
    """It is the lower one of two bounds, of the sum and of the classes, which hold together."""
    rows, count = few(2_000), 2_000
    limit = (code_length(rule_of([1, 0, -2], count), count) + math.log(8 * math.sqrt(count) / 0.05)) / count
    for unit, lower in ((1000, "apart"), (1, "together")):
        costs = COSTS * np.array([[1], [1], [unit]])
        found = bound_of(ClassRows(rows.probability, rows.truth, rows.weight, costs))
        taken = rule_of([1, 0, -2], count).act(rows.probability, costs)
        paid = (costs - costs.min(axis=1, keepdims=True))[rows.truth, taken]
        means, largest = np.bincount(rows.truth, paid, 3) / count, np.array(found.largest_regrets)
        bounds = {
            "together": largest.max() * float(kl_upper(means.sum() / largest.max(), limit)),
            "apart": float(largest @ kl_upper(means / largest, limit)),
        }
        assert min(bounds, key=bounds.__getitem__) == lower
        assert found.cost_bound == pytest.approx(bounds[lower], rel=1e-6)
        assert found.cost_bound >= bounds[lower]


def test_ties_that_rounding_may_decide_count_as_the_dearer_action() -> None:
    """Exact ties: whichever action the argmin takes, the bound is about the dearer one."""
    rows = ClassRows(np.full((100, 2), 0.5), np.arange(100) % 2, np.ones(100), np.array([[0, 1.0], [1.0, 0]]))
    found = class_guarantee(rows, np.zeros(100, int), rule_of([0, 0], 100))
    assert found.cost == 1.0
    assert rows.paid(cheapest(rows.probability, rows.costs)).mean() == 0.5


def test_costs_of_each_row_are_believed_until_the_user_says_more() -> None:
    rows = few(1_000)
    of_rows = ClassRows(rows.probability, rows.truth, rows.weight, np.repeat(COSTS[None], 1_000, axis=0))
    fixed, found = bound_of(rows), bound_of(of_rows)
    assert found.cost_bound == pytest.approx(fixed.cost_bound)
    assert (fixed.believed, fixed.fixed_costs) == (False, True)
    assert (found.believed, found.fixed_costs) == (True, False)  # rows that are not here may cost more
    assert fixed.in_words().endswith("costs that were fixed beforehand.")
    assert found.in_words().endswith("that no decision costs more than the largest ones seen (2 and 9).")
    said = bound_of(of_rows, largest_regret=40)
    assert not said.believed
    assert said.cost_bound > found.cost_bound
    assert said.in_words().endswith("that no decision costs more than you said (40).")
    assert bound_of(of_rows, largest_regret={0: 40}).largest_regrets == (40.0, 2.0, 9.0)
    with pytest.raises(ParameterError, match=r"at least the largest one of the rows, 4.0, got 3"):
        bound_of(of_rows, largest_regret=3)
    with pytest.raises(ParameterError, match="largest_regret is for costs of each row"):
        bound_of(rows, largest_regret=40)


def test_a_rare_dear_row_is_not_in_the_claim_unasked() -> None:
    """One row in 100,000 costs a million times as much: the bound is below the truth, and says what it believes."""
    rows, rare, dear = few(2_000), 1e-5, 1e6
    found = bound_of(ClassRows(rows.probability, rows.truth, rows.weight, np.repeat(COSTS[None], 2_000, axis=0)))
    assert found.cost_bound < (1 + rare * dear) * found.cost
    assert found.believed


def test_words_and_dictionary() -> None:
    found = bound_of(few(40_000), refitted=True)
    assert found.in_words().startswith("With 95 % confidence, the decisions cost at most ")
    shown = float(found.in_words().split("at most ")[1].split()[0])
    assert found.cost_bound <= shown <= 1.011 * found.cost_bound
    assert "not for the model that was fitted again" in found.in_words()
    small = class_guarantee(few(100), np.arange(100) % 5, rule_of([0, 0, 0], 100))
    assert small.vacuous
    assert small.in_words().startswith("No useful guarantee: 20 rows per fold are too few.")
    assert "the 5 fold models with this calibration and these shifts, on average." in small.in_words()
    again = json.loads(json.dumps(found.to_dict()))
    assert again["cost_bound"] == found.cost_bound
    assert again["vacuous"] is False


def test_bad_input() -> None:
    rows = few(50)
    with pytest.raises(ParameterError, match="different sample weights"):
        bound_of(ClassRows(rows.probability, rows.truth, np.arange(1.0, 51), COSTS))
    with pytest.raises(ParameterError, match="one action is the cheapest one for every row"):
        bound_of(ClassRows(rows.probability, rows.truth, rows.weight, np.zeros((3, 3))))
    with pytest.raises(ParameterError, match="use another unit of money"):
        bound_of(ClassRows(rows.probability, rows.truth, rows.weight, COSTS * 1e260))
    with pytest.raises((CostError, ParameterError), match="confidence must lie strictly between 0 and 1"):
        bound_of(rows, confidence=1)
    with pytest.raises(ParameterError, match="a guarantee needs rows"):
        bound_of(rows.take(np.arange(0)))


# -- of fitted models -------------------------------------------------------------------------------------------------


def table(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(count) % 3
    return rng.normal(size=(count, 4)) + 1.5 * np.eye(3, 4)[y], y


MATRIX = uneven.CostMatrix(COSTS, actions=[0, 1, 2, "ask"])


@pytest.mark.slow
def test_the_guarantee_of_a_learner_and_who_has_none() -> None:
    X, y = table(900)
    model = Threshold(GaussianNB(), costs=MATRIX).fit(X, y)
    found = model.guarantee_
    assert (found.folds, found.rows, found.rows_per_fold, found.refitted) == (5, 900, 180, True)
    assert found.cost < found.cost_bound < model.guarantee(0.999).cost_bound
    assert found.vacuous
    prefit = Threshold(GaussianNB().fit(X[:300], y[:300]), costs=MATRIX, prefit=True).fit(X[300:], y[300:])
    assert (prefit.guarantee_.folds, prefit.guarantee_.rows_per_fold, prefit.guarantee_.refitted) == (1, 600, False)
    dearer = model.with_costs(costs=uneven.CostMatrix(100 * COSTS, actions=[0, 1, 2, "ask"]))
    assert dearer.guarantee_.cost_bound == pytest.approx(100 * found.cost_bound)
    of_rows = Threshold(GaussianNB(), costs=MATRIX).fit(X, y, costs=np.repeat(COSTS[None], 900, axis=0))
    assert of_rows.guarantee_.believed
    assert not of_rows.guarantee(largest_regret={0: 4, 1: 2, 2: 9}).believed
    members = {"bayes": GaussianNB(), "smooth": GaussianNB(var_smoothing=0.1)}
    mixture = uneven.UnevenEnsembleClassifier(costs=MATRIX, members=members, cv=3, n_jobs=1).fit(X, y)
    assert mixture.guarantee_.choices > 1  # of mixtures
    for reason, fitted in {
        "no row is of the class 3 of the cost matrix": _absent(X, y),
        "rows of one group are not independent": Threshold(GaussianNB(), costs=MATRIX).fit(X, y, groups=np.arange(900)),
        "does not cover different sample weights": Threshold(GaussianNB(), costs=MATRIX).fit(X, y, 1.0 + y),
    }.items():
        assert not hasattr(fitted, "guarantee_")
        with pytest.raises(ParameterError, match=f"there is no guarantee for this fit: .*{reason}"):
            fitted.guarantee()
    with pytest.raises(ParameterError, match="largest_fp_regret and largest_fn_regret are for two classes"):
        model.guarantee(largest_fp_regret=3)
    with pytest.raises(ParameterError, match="names 9, which is none of the classes"):
        of_rows.guarantee(largest_regret={9: 4})
    two = Threshold(GaussianNB(), fn_cost=3).fit(X, y > 0)
    with pytest.raises(ParameterError, match="largest_regret is for several classes"):
        two.guarantee(largest_regret=3)


def _absent(X: np.ndarray, y: np.ndarray) -> Any:
    wide = uneven.CostMatrix(1 - np.eye(4))
    with pytest.warns(UserWarning, match="no row is of the class 3"):
        return Threshold(GaussianNB(), costs=wide).fit(X, y)


@pytest.mark.slow
def test_many_rows_keep_the_guarantee_of_the_fit_only() -> None:
    X, y = table(21_000)
    model = Threshold(GaussianNB(), costs=MATRIX, method="none", cv=2).fit(X, y)
    every = Threshold(GaussianNB(), costs=MATRIX, method="none", cv=2, keep_training_rows=True).fit(X, y)
    assert model.guarantee_ == every.guarantee_ == every.guarantee()
    with pytest.raises(ParameterError, match="of more than 20,000 rows only some are kept"):
        model.guarantee(0.9)
    assert not hasattr(model.with_costs(costs=uneven.CostMatrix(1 - np.eye(3))), "guarantee_")
    assert model.guarantee_.in_words().startswith("With 95 % confidence, the decisions cost at most ")
    again = skops.io.loads(skops.io.dumps(model), trusted=uneven.trusted_types())
    assert again.guarantee_ == model.guarantee_
