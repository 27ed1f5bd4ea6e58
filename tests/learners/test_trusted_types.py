"""``trusted_types`` names every type that a fitted learner can hold, and no others are opened."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from skops import io
from skops.io.exceptions import UntrustedTypesFoundException

import uneven
from uneven.decisions.scored_rows import MOST_ROWS

ACTIONS = uneven.Actions(clear=(9, 0), review=(3, 0.5), block=(0, 2))
COSTS = {"fp_cost": 1, "fn_cost": 6}


def ensemble(**more: Any) -> Any:
    return uneven.UnevenEnsembleClassifier(members=["linear"], cv=2, n_jobs=1, **more)


def threshold(**more: Any) -> Any:
    return uneven.UnevenThresholdClassifierCV(LogisticRegression(), cv=2, **more)


VARIANTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "linear, a range of costs": (uneven.UnevenLinearClassifier(cost_range=(2, 9)), {}),
    "linear, costs of rows": (uneven.UnevenLinearClassifier(), {"fn_cost": "rows"}),
    "boosted trees, costs of rows": (uneven.UnevenAdaBoostClassifier(n_estimators=3), {"fn_cost": "rows"}),
    "search": (uneven.UnevenClassifierCV(uneven.UnevenLinearClassifier(**COSTS), cv=2), {}),
    "threshold, actions": (threshold(actions=ACTIONS), {}),
    "threshold, a range of costs": (threshold(cost_range=uneven.CostPrior.log_normal(median=4, factor=2)), {}),
    "threshold, costs of rows": (threshold(), {"fn_cost": "rows"}),
    "threshold, isotonic": (threshold(method="isotonic", **COSTS), {}),
    "ensemble, actions": (ensemble(actions=ACTIONS), {}),
    "ensemble, a range of costs": (ensemble(cost_range=(2, 9)), {}),
    "ensemble, costs of rows": (ensemble(), {"fn_cost": "rows"}),
    "ensemble, monotone": (ensemble(monotone={0: 1}, **COSTS), {}),
    "ensemble, at most one member": (ensemble(members_at_most=1, **COSTS), {}),
}


def data(rows: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.normal(size=(rows, 2))
    return X, (random.random(rows) < 1 / (1 + np.exp(1 - 2 * X[:, 0]))).astype(int)


def assert_opened(model: Any, X: np.ndarray, **costs: Any) -> None:
    again = io.loads(io.dumps(model), trusted=uneven.trusted_types())
    np.testing.assert_array_equal(again.predict(X, **costs), model.predict(X, **costs))


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_of_a_fit(name: str) -> None:
    """Also at other costs and another share of positives, without a new fit."""
    X, y = data(120)
    model, given = VARIANTS[name]
    by_row = np.linspace(1, 5, len(y))
    costs = dict.fromkeys(given, by_row)
    model = model.fit(X, y, **costs)
    assert_opened(model, X, **costs)
    if not costs:
        assert_opened(model.with_costs(prevalence=0.1), X)
        assert_opened(model.with_costs(fp_cost=1, fn_cost=4), X)


@pytest.mark.slow
@pytest.mark.parametrize("make", [threshold, ensemble])
@pytest.mark.parametrize("more", [COSTS, {"actions": ACTIONS}, {"cost_range": (2, 9)}], ids=["two", "actions", "range"])
def test_more_rows_than_a_model_keeps(make: Any, more: dict[str, Any]) -> None:
    """It keeps groups of rows and the guarantee in place of rows."""
    X, y = data(MOST_ROWS + 100)
    model = make(**more).fit(X, y)
    assert_opened(model, X)
    assert_opened(model.with_costs(fp_cost=1, fn_cost=4), X)


class Foreign(LogisticRegression):  # type: ignore[misc]
    """A class that no model of this library needs."""


def test_other_types_are_refused() -> None:
    X, y = data(60)
    file = io.dumps(uneven.UnevenThresholdClassifierCV(Foreign(), cv=2).fit(X, y))
    with pytest.raises(UntrustedTypesFoundException, match="Foreign"):
        io.loads(file, trusted=uneven.trusted_types())


@pytest.mark.parametrize(
    "make",
    [threshold, ensemble, uneven.UnevenMultinomialClassifier, partial(uneven.UnevenMultinomialClassifier, "hinge")],
)
def test_several_classes(make: Any) -> None:
    X, y = data(150)
    costs = uneven.CostMatrix([[0, 1, 2], [5, 0, 1], [20, 5, 0]], classes=[0, 1, 2], actions=[0, 1, 2])
    assert_opened(make(costs=costs).fit(X, y + (X[:, 1] > 0)), X)
