"""What a search found, and how to choose a candidate by its costs in cross-validation.

The smallest mean cost overfits if folds are few and small; most rules guard against that. Each rule takes a
:class:`Table` and returns the index of a candidate. Ties go to the gamma nearest 1, then to the smaller C.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import rankdata

if TYPE_CHECKING:
    from uneven.learners.tuning.gamma_search import Column

#: How many of the best gammas the rule "averaged" averages.
_FEW = 3
#: The automatic grid: how many gammas, and the least and the largest value that its largest gamma may have.
_COUNT = 11
_LEAST_REACH, _MOST_REACH = 4.0, 64.0


@dataclass(frozen=True)
class Table:
    """The costs of all candidates in all splits, with their gamma, C and path.

    Attributes
    ----------
    costs : ndarray of shape (n_candidates, n_splits)
    gammas : ndarray of shape (n_candidates,)
    Cs : ndarray of shape (n_candidates,)
    paths : ndarray of int, shape (n_candidates,)
        Candidates of one path differ in gamma only.
    """

    costs: np.ndarray
    gammas: np.ndarray
    Cs: np.ndarray
    paths: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        return np.asarray(self.costs.mean(axis=1))

    @property
    def standard_error(self) -> np.ndarray:
        return standard_error(self.costs)

    @property
    def distance(self) -> np.ndarray:
        """Distance of each gamma from 1, in log gamma."""
        return np.abs(np.log(self.gammas))

    def least(self, values: np.ndarray, among: np.ndarray | None = None) -> int:
        """The candidate of the smallest value; among ties (up to rounding) the gamma nearest 1, then the smaller C."""
        chosen = np.arange(values.size) if among is None else np.flatnonzero(among)
        least = values[chosen].min()
        tied = chosen[values[chosen] <= least + 1e-12 * max(1.0, abs(least))]
        order = np.lexsort((self.Cs[tied], self.distance[tied].round(9)))
        return int(tied[order[0]])

    def nearest(self, path: int, log_gamma: float) -> int:
        """The candidate of a path whose log gamma is nearest to the one asked for."""
        far = np.abs(np.log(self.gammas) - log_gamma)
        return self.least(np.where(self.paths == path, far, np.inf))


def standard_error(costs: np.ndarray) -> np.ndarray:
    """Standard error of the mean over splits, from their scatter; 0 for a single split."""
    splits = costs.shape[1]
    if splits < 2:
        return np.zeros(costs.shape[0])
    return np.asarray(costs.std(axis=1, ddof=1) / np.sqrt(splits))


def best(table: Table) -> int:
    """The smallest mean cost."""
    return table.least(table.mean)


def one_standard_error(table: Table) -> int:
    """The gamma nearest 1 among all within one standard error of the smallest mean cost; then the smallest cost."""
    at = best(table)
    near = table.mean <= table.mean[at] + table.standard_error[at]
    nearest = table.distance[near].min()
    return table.least(table.mean, near & (table.distance <= nearest + 1e-9))


def smoothed(table: Table) -> int:
    """The smallest mean cost after averaging each gamma with its two neighbours, with weights 1, 2, 1."""
    values = table.mean.copy()
    for path in np.unique(table.paths):
        at = np.flatnonzero(table.paths == path)
        at = at[np.argsort(table.gammas[at])]
        padded = np.pad(table.mean[at], 1, mode="edge")
        values[at] = (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4
    return table.least(values)


def shrunk(table: Table) -> int:
    """The smallest mean cost, with its log gamma shrunk towards 0; more if its gain is uncertain.

    The gain d is over the gamma nearest 1. With its standard error e over the splits (paired), log gamma is multiplied
    by max(0, 1 - (e/d)^2).
    """
    at = best(table)
    path = int(table.paths[at])
    centre = table.nearest(path, 0.0)
    gains = table.costs[centre] - table.costs[at]
    gain, error = float(gains.mean()), float(standard_error(gains[None, :])[0])
    factor = max(0.0, 1 - (error / gain) ** 2) if gain > 0 else 0.0
    return table.nearest(path, factor * float(np.log(table.gammas[at])))


def averaged(table: Table) -> int:
    """The geometric mean of the three best gammas on the path of the best candidate."""
    path = int(table.paths[best(table)])
    inside = np.flatnonzero(table.paths == path)
    few = inside[np.lexsort((table.distance[inside], table.mean[inside]))[:_FEW]]
    return table.nearest(path, float(np.log(table.gammas[few]).mean()))


RULES: dict[str, Callable[[Table], int]] = {
    "best": best,
    "one_standard_error": one_standard_error,
    "smoothed": smoothed,
    "shrunk": shrunk,
    "averaged": averaged,
}


def automatic_grid(ratio: float, weighted: float) -> np.ndarray:
    """Gammas in equal ratios around 1, up to the larger of the class ratio and the ratio of the classes' total costs.

    Both ratios are negative over positive. A larger asymmetry would ask for a margin of the rare class that its few
    examples cannot outweigh.
    """
    reach = float(np.clip(max(ratio, 1 / ratio, weighted, 1 / weighted), _LEAST_REACH, _MOST_REACH))
    grid = np.exp(np.linspace(-np.log(reach), np.log(reach), _COUNT))
    grid[_COUNT // 2] = 1.0
    return np.array([float(f"{gamma:.4g}") for gamma in grid])


@dataclass(frozen=True)
class GammaPath:
    """Cross-validated cost per gamma, at the chosen C and loss.

    Attributes
    ----------
    margin_gamma : ndarray
        In rising order.
    mean_cost : ndarray
        Mean over the splits (minus the score where ``scoring`` was given).
    standard_error : ndarray
        Standard error of that mean, from the scatter of the splits.
    chosen : float
        The gamma that was chosen.
    """

    margin_gamma: np.ndarray
    mean_cost: np.ndarray
    standard_error: np.ndarray
    chosen: float

    def plot(self, ax: Any = None) -> Any:
        """Draw mean and standard error against gamma; returns the axes. Needs Matplotlib (the extra ``plot``)."""
        from uneven.figures.displays.fitted_curves import GammaPathDisplay

        return GammaPathDisplay(self).plot(ax).ax_


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
