"""What a classifier costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven._inputs import Exact
from uneven.costs import Cost
from uneven.errors import CostError

__all__ = ["CostCurve", "cost_curve", "expected_cost", "make_cost_scorer"]


def expected_cost(
    y_true: Any,
    y_pred: Any,
    *,
    fp_cost: Exact = 1.0,
    fn_cost: Exact = 1.0,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Average cost per example: fp_cost for a false positive, fn_cost for a false negative.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Labels of two classes.
    fp_cost, fn_cost : number
        At least 0, not both 0.
    pos_label : label, optional
        The positive class. May be left out for labels {0, 1}, {-1, 1} and {False, True}.
    sample_weight : array-like of shape (n,), optional
        Nonnegative weights.

    Examples
    --------
    >>> from uneven.metrics import expected_cost
    >>> expected_cost([1, 1, 0, 0], [1, 0, 1, 0], fp_cost=1, fn_cost=9)
    2.5
    """
    cost = Cost(fp_cost=fp_cost, fn_cost=fn_cost)  # type: ignore[arg-type]
    truth, prediction = _labels("y_true", y_true), _labels("y_pred", y_pred)
    _same_length(y_true=truth, y_pred=prediction)
    positive = _pos_label(pos_label, truth, prediction)
    weight = _weights(sample_weight, truth)
    is_positive, said_positive = truth == positive, prediction == positive
    wrong_alarm = weight[~is_positive & said_positive].sum()
    miss = weight[is_positive & ~said_positive].sum()
    total = weight.sum()
    return float(float(cost.fp_cost) * (wrong_alarm / total) + float(cost.fn_cost) * (miss / total))


def make_cost_scorer(*, fp_cost: Exact = 1.0, fn_cost: Exact = 1.0, pos_label: Any = None) -> Any:
    """A scikit-learn scorer: minus the expected cost of ``predict``, so that greater is better.

    ``sample_weight`` reaches it through metadata routing (``set_score_request(sample_weight=True)``).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.model_selection import cross_val_score
    >>> from uneven.metrics import make_cost_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> scorer = make_cost_scorer(fp_cost=1, fn_cost=20, pos_label=0)
    >>> bool(cross_val_score(DummyClassifier(), X, y, scoring=scorer).mean() < -7)
    True
    """
    from sklearn.metrics import make_scorer

    Cost(fp_cost=fp_cost, fn_cost=fn_cost)  # type: ignore[arg-type]
    return make_scorer(expected_cost, greater_is_better=False, fp_cost=fp_cost, fn_cost=fn_cost, pos_label=pos_label)


@dataclass(frozen=True)
class CostCurve:
    """Expected cost R_alpha for many alpha, with costs scaled to alpha and 1 - alpha.

    Attributes
    ----------
    alpha : ndarray
    cost : ndarray
        Of predicting positive where the score is above 0.
    best_cost : ndarray
        Of the best threshold on these scores for each alpha: the lower envelope of all their lines.
    best_threshold : ndarray
        A threshold that attains it: predict positive where the score is above it.
    constant_cost : ndarray
        Of the better of the two constant predictions.
    """

    alpha: np.ndarray
    cost: np.ndarray
    best_cost: np.ndarray
    best_threshold: np.ndarray
    constant_cost: np.ndarray


