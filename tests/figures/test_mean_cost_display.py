"""The display of costs over a range: its curves, its mean, and what it takes."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import uneven
from uneven.errors import CostError
from uneven.figures import MeanCostDisplay
from uneven.metrics import expected_cost, mean_cost

random = np.random.default_rng(0)
X = random.normal(size=(300, 2))
Y = np.where(X[:, 0] + random.logistic(size=300) > 2, "bad", "good")


@pytest.fixture(autouse=True)
def _close() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.mark.parametrize("weight", ["unit", "money"])
def test_the_curve_is_the_cost_at_each_ratio_in_the_unit_of_the_prior(weight: str) -> None:
    probability = LogisticRegression().fit(X, Y).predict_proba(X)[:, 0]
    prior = uneven.CostPrior.range(5, 50, weight=weight)
    display = MeanCostDisplay.from_predictions(Y, probability, prior, pos_label="bad")
    ratio, cost = display.ax_.lines[0].get_data()
    assert ratio.min() == pytest.approx(5)
    assert ratio.max() == pytest.approx(50)
    for k in (0, 100, 400):
        unit = 1.0 if weight == "money" else 1 + ratio[k]
        said = np.where(probability > 1 / (1 + ratio[k]), "bad", "good")
        paid = expected_cost(Y, said, fp_cost=1 / unit, fn_cost=ratio[k] / unit, pos_label="bad")
        assert cost[k] == pytest.approx(paid, rel=1e-12)
    assert display.mean == mean_cost(Y, probability, prior, pos_label="bad")
    assert np.mean(cost) == pytest.approx(display.mean, rel=0.02)  # the log-ratios are uniform


def test_it_takes_the_range_of_the_estimator() -> None:
    model = make_pipeline(StandardScaler(), uneven.UnevenLinearClassifier(cost_range=(5, 50), pos_label="bad")).fit(
        X, Y
    )
    display = MeanCostDisplay.from_estimator(model, X, Y)
    assert display.prior == uneven.CostPrior.range(5, 50)
    plain = LogisticRegression().fit(X, Y)
    other = MeanCostDisplay.from_estimator(plain, X, Y, prior=(5, 50), pos_label="bad", ax=display.ax_)
    labels = other.ax_.get_legend_handles_labels()[1]
    assert labels.count("same decision for everyone") == 1
    assert labels[0].startswith("UnevenLinearClassifier\n")
    with pytest.raises(CostError, match=r"needs a prior, such as prior=\(5, 50\), got None"):
        MeanCostDisplay.from_estimator(plain, X, Y, pos_label="bad")
    with pytest.raises(CostError, match="has a prior in place of costs, got"):
        MeanCostDisplay.from_estimator(model, X, Y, fn_cost=3)


@pytest.mark.parametrize(
    "prior",
    [uneven.CostPrior.log_normal(median=10, factor=2), uneven.CostPrior.discrete({3: 1, 30: 2}), (10, 10)],
    ids=["log_normal", "discrete", "one ratio"],
)
def test_a_prior_without_ends_or_with_steps_has_a_picture(prior: object) -> None:
    probability = LogisticRegression().fit(X, Y).predict_proba(X)[:, 0]
    display = MeanCostDisplay.from_predictions(Y, probability, prior, pos_label="bad", unit="EUR")
    low, high = display.ax_.get_xlim()
    assert 0 < low < 10 < high < 1000
    assert "how likely the ratio is" in display.ax_.get_legend_handles_labels()[1]
