"""UnevenClassifierCV: the same answers as a plain grid search, for less; rules, degenerate folds, interruption."""

from __future__ import annotations

import pickle
import sys
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold, RepeatedStratifiedKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import uneven
from uneven.costs import GivenCosts
from uneven.errors import CostError, LossError, UnevenError
from uneven.learners.base import read_problem
from uneven.learners.linear import fits_along
from uneven.learners.tuning import gamma_search as search_module
from uneven.learners.tuning.gamma_rules import RULES, Table, automatic_grid
from uneven.metrics import expected_cost, make_cost_scorer
from uneven.solvers.linear.path import Follower
from uneven.solvers.linear.proof import prove

GAMMAS = [0.25, 0.5, 1.0, 2.0, 4.0]


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    return make_classification(240, 6, n_informative=4, weights=[0.8], flip_y=0.1, class_sep=0.7, random_state=5)


@parametrize_with_checks(
    [
        uneven.UnevenClassifierCV("linear", margin_gammas=[0.5, 1, 2], cv=3),
        uneven.UnevenClassifierCV(uneven.UnevenSVC(tol=1e-10), margin_gammas=[0.5, 1, 2], cv=3),
    ]
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def effective(C: float, gamma: float) -> float:
    return C * (1 + 1 / gamma) / 2


def hinge_grid(Cs: list[float]) -> list[dict[str, list[float]]]:
    return [{"C": [effective(C, gamma)], "margin_gamma": [gamma]} for C in Cs for gamma in GAMMAS]


@pytest.mark.parametrize(
    ("learner", "Cs", "grid"),
    [
        (uneven.UnevenSVC(tol=1e-8), [0.3, 3.0], hinge_grid([0.3, 3.0])),
        (uneven.UnevenSVC(tol=1e-8, kernel="linear"), [1.0], hinge_grid([1.0])),
        (uneven.UnevenLinearClassifier("hinge", tol=1e-9), [0.1, 1.0], hinge_grid([0.1, 1.0])),
        (uneven.UnevenLinearClassifier("logistic", tol=1e-10), [0.1, 1.0], {"C": [0.1, 1.0], "margin_gamma": GAMMAS}),
        (uneven.UnevenLinearClassifier("sigmoid"), [1.0], {"C": [1.0], "margin_gamma": GAMMAS}),
        (uneven.UnevenPerceptron(eta0=0.1), None, {"margin_gamma": GAMMAS}),
    ],
    ids=lambda value: type(value).__name__ + str(getattr(value, "loss", "")),
)
def test_it_finds_what_a_grid_search_finds(
    data: tuple[np.ndarray, np.ndarray], learner: Any, Cs: Any, grid: Any
) -> None:
    X, y = data
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    ours = uneven.UnevenClassifierCV(learner, fp_cost=1, fn_cost=4, margin_gammas=GAMMAS, Cs=Cs, cv=folds).fit(X, y)
    costs = {"fp_cost": 1, "fn_cost": 4}
    plain = GridSearchCV(clone(learner).set_params(**costs), grid, scoring=make_cost_scorer(**costs), cv=folds)
    plain.fit(X, y)
    assert ours.cv_results_["params"] == plain.cv_results_["params"]
    for name in [*(f"split{k}_test_score" for k in range(4)), "mean_test_score", "std_test_score"]:
        np.testing.assert_allclose(ours.cv_results_[name], plain.cv_results_[name], atol=1e-12, err_msg=name)
    # Ranks as there, but equal costs are equal: rounding of the means does not order them.
    rank = ours.cv_results_["rank_test_score"]
    rounded = ours.cv_results_["mean_test_score"].round(12)
    np.testing.assert_array_equal(rank, [1 + (rounded > one).sum() for one in rounded])
    assert rank[plain.best_index_] == rank[ours.best_index_] == 1
    assert set(plain.cv_results_) == set(ours.cv_results_)
    assert ours.best_score_ == pytest.approx(plain.best_score_)
    same = clone(learner).set_params(**costs, **ours.best_params_).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), same.decision_function(X))


