"""Costs of each row that cannot be used are refused in one sentence, and no copy of X is made for those that can."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from linear_data import binary
from sklearn.base import clone

import uneven
from uneven import UnevenLinearClassifier as Linear
from uneven.errors import UnevenError

X, Y = binary(60, 2, seed=9)
GOOD = np.linspace(1, 2, 60)
LEARNERS = [Linear(), uneven.UnevenSVC(), uneven.UnevenPerceptron(), uneven.UnevenClassifierCV("svc", cv=2)]


def spoiled(value: Any) -> np.ndarray:
    cost = GOOD.astype(object) if isinstance(value, str) else GOOD.copy()
    cost[7] = value
    return cost


BAD = {
    "nan": (spoiled(np.nan), "must not contain NaN"),
    "inf": (spoiled(np.inf), "must hold finite numbers, got inf"),
    "minus inf": (spoiled(-np.inf), "must hold finite numbers, got -inf"),
    "short": (GOOD[:59], r"must be a number or 60 numbers, one for each row, got shape \(59,\)"),
    "long": (np.ones(61), r"must be a number or 60 numbers, one for each row, got shape \(61,\)"),
    "empty": (np.empty(0), r"must be a number or 60 numbers, one for each row, got shape \(0,\)"),
    "matrix": (GOOD.reshape(60, 1), r"must be a number or 60 numbers, one for each row, got shape \(60, 1\)"),
    "masked": (np.ma.masked_array(GOOD, mask=GOOD > 1.9), "masked"),
    "words": (spoiled("much"), "must"),
    "text": ("much", "must be a finite number, got 'much'"),
    "complex": (GOOD + 1j, "must"),
    "true": (True, "must be a number, got True"),
    "a number nan": (np.nan, "must be a finite number, got nan"),
    "a dictionary": ({"a": 1}, "must"),
}


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("name", ["fp_cost", "tn_cost"])
def test_bad_costs_in_fit(learner: Any, kind: str, name: str) -> None:
    bad, says = BAD[kind]
    with pytest.raises(UnevenError, match=says) as raised:
        clone(learner).fit(X, Y, fn_cost=GOOD, **{name: bad})
    assert "\n" not in str(raised.value)
    assert name in str(raised.value)


@pytest.mark.parametrize("kind", BAD)
def test_bad_costs_in_predict(kind: str) -> None:
    bad, says = BAD[kind]
    for model in (Linear(fn_cost=2).fit(X, Y), Linear().fit(X, Y, fn_cost=GOOD)):
        for method in (model.predict, model.decision_function):
            with pytest.raises(UnevenError, match=says):
                method(X, fn_cost=bad, fp_cost=GOOD)


def test_numbers_that_leave_nothing_to_decide() -> None:
    model = Linear().fit(X, Y)
    with pytest.raises(UnevenError, match="fp_cost must not be below tn_cost, got 1: then the mistake would pay"):
        model.predict(X, fp_cost=1, tn_cost=2)
    with pytest.raises(UnevenError, match="one of the costs must be positive, got fp_cost=0 and fn_cost=0"):
        model.predict(X, fp_cost=0, fn_cost=0)
    with pytest.raises(UnevenError, match="fn_cost must be above tp_cost, got fn_cost=3 and tp_cost=3"):
        Linear(fn_cost=3, tp_cost=3).fit(X, Y)
    with pytest.raises(UnevenError, match="fp_cost must be positive, got 0"):
        Linear().fit(X, Y, fp_cost=0)
    with pytest.raises(UnevenError, match="too large for double precision"):
        Linear().fit(X, Y, fp_cost=8e307 * GOOD, tn_cost=-8e307 * GOOD)


def test_what_else_may_be_given() -> None:
    """Lists, columns of tables, integers, strings that are numbers."""
    pandas = pytest.importorskip("pandas")
    reference = Linear().fit(X, Y, fn_cost=GOOD, fp_cost=2)
    for given in (GOOD.tolist(), pandas.Series(GOOD, index=np.arange(60)[::-1]), GOOD.astype(object)):
        model = Linear().fit(X, Y, fn_cost=given, fp_cost="2")
        np.testing.assert_array_equal(model.coef_, reference.coef_)
    whole = np.arange(1, 61)
    np.testing.assert_array_equal(
        Linear().fit(X, Y, fn_cost=whole).coef_, Linear().fit(X, Y, fn_cost=whole.astype(float)).coef_
    )


def test_costs_given_are_not_changed() -> None:
    costs = {"fp_cost": GOOD.copy(), "fn_cost": 3 * GOOD}
    model = Linear().fit(X, Y, **costs)
    model.predict_proba(X, **costs)
    np.testing.assert_array_equal(costs["fp_cost"], GOOD)
    np.testing.assert_array_equal(costs["fn_cost"], 3 * GOOD)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_no_copy_of_the_rows(loss: str) -> None:
    """Beyond a fit with numbers, a few vectors of one number per row; X has 100 columns."""
    data, labels = binary(4000, 100, seed=3)
    amount = np.random.default_rng(0).exponential(size=4000) + 0.1
    peaks = {}
    for kind, costs in (
        ("warm", {}),
        ("numbers", {"fn_cost": 3}),
        ("rows", {"fn_cost": amount, "fp_cost": 2 * amount}),
    ):
        tracemalloc.start()
        Linear(loss, tol=1e-3).fit(data, labels, **costs)
        peaks[kind] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peaks["rows"] <= peaks["numbers"] + 0.25 * data.nbytes
