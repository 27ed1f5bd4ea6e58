"""Columns that know the target: found before a fit, because a model that uses them looks far better than it is."""

from __future__ import annotations

from typing import Any

import numpy as np

#: A column whose values alone order the rows this well is suspicious.
_NEAR_PERFECT = 0.99
_FEWEST = 10  # rows of each class
_BINS = 50
_ONLY_POSITIVE = 0.99


def leaks(X: Any, is_positive: np.ndarray) -> dict[str, str]:
    """Suspicious columns, and what each tells about the target."""
    positives = int(is_positive.sum())
    if min(positives, is_positive.size - positives) < _FEWEST:
        return {}
    found = {}
    half = np.random.default_rng(0).permutation(is_positive.size) % 2 == 0
    for name in X.columns:
        column = X[name]
        if hasattr(column, "cat"):
            codes = column.cat.codes.to_numpy().astype(int)
            best, missing = _of_codes(codes, is_positive, half), codes < 0
        else:
            values = column.to_numpy()
            missing = np.isnan(values)
            best = max(
                _of_numbers(values, missing, is_positive), _of_codes(_binned(values, missing), is_positive, half)
            )
        present = ~missing
        if best >= _NEAR_PERFECT:
            found[name] = f"alone predicts the target {'perfectly' if best == 1 else 'almost perfectly'}"
        elif is_positive.mean() <= 0.5 and _only_positive(is_positive, present):
            found[name] = "is filled in almost only for positive rows"
    return found


def _only_positive(is_positive: np.ndarray, present: np.ndarray) -> bool:
    enough = _FEWEST <= present.sum() < present.size
    return bool(enough and is_positive[present].mean() >= _ONLY_POSITIVE)


def _ordered(scores: np.ndarray, is_positive: np.ndarray) -> float:
    """Share of pairs of a positive and a negative row that the scores order rightly (area under the ROC curve)."""
    from scipy.stats import rankdata

    positives = int(is_positive.sum())
    negatives = is_positive.size - positives
    if not positives or not negatives:
        return 0.5
    ranks = rankdata(scores)[is_positive].sum() - positives * (positives + 1) / 2
    return float(ranks / (positives * negatives))


def _of_numbers(values: np.ndarray, missing: np.ndarray, is_positive: np.ndarray) -> float:
    """How well a column of numbers orders the rows, up or down, with missing values last or first."""
    best = 0.5
    for filling in (-np.inf, np.inf) if missing.any() else (0.0,):
        share = _ordered(np.where(missing, filling, values), is_positive)
        best = max(best, share, 1 - share)
    return best


def _binned(values: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """The bin of each number, between quantiles; -1 if missing."""
    edges = np.unique(np.quantile(values[~missing], np.linspace(0, 1, _BINS + 1)[1:-1]))
    return np.where(missing, -1, np.searchsorted(edges, values))


def _of_codes(codes: np.ndarray, is_positive: np.ndarray, half: np.ndarray) -> float:
    """How well the share of positives in each category, counted in one half, orders the other half; mean of both."""
    orders = []
    for counted in (half, ~half):
        total = np.bincount(codes[counted] + 1, minlength=codes.max() + 2)
        positive = np.bincount(codes[counted] + 1, weights=is_positive[counted], minlength=codes.max() + 2)
        share = (positive + is_positive.mean()) / (total + 1)
        orders.append(_ordered(share[codes[~counted] + 1], is_positive[~counted]))
    return float(np.mean(orders))
