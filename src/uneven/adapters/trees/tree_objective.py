"""Our losses as objectives and metrics of tree libraries, the rows they see, and what a fit descends."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from uneven.calibration.calibrated_losses import loss_for, only_alpha
from uneven.costs import Cost, RowCosts, read_cost
from uneven.inputs import require_choice, to_float
from uneven.learners.training_set import TrainingSet, learnt_labels
from uneven.losses import Declaration, Loss, Phi
from uneven.solvers.boosting.row_losses import RowLosses, logistic
from uneven.solvers.linear.pair_of_losses import PairOfLosses

NO_WEIGHTS = np.empty(0)


def row_losses(loss: Loss, *, weighted: bool) -> RowLosses:
    """The compiled losses of both classes, with or without the weights of the loss's alpha."""
    declared = tuple(part.function.declaration for part in loss.partials if isinstance(part.function, Phi))
    return _kept_losses(loss, declared, weighted)


@lru_cache(maxsize=256)
def _kept_losses(loss: Loss, declared: tuple[Declaration, ...], weighted: bool) -> RowLosses:
    """Two losses with one formula are equal, but their phis may be declared otherwise."""
    return RowLosses.of(PairOfLosses.of(loss, weighted=weighted))


def convex_losses(losses: RowLosses, inside: float | None) -> RowLosses:
    """The losses themselves if they are convex, else logistic ones for the same costs.

    A loss that is not convex starts there. ``inside`` is the alpha of a loss that contains costs itself, else None.
    """
    if losses.pair.convex:
        return losses
    plain = logistic()
    if inside is None:
        return plain
    return RowLosses(plain.pair.times(2 * np.array([inside, 1 - inside])), plain.addresses, plain.rules)


