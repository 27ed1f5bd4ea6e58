"""Cost curves: the best threshold for every alpha."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uneven.errors import CostError
from uneven.metrics import cost_curve, expected_cost


def cost_line(truth: np.ndarray, guess: np.ndarray, alphas: np.ndarray) -> np.ndarray:
    """The expected cost at every alpha. It is linear in alpha, so two costs give all; the middle one is checked."""
    none, half, whole = (
        expected_cost(truth, guess.astype(int), fp_cost=a, fn_cost=1 - a, pos_label=1) for a in (0.0, 0.5, 1.0)
    )
    assert half == pytest.approx((none + whole) / 2, abs=1e-12)
    return none + alphas * (whole - none)


@given(st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=2, max_size=30))
def test_cost_curve_is_the_lower_envelope_of_all_thresholds(sample: list[tuple[bool, int]]) -> None:
    truth = np.array([label for label, _ in sample]).astype(int)
    score = np.array([value for _, value in sample], dtype=float)
    curve = cost_curve(truth, score)
    alphas = curve.alpha
    brute = np.full(alphas.shape, np.inf)
    for threshold in [-np.inf, *np.unique(score) + 0.5]:
        brute = np.minimum(brute, cost_line(truth, score > threshold, alphas))
    assert np.allclose(curve.best_cost, brute, atol=1e-12)
    assert np.allclose(curve.cost, cost_line(truth, score > 0, alphas), atol=1e-12)
    assert np.all(curve.best_cost <= curve.constant_cost + 1e-12)
    for threshold in np.unique(curve.best_threshold):
        best = curve.best_threshold == threshold
        assert np.allclose(curve.best_cost[best], cost_line(truth, score > threshold, alphas[best]), atol=1e-12)


@pytest.mark.parametrize(
    ("score", "alphas", "says"),
    [
        ([0.1], None, "same length"),
        ([math.nan, 1], None, "y_score must not contain NaN"),
        (["a", "b"], None, "numbers"),
        ([0, 1], [2], "alphas"),
    ],
)
def test_cost_curve_refuses(score: list[float], alphas: list[float] | None, says: str) -> None:
    with pytest.raises(CostError, match=says):
        cost_curve([0, 1], score, alphas=alphas)


def test_cost_curve_of_probabilities_at_their_threshold() -> None:
    truth, probability = [0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9]
    assert cost_curve(truth, probability, threshold=0.5, alphas=[0.5]).cost == pytest.approx([0.25])
    with pytest.raises(CostError, match="threshold must be a number"):
        cost_curve(truth, probability, threshold="half")
