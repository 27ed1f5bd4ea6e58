r"""Bounds of a mean from the relative entropy of two coins.

.. math:: \mathrm{kl}(q, p) = q \ln\frac{q}{p} + (1 - q) \ln\frac{1 - q}{1 - p}

If the mean of observations is q and kl(q, true mean) is at most x, the true mean lies between :func:`kl_lower` and
:func:`kl_upper`. Both are rounded outwards.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_MOST_STEPS = 60
_NEAR = 2.0**-32  # a step that is shorter, relative to the distance from q, is the last one
_MORE = 1 + 2.0**-20  # a first guess is this much too far
_ROUNDING = 2.0**-40  # of each of the two terms of kl: differences of logarithms up to 745


def kl_upper(observed: Any, limit: Any) -> np.ndarray:
    """A number at least sup{p >= q: kl(q, p) <= limit}, for each q in [0, 1] and each limit >= 0.

    Examples
    --------
    >>> from uneven.learners.corrections.kl_inverse import kl_lower, kl_upper
    >>> float(kl_upper(0.1, 0.02).round(4)), float(kl_lower(0.1, 0.02).round(4))
    (0.1704, 0.0506)
    """
    q, x = np.broadcast_arrays(np.asarray(observed, dtype=np.float64), np.asarray(limit, dtype=np.float64))
    farthest = np.minimum(np.sqrt(x / 2), x + np.sqrt(x * (x + 2 * q)))
    return _narrowed(q, x, np.minimum(q + farthest * _MORE, 1.0), 1.0)


def kl_lower(observed: Any, limit: Any) -> np.ndarray:
    """A number at most inf{p <= q: kl(q, p) <= limit}, for each q in [0, 1] and each limit >= 0."""
    q, x = np.broadcast_arrays(np.asarray(observed, dtype=np.float64), np.asarray(limit, dtype=np.float64))
    farthest = np.minimum(np.sqrt(x / 2), np.sqrt(2 * q * x))
    return _narrowed(q, x, np.maximum(q - farthest * _MORE, 0.0), 0.0)


def _narrowed(q: np.ndarray, x: np.ndarray, outside: np.ndarray, end: float) -> np.ndarray:
    """From a first guess, which kl(q, p) >= 2 (p - q)^2 and (p - q)^2 / (2 max(p, q)) give, or the end, towards q.

    kl is convex in p, so that Newton's steps from outside stay outside; where they do not exist, bisect.
    """
    value = _at_least(q, outside)
    outside, value = np.where(value > x, outside, end), np.where(value > x, value, np.inf)
    inside = q
    for _ in range(_MOST_STEPS):
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = outside - (value - x) * (outside * (1 - outside) / (outside - q))
        near = np.fmin(np.abs(outside - newton), np.abs(outside - inside)) <= _NEAR * np.abs(outside - q)
        if near.all():
            break
        between = (newton - inside) * (newton - outside) < 0
        trial = np.where(between, newton, (inside + outside) / 2)
        found = _at_least(q, trial)
        beyond = found > x
        outside, value = np.where(beyond, trial, outside), np.where(beyond, found, value)
        inside = np.where(beyond, inside, trial)
    return outside


def _at_least(q: np.ndarray, p: np.ndarray) -> np.ndarray:
    """A lower bound of kl(q, p), also after the rounding of its two terms, which nearly cancel if p is close to q."""
    hit = np.where(q > 0, -q * _log_ratio(p, q, p - q), 0.0)
    miss = np.where(q < 1, -(1 - q) * _log_ratio(1 - p, 1 - q, q - p), 0.0)
    impossible = np.isinf(hit) | np.isinf(miss)
    hit, miss = np.where(impossible, 0.0, hit), np.where(impossible, 0.0, miss)
    return np.where(impossible, np.inf, hit + miss - _ROUNDING * (np.abs(hit) + np.abs(miss)))


def _log_ratio(a: np.ndarray, b: np.ndarray, difference: np.ndarray) -> np.ndarray:
    """ln(a/b); close to 1 from the difference, because the ratio has lost it, else from two logarithms."""
    close = 2 * np.abs(difference) <= b
    some = np.where(b > 0, b, 1.0)
    with np.errstate(divide="ignore"):
        far = np.log(a) - np.log(some)
    return np.where(close, np.log1p(np.where(close, difference, 0.0) / some), far)