def test_a_hinge_path_is_one_fit(data: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten gammas and two Cs in three folds are six solutions of the dual, and one for the refit."""
    from uneven.solvers.kernel import smo

    count = 0
    solve = smo.solve

    def counted(*arguments: Any, **named: Any) -> Any:
        nonlocal count
        count += 1
        return solve(*arguments, **named)

    monkeypatch.setattr(smo, "solve", counted)
    uneven.UnevenClassifierCV("svc", margin_gammas=np.geomspace(0.1, 10, 10), Cs=[0.1, 1], cv=3).fit(*data)
    assert count == 7


@pytest.mark.parametrize("loss", ["hinge", " relu(1 - t) ", "max(0, 1 - t)", uneven.phi("hinge")])
def test_a_hinge_is_recognised_however_it_is_written(
    data: tuple[np.ndarray, np.ndarray], loss: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One fit per split and C for the linear learner too, and the same results."""
    count = 0
    fit = uneven.UnevenLinearClassifier.fit

    def counted(*arguments: Any, **named: Any) -> Any:
        nonlocal count
        count += 1
        return fit(*arguments, **named)

    monkeypatch.setattr(uneven.UnevenLinearClassifier, "fit", counted)
    common = {"margin_gammas": GAMMAS, "Cs": [0.1, 1], "cv": 3, "refit": False}
    ours = uneven.UnevenClassifierCV("linear", loss=loss, **common).fit(*data)
    assert count == 6
    named = uneven.UnevenClassifierCV("linear", loss="hinge", **common).fit(*data)
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], named.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(ours.cv_results_["param_C"], named.cv_results_["param_C"])
    machine = uneven.UnevenClassifierCV("svc", loss=loss, margin_gammas=[1, 2], cv=3, refit=False).fit(*data)
    assert machine.cv_results_["mean_test_score"].shape == (2,)  # its own loss, whatever it is called


