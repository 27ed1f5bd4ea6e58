"""Bounds of a mean from the relative entropy of two coins: never too narrow, and hardly too wide."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from uneven.decisions.shift_bounds import kl_lower, kl_upper

OBSERVED = [0.0, 5e-324, 1e-300, 1e-16, 1e-9, 0.003, 0.1, 0.5, 0.9, 1 - 1e-9, math.nextafter(1, 0), 1.0]
LIMITS = [0.0, 5e-324, 1e-20, 1e-13, 1e-7, 1e-3, 0.1, 1.0, 30.0, 1e4]


def exact_kl(q: float, p: float) -> mpmath.mpf:
    with mpmath.workdps(400):
        q, p = mpmath.mpf(q), mpmath.mpf(p)
        hit = 0 if q == 0 else (mpmath.inf if p == 0 else q * mpmath.log(q / p))
        miss = 0 if q == 1 else (mpmath.inf if p == 1 else (1 - q) * mpmath.log((1 - q) / (1 - p)))
        return hit + miss


@pytest.mark.parametrize("q", OBSERVED)
@pytest.mark.parametrize("x", LIMITS)
def test_bounds_lie_outside_and_close(q: float, x: float) -> None:
    high, low = float(kl_upper(q, x)), float(kl_lower(q, x))
    assert 0 <= low <= q <= high <= 1
    assert high == 1 or exact_kl(q, high) >= x
    assert low == 0 or exact_kl(q, low) >= x
    # A little further inside, the limit is kept.
    spare = 1e-6 * max(x, 1e-7)
    inside = high - 1e-6 * (high - q) - 1e-14
    assert inside <= q or exact_kl(q, inside) <= x + spare
    inside = low + 1e-6 * (q - low) + 1e-14
    assert inside >= q or exact_kl(q, inside) <= x + spare


def test_wider_limits_give_wider_bounds_and_larger_means_larger_ones() -> None:
    q, x = np.linspace(0, 1, 201)[:, None], np.geomspace(1e-8, 10, 60)
    for bound in (kl_upper(q, x), kl_lower(q, x)):
        assert (np.diff(bound, axis=0) >= -1e-15).all()
    assert (np.diff(kl_upper(q, x), axis=1) >= -1e-15).all()
    assert (np.diff(kl_lower(q, x), axis=1) <= 1e-15).all()


def test_nothing_observed_has_the_closed_form() -> None:
    x = np.array([1e-6, 0.01, 1.0])
    np.testing.assert_allclose(kl_upper(0.0, x), -np.expm1(-x), rtol=1e-9)


def exponential_moment(means: np.ndarray) -> float:
    """E exp(m kl(mean of independent coins, mean of their probabilities)), by adding one coin after the other."""
    shares = np.ones(1)
    for p in means:
        shares = np.convolve(shares, [1 - p, p])
    m, average = len(means), float(np.mean(means))
    observed = np.arange(m + 1) / m
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(observed > 0, observed * np.log(observed / average), 0.0)
        terms += np.where(observed < 1, (1 - observed) * np.log((1 - observed) / (1 - average)), 0.0)
    return float(shares @ np.exp(m * terms))


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 6, 7, 8, 20, 60])
def test_the_moment_behind_the_theorem(m: int) -> None:
    """At most 2 sqrt(m), also for coins that differ; for equal coins the same number whatever their probability."""
    rng = np.random.default_rng(m)
    same = [exponential_moment(np.full(m, p)) for p in (0.01, 0.3, 0.5)]
    np.testing.assert_allclose(same, same[0], rtol=1e-8)
    assert math.sqrt(m) <= same[0] <= 2 * math.sqrt(m) * (1 + 1e-12)
    for _ in range(20):
        assert exponential_moment(rng.beta(0.5, 0.5, m).clip(1e-6, 1 - 1e-6)) <= same[0] * (1 + 1e-8)
