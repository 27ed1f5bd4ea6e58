"""Weights of members from out-of-fold probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import log_loss

from uneven.learners.ensemble.weights import STEPS, WEIGHTINGS, greedy, log_losses, possible_weights


def _members(seed: int, count: int = 60, members: int = 4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    truth = random.random(count) < 0.3
    skill = random.uniform(0, 2, members)
    score = np.where(truth[:, None], skill, -skill) + random.normal(size=(count, members)) - 0.8
    return 1 / (1 + np.exp(-score)), truth, random.uniform(0.5, 2, count)


@pytest.mark.parametrize("name", WEIGHTINGS)
@pytest.mark.parametrize("seed", range(3))
def test_weights_are_shares(name: str, seed: int) -> None:
    found = WEIGHTINGS[name](*_members(seed))
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("name", WEIGHTINGS)
def test_the_order_of_members_does_not_matter(name: str) -> None:
    probability, truth, weight = _members(0)
    order = np.array([2, 0, 3, 1])
    found = WEIGHTINGS[name](probability[:, order], truth, weight)
    np.testing.assert_allclose(found, WEIGHTINGS[name](probability, truth, weight)[order], atol=1e-12)


@pytest.mark.parametrize("name", WEIGHTINGS)
def test_a_weight_of_two_is_two_rows(name: str) -> None:
    probability, truth, _ = _members(1)
    rows = np.append(np.arange(60), np.arange(20))
    weighted = WEIGHTINGS[name](probability, truth, np.where(np.arange(60) < 20, 2.0, 1.0))
    repeated = WEIGHTINGS[name](probability[rows], truth[rows], np.ones(80))
    np.testing.assert_allclose(weighted, repeated, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_greedy_is_no_worse_than_the_best_member(seed: int) -> None:
    probability, truth, weight = _members(seed)
    mixed = probability @ greedy(probability, truth, weight)
    best = log_losses(probability, truth, weight).min()
    assert log_losses(mixed[:, None], truth, weight)[0] <= best + 1e-12


def test_greedy_takes_the_best_step_each_time() -> None:
    probability, truth, weight = _members(7)
    chosen: list[int] = []
    for _ in range(STEPS):
        means = [probability[:, [*chosen, k]].mean(axis=1) for k in range(4)]
        chosen.append(int(np.argmin([log_loss(truth, mean, sample_weight=weight) for mean in means])))
    expected = np.bincount(chosen, minlength=4) / STEPS
    assert greedy(probability, truth, weight).tolist() == expected.tolist()


def test_log_loss_believes_no_certainty() -> None:
    probability = np.array([[0.0, 1.0], [1.0, 0.0]])
    found = log_losses(probability, np.array([True, False]), np.ones(2))
    assert found.tolist() == pytest.approx([np.log(4), np.log(4 / 3)])


def test_possible_weights_are_counted() -> None:
    assert possible_weights("equal", 5) == 1
    assert possible_weights("greedy", 2) == STEPS + 1
    assert possible_weights("half_greedy", 3) == (STEPS + 2) * (STEPS + 1) // 2
    assert possible_weights("softmax", 2) is None
