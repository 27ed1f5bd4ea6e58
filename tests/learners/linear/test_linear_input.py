"""What a linear learner refuses, in one sentence and before any work; and awkward data it must get right."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from linear_data import binary, gradient
from mean_regret import mean_regret
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import cross_val_predict

import uneven
from uneven import UnevenLinearClassifier as Linear
from uneven.solvers.linear import objective as objectives

X, Y = binary(200, 3)


def spoiled(value: float) -> np.ndarray:
    bad = X.copy()
    bad[7, 2] = value
    return bad


@pytest.mark.parametrize(
    ("parameters", "arguments", "complaint"),
    [
        ({}, {"y": np.ones(200)}, "got one class only: "),
        ({}, {"y": np.arange(200) % 3}, "Only binary classification is supported.* got 3 classes"),
        ({}, {"X": spoiled(np.nan)}, "X must hold finite numbers, got NaN in row 7, column 2"),
        ({}, {"X": spoiled(-np.inf)}, "X must hold finite numbers, got inf in row 7, column 2"),
        ({}, {"X": sp.csr_matrix(spoiled(np.nan))}, "X must hold finite numbers, got NaN in its stored values"),
        ({}, {"X": np.empty((0, 3)), "y": []}, "0 sample"),
        ({}, {"X": np.ones((200, 0))}, "0 feature"),
        ({}, {"y": np.where(Y == 1, np.nan, 0.0)}, "y must hold labels, got NaN"),
        ({}, {"y": np.where(Y == 1, None, "a")}, "y must not contain missing labels"),
        ({}, {"y": Y + 0.5 * np.arange(200)}, "continuous"),
        ({}, {"y": None}, "requires y to be passed"),
        ({}, {"y": Y[:-1]}, "inconsistent numbers of samples"),
        ({}, {"sample_weight": -np.ones(200)}, "sample_weight must be finite and nonnegative, got"),
        ({}, {"sample_weight": np.zeros(200)}, "sample_weight must not be zero for every row"),
        ({}, {"sample_weight": np.full(200, np.inf)}, "sample_weight must be finite and nonnegative"),
        ({}, {"sample_weight": np.full(200, np.nan)}, "sample_weight must not contain NaN"),
        ({}, {"sample_weight": np.ones(3)}, "sample_weight must be 200 numbers"),
        ({}, {"sample_weight": (Y == 1).astype(float)}, "sample_weight is 0 for every example of class"),
        ({"fp_cost": 0}, {}, "fp_cost must be positive, got 0"),
        ({"fn_cost": -1}, {}, "fn_cost must be positive, got -1"),
        ({"fn_cost": np.inf}, {}, "fn_cost must be a finite number, got inf"),
        ({"fn_cost": np.nan}, {}, "fn_cost must be a finite number, got nan"),
        ({"fn_cost": "many"}, {}, "fn_cost must be a finite number, got 'many'"),
        ({"fn_cost": None}, {}, "fn_cost must be a number, got None"),
        ({"margin_gamma": 0}, {}, "margin_gamma must be positive, got 0"),
        ({"C": 0}, {}, "C must be positive, got 0"),
        ({"tol": 0}, {}, "tol must be positive, got 0"),
        ({"max_iter": 0}, {}, "max_iter must be a positive integer, got 0"),
        ({"max_iter": 1.5}, {}, "max_iter must be a positive integer, got 1.5"),
        ({"penalty": "l3"}, {}, "penalty must be 'l2', 'l1', 'elasticnet' or None, got 'l3'"),
        ({"solver": "saga"}, {}, "solver must be one of auto, .*lagrangian, .*newton.*, got 'saga'"),
        (
            {"loss": "hinge", "solver": "newton"},
            {},
            "solver='newton' needs a smooth convex loss, but 'hinge' has a kink at t = 1; "
            "solver='auto' or .*'lagrangian'.* would work",
        ),
        (
            {"loss": "sigmoid", "solver": "newton"},
            {},
            "solver='newton' needs a smooth convex loss, but 'sigmoid' is not known to be convex; "
            "solver='auto' or .*'lbfgs'.* would work",
        ),
        ({"loss": "perceptron"}, {}, "calibrated for no alpha: .*kink at t = 0"),
        ({"loss": "logstic"}, {}, "did you mean 'logistic'"),
        ({"loss": ""}, {}, "loss must be a name, an expression"),
        ({"loss": None}, {}, "a registered name or an expression in t, got None"),
        ({"loss": uneven.UnevenMarginLoss("hinge"), "fn_cost": 9}, {}, "is not calibrated for these costs"),
        ({"loss": uneven.UnevenMarginLoss("hinge"), "margin_gamma": 2}, {}, "give gamma to that loss instead"),
        ({"loss": uneven.Loss(lambda t: t**2, lambda t: t**2)}, {}, "needs the loss as expressions"),
        ({"pos_label": 7}, {}, "pos_label must be one of the labels 0 and 1, got 7"),
        ({"pos_label": "yes"}, {}, "pos_label must be one of the labels 0 and 1, got 'yes'"),
        ({"fn_cost": 9}, {"y": np.where(Y == 1, "fraud", "ok")}, "pos_label must say which of the labels 'fraud' and"),
        ({"margin_gamma": 9}, {"y": Y + 1}, "pos_label must say which of the labels 1 and 2"),
    ],
)
def test_refused_before_any_work(
    parameters: dict[str, Any], arguments: dict[str, Any], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def worked(*_: Any) -> Any:
        raise AssertionError("work was done before the complaint")

    monkeypatch.setattr(objectives.Objective, "value_and_gradient", worked)
    call = {"X": X, "y": Y, **arguments}
    with pytest.raises(ValueError, match=complaint) as raised:
        Linear(**parameters).fit(**call)
    assert "\n" not in str(raised.value) or "sample" in complaint or "continuous" in complaint or "feature" in complaint


def test_predicting_is_refused_too() -> None:
    with pytest.raises(NotFittedError):
        Linear().predict(X)
    model = Linear().fit(X, Y)
    with pytest.raises(ValueError, match="X must hold finite numbers, got NaN in row 7"):
        model.predict(spoiled(np.nan))
    with pytest.raises(ValueError, match="3 features"):
        model.predict(X[:, :2])


# -- awkward data ---------------------------------------------------------------------------------------------------


def stationary(model: Linear, data: np.ndarray, labels: np.ndarray, tolerance: float = 1e-5) -> bool:
    """Gradient small, each entry measured by the size of the terms it is the sum of."""
    costs = {"fp_cost": model.fp_cost, "fn_cost": model.fn_cost}
    total = sum(costs.values()) / mean_regret(labels, **costs)
    slope = model.C * total * model.loss_.slope(2 * labels - 1, data @ model.coef_[0] + model.intercept_[0])
    terms = np.append(np.abs(model.coef_[0]) + np.abs(data).T @ np.abs(slope), np.abs(slope).sum())
    return bool(np.all(np.abs(gradient(model, data, labels)) <= tolerance * terms))


@pytest.mark.parametrize("gamma", [1, 4])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "squared", "exponential"])
def test_columns_of_every_scale(loss: str, gamma: float) -> None:
    data = X * np.array([1e-8, 1.0, 1e8])
    model = Linear(loss, fn_cost=3, margin_gamma=gamma, tol=1e-12).fit(data, Y)
    assert stationary(model, data, Y)


def test_hinge_on_columns_of_every_scale() -> None:
    data = X * np.array([1e-8, 1.0, 1e8])
    model = Linear("hinge", fn_cost=3, tol=1e-6).fit(data, Y)
    assert model.duality_gap_ <= 1e-6 * model.objective_


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge", "savage"])
def test_fewer_rows_than_columns(loss: str) -> None:
    data, labels = binary(30, 80, seed=1)
    model = Linear(loss, fn_cost=3, tol=1e-9).fit(data, labels)
    assert np.isfinite(model.coef_).all()
    if loss == "logistic":
        assert stationary(model, data, labels, 1e-4)
    if loss == "hinge":
        assert model.duality_gap_ <= 1e-9 * model.objective_


@pytest.mark.parametrize("penalty", ["l2", None])
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_constant_and_duplicated_columns(loss: str, penalty: str | None) -> None:
    data = np.column_stack([X, X[:, 0], np.full(200, 5.0), np.zeros(200)])
    model = Linear(loss, fn_cost=3, penalty=penalty).fit(data, Y)
    plain = Linear(loss, fn_cost=3, penalty=penalty).fit(X, Y)
    if penalty == "l2":
        assert model.coef_[0, 0] == pytest.approx(model.coef_[0, 3], abs=1e-4)
        assert model.coef_[0, 4] == pytest.approx(0, abs=1e-4)  # the free intercept does its work
        assert model.coef_[0, 5] == 0
    else:
        assert model.objective_ == pytest.approx(plain.objective_, rel=1e-5)


@pytest.mark.parametrize("loss", ["logistic", "exponential", "squared_hinge", "hinge", "modified_huber", "sigmoid"])
def test_separable_data(loss: str) -> None:
    data = np.linspace(-3, 3, 60)[:, None] + np.zeros((60, 2))
    labels = (data[:, 0] > 0.02).astype(int)
    model = Linear(loss, fn_cost=3).fit(data, labels)  # no warning: the penalty makes the answer finite
    assert np.abs(model.coef_).max() < 100
    with pytest.warns(ConvergenceWarning, match="perfectly separable and there is no penalty"):
        free = Linear(loss, fn_cost=3, penalty=None).fit(data, labels)
    assert np.isfinite(free.coef_).all()
    assert free.score(data, labels) == 0  # no mistake


def test_squared_without_penalty_has_its_minimum_also_on_separable_data() -> None:
    data = np.linspace(-3, 3, 60)[:, None]
    labels = (data[:, 0] > 0.02).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = Linear("squared", penalty=None, tol=1e-12).fit(data, labels)
    slope, intercept = np.polyfit(data[:, 0], 2 * labels - 1, 1)
    assert model.coef_[0, 0] == pytest.approx(slope, rel=1e-6)
    assert model.intercept_[0] == pytest.approx(intercept, rel=1e-6, abs=1e-9)


def test_a_fit_that_stops_early_says_what_to_do() -> None:
    for arguments in ({}, {"loss": "hinge"}, {"loss": "savage"}):
        with pytest.warns(ConvergenceWarning, match=r"did not reach tol=1e-06.*raise max_iter=1 or tol"):
            Linear(**arguments, C=100, max_iter=1).fit(X * [1, 10, 100], Y)


# -- the rest of the parameters -------------------------------------------------------------------------------------


def test_weights_stand_for_repetitions_and_costs() -> None:
    count = np.random.default_rng(0).integers(0, 4, size=200)
    for loss in ("logistic", "hinge"):
        weighted = Linear(loss, tol=1e-10).fit(X, Y, sample_weight=count)
        repeated = Linear(loss, tol=1e-10).fit(np.repeat(X, count, axis=0), np.repeat(Y, count))
        assert np.allclose(weighted.coef_, repeated.coef_, atol=1e-4)
        # A cost for each example: the costs of the two classes are the special case.
        cost = np.where(Y == 1, 7.0, 2.0)
        per_example = Linear(loss, tol=1e-10).fit(X, Y, sample_weight=cost / cost.mean())
        assert np.allclose(per_example.coef_, Linear(loss, fp_cost=2, fn_cost=7, tol=1e-10).fit(X, Y).coef_, atol=1e-5)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "savage"])
def test_warm_start(loss: str) -> None:
    cold = Linear(loss, fn_cost=3).fit(X, Y)
    warm = Linear(loss, fn_cost=3, warm_start=True).fit(X, Y)
    first = warm.n_iter_
    warm.fit(X, Y)
    assert warm.n_iter_ < first
    assert warm.objective_ <= cold.objective_ * (1 + 1e-9)
    warm.fit(X[:, :2], Y)  # another number of columns starts afresh
    assert warm.coef_.shape == (1, 2)


def test_no_intercept() -> None:
    for loss in ("logistic", "hinge", "sigmoid"):
        assert Linear(loss, fit_intercept=False).fit(X, Y).intercept_[0] == 0


def test_progress_goes_to_stderr_only(capsys: pytest.CaptureFixture[str]) -> None:
    for loss in ("logistic", "hinge", "savage"):
        Linear(loss, verbose=1).fit(X, Y)
        output = capsys.readouterr()
        assert output.out == ""
        assert "[UnevenLinearClassifier]" in output.err
        assert "objective" in output.err
        Linear(loss).fit(X, Y)
        assert capsys.readouterr().err == ""


def test_numbers_near_the_end_of_the_range_get_one_true_warning() -> None:
    with pytest.warns(ConvergenceWarning, match="no lower bound of its optimum above 0 was found") as seen:
        model = Linear(C=1e12, tol=1e-12).fit(X * 1e150, Y)
    assert len(seen) == 1
    assert np.isfinite(model.coef_).all()
    assert model.duality_gap_ >= model.objective_


@pytest.mark.parametrize(
    "tool",
    [
        lambda learner, y: CalibratedClassifierCV(learner, ensemble=False).fit(X, y),
        lambda learner, y: VotingClassifier([("ours", learner)]).fit(X, y),
        lambda learner, y: StackingClassifier([("ours", learner)]).fit(X, y),
        lambda learner, y: cross_val_predict(learner, X, y, method="predict_proba"),
    ],
)
def test_labels_that_scikit_learn_replaced(tool: Any) -> None:
    """Which class is 1 cannot be known then; the message says what to give instead, and that works."""
    words = np.where(Y == 1, "fraud", "ok")
    with pytest.raises(ValueError, match=r"replace labels by 0 and 1 in sorted order.*y == 'fraud'"):
        tool(Linear(fn_cost=3, pos_label="fraud"), words)
    tool(Linear(fn_cost=3), words == "fraud")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("positive", [0, 1])
@pytest.mark.parametrize("made", [np.ascontiguousarray, np.asfortranarray, np.float32, sp.csr_matrix])
def test_a_bad_number_is_found_in_every_column_to_predict(made: Any, positive: int, bad: float) -> None:
    """Predicting reads X once and looks for bad numbers in the scores: also where a coefficient is 0."""
    many = np.random.default_rng(0).normal(size=(3000, 6))
    learner = Linear(fn_cost=2, pos_label=positive).fit(many, (many[:, 0] > 0).astype(int))
    for coef in (np.array([[1.0, 0.0, -1.0, 0.0, 2.0, 0.0]]), np.ones((1, 6))):
        learner.coef_ = coef
        for column in range(6):
            rows = many.copy()
            rows[column::701, column] = bad
            for method in (learner.predict, learner.decision_function):
                with pytest.raises(uneven.errors.CostError, match="X must hold finite numbers, got"):
                    method(made(rows))


@pytest.mark.parametrize("dtype", [int, bool, str, object])
def test_scores_that_overflow_are_no_bad_numbers(dtype: type) -> None:
    labels = np.array(["a", "b"] * 2, dtype=object) if dtype is object else np.array([0, 1, 0, 1]).astype(dtype)
    learner = Linear(pos_label=labels[1]).fit(X[:4], labels)
    learner.coef_ = np.full((1, 3), 1e300)
    found = learner.predict(np.array([[1e300] * 3, [-1e300] * 3]))
    assert found.dtype == labels.dtype
    assert found.tolist() == [labels[1], labels[0]]
