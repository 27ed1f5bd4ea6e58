"""Displays: the numbers drawn are those of the metrics, however the display is made."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import uneven
from uneven import metrics
from uneven.errors import MissingExtraError, UnevenError
from uneven.figures import (
    CalibrationNearAlphaDisplay,
    CapacityCostDisplay,
    CostConfusionDisplay,
    CostCurveDisplay,
    DecisionCurveDisplay,
    GammaPathDisplay,
    ThresholdCostDisplay,
)

OF_SCORES = [ThresholdCostDisplay, CostCurveDisplay]
OF_PROBABILITIES = [DecisionCurveDisplay, CalibrationNearAlphaDisplay, CapacityCostDisplay]
ALL = [*OF_SCORES, *OF_PROBABILITIES, CostConfusionDisplay]
COSTS = {"fp_cost": 2.0, "fn_cost": 9.0}


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X[:, :4]), np.array(["malignant", "benign"])[y]


@pytest.fixture(scope="module")
def model(data: tuple[np.ndarray, np.ndarray]) -> Any:
    return uneven.UnevenLinearClassifier("logistic", **COSTS, pos_label="malignant").fit(*data)


def costs_per_row(count: int) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    return {
        "fp_cost": 4.0,
        "fn_cost": rng.lognormal(2, 1, count) + 4,
        "tp_cost": 4.0,
        "sample_weight": rng.random(count),
    }


def response(display: Any, model: Any, X: np.ndarray, pos_label: str) -> np.ndarray:
    """What ``from_predictions`` of a display takes."""
    column = model.classes_.tolist().index(pos_label)
    if display is CostConfusionDisplay:
        return np.asarray(model.predict(X))
    if display in OF_PROBABILITIES:
        return np.asarray(model.predict_proba(X)[:, column])
    return np.asarray(model.decision_function(X)) * (1 if column == 1 else -1)


def drawn(display: Any) -> list[np.ndarray]:
    """Every line, band and text of the axes."""
    lines = [np.ma.filled(line.get_xydata(), np.nan) for line in display.ax_.lines]
    return [*lines, *(path.vertices for band in display.ax_.collections for path in band.get_paths())]


@pytest.mark.parametrize("pos_label", ["malignant", "benign"])
@pytest.mark.parametrize("per_row", [False, True])
@pytest.mark.parametrize("display", ALL)
def test_an_estimator_is_its_predictions(
    display: Any, per_row: bool, pos_label: str, data: tuple[np.ndarray, np.ndarray]
) -> None:
    X, y = data
    model = LogisticRegression().fit(X, y)
    costs = costs_per_row(len(y)) if per_row else COSTS
    one = display.from_estimator(model, X, y, **costs, pos_label=pos_label)
    other = display.from_predictions(y, response(display, model, X, pos_label), **costs, pos_label=pos_label)
    assert len(drawn(one)) == len(drawn(other))
    for first, second in zip(drawn(one), drawn(other), strict=True):
        np.testing.assert_array_equal(first, second)
    texts = [[text.get_text() for text in shown.ax_.texts] for shown in (one, other)]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("display", ALL)
def test_the_estimator_knows_its_costs_and_its_positive_class(
    display: Any, model: Any, data: tuple[np.ndarray, np.ndarray]
) -> None:
    X, y = data
    pipeline = make_pipeline(
        StandardScaler(), uneven.UnevenLinearClassifier("logistic", **COSTS, pos_label="malignant")
    )
    for estimator in (model, GridSearchCV(pipeline, {}, cv=2).fit(X, y)):
        given = display.from_estimator(estimator, X, y, **COSTS, tp_cost=0, tn_cost=0, pos_label="malignant")
        found = display.from_estimator(estimator, X, y)
        for first, second in zip(drawn(found), drawn(given), strict=True):
            np.testing.assert_array_equal(first, second)
        words = [text.get_text() for text in found.ax_.get_legend().get_texts()] if found.ax_.get_legend() else []
        assert any("UnevenLinearClassifier" in word for word in [*words, found.ax_.get_title()])


def test_capacity_costs_are_those_of_the_metric(model: Any, data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    column = model.classes_.tolist().index("malignant")
    day = np.arange(len(y)) % 7
    expected = metrics.cost_by_capacity(y, model.predict_proba(X)[:, column], per=day, **COSTS, pos_label="malignant")
    display = CapacityCostDisplay.from_estimator(model, X, y, per=day, at_most=10, period="day", unit="EUR")
    np.testing.assert_array_equal(display.ax_.lines[0].get_ydata(), expected.cost)
    assert display.ax_.get_xlabel() == "rows that may be flagged in a day"
    marks = {
        line.get_marker(): line.get_xydata()[0].tolist() for line in display.ax_.lines if len(line.get_xdata()) == 1
    }
    assert marks["s"] == [10, expected.at(10)]
    assert marks["o"] == [expected.best_capacity, expected.best_cost]
    assert expected.plot().get_ylabel() == "expected cost per row"


@pytest.mark.parametrize(
    ("instead", "alpha"),
    [
        ({"actions": uneven.Actions(clear=(100, 0), review=(8, 5), block=(4, 24))}, 24 / 120),
        ({"cost_range": (9, 9)}, 0.1),
        ({"fn_cost": 3}, 0.25),
    ],
    ids=["actions", "range", "costs"],
)
def test_what_stands_in_place_of_costs_is_drawn(
    instead: dict[str, Any], alpha: float, data: tuple[np.ndarray, np.ndarray]
) -> None:
    X, y = data
    model = uneven.UnevenThresholdClassifierCV(
        make_pipeline(StandardScaler(), LogisticRegression()), cv=2, pos_label="malignant", **instead
    )
    display = DecisionCurveDisplay.from_estimator(model.fit(X, y), X, y)
    assert display.benefit.own_threshold == pytest.approx(alpha)


def test_a_search_that_leaves_the_costs_to_its_estimator(data: tuple[np.ndarray, np.ndarray]) -> None:
    model = make_pipeline(StandardScaler(), uneven.UnevenLinearClassifier("logistic", **COSTS, pos_label="malignant"))
    search = uneven.UnevenClassifierCV(model, margin_gammas=[1], cv=2).fit(*data)
    assert CostCurveDisplay.from_estimator(search, *data).curve.own_alpha == pytest.approx(2 / 11)


def test_threshold_costs_are_those_of_the_metric(model: Any, data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    score = model.decision_function(X)
    expected = metrics.cost_by_threshold(y, score, **COSTS, pos_label="malignant")
    display = ThresholdCostDisplay.from_estimator(model, X, y, unit="EUR")
    curve, false_positives, false_negatives = display.ax_.lines[:3]
    np.testing.assert_array_equal(curve.get_xdata()[1:-1], expected.threshold[1:])
    assert curve.get_drawstyle() == "steps-post"
    np.testing.assert_array_equal(curve.get_ydata()[:-1], expected.cost)
    np.testing.assert_array_equal(false_positives.get_ydata()[:-1], expected.false_positive_cost)
    np.testing.assert_array_equal(false_negatives.get_ydata()[:-1], expected.false_negative_cost)
    used, best = [line for line in display.ax_.lines if line.get_label() == "_mark"]
    paid = metrics.expected_cost(y, model.predict(X), **COSTS, pos_label="malignant")
    assert (used.get_xdata()[0], used.get_ydata()[0]) == (0.0, pytest.approx(paid))
    assert (best.get_xdata()[0], best.get_ydata()[0]) == (expected.best_threshold, expected.best_cost)
    assert display.ax_.get_ylabel() == "expected cost per row (EUR)"
    (left, right), (low, high) = display.ax_.get_xlim(), display.ax_.get_ylim()
    assert left < min(0.0, expected.best_threshold) <= max(0.0, expected.best_threshold) < right
    assert low <= 0 < expected.best_cost < high


def test_the_threshold_in_use() -> None:
    y, p = [0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9]
    assert ThresholdCostDisplay.from_predictions(y, p, fp_cost=1, fn_cost=9).threshold == 0.1
    assert ThresholdCostDisplay.from_predictions(y, np.subtract(p, 0.5), fn_cost=9).threshold == 0.0
    assert ThresholdCostDisplay.from_predictions(y, p, threshold=0.3).threshold == 0.3
    assert CostCurveDisplay.from_predictions(y, p, fp_cost=1, fn_cost=9).curve.own_alpha == 0.1


def test_parts_of_the_cost() -> None:
    y, score = [0, 1, 0, 1], [-1.0, -0.5, 0.5, 1.0]
    for tp_cost, drawn_parts in ((0, True), (-5, False)):
        display = ThresholdCostDisplay.from_predictions(y, score, tp_cost=tp_cost)
        for parts, expected in ((None, drawn_parts), (True, True), (False, False)):
            labels = display.plot(parts=parts).ax_.get_legend_handles_labels()[1]
            assert ("false positives" in labels) is expected


def test_the_cost_curve_is_that_of_the_metric(model: Any, data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    costs = costs_per_row(len(y))
    expected = metrics.cost_curve(y, model.decision_function(X), **costs, pos_label="malignant")
    display = CostCurveDisplay.from_estimator(model, X, y, **costs, unit="EUR")
    found = {line.get_label().partition("\n")[0]: line for line in display.ax_.lines}
    for label, values in {
        "UnevenLinearClassifier": expected.cost,
        "UnevenLinearClassifier, best threshold": expected.best_cost,
        "same decision for everyone": expected.constant_cost,
    }.items():
        np.testing.assert_array_equal(found[label].get_xdata(), expected.alpha)
        np.testing.assert_array_equal(found[label].get_ydata(), values)
    weight = costs.pop("sample_weight")
    predicted = model.predict(X)
    ours, right = (
        metrics.expected_cost(y, said, **costs, pos_label="malignant", sample_weight=weight) for said in (predicted, y)
    )
    at_your_costs = display.ax_.lines[0].get_label().split("mistakes: ")[1]
    assert float(at_your_costs.split()[0]) == pytest.approx(ours - right, rel=1e-3)
    assert found["_mark"].get_xdata()[0] == expected.own_alpha
    axes = expected.plot()
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), expected.cost)


def test_the_decision_curve_is_that_of_the_metric(model: Any, data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    p = model.predict_proba(X)[:, 1]
    display = DecisionCurveDisplay.from_estimator(model, X, y)
    found = {line.get_label().partition("\n")[0]: line for line in display.ax_.lines}
    thresholds = found["UnevenLinearClassifier"].get_xdata()
    assert 2 / 11 in thresholds
    expected = metrics.net_benefit(y, p, thresholds=thresholds, **COSTS, pos_label="malignant")
    np.testing.assert_array_equal(found["UnevenLinearClassifier"].get_ydata(), expected.net_benefit)
    np.testing.assert_array_equal(found["treat everyone"].get_ydata(), expected.treat_all)
    np.testing.assert_array_equal(found["treat nobody"].get_ydata(), expected.treat_none)
    said = np.where(p > 2 / 11, "malignant", "benign")
    nobody = metrics.expected_cost(y, ["benign"] * len(y), **COSTS, pos_label="malignant")
    saved = nobody - metrics.expected_cost(y, said, **COSTS, pos_label="malignant")
    shown = display.ax_.lines[0].get_label().split("saves ")[1]
    assert float(shown.split()[0]) == pytest.approx(saved, rel=1e-3)


@pytest.mark.parametrize("decide", ["auto", "predict", "alpha"])
def test_the_cells_sum_to_the_total_cost(decide: str, model: Any, data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    costs = costs_per_row(len(y))
    display = CostConfusionDisplay.from_estimator(model, X, y, **costs, decide=decide, unit="EUR")
    total = display.costs.sum()
    scorer = metrics.make_cost_scorer(pos_label="malignant", decide=decide)
    assert display.counts.sum() == pytest.approx(costs["sample_weight"].sum())
    assert total / display.counts.sum() == pytest.approx(-scorer(model, X, y, **costs))
    texts = [text.get_text() for text in display.ax_.texts]
    assert len(texts) == 8
    assert "EUR per row" in display.ax_.get_title()


def test_the_cells_are_the_four_outcomes() -> None:
    truth, said = ["a", "a", "a", "b", "b", "b"], ["a", "b", "b", "a", "a", "a"]
    costs = {"fp_cost": 7, "fn_cost": [1, 2, 3, 4, 5, 6], "tp_cost": -10, "tn_cost": 0.5}
    display = CostConfusionDisplay.from_predictions(truth, said, **costs, pos_label="b", name="mine")
    assert display.counts.tolist() == [[1, 2], [3, 0]]
    assert display.costs.tolist() == [[0.5, 14], [15, 0]]
    assert display.labels == ("a", "b")
    assert display.costs.sum() == metrics.total_cost(truth, said, **costs, pos_label="b")
    assert display.ax_.get_title() == "mine\ntotal cost 29.5, 4.917 per row"
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["a", "b"]
    lonely = CostConfusionDisplay.from_predictions(["a", "a"], ["a", "a"], pos_label="b")
    assert (lonely.labels, lonely.counts.tolist()) == (("a", "positive"), [[2, 0], [0, 0]])


def test_reliability_near_alpha() -> None:
    rng = np.random.default_rng(0)
    p = rng.beta(1, 4, 3000)
    y = rng.random(3000) < p
    display = CalibrationNearAlphaDisplay.from_predictions(y, p, fp_cost=1, fn_cost=4, reach=3, n_bins=6)
    bins, alpha = display.bins, 0.2
    assert display.alpha == pytest.approx(alpha)
    odds = p / (1 - p)
    inside = (odds >= 0.25 / 3) & (odds <= 0.25 * 3)
    assert bins.count.sum() == inside.sum()
    assert (bins.below, bins.above) == ((odds < 0.25 / 3).sum(), (odds > 0.75).sum())
    assert bins.count.size == 6
    assert (bins.predicted[:3] <= alpha).all()
    assert (bins.predicted[3:] > alpha).all()
    assert bins.count[:3].sum() == (inside & (p <= alpha)).sum()
    assert bins.observed @ bins.count == pytest.approx(y[inside].sum())
    assert bins.predicted @ bins.count == pytest.approx(p[inside].sum())
    for share, count, low, high in zip(bins.observed, bins.count, bins.low, bins.high, strict=True):
        interval = binomtest(round(share * count), count).proportion_ci(method="exact")
        assert (low, high) == pytest.approx((interval.low, interval.high))
    points = next(line for line in display.ax_.lines if line.get_marker() == "o")
    np.testing.assert_allclose(1 / (1 + np.exp(-points.get_xdata())), bins.predicted)
    np.testing.assert_allclose(1 / (1 + np.exp(-points.get_ydata())), bins.observed)
    doubled = CalibrationNearAlphaDisplay.from_predictions(
        np.tile(y, 2), np.tile(p, 2), fp_cost=1, fn_cost=4, reach=3, n_bins=6, sample_weight=np.repeat([1.0, 0.0], 3000)
    )
    np.testing.assert_allclose(doubled.bins.low, bins.low)


@pytest.mark.parametrize("display", [*OF_SCORES, *OF_PROBABILITIES])
def test_two_models_share_axes(display: Any, model: Any, data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    first = display.from_estimator(model, X, y, name="one")
    before = first.ax_.get_xlim()
    second = display.from_estimator(
        LogisticRegression(C=0.01).fit(X, y), X, y, **COSTS, pos_label="malignant", name="two", ax=first.ax_
    )
    assert second.ax_ is first.ax_
    assert second.figure_ is first.figure_
    words = [text.get_text().partition("\n")[0] for text in second.ax_.get_legend().get_texts()]
    assert "one" in words
    assert "two" in words
    assert len(set(words)) == len(words), "what both share is drawn once"
    assert second.ax_.get_xlim()[0] <= before[0] < before[1] <= second.ax_.get_xlim()[1]
    ours = [line for line in second.ax_.lines if line.get_label().partition("\n")[0] in ("one", "two")]
    assert ours[0].get_color() != ours[1].get_color()


@pytest.mark.parametrize("display", ALL)
def test_axes_of_the_user(display: Any, model: Any, data: tuple[np.ndarray, np.ndarray]) -> None:
    figure, axes = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
    shown = display.from_estimator(model, *data, ax=axes[1])
    assert shown.ax_ is axes[1]
    assert shown.figure_ is figure
    figure.canvas.draw()
    assert axes[1].get_tightbbox().width < 0.6 * figure.bbox.width, "it stays in its part of the figure"
    again = shown.plot(name="renamed")
    assert again.ax_ is not axes[1]
    legend = again.ax_.get_legend()
    words = [text.get_text() for text in legend.get_texts()] if legend else [again.ax_.get_title()]
    assert any("renamed" in word for word in words)


@pytest.mark.parametrize("display", ALL)
def test_a_picture_of_few_or_equal_predictions(display: Any) -> None:
    """Nothing warns, everything is finite, and the figure can be drawn."""
    labels = display is CostConfusionDisplay
    for y, score in [
        ([0, 1, 0, 1], [1, 1, 1, 1] if labels else [0.5] * 4),
        ([0, 1], [0, 1] if labels else [0.4, 0.6]),
        ([1, 1, 1], [1, 0, 1] if labels else [0.4, 0.5, 0.6]),
    ]:
        shown = display.from_predictions(y, score, fp_cost=1, fn_cost=2)
        shown.figure_.canvas.draw()
        assert np.isfinite([*shown.ax_.get_xlim(), *shown.ax_.get_ylim()]).all()


def test_infinite_scores() -> None:
    shown = ThresholdCostDisplay.from_predictions([0, 1, 0, 1], [-np.inf, np.inf, -1.0, 1.0])
    shown.figure_.canvas.draw()
    assert np.isfinite(shown.ax_.get_xlim()).all()


def test_the_gamma_path(data: tuple[np.ndarray, np.ndarray], model: Any) -> None:
    X, y = data
    search = uneven.UnevenClassifierCV(model, **COSTS, margin_gammas=[0.25, 1, 2], cv=2, pos_label="malignant").fit(
        X, y
    )
    display = GammaPathDisplay.from_estimator(search, unit="EUR", name="mine")
    path = search.gamma_path_
    np.testing.assert_array_equal(display.ax_.lines[0].get_xdata(), path.margin_gamma)
    np.testing.assert_array_equal(display.ax_.lines[0].get_ydata(), path.mean_cost)
    assert display.ax_.lines[0].get_label() == f"mine, chosen {path.chosen:.3g}"
    assert display.ax_.get_ylabel() == "cross-validated cost (EUR)"
    corners = display.ax_.collections[0].get_paths()[0].vertices
    assert {*(path.mean_cost - path.standard_error)} <= {*corners[:, 1]}
    display.figure_.canvas.draw()
    assert {"1/4", "1/2", "1", "2"} <= {label.get_text() for label in display.ax_.get_xticklabels()}
    with pytest.raises(UnevenError, match=r"belongs to a fitted UnevenClassifierCV, got UnevenLinearClassifier"):
        GammaPathDisplay.from_estimator(model)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (
            lambda: ThresholdCostDisplay.from_predictions(["a", "b"], [1.0, 2.0]),
            "pos_label must say which of the labels",
        ),
        (
            lambda: ThresholdCostDisplay.from_predictions([0, 1], [1.0, 2.0], fn_cost=[1, 2, 3]),
            "fn_cost must be a number or 2",
        ),
        (
            lambda: ThresholdCostDisplay.from_predictions([0, 1], [1.0, 2.0], threshold="x"),
            "threshold must be a number",
        ),
        (lambda: CostCurveDisplay.from_predictions([0, 1], [1.0, np.nan]), "must not contain NaN"),
        (lambda: CapacityCostDisplay.from_predictions([0, 1], [-1.0, 2.0]), "must hold probabilities"),
        (lambda: CapacityCostDisplay.from_predictions([0, 1], [0.1, 0.2], at_most=-1), "must not be negative"),
        (lambda: CapacityCostDisplay.from_predictions([0, 1], [0.1, 0.2], period="day"), "without per"),
        (lambda: DecisionCurveDisplay.from_predictions([0, 1], [-1.0, 2.0]), r"y_prob must lie in \[0, 1\]"),
        (lambda: CalibrationNearAlphaDisplay.from_predictions([0, 1], [-1.0, 2.0]), r"y_prob must lie in \[0, 1\]"),
        (
            lambda: CalibrationNearAlphaDisplay.from_predictions([0, 1], [0.1, 0.2], reach=1),
            "reach must be a number greater",
        ),
        (
            lambda: CalibrationNearAlphaDisplay.from_predictions([0, 1], [0.1, 0.2], n_bins=1),
            "n_bins must be a whole number",
        ),
        (lambda: CalibrationNearAlphaDisplay.from_predictions([0, 1], [0.0, 1.0]), "a larger reach shows more"),
        (lambda: CalibrationNearAlphaDisplay.from_predictions([0, 1], [0.1, 0.2], fp_cost=0), "both kinds of mistake"),
        (lambda: CostConfusionDisplay.from_predictions([0, 1], [0, 1, 1]), "must have the same length"),
        (lambda: CostConfusionDisplay.from_predictions([0, 1], [0, 2]), "labels must come from two classes"),
    ],
)
def test_bad_input_is_one_sentence(make: Any, says: str) -> None:
    with pytest.raises(UnevenError, match=says) as error:
        make()
    assert "\n" not in str(error.value)


def test_bad_estimators(data: tuple[np.ndarray, np.ndarray], model: Any) -> None:
    X, y = data
    hinge = uneven.UnevenLinearClassifier("hinge", pos_label="malignant").fit(X, y)
    with pytest.raises(UnevenError, match="has no predict_proba, which this display needs"):
        DecisionCurveDisplay.from_estimator(hinge, X, y)
    with pytest.raises(UnevenError, match="response_method must be one of auto, decision_function, predict_proba"):
        ThresholdCostDisplay.from_estimator(model, X, y, response_method="predict")
    with pytest.raises(UnevenError, match="decide must be one of"):
        CostConfusionDisplay.from_estimator(model, X, y, decide="x")
    with pytest.raises(UnevenError, match="pos_label must be one of the labels"):
        ThresholdCostDisplay.from_estimator(model, X, y, pos_label="ill")
    three = LogisticRegression().fit(X, np.arange(len(y)) % 3)
    with pytest.raises(
        UnevenError, match=r"a fitted classifier of two classes, got LogisticRegression.* with 3 classes"
    ):
        CostConfusionDisplay.from_estimator(three, X, y)


@pytest.mark.parametrize("display", ALL)
def test_without_matplotlib(display: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'uneven\[plot\]'"):
        display.from_predictions("not even", "looked at")
    with pytest.raises(MissingExtraError, match=r"pip install 'uneven\[plot\]'"):
        display.from_estimator("not even", "looked", "at")


@pytest.mark.parametrize("way", ["learn", "decide"])
@pytest.mark.parametrize("display", [*OF_SCORES, *OF_PROBABILITIES])
def test_costs_of_rows_reach_a_model_that_needs_them(display: Any, way: str) -> None:
    random = np.random.default_rng(9)
    X, y = random.normal(size=(60, 2)), np.tile([0, 1], 30)
    costs = {"fp_cost": 2.0, "fn_cost": random.uniform(1, 9, 60)}
    model = uneven.UnevenClassifierCV(margin_gammas=[1.0], cv=3, row_costs=way).fit(X, y, **costs)
    said = model.predict_proba(X, **costs)[:, 1] if display in OF_PROBABILITIES else model.decision_function(X, **costs)
    shown, expected = display.from_estimator(model, X, y, **costs), display.from_predictions(y, said, **costs)
    for ours, theirs in zip(shown.ax_.lines, expected.ax_.lines, strict=True):
        np.testing.assert_array_equal(ours.get_xydata(), theirs.get_xydata())
