"""What a classifier costs."""

from __future__ import annotations

import math
import operator
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven import _inputs
from uneven._hull import lower_hull
from uneven._inputs import Exact, brief
from uneven.costs import Cost, as_cost_errors
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
    total = weight.sum()
    wrong_alarm = float(weight[~is_positive & said_positive].sum() / total)
    miss = float(weight[is_positive & ~said_positive].sum() / total)
    fp, fn = map(float, cost.exact_costs)
    return fp * wrong_alarm + fn * miss


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
        Of predicting positive where the score is above the threshold.
    best_cost : ndarray
        Of the best threshold on these scores for each alpha: the lower envelope of all their lines.
    best_threshold : ndarray
        A threshold that attains it: predict positive where the score is above it. One of the scores, or
        infinite to predict one class always.
    constant_cost : ndarray
        Of the better of the two constant predictions.
    """

    alpha: np.ndarray
    cost: np.ndarray
    best_cost: np.ndarray
    best_threshold: np.ndarray
    constant_cost: np.ndarray


def cost_curve(
    y_true: Any,
    y_score: Any,
    *,
    threshold: float = 0.0,
    alphas: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> CostCurve:
    """Expected cost of a scored sample over all alpha.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes.
    y_score : array-like of shape (n,)
        Decision values, positive where above the threshold; one of -inf is above no threshold.
    threshold : float
        0 for decision values; for probabilities say which, e.g. 0.5.
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
    if not isinstance(threshold, int | float) or math.isnan(threshold):
        raise CostError(f"threshold must be a number, got {brief(threshold)}")
    truth = _labels("y_true", y_true)
    score = _vector("y_score", y_score)
    _same_length(y_true=truth, y_score=score)
    positive = _pos_label(pos_label, truth)
    weight = _weights(sample_weight, truth)
    weight = weight / weight.sum()
    is_positive = truth == positive

    # One line in alpha per threshold: alpha * false positives + (1 - alpha) * false negatives.
    order = np.argsort(-score, kind="stable")
    falling = score[order]
    last_of_tie = np.append(falling[1:] != falling[:-1], True)
    above_positive = np.cumsum(np.where(is_positive, weight, 0)[order])[last_of_tie]
    above_negative = np.cumsum(np.where(is_positive, 0, weight)[order])[last_of_tie]
    # A threshold is the greatest score not above it: halfway to the next score may round to that score.
    thresholds = np.concatenate([[np.inf], falling[last_of_tie][1:], [-np.inf]])
    missed = np.concatenate([[0.0], above_positive])
    missed = missed[-1] - missed
    alarms = np.concatenate([[0.0], above_negative])
    if falling[-1] == -np.inf:  # then no threshold has every score above it
        thresholds, missed, alarms = thresholds[:-1], missed[:-1], alarms[:-1]

    keep = np.array(lower_hull(alarms.tolist(), missed.tolist()))
    x, y = alarms[keep], missed[keep]
    if alphas is None:
        gained, paid = y[:-1] - y[1:], x[1:] - x[:-1]
        with np.errstate(invalid="ignore"):
            corners = gained / (gained + paid)  # where two lines cross: (1 - alpha) * gained = alpha * paid
        alpha = np.unique(np.concatenate([np.linspace(0, 1, 101), corners[np.isfinite(corners)]]))
    else:
        with as_cost_errors():
            alpha, _ = _inputs.probabilities("alphas", alphas)
        alpha = _vector("alphas", alpha)
    lines = np.multiply.outer(alpha, x) + np.multiply.outer(1 - alpha, y)
    best = lines.argmin(axis=1)
    said_positive = score > threshold
    false_alarm = weight[~is_positive & said_positive].sum()
    false_negative = weight[is_positive & ~said_positive].sum()
    return CostCurve(
        alpha=alpha,
        cost=alpha * false_alarm + (1 - alpha) * false_negative,
        best_cost=lines[np.arange(alpha.size), best],
        best_threshold=thresholds[keep][best],
        constant_cost=np.minimum(alpha * weight[~is_positive].sum(), (1 - alpha) * weight[is_positive].sum()),
    )


def _vector(name: str, value: Any) -> np.ndarray:
    """Doubles without NaN in one dimension."""
    with as_cost_errors():
        array, scalar = _inputs.float_array(name, value)
    if scalar or array.ndim != 1:
        shape = () if scalar else array.shape
        raise CostError(f"{name} must be a one-dimensional array of numbers, got shape {shape}")
    return array.astype(np.float64, copy=False)


def _labels(name: str, labels: Any) -> np.ndarray:
    """One-dimensional labels that can be told apart."""
    try:
        array = np.asarray(labels)
    except ValueError:
        raise CostError(f"{name} must be a one-dimensional array of labels, got {_inputs.brief(labels)}") from None
    if array.ndim != 1 or array.size == 0:
        raise CostError(f"{name} must be a one-dimensional array with at least one label, got shape {array.shape}")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise CostError(f"{name} must not contain NaN")
    plain = array.dtype.kind not in "cmMV" and (array.dtype.kind != "O" or all(map(_is_label, array)))
    if not plain:
        raise CostError(f"{name} must hold numbers, booleans or strings as labels, got {_inputs.brief(labels)}")
    if np.ma.is_masked(labels) or (array.dtype.kind == "O" and any(map(_missing, array))):
        raise CostError(f"{name} must not contain missing labels")
    return array


def _is_label(value: Any) -> bool:
    # A tuple would be compared element by element.
    return isinstance(value, Hashable) and not isinstance(value, tuple)


def _missing(label: Any) -> bool:
    try:
        return label is None or bool(operator.ne(label, label))
    except TypeError:  # what pandas means by missing has no truth value
        return True


def _same_length(**arrays: np.ndarray) -> None:
    (first, a), (second, b) = arrays.items()
    if len(a) != len(b):
        raise CostError(f"{first} and {second} must have the same length, got {len(a)} and {len(b)}")


def _pos_label(pos_label: Any, *labels: np.ndarray) -> Any:
    """The positive label, after a check that there are at most two labels and it can be one of them."""
    present = {label for array in labels for label in array.tolist()}
    if len(present) > 2:
        few = ", ".join(sorted(map(repr, present))[:6])
        raise CostError(f"labels must come from two classes, got {len(present)}: {few}")
    if pos_label is None:
        if present <= {0, 1} or present <= {-1, 1}:
            return 1
        raise CostError(
            f"pos_label must say which of the labels {', '.join(sorted(map(repr, present)))} is the positive class"
        )
    if not _is_label(pos_label) or _missing(pos_label) or (len(present) == 2 and pos_label not in present):
        raise CostError(
            f"pos_label must be one of the labels {', '.join(sorted(map(repr, present)))},"
            f" got {_inputs.brief(pos_label)}"
        )
    return pos_label


def _weights(sample_weight: Any, like: np.ndarray) -> np.ndarray:
    if sample_weight is None:
        return np.ones(len(like))
    weight = _vector("sample_weight", sample_weight)
    if weight.shape != like.shape:
        raise CostError(f"sample_weight must be {len(like)} numbers, got {len(weight)}")
    largest = weight.max()
    if not np.isfinite(largest) or (weight < 0).any() or largest == 0:
        raise CostError(f"sample_weight must be finite, nonnegative and not all zero, got {_inputs.brief(weight)}")
    # Only ratios matter; a power of two changes none, and sums of weights at most 1 stay finite.
    return np.ldexp(weight, -np.frexp(largest)[1])
