"""Pictures of cost matrices: regions of three classes, and the confusion of classes and actions in money."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.naive_bayes import GaussianNB

import uneven
from uneven.errors import ParameterError
from uneven.figures import CostConfusionDisplay, MatrixRegionsDisplay
from uneven.metrics import total_cost

mpl.use("Agg")
ASK = uneven.CostMatrix([[0, 1, 2, 0.3], [5, 0, 1, 0.3], [20, 5, 0, 0.3]], actions=[0, 1, 2, "ask"])


@pytest.mark.parametrize("costs", [ASK, uneven.CostMatrix([[0, 1, 2], [1, 0, 1], [2, 1, 0]])], ids=str)
def test_areas_are_shares_of_random_probabilities(costs: uneven.CostMatrix) -> None:
    display = MatrixRegionsDisplay(costs).plot()
    assert sum(display.areas.values()) == pytest.approx(1)
    said = costs.decide(np.random.default_rng(0).dirichlet([1, 1, 1], size=20_000)).tolist()
    for action, area in display.areas.items():
        assert said.count(action) / 20_000 == pytest.approx(area, abs=0.015)
    mpl.pyplot.close(display.figure_)


def test_only_three_classes_have_a_triangle() -> None:
    with pytest.raises(ParameterError, match="for three classes, got 2"):
        MatrixRegionsDisplay(uneven.CostMatrix([[0, 1], [1, 0]]))


def test_confusion_of_classes_and_actions_in_money() -> None:
    X, y = load_wine(return_X_y=True)
    model = uneven.UnevenThresholdClassifierCV(GaussianNB(), costs=ASK).fit(X, y)
    display = CostConfusionDisplay.from_estimator(model, X, y, costs=ASK, unit="EUR")
    assert display.counts.shape == display.costs.shape == (3, 4)
    assert display.counts.sum() == 178
    assert display.costs.sum() == pytest.approx(total_cost(y, model.predict(X), costs=ASK))
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["0", "1", "2", "ask"]
    mpl.pyplot.close(display.figure_)
