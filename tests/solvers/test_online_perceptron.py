"""A pass of the perceptron is the algorithm as a plain loop; the rules that end its training."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from linear_data import binary

from uneven.solvers.perceptron_training import Examples, PerceptronState, one_pass, train

X, Y = binary(80, 3)
X = np.where(np.abs(X) > 0.3, X, 0.0)
RANDOM = np.random.default_rng(2)


def examples(matrix: Any = X, y: np.ndarray = Y) -> Examples:
    rates = RANDOM.choice([0.0, 0.5, 1.5], size=y.size)  # some rows without weight
    return Examples(matrix, np.where(y == 1, 1.0, -1.0), np.where(y == 1, 1.0, 0.25), rates, radius=1.7)


def by_hand(given: Examples, order: np.ndarray) -> tuple[np.ndarray, np.ndarray, int, float]:
    """Last and mean weights, updates and loss."""
    w, seen, updates, loss = np.zeros(4), [], 0, 0.0
    for i in order:
        x = np.append(X[i], given.radius**2)
        score = X[i] @ w[:-1] + w[-1]
        if given.rates[i] > 0 and given.signs[i] * score <= given.margins[i]:
            loss += given.rates[i] * (given.margins[i] - given.signs[i] * score)
            w = w + given.rates[i] * given.signs[i] * x
            updates += 1
        seen.append(w)
    return w, np.mean(seen, axis=0), updates, loss


@pytest.mark.parametrize("layout", [np.asarray, np.asfortranarray, sp.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_pass_is_a_plain_loop(layout: Any, dtype: type) -> None:
    given = examples(layout(X.astype(dtype)))
    order = RANDOM.permutation(Y.size)
    state = PerceptronState.zero(3)
    updates, loss = one_pass(given, order, state)
    last, mean, expected_updates, expected_loss = by_hand(given, order)
    tolerance = 1e-12 if dtype is np.float64 else 1e-5
    assert updates == expected_updates == state.updates
    assert loss == pytest.approx(expected_loss, rel=100 * tolerance)
    np.testing.assert_allclose(state.weights, last, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(state.average(), mean, rtol=tolerance, atol=tolerance)
    assert (state.passes, state.rows_seen) == (1, Y.size)


def test_two_passes_are_one_long_pass() -> None:
    given = examples()
    order = RANDOM.permutation(Y.size)
    parts, whole = PerceptronState.zero(3), PerceptronState.zero(3)
    one_pass(given, order[:30], parts)
    one_pass(given, order[30:], parts)
    one_pass(given, order, whole)
    np.testing.assert_allclose(parts.weights, whole.weights)
    np.testing.assert_allclose(parts.average(), whole.average())


def rules(**changes: Any) -> dict[str, Any]:
    return {"max_iter": 50, "tol": 1e-3, "n_iter_no_change": 3, "shuffle": None, **changes}


def test_training_ends_when_a_pass_makes_no_update() -> None:
    line = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    signs = np.array([-1.0, -1.0, 1.0, 1.0])
    given = Examples(line, signs, np.array([0.25, 0.25, 1.0, 1.0]), np.ones(4), radius=2.0)
    state = PerceptronState.zero(1)
    training = train(given, state, **rules())
    assert training.settled
    assert training.separated
    assert (signs * (line[:, 0] * state.weights[0] + state.weights[1]) > given.margins).all()


def test_training_ends_when_the_loss_no_longer_falls() -> None:
    given = examples()
    state = PerceptronState.zero(3)
    training = train(given, state, **rules())
    assert training.settled
    assert not training.separated
    assert training.last_updates > 0
    assert 3 < state.passes < 50


def test_without_tol_only_the_limit_ends_it_and_that_is_admitted() -> None:
    lines: list[str] = []
    state = PerceptronState.zero(3)
    training = train(examples(), state, **rules(tol=None, max_iter=7), progress=lines.append)
    assert not training.settled
    assert state.passes == 7
    assert len(lines) == 7
    assert lines[-1] == f"pass 7: {training.last_updates} updates"


def test_shuffling_changes_the_order_by_its_seed() -> None:
    given = examples()
    states = []
    for seed in (1, 1, 2):
        states.append(PerceptronState.zero(3))
        train(given, states[-1], **rules(shuffle=np.random.RandomState(seed), max_iter=3))
    assert np.array_equal(states[0].weights, states[1].weights)
    assert not np.array_equal(states[0].weights, states[2].weights)
