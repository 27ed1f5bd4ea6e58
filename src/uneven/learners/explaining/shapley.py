"""Shapley values of a model's evidence: exact for sums over columns and for boosted trees, sampled for the rest.

The value of column j in row x is the mean change of the evidence when that column of a background row is replaced by
that of x, over all orders in which the columns can be replaced and over the background rows. Values of a row always sum
to its evidence minus the mean evidence of the background.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline

from uneven.learners.base import LinearScores
from uneven.learners.explaining.mixed_rows import AT_ONCE, Evidence, Pool
from uneven.solvers.running import Bar
from uneven.tables import FrameEncoder
from uneven.tables.frame_encoder import LINEAR

EXACT, TREES, SAMPLED = "exact", "exact (shap)", "sampled"

#: What rounding in the model and in shap may change in the sum of a row, relative to the evidence.
_ROUNDING = 1e-4
#: Transformers of scikit-learn that make each of their columns from one column of the table.
_COLUMNWISE = frozenset(
    {
        "Binarizer",
        "KBinsDiscretizer",
        "MaxAbsScaler",
        "MinMaxScaler",
        "OneHotEncoder",
        "OrdinalEncoder",
        "PowerTransformer",
        "QuantileTransformer",
        "RobustScaler",
        "SimpleImputer",
        "SplineTransformer",
        "StandardScaler",
        "TargetEncoder",
    }
)


@dataclass(frozen=True)
class ShapleyValues:
    """Values of all rows.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_columns)
    base : float
        Mean evidence of the background.
    standard_errors : ndarray of shape (n_rows, n_columns)
        Of sampled values, over draws of background rows and orders; 0 of exact ones.
    method : {"exact", "exact (shap)", "sampled"}
    """

    values: np.ndarray
    base: float
    standard_errors: np.ndarray
    method: str


def find_values(model: Any, steps: list[Any], evidence: Evidence, pool: Pool, n_draws: int) -> ShapleyValues:
    """Values by the best method for the model that stands behind the steps."""
    of_rows = evidence(pool.rows(np.arange(pool.count)))
    if is_additive(model, steps):
        found = _additive(model, steps, evidence, pool, of_rows)
        if found is not None:
            return found
    if not steps and hasattr(model, "booster_"):
        found = _by_shap(model, evidence, pool, of_rows, n_draws)
        if found is not None:
            return found
    return _sampled(evidence, pool, of_rows, n_draws)


# -- sums over columns -------------------------------------------------------------------------------------------------


def is_additive(model: Any, steps: list[Any]) -> bool:
    """Whether the evidence is a sum of functions of one column each: a linear model after columnwise steps."""
    linear = isinstance(model, LinearScores) or bool(getattr(model, "is_linear", False))
    return linear and all(map(_is_columnwise, steps))


def _is_columnwise(step: Any) -> bool:
    if step is None or isinstance(step, str):
        return step in (None, "passthrough", "drop")
    if isinstance(step, Pipeline):
        return all(_is_columnwise(inner) for _, inner in step.steps)
    if isinstance(step, FeatureUnion):
        return all(_is_columnwise(inner) for _, inner in step.transformer_list)
    if isinstance(step, ColumnTransformer) and not isinstance(step, FrameEncoder):
        return all(_is_columnwise(inner) for _, inner, _ in step.transformers_)
    if isinstance(step, FrameEncoder):
        return bool(step.view == LINEAR)
    return type(step).__module__.startswith("sklearn.") and type(step).__name__ in _COLUMNWISE


def _additive(
    model: Any, steps: list[Any], evidence: Evidence, pool: Pool, of_rows: np.ndarray
) -> ShapleyValues | None:
    """Exact values. Each value of a column is tried once, in one and the same background row."""
    if isinstance(model, LinearScores) and not steps and isinstance(pool.table, np.ndarray):
        weights = np.asarray(model._theta()[:-1], dtype=np.float64)
        rows = pool.table.astype(np.float64, copy=False)
        parts = weights * rows
    else:
        start, parts = pool.background[0], np.empty((pool.table.shape[0], pool.width))
        tried, places = [], []
        for j in range(pool.width):
            first, place = np.unique(pool.codes[:, j], return_index=True, return_inverse=True)[1:]
            index = np.full((first.size, pool.width), start)
            index[:, j] = first
            tried.append(index)
            places.append(place.ravel())
        found = pool.ask(evidence, np.concatenate(tried))
        ends = np.cumsum([len(index) for index in tried])
        for j, part in enumerate(np.split(found, ends[:-1])):
            parts[:, j] = part[places[j]]
    values = parts[: pool.count] - parts[pool.count :].mean(axis=0)
    base = float(evidence(pool.rows(pool.background)).mean())
    return _closed(values, base, of_rows, EXACT)


# -- boosted trees -----------------------------------------------------------------------------------------------------


def _by_shap(model: Any, evidence: Evidence, pool: Pool, of_rows: np.ndarray, n_draws: int) -> ShapleyValues | None:
    """Exact values from the trees, if shap is installed and can read them; it cannot read every model."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what shap imports, which concerns nobody here
            from shap import TreeExplainer
    except ImportError:
        return None
    chosen = draw_background(pool, n_draws)[1]
    try:
        explainer = TreeExplainer(
            model.booster_, data=pool.rows(chosen), feature_perturbation="interventional", model_output="raw"
        )
        values = np.asarray(explainer.shap_values(pool.rows(np.arange(pool.count))), dtype=np.float64)
    except Exception:  # such as categorical splits; every library and version has its own errors
        return None
    if values.shape != (pool.count, pool.width):
        return None
    return _closed(values, float(evidence(pool.rows(chosen)).mean()), of_rows, TREES)


