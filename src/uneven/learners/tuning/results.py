"""``cv_results_`` in the form of scikit-learn's GridSearchCV."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import rankdata

if TYPE_CHECKING:
    from uneven.learners.tuning.search import Column


def cv_results(params: list[dict[str, Any]], columns: list[Column]) -> dict[str, Any]:
    """Times, parameters, and scores with their mean, scatter and rank; unfinished splits (NaN) do not count."""
    results: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the mean of nothing is NaN
        for name in ("fit_time", "score_time"):
            times = np.stack([getattr(column, f"{name}s") for column in columns], axis=1)
            results[f"mean_{name}"] = np.nanmean(times, axis=1)
            results[f"std_{name}"] = np.nanstd(times, axis=1)
        for name in dict.fromkeys(name for one in params for name in one):
            values: Any = np.ma.MaskedArray(np.empty(len(params), dtype=object), mask=True)
            for index, one in enumerate(params):
                if name in one:
                    values[index] = one[name]
            numbers = all(isinstance(value, float) for value in values.compressed())
            results[f"param_{name}"] = values.astype(np.float64) if numbers else values
        results["params"] = params
        scores = np.stack([column.scores for column in columns], axis=1)
        for number in range(scores.shape[1]):
            results[f"split{number}_test_score"] = scores[:, number].copy()
        mean = np.nanmean(scores, axis=1)
        results["mean_test_score"] = mean
        results["std_test_score"] = np.nanstd(scores, axis=1)
    known = np.where(np.isnan(mean), -np.inf, mean)
    results["rank_test_score"] = rankdata(-known.round(12), method="min").astype(np.int32)
    return results
