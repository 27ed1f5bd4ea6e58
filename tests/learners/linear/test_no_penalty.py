"""Without a penalty the proof is about coefficients of a bounded size, and the warning says so."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from problems import linear_objective
from sklearn.exceptions import ConvergenceWarning

from uneven import UnevenLinearClassifier as Linear
from uneven.solvers.linear.proof import minimise_to_gap, prove
from uneven.solvers.linear.solver import Settings, Solution

LOSSES = {
    "logistic": lambda margin: np.logaddexp(np.longdouble(0), -margin),
    "hinge": lambda margin: np.maximum(0, 1 - margin),
    "squared_hinge": lambda margin: np.maximum(0, 1 - margin) ** 2,
}


def nearly_collinear(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Pairs of columns that differ by little, labels that depend on the differences, and the same rows apart."""
    random = np.random.default_rng(seed)
    count, pairs = int(random.choice([30, 100, 600])), int(random.choice([1, 2, 5]))
    little = 10 ** -random.uniform(0, 8)
    one, difference = random.normal(size=(2, count, pairs))
    log_odds = 0.5 * one.sum(axis=1) + difference @ random.normal(scale=random.choice([0.05, 0.3, 1]), size=pairs)
    y = (random.random(count) < 1 / (1 + np.exp(-log_odds))).astype(int)
    return np.hstack([one, one + little * difference]), np.hstack([one, difference]), y, little


def exact_objective(loss: str, X: np.ndarray, y: np.ndarray, theta: np.ndarray) -> float:
    """In 64 bits of precision, from the definition."""
    scores = X.astype(np.longdouble) @ theta[:-1].astype(np.longdouble) + np.longdouble(theta[-1])
    return float(LOSSES[loss](np.where(y == 1, scores, -scores)).sum())


def as_far_as_allowed(X: np.ndarray, start: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """The point nearest to the goal, on the line to it, where no column moves the scores ten times as much as now."""
    spread, w, way = np.sqrt((X**2).mean(axis=0)), start[:-1], (goal - start)[:-1]
    reach = 10 * max(float((np.abs(w) * spread).max()), 1.0) / spread
    with np.errstate(divide="ignore"):
        steps = np.where(way > 0, (reach - w) / way, np.where(way < 0, (-reach - w) / way, np.inf))
    return start + min(1.0, float(steps.min())) * (goal - start)


def theta_of(model: Linear) -> np.ndarray:
    return np.append(model.coef_[0], model.intercept_)


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
def test_what_is_claimed_is_true_for_nearly_collinear_columns(loss: str) -> None:
    """Against the optimum of the differences themselves, where nothing is nearly collinear."""
    below = warned = 0
    for seed in range(100):
        X, apart, y, little = nearly_collinear(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            known = theta_of(Linear(loss, penalty=None, max_iter=2000).fit(apart, y))
        pairs = X.shape[1] // 2
        far = known[pairs:-1] / little
        goal = np.concatenate([known[:pairs] - far, far, known[-1:]])
        for max_iter, tol in ((2, 1e-6), (10, 1e-6), (1000, 1e-2)):
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                model = Linear(loss, penalty=None, max_iter=max_iter, tol=tol).fit(X, y)
            found = theta_of(model)
            least = exact_objective(loss, X, y, as_far_as_allowed(X, found, goal))
            assert model.objective_ - model.duality_gap_ <= least * (1 + 1e-12), seed
            below += exact_objective(loss, X, y, goal) < model.objective_ - model.duality_gap_
            for message in (str(one.message) for one in seen if "did not reach" in str(one.message)):
                assert "above the optimum" not in message
                relative = re.search(r"at most (\S+) \(relative\) above that of any coefficients", message)
                if relative is None:
                    assert "no lower bound of its optimum above 0 was found" in message
                    continue
                warned += 1
                assert "nothing is proved about larger ones" in message
                assert model.objective_ <= (1 + float(relative[1])) * least * (1 + 1e-12), seed
    assert below > 5 or loss != "hinge"  # the optimum itself does lie below what is proved
    assert warned > 5


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
def test_a_penalty_makes_it_a_proof_about_all_coefficients(loss: str) -> None:
    for seed in range(40):
        X, apart, y, little = nearly_collinear(seed)
        known = theta_of(Linear(loss, C=1e3, max_iter=5000, tol=1e-5).fit(apart, y))
        pairs = X.shape[1] // 2
        for max_iter in (2, 10):
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                model = Linear(loss, C=1e3, max_iter=max_iter).fit(X, y)
            for step in (0.0, 1e-6, 1e-3, 0.1, 1.0):
                far = step * known[pairs:-1] / little
                point = np.concatenate([known[:pairs] - far, far, known[-1:]])
                value = 1e3 * exact_objective(loss, X, y, point) + point[:-1] @ point[:-1] / 2
                assert model.objective_ - model.duality_gap_ <= value * (1 + 1e-12)
                for message in (str(one.message) for one in seen):
                    relative = re.search(r"at most (\S+) \(relative\) above the optimum", message)
                    assert relative is None or model.objective_ <= (1 + float(relative[1])) * value * (1 + 1e-12)


def test_a_proof_at_small_coefficients_is_none_at_large_ones() -> None:
    """A solver that passes from small to large coefficients: the bound of the first step is not one for the last."""
    random = np.random.default_rng(0)
    one, difference = random.normal(size=(2, 400))
    y = (random.random(400) < 1 / (1 + np.exp(-2 * difference))).astype(int)
    X = np.column_stack([one, one + 1e-5 * difference])
    objective = linear_objective("logistic", X, y, penalty=0.0)
    settings = Settings(tol=1e-12, max_iter=50, random=random)
    small = np.zeros(3)
    for _ in range(200):  # the best coefficients that are all alike
        small[:2] -= 0.005 * objective.value_and_gradient(small)[1][:2].mean()
    thetas = iter([small, np.array([-6e4, 6e4, 0.0])])

    def solve(*_: object) -> Solution:
        theta = next(thetas)
        value = objective.value_and_gradient(theta)[0]
        return Solution(theta, value, converged=False, iterations=25, status="moved")

    found = minimise_to_gap(solve, objective, None, settings)
    better = prove(objective, np.array([-1.8e5, 1.8e5, 0.0])).theta  # with the best intercept
    assert prove(objective, small).bound > objective.value_and_gradient(better)[0]
    assert np.abs(better).max() < 10 * np.abs(found.theta).max()
    assert found.value - found.duality_gap <= objective.value_and_gradient(better)[0]
