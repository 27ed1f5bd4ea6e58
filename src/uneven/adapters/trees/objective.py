"""Our losses as custom objectives of tree libraries."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from uneven._inputs import to_float
from uneven.learners.costs_and_loss import loss_for, own_alpha, read_cost
from uneven.losses import Declaration, Loss, Phi
from uneven.solvers.linear.pair_of_losses import PairOfLosses
from uneven.solvers.second_order.row_losses import RowLosses, logistic

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
        self._losses = row_losses(self.loss, weighted=True).normalised()

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
            alpha = to_float(own_alpha(self.loss) if known is None else known)
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
