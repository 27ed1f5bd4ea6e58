"""What every estimator promises: a score in money, and what the two constant rules cost.

``docs/estimators.md`` lists all promises; ``tests/learners/test_contract.py`` keeps every public estimator to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from uneven._inputs import exact, to_float
from uneven.costs import RowCosts
from uneven.errors import CostError
from uneven.learners.classes import Classes
from uneven.learners.costs_and_loss import COSTS
from uneven.metrics.cost_estimate import CostEstimate
from uneven.metrics.expected_cost import expected_cost

#: The two rules that look at no feature.
ALL_POSITIVE, ALL_NEGATIVE = "all positive", "all negative"
#: Standard errors on each side of a 95 % interval.
_WIDTH = 1.959963984540054
#: Most characters of a repr, and of one parameter in it.
_MOST_SHOWN, _MOST_OF_VALUE = 999, 200


class EstimatorContract:
    """``score``, ``constant_costs_`` and a short repr. It stands before scikit-learn's mixins, whose score is accuracy.

    A learner has ``predict`` with costs, ``classes_``, ``_classes`` and ``_costs_of_fit``, the costs of the fit that
    are numbers. Its ``fit`` may set ``_constant_sums`` to what :func:`constant_sums` gives.
    """

    _costs_of_fit: Mapping[str, Any]
    _classes: Classes

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        fp_cost: Any = None,
        fn_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
    ) -> float:
        """Minus the expected cost of the decisions, per row and in the unit of the costs: greater is better.

        It is not the accuracy that scikit-learn's classifiers have here, so a search by ``score`` finds the cheapest
        model, not the one with the fewest mistakes.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
            Costs of these rows, for the decisions and for what they cost; those not given are the numbers of the fit.
            Those of which the fit had one for each row must be given.

        Returns
        -------
        float
        """
        check_is_fitted(self, "classes_")
        given = {"fp_cost": fp_cost, "fn_cost": fn_cost, "tp_cost": tp_cost, "tn_cost": tn_cost}
        costs = costs_to_score(self._costs_of_fit, given, "score")
        said = self.predict(X, **given)  # type: ignore[attr-defined]
        return -expected_cost(y, said, **costs, pos_label=self._classes.pos_label, sample_weight=sample_weight)

    @property
    def constant_costs_(self) -> dict[str, CostEstimate]:
        """Expected costs of the rules "all positive" and "all negative" on the training rows, with 95 % intervals.

        A model that costs no less than the cheaper of them is not worth having.
        """
        check_is_fitted(self, "classes_")
        sums = self.__dict__.get("_constant_sums")
        if sums is None:
            raise AttributeError(
                f"{type(self).__name__} has no constant_costs_ after a fit on rows in parts or from an older file; "
                "uneven.metrics.compare_predictions gives the costs of constant predictions"
            )
        return constant_costs(sums)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:  # noqa: N803 - scikit-learn calls it so
        """As in scikit-learn, and never more than 999 characters, whatever the parameters hold."""
        params = self.get_params(deep=False)  # type: ignore[attr-defined]
        values = {name: value if isinstance(value, BaseEstimator) else _Shown(value) for name, value in params.items()}
        inside = {"__init__": type(self).__init__, "get_params": lambda self, deep=True: values}
        alike = type(type(self).__name__, (BaseEstimator,), inside)  # printed by scikit-learn itself
        shown = BaseEstimator.__repr__(object.__new__(alike), N_CHAR_MAX)
        if len(shown) <= _MOST_SHOWN:
            return str(shown)
        shown = " ".join(shown.split())
        return shown if len(shown) <= _MOST_SHOWN else f"{shown[: _MOST_SHOWN - 4]}...)"


class _Shown:
    """A value of a parameter, as it is printed: arrays, frames and the like are cut."""

    def __init__(self, value: Any) -> None:
        text = " ".join(repr(value).split())
        self.text = text if len(text) <= _MOST_OF_VALUE else f"{text[: _MOST_OF_VALUE - 3]}..."

    def __repr__(self) -> str:
        return self.text


def costs_to_score(known: Mapping[str, Any], given: Mapping[str, Any], method: str) -> dict[str, Any]:
    """The four costs of rows whose decisions are scored: those given, and the numbers of the fit for the others."""
    costs = {name: known.get(name) if value is None else value for name, value in given.items()}
    absent = [name for name in COSTS if costs[name] is None]
    if absent:
        raise CostError(
            f"the fit had {' and '.join(absent)} of each row, so {method} needs {'it' if len(absent) == 1 else 'them'} "
            "for these rows, too: a number, or one for each row"
        )
    return costs


# -- the constant rules -----------------------------------------------------------------------------------------------


def constant_sums(four: Mapping[str, Any], y: np.ndarray, weight: np.ndarray) -> dict[str, Any]:
    """What a fit keeps to tell what constant rules cost: a few numbers, whatever the number of rows.

    ``y`` is 1 for positive rows, ``weight`` is empty if all weights are 1. With the same costs in all rows these are
    sums for each class, negative first; else means and standard errors.
    """
    positives = int(np.count_nonzero(y))
    rows = np.array([y.size - positives, positives])
    if not any(np.ndim(value) for value in four.values()):
        if not weight.size:
            return sums_of_classes(four, rows, rows, rows)
        return sums_of_classes(four, rows, *(np.bincount(y, part, 2) for part in (weight, weight * weight)))
    costs, is_positive = RowCosts.read(y.size, **four), np.asarray(y) == 1
    share = np.full(y.size, 1 / y.size) if not weight.size else weight / weight.sum()
    found = {}
    for name, said in ((ALL_POSITIVE, True), (ALL_NEGATIVE, False)):
        paid = costs.paid(is_positive, np.full(y.size, said))
        mean = float(share @ paid)
        found[name] = [mean, _length(share * (paid - mean))]
    return {"rows": rows.tolist(), "means": found}


def sums_of_classes(
    costs: Mapping[str, Any], rows: np.ndarray, weights: np.ndarray, squares: np.ndarray
) -> dict[str, Any]:
    """The same from sums for each class, negative first: rows, their weights, and the squares of these."""
    sums = [weights.tolist(), squares.tolist()]
    return {"rows": rows.tolist(), "costs": {name: plain(costs[name]) for name in COSTS}, "sums": sums}


def plain(value: Any) -> Any:
    """A cost as files can hold it: a number, or the text of an exact one."""
    return value if isinstance(value, int | float) else str(value)


def constant_costs(sums: Mapping[str, Any]) -> dict[str, CostEstimate]:
    """The estimates from what :func:`constant_sums` kept; intervals are those of a normal distribution."""
    negatives, positives = sums["rows"]
    means = sums["means"] if "means" in sums else _means(sums)
    mistakes = {ALL_POSITIVE: (float(negatives), 0.0), ALL_NEGATIVE: (0.0, float(positives))}
    return {
        name: CostEstimate(name, mean, mean - _WIDTH * error, mean + _WIDTH * error, *mistakes[name])
        for name, (mean, error) in means.items()
    }


def _means(sums: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Mean and standard error if all rows of a class pay the same."""
    cost = {name: to_float(exact(name, value, CostError)) for name, value in sums["costs"].items()}
    weights, squares = (np.asarray(part) for part in sums["sums"])
    share, errors = weights / weights.sum(), np.sqrt(squares) / weights.sum()
    found = {}
    for name, paid in (
        (ALL_POSITIVE, np.array([cost["fp_cost"], cost["tp_cost"]])),
        (ALL_NEGATIVE, np.array([cost["tn_cost"], cost["fn_cost"]])),
    ):
        mean = float(share @ paid)
        found[name] = (mean, _length(errors * (paid - mean)))
    return found


def _length(values: np.ndarray) -> float:
    """The root of the sum of squares, also of costs whose squares are too large or too small for a double."""
    largest = float(np.abs(values).max())
    return largest * float(np.linalg.norm(values / largest)) if largest > 0 else 0.0
