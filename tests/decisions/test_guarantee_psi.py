"""From the window loss to the cost: psi, what it needs, and what fails without it."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import pytest
from finite_worlds import World, window

import uneven

SHIFTS = np.array([-2.0, -0.7, -0.2, 0.1, 0.5, 1.3, 3.0])


@lru_cache
def analysis(order: int, alpha: float | str) -> uneven.calibration.Analysis:
    return uneven.analyze(uneven.calibrated_loss(uneven.phi("beta", order=order), alpha=alpha))


def world_of(rng: np.random.Generator, *, per_row: bool, noise: float) -> World:
    """Log-odds that are right up to a shift of 0.4, plus noise."""
    size = 9
    eta = rng.beta(0.7, 1.5, size)
    fn_regret = rng.uniform(0.5, 20, size) if per_row else np.full(size, 10.0)
    fp_regret = rng.uniform(0.1, 2, size) if per_row else np.ones(size)
    log_odds = np.log(eta / (1 - eta)) + 0.4 + noise * rng.normal(size=size)
    return World(rng.dirichlet(np.ones(size)), eta, log_odds - np.log(fp_regret / fn_regret), fn_regret, fp_regret)


def best_window_loss(world: World, order: int) -> float:
    """Of all functions of the point: the tilted probability's log-odds at each."""
    share = world.positive / (world.positive + world.negative)
    t = np.log(share / (1 - share))
    return float((world.positive * window(t, order) + world.negative * window(-t, order)).sum())


def psi_bound(world: World, order: int, excess: np.ndarray, *, per_row: bool) -> np.ndarray:
    excess = np.maximum(excess, 0.0)
    if per_row:
        mean = float((world.positive + world.negative).sum())
        return 2 * mean * analysis(order, 0.5).regret_bound(excess / mean)
    return 11 * analysis(order, "1/11").regret_bound(excess / 11)


@pytest.mark.parametrize("order", [1, 8])
@pytest.mark.parametrize("per_row", [False, True])
def test_right_up_to_a_shift(order: int, per_row: bool) -> None:
    """The best shift has the least window loss and the least cost of all functions; psi bounds the cost above it."""
    rng = np.random.default_rng(order)
    for _ in range(10):
        world = world_of(rng, per_row=per_row, noise=0.0)
        np.testing.assert_allclose(world.window_loss([0.4], order), best_window_loss(world, order), rtol=1e-9)
        least = np.minimum(world.positive, world.negative).sum()
        np.testing.assert_allclose(world.least_cost(), least, rtol=1e-9)
        excess = world.window_loss(SHIFTS, order) - best_window_loss(world, order)
        assert (world.cost(SHIFTS) - least <= psi_bound(world, order, excess, per_row=per_row) + 1e-12).all()


@pytest.mark.parametrize("per_row", [False, True])
def test_wrong_log_odds(per_row: bool) -> None:
    """Then psi bounds the cost by the window loss above the best of all functions, of which no shift may be one."""
    rng = np.random.default_rng(5)
    gaps = []
    for _ in range(10):
        world = world_of(rng, per_row=per_row, noise=1.0)
        excess = world.window_loss(SHIFTS, 8) - best_window_loss(world, 8)
        least = np.minimum(world.positive, world.negative).sum()
        assert (world.cost(SHIFTS) - least <= psi_bound(world, 8, excess, per_row=per_row) + 1e-12).all()
        gaps.append(world.least_window_loss(8) - best_window_loss(world, 8))
    assert max(gaps) > 1e-2


def test_the_assumption_is_needed() -> None:
    """A world whose shift of least window loss costs more than another shift: no bound by psi of 0 can hold."""
    world = World(np.array([0.5, 0.5]), np.array([0.6, 0.1]), np.array([0.0, -0.5]), np.ones(2), np.ones(2))
    shifts = np.linspace(-3, 3, 6001)
    best = shifts[world.window_loss(shifts, 8).argmin()]
    assert best > 0
    np.testing.assert_allclose([world.cost([best])[0], world.least_cost()], [0.35, 0.25])


@pytest.mark.parametrize("order", [1, 2, 8, 64])
def test_facts_about_the_window(order: int) -> None:
    """Its value at 0, which bounds the cost by the window loss; the bounds of its slopes."""
    t = np.linspace(-30, 30, 20001)
    phi = uneven.phi("beta", order=order)
    at_zero = (1 - math.comb(2 * order, order) / 4**order) / 2
    np.testing.assert_allclose([phi(0.0), window(np.zeros(1), order)[0]], at_zero, rtol=1e-12)
    assert (phi(t[t <= 0]) >= at_zero).all()
    slope = phi.slope(t)
    largest = math.sqrt(order / math.pi)
    assert np.abs(slope).max() <= largest
    assert np.abs(np.diff(slope) / np.diff(t)).max() <= largest * (1 + math.sqrt(order / (2 * math.e)))