def test_the_kernel_matrix_is_made_once_per_fold(
    data: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    from uneven.solvers.kernel.kernel_matrix import Computed

    count = 0
    whole = Computed.whole

    def counted(self: Any, buffer: Any = None) -> np.ndarray:
        nonlocal count
        count += 1
        return whole(self, buffer)

    monkeypatch.setattr(Computed, "whole", counted)
    search = uneven.UnevenClassifierCV("svc", margin_gammas=GAMMAS, Cs=[0.1, 1, 10, 100], cv=3, refit=False)
    search.fit(*data)
    assert count == 3


def test_the_linear_path_starts_where_the_last_fits_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """One fit from nothing; the others start near their solutions, in later splits nearer still."""
    misses = []
    solve = Follower.solve_unproved

    def watched(self: Any, objective: Any, at: float, *arguments: Any, **named: Any) -> Any:
        guess = self._guess(at)
        theta = solve(self, objective, at, *arguments, **named)
        if guess is not None:
            misses.append(np.linalg.norm(guess - theta) / np.linalg.norm(theta))
        return theta

    monkeypatch.setattr(Follower, "solve_unproved", watched)
    X, y = make_classification(5000, 6, weights=[0.8], flip_y=0.1, random_state=5)
    search = uneven.UnevenClassifierCV("linear", margin_gammas=np.geomspace(0.25, 4, 9), cv=3, refit=False)
    search.fit(X, y)
    assert len(misses) == 26
    assert np.median(misses[:8]) < 0.1
    assert np.median(misses[8:]) < 0.5 * np.median(misses[:8])


def gap_of(model: Any, X: Any, y: Any, weight: Any, costs: GivenCosts) -> float:
    """The proved gap of a fitted linear model, relative to its objective; its solver has no part in it."""
    problem = read_problem(clone(model), X, y, weight, costs)
    weighting = problem.weighting(model.loss)
    objective = model._objective(problem, weighting, model._pair(model.loss_, weighting))
    value = objective.value_and_gradient(model._theta())[0]
    return float(prove(objective, model._theta(), wanted=1e-9 * value).gap / value)


def harder(kind: str) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(300, 5, n_informative=4, n_redundant=0, weights=[0.8], flip_y=0.1, random_state=5)
    if kind == "separable":
        y = (X[:, 0] > 0.5).astype(int)
    if kind == "constant columns":
        X[:, 1], X[:, 2] = 3.0, 0.0
    if kind == "scales":
        X *= np.array([1e-3, 1.0, 1e2, 10.0, 1e-1])
    if "large" in kind:
        X, y = make_classification(30000, 15, n_informative=4, weights=[0.8], flip_y=0.1, random_state=5)
    if "years" in kind:  # far from 0, so that the intercept and this coefficient must move together
        X[:, 2] = 2000 + 10 * X[:, 2]
    return X, y


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("plain", {}),
        ("plain", {"loss": "squared_hinge"}),
        ("plain", {"loss": "exponential", "C": 100.0}),
        ("plain", {"loss": "smoothed_hinge", "fit_intercept": False}),
        ("plain", {"fit_intercept": False, "C": 1e-3}),
        ("plain", {"penalty": None}),
        ("plain", {"penalty": "elasticnet", "l1_ratio": 0.5}),
        ("plain", {"solver": "lbfgs"}),
        ("plain", {"tol": 1e-10}),
        ("separable", {"C": 1e3}),
        ("separable", {"loss": "exponential"}),
        ("constant columns", {"loss": "modified_huber"}),
        ("scales", {}),
        ("large", {}),
        ("large", {"loss": "squared_hinge"}),
        ("years", {}),
        ("years", {"loss": "squared_hinge", "tol": 1e-3}),
        ("large, years", {}),
        ("large, years", {"tol": 1e-4}),
    ],
)
@pytest.mark.parametrize("given", ["nothing", "weights", "costs of each row"])
def test_fits_without_a_proof_are_within_the_tolerance(kind: str, params: dict[str, Any], given: str) -> None:
    """Two splits, the second from what the first left, at gammas from 0.001 to 1000."""
    X, y = harder(kind)
    random = np.random.default_rng(1)
    weight = random.uniform(0, 2, y.size) * (random.random(y.size) > 0.2) if given == "weights" else None
    costs = GivenCosts()
    if given == "costs of each row":
        costs |= {"fn_cost": random.uniform(1, 9, y.size), "fp_cost": random.uniform(0.5, 2, y.size)}
    learner = uneven.UnevenLinearClassifier(fn_cost=5.0, **params)
    grid = [{"margin_gamma": gamma} for gamma in (1e-3, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0, 1e3)]
    before, unproved = None, 0
    for rows in np.split(random.permutation(y.size), [y.size // 2]):
        follower = Follower(before)
        one = GivenCosts(**{name: value[rows] for name, value in costs.known.items()})
        own = None if weight is None else weight[rows]
        for model in fits_along(learner, X[rows], y[rows], own, one, grid, follower, proved=False):
            assert gap_of(model, X[rows], y[rows], own, one) <= learner.tol
            unproved += not hasattr(model, "duality_gap_")
        before = follower
    ordinary = learner.penalty != "l2" or learner.solver != "auto"
    assert unproved == 0 if ordinary else unproved >= 15


@pytest.mark.parametrize(
    ("size", "params"),
    [
        (300, {"max_iter": 1}),
        (300, {"tol": 1e-30}),
        (30000, {"max_iter": 2}),
        (300, {"penalty": None, "max_iter": 1}),
    ],
)
def test_a_fit_that_does_not_get_there_warns_in_a_search_too(size: int, params: dict[str, Any]) -> None:
    X, y = make_classification(size, 12, n_informative=6, weights=[0.8], flip_y=0.1, random_state=5)
    learner = uneven.UnevenLinearClassifier("logistic", C=100.0, **params)
    search = uneven.UnevenClassifierCV(learner, margin_gammas=[0.1, 1.0, 10.0], cv=2, refit=False)
    with pytest.warns(ConvergenceWarning, match="did not reach tol"):
        search.fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_a_scorer_sees_proved_fits(data: tuple[np.ndarray, np.ndarray]) -> None:
    def scorer(model: Any, X: Any, y: Any) -> float:
        return float(model.duality_gap_ <= model.tol * model.objective_)

    search = uneven.UnevenClassifierCV("linear", margin_gammas=GAMMAS, scoring=scorer, refit=False).fit(*data)
    assert (search.cv_results_["mean_test_score"] == 1).all()


def test_the_choice_of_a_search_is_proved(data: tuple[np.ndarray, np.ndarray]) -> None:
    best = uneven.UnevenClassifierCV("linear", margin_gammas=GAMMAS).fit(*data).best_estimator_
    assert 0 <= best.duality_gap_ <= best.tol * best.objective_


def shuffled(folds: int) -> StratifiedKFold:
    """The folds that a number means here."""
    return StratifiedKFold(folds, shuffle=True, random_state=0)


def test_a_loss_that_is_not_convex_is_fitted_as_alone(data: tuple[np.ndarray, np.ndarray]) -> None:
    learner = uneven.UnevenLinearClassifier("sigmoid", fn_cost=3)
    search = uneven.UnevenClassifierCV(learner, margin_gammas=GAMMAS, cv=3, refit=False).fit(*data)
    plain = GridSearchCV(
        learner, {"margin_gamma": GAMMAS}, scoring=make_cost_scorer(fp_cost=1, fn_cost=3), cv=shuffled(3), refit=False
    ).fit(*data)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])