def cost_curve(
    y_true: Any, y_score: Any, *, alphas: Any = None, pos_label: Any = None, sample_weight: Any = None
) -> CostCurve:
    """Expected cost of a scored sample over all alpha.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes.
    y_score : array-like of shape (n,)
        Decision values, positive where above 0.
    alphas : array-like in [0, 1], optional
        Where to evaluate; by default all corners of the best-cost envelope and 0, 0.01, ..., 1.
    pos_label, sample_weight
        As in :func:`expected_cost`.

    Examples
    --------
    >>> from uneven.metrics import cost_curve
    >>> curve = cost_curve([0, 0, 1, 1], [-1.0, 0.5, -0.2, 2.0], alphas=[0.2, 0.5])
    >>> curve.cost, curve.best_cost
    (array([0.25, 0.25]), array([0.05 , 0.125]))
    """
    truth = _labels("y_true", y_true)
    score = np.asarray(y_score)
    if score.dtype.kind not in "fiub" or score.ndim != 1 or np.isnan(score).any():
        raise CostError("y_score must be a one-dimensional array of numbers without NaN")
    score = score.astype(float)
    _same_length(y_true=truth, y_score=score)
    positive = _pos_label(pos_label, truth)
    weight = _weights(sample_weight, truth)
    weight = weight / weight.sum()
    is_positive = truth == positive

    # One line in alpha per threshold: alpha * false positives + (1 - alpha) * false negatives.
    order = np.argsort(-score, kind="stable")
    last_of_tie = np.append(np.diff(score[order]) != 0, True)
    above_positive = np.cumsum(np.where(is_positive, weight, 0)[order])[last_of_tie]
    above_negative = np.cumsum(np.where(is_positive, 0, weight)[order])[last_of_tie]
    ranked = score[order][last_of_tie]
    thresholds = np.concatenate([[np.inf], (ranked[:-1] + ranked[1:]) / 2, [-np.inf]])
    missed = np.concatenate([[0.0], above_positive])
    missed = missed[-1] - missed
    alarms = np.concatenate([[0.0], above_negative])

    keep = _lower_hull(alarms, missed)
    x, y = alarms[keep], missed[keep]
    if alphas is None:
        with np.errstate(divide="ignore", invalid="ignore"):
            drop = (y[:-1] - y[1:]) / (x[1:] - x[:-1])  # lines cross where alpha/(1-alpha) = drop
            corners = drop / (1 + drop)
        alpha = np.unique(np.concatenate([np.linspace(0, 1, 101), corners[np.isfinite(corners)]]))
    else:
        alpha = np.atleast_1d(np.asarray(alphas, dtype=float))
        if np.isnan(alpha).any() or alpha.min(initial=0) < 0 or alpha.max(initial=0) > 1:
            raise CostError("alphas must lie in [0, 1]")
    lines = np.multiply.outer(alpha, x) + np.multiply.outer(1 - alpha, y)
    best = lines.argmin(axis=1)
    said_positive = score > 0
    false_alarm = weight[~is_positive & said_positive].sum()
    false_negative = weight[is_positive & ~said_positive].sum()
    return CostCurve(
        alpha=alpha,
        cost=alpha * false_alarm + (1 - alpha) * false_negative,
        best_cost=lines[np.arange(alpha.size), best],
        best_threshold=thresholds[keep][best],
        constant_cost=np.minimum(alpha * weight[~is_positive].sum(), (1 - alpha) * weight[is_positive].sum()),
    )


def _lower_hull(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Indices of the lower left convex hull of a staircase with x rising and y falling."""
    hull: list[int] = []
    for i in range(x.size):
        while len(hull) >= 2:
            a, b = hull[-2], hull[-1]
            if (x[b] - x[a]) * (y[i] - y[a]) <= (y[b] - y[a]) * (x[i] - x[a]):
                hull.pop()
            else:
                break
        hull.append(i)
    return np.array(hull)


def _labels(name: str, labels: Any) -> np.ndarray:
    array = np.asarray(labels)
    if array.ndim != 1 or array.size == 0:
        raise CostError(f"{name} must be a one-dimensional array with at least one label, got shape {array.shape}")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise CostError(f"{name} must not contain NaN")
    if array.dtype.kind == "O" and any(map(_missing, array)):
        raise CostError(f"{name} must not contain missing labels")
    return array


def _missing(label: Any) -> bool:
    return label is None or (isinstance(label, float) and np.isnan(label))


def _same_length(**arrays: np.ndarray) -> None:
    (first, a), (second, b) = arrays.items()
    if len(a) != len(b):
        raise CostError(f"{first} and {second} must have the same length, got {len(a)} and {len(b)}")


def _pos_label(pos_label: Any, *labels: np.ndarray) -> Any:
    """The positive label, after a check that there are at most two labels and it can be one of them."""
    present = {label for array in labels for label in np.unique(array).tolist()}
    if len(present) > 2:
        few = ", ".join(sorted(map(repr, present))[:6])
        raise CostError(f"labels must come from two classes, got {len(present)}: {few}")
    if pos_label is None:
        if present <= {0, 1} or present <= {-1, 1}:
            return 1
        raise CostError(
            f"pos_label must say which of the labels {', '.join(sorted(map(repr, present)))} is the positive class"
        )
    if len(present) == 2 and pos_label not in present:
        raise CostError(
            f"pos_label must be one of the labels {', '.join(sorted(map(repr, present)))}, got {pos_label!r}"
        )
    return pos_label


def _weights(sample_weight: Any, like: np.ndarray) -> np.ndarray:
    if sample_weight is None:
        return np.ones(len(like))
    weight = np.asarray(sample_weight)
    if weight.dtype.kind not in "fiub" or weight.shape != like.shape:
        raise CostError(f"sample_weight must be {len(like)} numbers, got {weight.dtype} of shape {weight.shape}")
    weight = weight.astype(float)
    if not np.isfinite(weight).all() or (weight < 0).any() or weight.sum() == 0:
        raise CostError("sample_weight must be finite, nonnegative and not all zero")
    return weight