def class_masses(y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Total weights of the negative and the positive rows; ``weight`` is empty if all are 1."""
    positive = np.asarray(y) > 0
    if weight.size:
        return np.array([float(weight[~positive].sum()), float(weight[positive].sum())])
    count = int(np.count_nonzero(positive))
    return np.array([float(positive.size - count), float(count)])


class TreeObjective:
    """A loss as the objective of a tree library: gradient and positive hessian of each row.

    Made by ``objective`` of :mod:`uneven.adapters.xgboost`, :mod:`uneven.adapters.lightgbm` and
    :mod:`uneven.adapters.catboost`. It can be pickled.

    Parameters
    ----------
    loss : str, Phi or Loss
    fp_cost, fn_cost : number
    margin_gamma : positive number

    Attributes
    ----------
    loss : Loss
        Calibrated for the costs. Derivatives are those of a multiple of it, whose slopes at the score 0 are 1/2 on
        average: the logistic loss at equal costs becomes the libraries' own.
    """

    def __init__(self, loss: Any = "logistic", *, fp_cost: Any = 1, fn_cost: Any = 1, margin_gamma: Any = 1) -> None:
        costs = read_cost(fp_cost, fn_cost)
        self.loss = loss_for(loss, costs, margin_gamma)
        self._set()

    def _set(self) -> None:
        self._losses = row_losses(self.loss, weighted=True).normalise()

    def __getstate__(self) -> dict[str, Any]:
        return {"loss": self.loss}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.loss = state["loss"]
        self._set()

    def start(self, y: Any, sample_weight: Any = None) -> float:
        """The best constant score, to start from.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            1 for positive rows, 0 or -1 for negative ones.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        weight = NO_WEIGHTS if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        alpha = None
        if not self._losses.pair.convex:
            known = self.loss.exact_alpha
            alpha = to_float(only_alpha(self.loss) if known is None else known)
        return convex_losses(self._losses, alpha).best_constant(class_masses(np.asarray(y), weight))

    def probability(self, score: Any) -> Any:
        """P(Y = 1) of raw scores, by the inverse link of the loss.

        Parameters
        ----------
        score : array-like

        Returns
        -------
        ndarray
        """
        return self.loss.inverse_link(np.asarray(score))

    def derivatives(self, y: Any, score: Any, weight: Any) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and hessian of all rows."""
        return self._losses.derivatives(np.ascontiguousarray(score), *labels_and_weights(y, weight))

    def __repr__(self) -> str:
        return f"<objective {self.loss!r}>"


class CallableObjective(TreeObjective):
    """An objective that XGBoost and LightGBM call: in their native way (scores, data) or scikit-learn's (y, scores)."""

    def __call__(self, first: Any, second: Any, sample_weight: Any = None) -> tuple[np.ndarray, np.ndarray]:
        if hasattr(second, "get_label"):
            return self.derivatives(second.get_label(), first, second.get_weight())
        return self.derivatives(first, second, sample_weight)


class RangeObjective(TreeObjective):
    """An objective that CatBoost calls for ranges of rows; it maximises, so both derivatives are negative."""

    no_jit = True  # the derivatives are compiled already

    def calc_ders_range(self, approxes: Any, targets: Any, weights: Any) -> np.ndarray:
        """Derivatives of the rows, one pair each."""
        return self._losses.derivative_pairs(
            np.asarray(approxes), np.asarray(targets), NO_WEIGHTS if weights is None else np.asarray(weights)
        )


def labels_and_weights(y: Any, weight: Any) -> tuple[np.ndarray, np.ndarray]:
    """Labels and weights as the compiled passes take them."""
    labels = np.asarray(y)
    if weight is None or np.size(weight) == 0:
        return labels, NO_WEIGHTS
    return labels, np.asarray(weight)


# What early stopping looks at: the cost of the decisions, or the loss itself, on raw scores.

#: The values of ``eval_metric``.
COST, SURROGATE = METRICS = ("cost", "surrogate")


def weighted_sum(kind: str, losses: RowLosses, y: np.ndarray, score: np.ndarray, weight: np.ndarray) -> float:
    """The sum of weighted mistakes (score 0 is a negative decision) or losses; an empty weight means 1."""
    if kind == SURROGATE:
        return losses.total(np.ascontiguousarray(score), y, weight)
    wrong = (score > 0) != (y > 0)
    return float(weight[wrong].sum(dtype=np.float64)) if weight.size else float(np.count_nonzero(wrong))


class TreeMetric:
    """A metric of raw scores for tree libraries; smaller is better. It can be pickled.

    Made by ``metric`` of :mod:`uneven.adapters.xgboost`, :mod:`uneven.adapters.lightgbm` and
    :mod:`uneven.adapters.catboost`.

    Parameters
    ----------
    kind : {"cost", "surrogate"}
        "cost": the average cost of a row, in the unit of the costs. "surrogate": the average loss.
    loss : str, Phi or Loss
    fp_cost, fn_cost : number
    margin_gamma : positive number
    """

    def __init__(
        self, kind: str = COST, loss: Any = "logistic", *, fp_cost: Any = 1, fn_cost: Any = 1, margin_gamma: Any = 1
    ) -> None:
        require_choice("kind", kind, METRICS)
        self.kind = self.__name__ = kind
        costs = read_cost(fp_cost, fn_cost)
        self.costs = np.array([to_float(cost) for cost in costs.exact_costs])
        self.loss = loss_for(loss, costs, margin_gamma)

    def sums(self, y: Any, score: Any, weight: Any) -> tuple[float, float]:
        """The weighted sum over the rows, and the sum of the weights."""
        labels, weights = labels_and_weights(y, weight)
        if self.kind == COST:
            rows = self.costs[(labels > 0).astype(np.intp)]
            paid = rows * weights if weights.size else rows
        else:
            paid = weights
        total = weighted_sum(self.kind, row_losses(self.loss, weighted=True), labels, np.asarray(score), paid)
        return total, float(weights.sum(dtype=np.float64)) if weights.size else float(labels.size)

    def value(self, y: Any, score: Any, weight: Any = None) -> float:
        """The weighted mean over the rows.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Above 0 for the positive class.
        score : array-like of shape (n_samples,)
            Raw scores.
        weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        total, mass = self.sums(y, score, weight)
        return total / mass

    def __repr__(self) -> str:
        return f"<metric {self.kind} of {self.loss!r}>"


# The rows of a training or evaluation set as a tree library sees them.


@dataclass(frozen=True)
class TreeRows:
    """Features, the class that each row is learnt as, and its weight.

    Attributes
    ----------
    X : matrix or data frame
    y : ndarray of float32
        1 for rows that are learnt as positive, else 0.
    weight : ndarray of float64
        What each row counts; 1 on average. Empty if all are 1.
    """

    X: Any
    y: np.ndarray
    weight: np.ndarray

    @property
    def weight_or_none(self) -> np.ndarray | None:
        """The weights as libraries take them."""
        return self.weight if self.weight.size else None

    def that_count(self) -> TreeRows:
        """The rows whose weight is not 0."""
        if not self.weight.size or (self.weight > 0).all():
            return self
        rows = np.flatnonzero(self.weight > 0)
        return TreeRows(_safe_indexing(self.X, rows), self.y[rows], self.weight[rows])


def training_rows(problem: TrainingSet, loss: Any) -> tuple[TreeRows, float]:
    """The rows of a training set, and by what the costs were multiplied; ``loss`` is the learner's parameter."""
    weighting = problem.weighting(loss)
    weight = weighting.factors
    if not weighting.row_factors.size and (weight == 1).all():
        weight = np.empty(0)
    return TreeRows(problem.X, weighting.y.astype(np.float32), weight), weighting.scale


def evaluation_rows(
    X: Any, y: np.ndarray, sample_weight: np.ndarray, costs: Cost | RowCosts, loss: Any, kind: str
) -> TreeRows:
    """The rows of an evaluation set, weighted so that the metric is a plain sum, per row and in the unit of the costs.

    Parameters
    ----------
    X : matrix or data frame
    y : ndarray of int8
        1 for positive rows, 0 for negative ones.
    sample_weight : ndarray
        Empty if all are 1.
    costs : Cost or RowCosts
    loss : str, Phi or Loss
        The learner's parameter.
    kind : {"cost", "surrogate"}
    """
    labels, weight = learnt_labels(costs, y)
    if kind != COST and isinstance(loss, Loss):  # this loss contains costs itself
        if isinstance(costs, Cost):
            weight = np.full(y.size, to_float(sum(costs.exact_costs, Fraction(0))))
        else:
            inside = only_alpha(loss)
            weight = weight / np.array([to_float(inside), to_float(1 - inside)])[labels]
    mass = float(sample_weight.sum()) if sample_weight.size else float(y.size)
    weight = (sample_weight * weight if sample_weight.size else weight) / mass
    return TreeRows(X, labels.astype(np.float32), weight)


# What a fit of boosted trees descends.


@dataclass
class Descent:
    """The losses of a fit, its start, and what early stopping looks at.

    Attributes
    ----------
    losses : RowLosses
        As the metric sees them.
    normalised : RowLosses
        As the trees see them.
    convex : RowLosses
        The latter if they are convex, else the logistic ones for the same costs.
    warmup : int
        Rounds that descend ``convex`` first.
    start : float
        The best constant score of ``convex``.
    metric : str
    """

    losses: RowLosses
    normalised: RowLosses
    convex: RowLosses
    warmup: int
    start: float
    metric: str
    rounds: int = 0

    @classmethod
    def of(cls, losses: RowLosses, inside: float | None, warmup: int, rows: TreeRows, metric: str) -> Descent:
        """A descent that starts at the best constant score of the rows.

        ``inside`` is the alpha of a loss that contains costs itself, else None.
        """
        normalised = losses.normalise()
        convex = convex_losses(normalised, inside)
        start = convex.best_constant(class_masses(rows.y, rows.weight))
        return cls(losses, normalised, convex, 0 if losses.pair.convex else warmup, start, metric)

    @property
    def now(self) -> RowLosses:
        """The losses of this round."""
        return self.convex if self.rounds < self.warmup else self.normalised

    def derivatives(self, score: np.ndarray, rows: TreeRows) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and hessian of the next round."""
        result = self.now.derivatives(np.ascontiguousarray(score), rows.y, rows.weight)
        self.rounds += 1
        return result

    def measured(self, y: Any, score: Any, weight: Any) -> float:
        """The metric of an evaluation set, whose weights make it a sum."""
        weights = np.empty(0) if weight is None else np.asarray(weight)
        return weighted_sum(self.metric, self.losses, np.asarray(y), np.asarray(score), weights)