def _closed(values: np.ndarray, base: float, of_rows: np.ndarray, method: str) -> ShapleyValues | None:
    """Values whose sums are right up to rounding, which is shared out; None if they are not."""
    missing = of_rows - base - values.sum(axis=1)
    size = np.abs(values).sum(axis=1)
    if not (np.abs(missing) <= _ROUNDING * (1 + np.abs(of_rows) + abs(base))).all():
        return None
    share = np.abs(values) / np.where(size > 0, size, 1.0)[:, None]
    return ShapleyValues(values + missing[:, None] * share, base, np.zeros_like(values), method)


# -- walks from background rows to the row -----------------------------------------------------------------------------


def draw_background(pool: Pool, n_draws: int) -> tuple[np.random.Generator, np.ndarray]:
    """Background rows, always the same: a part of many, all of few as often as it takes."""
    random = np.random.default_rng(0)
    rows = pool.background
    if rows.size > n_draws:
        return random, np.sort(random.permutation(rows)[:n_draws])
    return random, np.tile(rows, -(-n_draws // rows.size))


def _sampled(evidence: Evidence, pool: Pool, of_rows: np.ndarray, n_draws: int) -> ShapleyValues:
    """Sampled values of one number for each row."""
    found = sampled_values(lambda X: evidence(X)[:, None], pool, of_rows[:, None], n_draws)
    errors = found.errors_of(np.ones((pool.count, 1)))
    return ShapleyValues(found.values[..., 0], float(found.base[0]), errors, SAMPLED)


@dataclass(frozen=True)
class SampledValues:
    """Sampled values of several numbers for each row, such as probabilities of classes.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_columns, numbers)
    base : ndarray of shape (numbers,)
        Their means over the background.
    covariance : ndarray of shape (n_rows, n_columns, numbers, numbers)
        Of the means over the draws; NaN if there was one.
    """

    values: np.ndarray
    base: np.ndarray
    covariance: np.ndarray

    def errors_of(self, weights: np.ndarray) -> np.ndarray:
        """Standard errors of the sums of the numbers, weighted in each row."""
        found = np.einsum("njyz,ny,nz->nj", self.covariance, weights, weights)
        return np.asarray(np.sqrt(np.maximum(found, 0.0)))


def sampled_values(evidence: Evidence, pool: Pool, of_rows: np.ndarray, n_draws: int) -> SampledValues:
    """Means over walks: columns of a background row are replaced in a random order, and in the reverse of it.

    ``evidence`` says several numbers of each row; ``of_rows`` are those of the rows to explain.
    """
    random, starts = draw_background(pool, n_draws)
    orders = np.array([random.permutation(pool.width) for _ in starts])
    orders = np.concatenate([orders, orders[:, ::-1]])
    starts = np.tile(starts, 2)
    distinct, which = np.unique(starts, return_inverse=True)
    of_starts = evidence(pool.rows(distinct))[which]
    place = np.argsort(orders, axis=1)
    walks, width, numbers = orders.shape[0], pool.width, of_rows.shape[1]
    values = np.empty((pool.count, width, numbers))
    covariance = np.full((pool.count, width, numbers, numbers), np.nan)
    step = max(1, AT_ONCE // (walks * width * max(width, numbers)))
    blocks = range(0, pool.count, step)
    bar = Bar(None, "explain", len(blocks), "blocks of rows")
    for first in blocks:
        rows = np.arange(first, min(pool.count, first + step))
        along = _walk(evidence, pool, rows, starts, orders, place, of_rows[rows], of_starts)
        steps = np.diff(along, axis=2)  # in the order of the walk
        parts = np.take_along_axis(steps, np.broadcast_to(place[..., None], steps.shape), axis=2)
        pairs = (parts[:, : walks // 2] + parts[:, walks // 2 :]) / 2
        values[rows] = pairs.mean(axis=1)
        if walks > 2:
            apart = pairs - values[rows][:, None]
            covariance[rows] = np.einsum("nwjy,nwjz->njyz", apart, apart) / ((walks // 2 - 1) * (walks // 2))
        bar.advance()
    return SampledValues(values, of_starts.mean(axis=0), covariance)


def _walk(
    evidence: Evidence,
    pool: Pool,
    rows: np.ndarray,
    starts: np.ndarray,
    orders: np.ndarray,
    place: np.ndarray,
    of_rows: np.ndarray,
    of_starts: np.ndarray,
) -> np.ndarray:
    """The evidence along each walk from its start to each row, after 0, 1, ... columns.

    A step that replaces a value by itself changes nothing, and the last step that changes anything ends at the row:
    the model is not asked about them.
    """
    walks, width = orders.shape
    differs = pool.codes[rows][:, None, :] != pool.codes[starts][None]
    changes = np.take_along_axis(differs, np.broadcast_to(orders, differs.shape), axis=2)
    done = np.cumsum(changes, axis=2)
    unknown = changes & (done < done[..., -1:])
    at = np.argwhere(unknown)
    along = np.empty((rows.size, walks, width + 1, of_rows.shape[1]))
    along[:, :, 0] = of_starts
    if at.size:
        index = np.where(place[at[:, 1]] <= at[:, 2:], rows[at[:, 0], None], starts[at[:, 1], None])
        along[:, :, 1:][unknown] = pool.ask(evidence, index)
    last = np.where(unknown, np.arange(1, width + 1), 0)
    np.maximum.accumulate(last, axis=2, out=last)
    along[:, :, 1:] = np.take_along_axis(along, last[..., None], axis=2)
    arrived = (done == done[..., -1:]) & (done > 0)
    along[:, :, 1:] = np.where(arrived[..., None], of_rows[:, None, None], along[:, :, 1:])
    return along
