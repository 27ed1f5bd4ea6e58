"""UnevenLinearClassifier with penalty="l1" and "elasticnet"."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from linear_data import binary
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from uneven import UnevenClassifierCV
from uneven import UnevenLinearClassifier as Linear
from uneven.errors import LossError, ParameterError

X, Y = binary(200, 12, seed=4)


@pytest.mark.parametrize("C", [0.02, 0.3, 5.0])
def test_l1_has_the_objective_of_scikit_learn(C: float) -> None:
    """The same scale of C and of l1_ratio; its optimum is found by saga, which leaves the intercept free."""
    for penalty, ratio in (("l1", None), ("elasticnet", 0.4)):
        ours = Linear("logistic", penalty=penalty, l1_ratio=ratio, C=C, tol=1e-9).fit(X, Y)
        theirs = LogisticRegression(C=C, l1_ratio=ratio or 1.0, solver="saga", tol=1e-10, max_iter=20_000).fit(X, Y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-5)
        if ours.coef_.any():  # otherwise saga stops before its intercept is right
            np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-4)
        np.testing.assert_array_equal(ours.coef_ == 0, np.abs(theirs.coef_) < 1e-7)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge"])
def test_the_ends_of_l1_ratio(loss: str) -> None:
    fits = {
        (penalty, ratio): Linear(loss, fn_cost=3, C=0.01, penalty=penalty, l1_ratio=ratio, tol=1e-8).fit(X, Y)
        for penalty, ratio in (("l2", None), ("elasticnet", 0), ("l1", None), ("elasticnet", 1.0), ("elasticnet", 0.5))
    }
    for one, other in ((("l2", None), ("elasticnet", 0)), (("l1", None), ("elasticnet", 1.0))):
        np.testing.assert_array_equal(fits[one].coef_, fits[other].coef_)
        assert fits[one].objective_ == fits[other].objective_
    used = {key: int((model.coef_ != 0).sum()) for key, model in fits.items()}
    assert used["l1", None] <= used["elasticnet", 0.5] <= used["l2", None]
    assert used["l1", None] < 12


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_costs_weights_labels_and_margins(loss: str) -> None:
    """A weight counts like repeated rows, and the positive class may be the first label."""
    weight = np.random.default_rng(0).integers(0, 3, Y.size)
    model = Linear(loss, fp_cost=2, fn_cost=5, margin_gamma=3, penalty="l1", C=0.05, tol=1e-9)
    weighted = model.fit(X, Y, sample_weight=weight).coef_.copy()
    repeated = model.fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight)).coef_
    np.testing.assert_allclose(weighted, repeated, atol=1e-4)
    turned = Linear(loss, fp_cost=2, fn_cost=5, margin_gamma=3, penalty="l1", C=0.05, tol=1e-9, pos_label="a")
    turned.fit(X, np.where(Y == 1, "a", "b"), sample_weight=weight)
    np.testing.assert_allclose(turned.coef_, -weighted, atol=1e-4)


def test_every_fit_ends_with_a_proof() -> None:
    sparse = sp.csr_matrix(np.where(np.abs(X) > 0.7, X, 0.0))
    for matrix in (X, np.asfortranarray(X), sparse, sparse.astype(np.float32)):
        for loss in ("logistic", "smoothed_hinge", "hinge"):
            model = Linear(loss, penalty="elasticnet", l1_ratio=0.7, C=0.2).fit(matrix, Y)
            assert 0 <= model.duality_gap_ <= 1e-6 * model.objective_
            assert (model.coef_ == 0).any()


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_a_path_over_c_has_the_fits_of_single_ones(loss: str) -> None:
    Cs = [1.0, 0.003, 0.1, 0.03, 0.1]
    learner = Linear(loss, fn_cost=4, margin_gamma=2, penalty="l1", tol=1e-8)
    path = learner.fit_path(X, Y, Cs)
    assert [model.C for model in path] == Cs
    assert not hasattr(learner, "coef_")
    for C, model in zip(Cs, path, strict=True):
        alone = Linear(loss, fn_cost=4, margin_gamma=2, penalty="l1", tol=1e-8, C=C).fit(X, Y)
        assert abs(model.objective_ - alone.objective_) <= 2e-8 * alone.objective_
        assert model.duality_gap_ <= 1e-8 * model.objective_
        np.testing.assert_array_equal(model.predict(X), alone.predict(X))
    squared = Linear("logistic", tol=1e-9).fit_path(X, Y, [0.1, 10])
    assert squared[1].objective_ == pytest.approx(Linear("logistic", tol=1e-9, C=10).fit(X, Y).objective_, rel=1e-8)
    with pytest.raises(ParameterError, match="Cs is empty; give at least one positive number"):
        learner.fit_path(X, Y, [])
    with pytest.raises(ParameterError, match="Cs"):
        learner.fit_path(X, Y, [1.0, -1.0])


def test_a_warm_start_needs_fewer_steps() -> None:
    model = Linear("logistic", penalty="l1", C=0.5, warm_start=True, tol=1e-8).fit(X, Y)
    steps, objective = model.n_iter_, model.objective_
    again = model.fit(X, Y)
    assert again.n_iter_ < steps
    assert again.objective_ == pytest.approx(objective, rel=1e-8)


def test_tuning_over_c_chooses_as_single_fits_do() -> None:
    grid = {"Cs": [0.01, 0.1, 1.0], "margin_gammas": [1, 2], "fn_cost": 3, "cv": 3}
    search = UnevenClassifierCV(Linear("logistic", penalty="l1", tol=1e-8), **grid).fit(X, Y)
    assert search.best_estimator_.penalty == "l1"
    alone = [UnevenClassifierCV(Linear("logistic", penalty="l1", tol=1e-8), **{**grid, "Cs": [C]}) for C in grid["Cs"]]
    scores = np.concatenate([one.fit(X, Y).cv_results_["mean_test_score"] for one in alone])
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], scores)


def test_an_unfinished_fit_says_how_far_it_got() -> None:
    with pytest.warns(ConvergenceWarning, match=r"did not reach tol=1e-06: .* at most .* above the optimum"):
        model = Linear("hinge", penalty="l1", C=10, max_iter=8).fit(X, Y)
    assert model.duality_gap_ > 1e-6 * model.objective_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        finished = Linear("hinge", penalty="l1", C=10).fit(X, Y)
    assert model.objective_ - model.duality_gap_ <= finished.objective_


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"penalty": "l3"}, ParameterError, "penalty must be 'l2', 'l1', 'elasticnet' or None, got 'l3'"),
        ({"penalty": ["l1"]}, ParameterError, "penalty must be 'l2', 'l1', 'elasticnet' or None"),
        (
            {"penalty": "elasticnet"},
            ParameterError,
            "penalty='elasticnet' needs l1_ratio, a number from 0 to 1, got None",
        ),
        ({"penalty": "elasticnet", "l1_ratio": 1.5}, ParameterError, "a number from 0 to 1, got 1.5"),
        ({"penalty": "elasticnet", "l1_ratio": float("nan")}, ParameterError, "a number from 0 to 1, got nan"),
        ({"penalty": "elasticnet", "l1_ratio": True}, ParameterError, "a number from 0 to 1, got True"),
        ({"penalty": "elasticnet", "l1_ratio": "half"}, ParameterError, "a number from 0 to 1, got 'half'"),
        (
            {"penalty": "l1", "l1_ratio": 0.5},
            ParameterError,
            "l1_ratio is for penalty='elasticnet' only, got l1_ratio=0.5",
        ),
        ({"l1_ratio": 0.5}, ParameterError, "with penalty='l2'; leave it out"),
        (
            {"penalty": "l1", "loss": "sigmoid"},
            LossError,
            "penalty='l1' needs a convex loss, but 'sigmoid' is not known",
        ),
        (
            {"penalty": "l1", "solver": "newton"},
            LossError,
            "needs a squared penalty or none, .*'coordinate' would work",
        ),
        ({"solver": "coordinate"}, LossError, "solver='coordinate' needs an l1 penalty, but there is none"),
    ],
)
def test_bad_parameters_get_one_clear_sentence(parameters: dict, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        Linear(**parameters).fit(X, Y)