def test_preprocessing_is_fitted_once_per_fold(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    fitted = []

    class Counting(StandardScaler):
        def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
            fitted.append(len(X))
            return super().fit(X, y, sample_weight)

    model = make_pipeline(Counting(), uneven.UnevenSVC(tol=1e-8))
    search = uneven.UnevenClassifierCV(model, fn_cost=4, fp_cost=1, margin_gammas=GAMMAS, Cs=[1, 10], cv=4).fit(X, y)
    assert fitted == [180] * 4 + [240]
    assert set(search.best_params_) == {"unevensvc__margin_gamma", "unevensvc__C"}
    grid = [{f"unevensvc__{name}": values for name, values in one.items()} for one in hinge_grid([1, 10])]
    costs = {"fp_cost": 1, "fn_cost": 4}
    plain = GridSearchCV(
        make_pipeline(StandardScaler(), uneven.UnevenSVC(tol=1e-8, **costs)),
        grid,
        scoring=make_cost_scorer(**costs),
        cv=shuffled(4),
    ).fit(X, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    weight = np.random.default_rng(0).uniform(0.5, 2, 240)
    best = search.fit(X, y, sample_weight=weight).best_estimator_
    assert best.score(X, y) == search.score(X, y) < 0


def test_results_read_well_as_a_table(data: tuple[np.ndarray, np.ndarray]) -> None:
    search = uneven.UnevenClassifierCV(
        "linear", losses=["logistic", "hinge"], margin_gammas=[1, 2], Cs=[0.1, 1], cv=3, fp_cost=1, fn_cost=3
    ).fit(*data)
    table = pd.DataFrame(search.cv_results_)
    assert len(table) == 8
    assert set(table["param_loss"]) == {"logistic", "hinge"}
    assert set(search.best_params_) == {"margin_gamma", "C", "loss"}
    assert table.loc[search.best_index_, "rank_test_score"] == 1
    path = search.gamma_path_
    np.testing.assert_array_equal(path.margin_gamma, [1, 2])
    chosen = table[(table["param_loss"] == search.best_params_["loss"])]
    assert path.mean_cost.min() == pytest.approx(-chosen["mean_test_score"].max())
    splits = table.loc[search.best_index_, [f"split{k}_test_score" for k in range(3)]].to_numpy(dtype=float)
    at = path.margin_gamma.tolist().index(path.chosen)
    assert path.standard_error[at] == pytest.approx(splits.std(ddof=1) / np.sqrt(3))


def test_the_score_is_the_expected_cost_and_weights_count(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    weight = np.random.default_rng(0).uniform(0, 3, y.size)
    split = [(np.arange(0, 160), np.arange(160, 240))]
    search = uneven.UnevenClassifierCV("svc", fp_cost=1, fn_cost=5, margin_gammas=[1, 3], cv=split)
    search.fit(X, y, sample_weight=weight)
    for params, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
        clf = uneven.UnevenSVC(fp_cost=1, fn_cost=5, **params).fit(X[:160], y[:160], sample_weight=weight[:160])
        cost = expected_cost(y[160:], clf.predict(X[160:]), fp_cost=1, fn_cost=5, sample_weight=weight[160:])
        assert score == pytest.approx(-cost)


@pytest.mark.parametrize("learner", ["linear", "svc"])
def test_other_scorers(data: tuple[np.ndarray, np.ndarray], learner: str) -> None:
    X, y = data
    search = uneven.UnevenClassifierCV(learner, loss=None, margin_gammas=GAMMAS, scoring="roc_auc", cv=3).fit(X, y)
    if learner == "svc":  # a moving threshold leaves the ranking as it is
        assert np.ptp(search.cv_results_["mean_test_score"]) < 1e-12
    assert (search.cv_results_["mean_test_score"] > 0.6).all()


def test_moved_copies_are_the_fits_they_stand_for(data: tuple[np.ndarray, np.ndarray]) -> None:
    from uneven.learners.tuning.gamma_search import move_gamma, own_c

    X, y = data
    words = np.where(y == 1, "bad", "good")
    for base in (
        uneven.UnevenSVC(fn_cost=3, pos_label="bad", tol=1e-8),
        uneven.UnevenLinearClassifier("hinge", fn_cost=3, pos_label="bad", tol=1e-10),
    ):
        fitted = clone(base).fit(X, words)
        other = move_gamma(fitted, 4.0, own_c(1.0, 4.0))
        alone = clone(base).set_params(margin_gamma=4.0, C=effective(1, 4)).fit(X, words)
        np.testing.assert_allclose(other.decision_function(X), alone.decision_function(X), atol=1e-4)
        assert other.get_params() == alone.get_params()
        assert other.objective_ == pytest.approx(alone.objective_, rel=1e-6)
        assert other.loss_ == alone.loss_
        assert fitted.margin_gamma == 1  # the original is as it was


# -- the grid and the rules -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("positives", "negatives", "fn_cost", "reach"),
    [(50, 50, 1, 4), (10, 200, 1, 20), (10, 200, 100, 20), (1, 9999, 1, 64)],
)
def test_the_automatic_grid(positives: int, negatives: int, fn_cost: float, reach: float) -> None:
    ratio = negatives / positives
    grid = automatic_grid(ratio, ratio / fn_cost)
    assert 1.0 in grid
    assert (np.diff(grid) > 0).all()
    assert grid[-1] == pytest.approx(reach, rel=1e-3)
    np.testing.assert_allclose(grid * grid[::-1], 1, rtol=1e-3)


def test_it_says_which_grid_it_picked(data: tuple[np.ndarray, np.ndarray], capsys: pytest.CaptureFixture[str]) -> None:
    X, y = data
    search = uneven.UnevenClassifierCV("svc", fp_cost=1, fn_cost=4, cv=3, verbose=True).fit(X, y)
    ratio = (y == 0).sum() / (y == 1).sum()
    np.testing.assert_array_equal(search.margin_gammas_, automatic_grid(ratio, ratio / 4))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"margin_gammas {search.margin_gammas_[0]:g}, " in captured.err
    assert "3 of 3 splits" in captured.err
    # A heavier class is a larger one.
    weighted = clone(search).set_params(verbose=False).fit(X, y, sample_weight=np.where(y == 1, 1, 10.0))
    assert weighted.margin_gammas_[-1] > search.margin_gammas_[-1]


def table(mean: list[float], spread: float, gammas: list[float] = GAMMAS) -> Table:
    costs = np.array(mean)[:, None] + spread * np.array([-1.0, 0.0, 1.0])
    count = len(mean)
    return Table(costs, np.array(gammas), np.ones(count), np.zeros(count, dtype=int))


def chosen(rule: str, one: Table) -> float:
    return float(one.gammas[RULES[rule](one)])


def test_rules() -> None:
    clear = table([9, 8, 7, 3, 8], 0.01)
    noisy = table([9, 8, 7, 6, 5], 5.0)
    assert chosen("best", clear) == 2
    assert chosen("best", noisy) == 4
    assert chosen("one_standard_error", clear) == 2
    assert chosen("one_standard_error", noisy) == 1  # all are within a standard error
    assert chosen("best", table([5, 5, 5, 5, 5], 0.1)) == 1  # ties go to the gamma nearest 1
    lonely = table([2.5, 9, 4, 3, 4], 0.1)  # a lucky argmin beside a bad neighbour
    assert chosen("best", lonely) == 0.25
    assert chosen("smoothed", lonely) == 2
    assert chosen("averaged", table([9, 9, 3, 2, 3], 0.1)) == 2
    assert chosen("shrunk", clear) == 2
    # Paired gains over gamma = 1 that scatter as much as they are large: no reason to leave it.
    costs = np.array([[9, 9, 9], [9, 9, 9], [5, 5, 5], [5, 5, 5], [9, 5, 0.9]], dtype=float)
    unsure = Table(costs, np.array(GAMMAS), np.ones(5), np.zeros(5, dtype=int))
    assert chosen("best", unsure) == 4
    assert chosen("shrunk", unsure) == 1
    single = Table(np.array([[3.0], [2.0]]), np.array([1.0, 2.0]), np.ones(2), np.zeros(2, dtype=int))
    assert chosen("one_standard_error", single) == 2  # one split: no standard error to speak of
    two_cs = Table(np.full((2, 3), 1.0), np.ones(2), np.array([5.0, 0.5]), np.array([0, 1]))
    assert RULES["best"](two_cs) == 1


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_a_parameter(data: tuple[np.ndarray, np.ndarray], rule: str) -> None:
    search = uneven.UnevenClassifierCV(
        "svc",
        fp_cost=1,
        fn_cost=3,
        rule=rule,
        margin_gammas=GAMMAS,
        cv=RepeatedStratifiedKFold(n_splits=3, n_repeats=2),
    ).fit(*data)
    assert search.n_splits_ == 6
    assert search.best_params_["margin_gamma"] in GAMMAS
    assert search.gamma_path_.chosen == search.best_params_["margin_gamma"]


# -- degenerate folds, interruption, bad input ----------------------------------------------------------------------


def test_fewer_positives_than_folds() -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.array([1] * 3 + [0] * 27)
    with pytest.warns(UserWarning, match="only 3 examples of class 1 for 5 folds: using 3 stratified folds instead"):
        search = uneven.UnevenClassifierCV("svc", margin_gammas=[1, 2]).fit(X, y)
    assert search.n_splits_ == 3
    with pytest.raises(CostError, match="at least 2 examples of each class, got 1 of class 1"):
        uneven.UnevenClassifierCV("svc").fit(X, np.array([1] + [0] * 29))
    with pytest.raises(CostError, match=r"split 1 of 3 has no example of class 1 to learn from; StratifiedKFold"):
        uneven.UnevenClassifierCV("svc", cv=KFold(3)).fit(X, y)
    # Without positives to test on, false alarms still cost.
    last = [(np.arange(20), np.arange(20, 30))]
    assert np.isfinite(uneven.UnevenClassifierCV("svc", cv=last).fit(X, y).best_score_)


def test_an_interruption_keeps_what_is_finished(
    data: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = 0
    cost = search_module.cost_of_decisions

    def tired(*arguments: Any) -> float:
        nonlocal calls
        calls += 1
        if calls > 13:  # in the third split
            raise KeyboardInterrupt
        return cost(*arguments)

    monkeypatch.setattr(search_module, "cost_of_decisions", tired)
    search = uneven.UnevenClassifierCV("svc", margin_gammas=GAMMAS, cv=4)
    with pytest.raises(KeyboardInterrupt):
        search.fit(*data)
    assert "interrupted: 2 of 4 splits are finished; cv_results_ holds their results" in capsys.readouterr().err
    done = np.stack([search.cv_results_[f"split{k}_test_score"] for k in range(4)], axis=1)
    assert np.isfinite(done).sum() == 13
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_params_["margin_gamma"] in GAMMAS
    assert not hasattr(search, "best_estimator_")
    calls = 13
    early = uneven.UnevenClassifierCV("svc", margin_gammas=GAMMAS, cv=4)
    with pytest.raises(KeyboardInterrupt):
        early.fit(*data)
    assert np.isnan(early.cv_results_["mean_test_score"]).all()
    assert not hasattr(early, "best_params_")


def test_splits_in_parallel_give_the_same(data: tuple[np.ndarray, np.ndarray]) -> None:
    one, two = (
        uneven.UnevenClassifierCV("svc", margin_gammas=[1, 2], Cs=[0.1, 1], cv=3, n_jobs=jobs).fit(*data)
        for jobs in (None, 2)
    )
    np.testing.assert_array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    assert one.best_params_ == two.best_params_


def test_labels_frames_and_sparse_rows(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    words = np.where(y == 1, "bad", "good")
    plain = uneven.UnevenClassifierCV("linear", fp_cost=1, fn_cost=3, margin_gammas=GAMMAS, cv=3).fit(X, y)
    named = clone(plain).set_params(pos_label="bad").fit(pd.DataFrame(X, columns=list("abcdef")), pd.Series(words))
    np.testing.assert_allclose(named.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    assert named.classes_.tolist() == ["bad", "good"]
    assert named.feature_names_in_.tolist() == list("abcdef")
    thin = clone(plain).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(thin.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    with pytest.raises(CostError, match="pos_label must say which"):
        clone(plain).fit(X, words)
    # Equal costs: which class is called positive only turns gamma around.
    equal = uneven.UnevenClassifierCV("linear", margin_gammas=GAMMAS, cv=3).fit(X, words)
    assert equal.best_estimator_.pos_label == "good"
    np.testing.assert_allclose(plain.predict_proba(X).sum(axis=1), 1)
    kernel = X @ X.T
    given = uneven.UnevenClassifierCV(uneven.UnevenSVC(kernel="precomputed", tol=1e-8), margin_gammas=[1, 2], cv=3).fit(
        kernel, y
    )
    same = uneven.UnevenClassifierCV(uneven.UnevenSVC(kernel="linear", tol=1e-8), margin_gammas=[1, 2], cv=3).fit(X, y)
    np.testing.assert_allclose(given.cv_results_["mean_test_score"], same.cv_results_["mean_test_score"])


def test_costs_come_from_the_search_or_the_estimator(data: tuple[np.ndarray, np.ndarray]) -> None:
    own = uneven.UnevenClassifierCV(uneven.UnevenSVC(fn_cost=7), margin_gammas=[1, 2], cv=3).fit(*data)
    given = uneven.UnevenClassifierCV("svc", fn_cost=7, margin_gammas=[1, 2], cv=3).fit(*data)
    np.testing.assert_array_equal(own.cv_results_["mean_test_score"], given.cv_results_["mean_test_score"])
    assert own.best_estimator_.fn_cost == given.best_estimator_.fn_cost == 7
    assert own.best_estimator_.analysis_.verdict.status == "calibrated"


def test_without_refit(data: tuple[np.ndarray, np.ndarray]) -> None:
    search = uneven.UnevenClassifierCV("svc", margin_gammas=[1, 2], cv=3, refit=False).fit(*data)
    assert search.best_params_
    with pytest.raises(LossError, match="refit=False leaves no model to predict with"):
        search.predict(data[0])
    again = pickle.loads(pickle.dumps(search))
    assert again.best_params_ == search.best_params_


def test_plot(data: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    search = uneven.UnevenClassifierCV("svc", margin_gammas=GAMMAS, cv=3).fit(*data)
    axes = search.plot()
    curve = axes.lines[0]
    np.testing.assert_array_equal(curve.get_xdata(), search.gamma_path_.margin_gamma)
    np.testing.assert_array_equal(curve.get_ydata(), search.gamma_path_.mean_cost)
    assert axes.get_xscale() == "log"
    _, own = plt.subplots()
    assert search.plot(ax=own) is own
    plt.close("all")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UnevenError, match=r"need the extra 'plot', .* pip install 'uneven\[plot\]'"):
        search.plot()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"estimator": "forest"}, "estimator must be 'linear', 'svc', an uneven learner or a Pipeline"),
        ({"estimator": StandardScaler()}, "must have the parameters margin_gamma, fp_cost and fn_cost"),
        ({"estimator": uneven.UnevenSVC}, "must have the parameters margin_gamma, fp_cost and fn_cost"),
        ({"margin_gammas": "wide"}, "margin_gammas must be 'auto' or positive numbers, got 'wide'"),
        ({"margin_gammas": [1, -2]}, r"margin_gammas must be positive finite numbers, got \[1, -2\]"),
        ({"margin_gammas": []}, "margin_gammas must be positive finite numbers"),
        ({"Cs": [0]}, r"Cs must be positive finite numbers, got \[0\]"),
        ({"estimator": uneven.UnevenPerceptron(), "Cs": [1]}, "UnevenPerceptron has no C, got Cs"),
        ({"rule": "worst"}, "rule must be one of best, one_standard_error, smoothed, shrunk, averaged, got 'worst'"),
        ({"cv": 1}, "cv must be at least 2 folds"),
        ({"cv": []}, "cv must yield at least one split"),
        ({"loss": "logistic", "losses": ["hinge"]}, "give loss or losses, got both"),
        ({"losses": "hinge"}, "losses must be a list of losses, got 'hinge'"),
        ({"losses": []}, "losses must be a list of losses"),
        ({"estimator": "svc", "loss": "logistic"}, "UnevenSVC has the loss hinge, got loss='logistic'"),
        ({"estimator": "svc", "losses": ["logistic"]}, "UnevenSVC has no choice of loss"),
        ({"fn_cost": -1}, "fn_cost must be positive, got -1"),
    ],
    ids=str,
)
def test_bad_parameters(data: tuple[np.ndarray, np.ndarray], change: dict[str, Any], says: str) -> None:
    with pytest.raises(UnevenError, match=says):
        uneven.UnevenClassifierCV(**change).fit(*data)


def test_a_hinge_named_for_the_svc_is_fine(data: tuple[np.ndarray, np.ndarray]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search = uneven.UnevenClassifierCV("svc", loss="hinge", margin_gammas=[1, 2], cv=3).fit(*data)
    assert set(search.best_params_) == {"margin_gamma", "C"}


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_param_grid_tries_other_parameters_too(loss: str) -> None:
    """Each point of the grid scores what a search with that parameter fixed scores, also where gammas share one fit."""
    random = np.random.default_rng(2)
    X = random.normal(size=(120, 3))
    y = (X[:, 0] + random.logistic(size=120) > 0.5).astype(int)
    same = {"loss": loss, "fn_cost": 5, "margin_gammas": [0.5, 2.0], "cv": 2}
    grid = {"fit_intercept": [True, False]}
    search = uneven.UnevenClassifierCV("linear", **same, param_grid=grid).fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    for k, fits in enumerate(grid["fit_intercept"]):
        alone = uneven.UnevenClassifierCV(uneven.UnevenLinearClassifier(fit_intercept=fits), **same).fit(X, y)
        part = search.cv_results_["mean_test_score"][2 * k : 2 * k + 2]
        assert np.allclose(part, alone.cv_results_["mean_test_score"])
    assert search.best_estimator_.fit_intercept == search.best_params_["fit_intercept"]
    with pytest.raises(ValueError, match="nonsense"):
        uneven.UnevenClassifierCV("linear", param_grid={"nonsense": [1]}).fit(X, y)
    with pytest.raises(uneven.errors.ParameterError, match="does not belong in param_grid"):
        uneven.UnevenClassifierCV("linear", param_grid={"C": [1]}).fit(X, y)
