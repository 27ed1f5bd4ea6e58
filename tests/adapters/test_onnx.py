"""Exported models say in onnxruntime what the learners say."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import uneven
from uneven.adapters.onnx import converters, register, to_onnx
from uneven.adapters.onnx_graph import Converter
from uneven.errors import LossError, ParameterError, UnevenError
from uneven.learners.linear_scores import LinearScores


def data(positive: Any = 1, negative: Any = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(5)
    is_positive = random.random(120) < 0.4
    X = random.normal(size=(120, 3)) + 1.5 * is_positive[:, None]
    return X, np.where(is_positive, positive, negative)


def run(model: Any, X: np.ndarray) -> dict[str, np.ndarray]:
    session = onnxruntime.InferenceSession(to_onnx(model, X[:2]).SerializeToString())
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": X}), strict=True))


def assert_same(model: Any, X: np.ndarray, *, score: float = 1e-5) -> dict[str, np.ndarray]:
    found = run(model, X)
    assert found["label"].tolist() == model.predict(X).tolist()
    assert np.allclose(found["score"], model.decision_function(X), rtol=score, atol=score)
    assert found["score"].dtype == X.dtype
    assert ("probability" in found) == hasattr(model, "predict_proba")
    if "probability" in found:
        assert np.allclose(found["probability"], model.predict_proba(X), atol=1e-5)
    return found


@pytest.mark.parametrize("name", uneven.losses.names())
def test_every_loss(name: str) -> None:
    X, y = data()
    try:
        learner = uneven.UnevenLinearClassifier(name, fn_cost=5, margin_gamma=2).fit(X, y)
    except LossError:
        assert name == "perceptron"
        return
    assert_same(learner, X)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid"])
def test_kernels(kernel: str) -> None:
    X, y = data()
    assert_same(uneven.UnevenSVC(kernel=kernel, fn_cost=5).fit(X, y), X)


def test_a_precomputed_kernel() -> None:
    X, y = data()
    K = X @ X.T
    assert_same(uneven.UnevenSVC(kernel="precomputed", fn_cost=5).fit(K, y), K)


@pytest.mark.parametrize("depth", [1, 3])
def test_boosted_trees(depth: int) -> None:
    X, y = data("a", "b")
    X = X.copy()
    X[::7, 1] = np.nan
    assert_same(
        uneven.UnevenAdaBoostClassifier(fn_cost=5, n_estimators=12, max_depth=depth, pos_label="a").fit(X, y), X
    )


@pytest.mark.parametrize("labels", [("fraud", "ok"), ("yes", "no"), (True, False), (0, 1), (-1.0, 1.0)])
def test_labels_of_every_kind_and_order(labels: tuple[Any, Any]) -> None:
    """The positive class is the first label or the second one."""
    X, y = data(*labels)
    learner = uneven.UnevenLinearClassifier(fn_cost=8, pos_label=labels[0]).fit(X, y)
    found = assert_same(learner, X)
    assert (found["label"] == labels[0]).mean() > (y == labels[0]).mean()  # misses are expensive


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pipelines(dtype: type) -> None:
    X, y = data("a", "b")
    X = X.astype(dtype)
    for last in (
        uneven.UnevenLinearClassifier(fn_cost=5, pos_label="a"),
        uneven.UnevenPerceptron(fn_cost=5, pos_label="a", random_state=0),
        uneven.UnevenSVC(fn_cost=5, pos_label="a"),
    ):
        assert_same(make_pipeline(StandardScaler(), PCA(2), last).fit(X, y), X, score=1e-4)


@pytest.mark.parametrize("inner", [LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())])
def test_a_threshold_around_a_classifier(inner: Any) -> None:
    """Scores are log-odds of probabilities, which skl2onnx computes in single precision."""
    X, y = data("fraud", "ok")
    model = uneven.UnevenThresholdClassifierCV(inner, fp_cost=1, fn_cost=9, pos_label="fraud", cv=3).fit(X, y)
    assert_same(model, X, score=1e-3)


def test_a_search() -> None:
    X, y = data()
    search = uneven.UnevenClassifierCV("linear", fn_cost=4, margin_gammas=(0.5, 2.0), cv=2).fit(X, y)
    assert_same(search, X)
    assert_same(Pipeline([("scale", StandardScaler().fit(X)), ("search", search)]), X)


def test_costs_of_each_row_have_no_probability_without_costs() -> None:
    X, y = data()
    learner = uneven.UnevenLinearClassifier().fit(X, y, fn_cost=np.linspace(1, 3, 120))
    assert set(run(learner, X)) == {"label", "score"}
    threshold = uneven.UnevenThresholdClassifierCV(LogisticRegression(), cv=3)
    with pytest.raises(UnevenError, match="fitted with costs of each row cannot be exported"):
        to_onnx(threshold.fit(X, y, fn_cost=np.linspace(1, 3, 120)), X)


def test_what_cannot_be_exported_says_so() -> None:
    X, y = data()

    def kernel(a: Any, b: Any) -> Any:
        return a @ b.T

    refused = {
        "whose kernel is a Python function": uneven.UnevenSVC(kernel=kernel).fit(X, y),
        "LogisticRegression cannot be exported to ONNX; .*UnevenLinearClassifier": LogisticRegression().fit(X, y),
        "needs a fitted model": uneven.UnevenLinearClassifier(),
        "not a straight line": uneven.UnevenThresholdClassifierCV(
            LogisticRegression(), fn_cost=4, method="isotonic", cv=3
        ).fit(X, y),
        "has no predict_proba": uneven.UnevenThresholdClassifierCV(uneven.UnevenSVC(), fn_cost=4, cv=3).fit(X, y),
    }
    for complaint, model in refused.items():
        with pytest.raises(UnevenError, match=complaint):
            to_onnx(model, X)
    with pytest.raises(ParameterError, match=r"is an uneven\.adapters\.onnx_graph\.Converter"):
        register(KernelDensity)  # type: ignore[arg-type]


def test_a_learner_of_a_user() -> None:
    class Mine(uneven.UnevenLinearClassifier):
        pass

    (scores,) = {converter.scores for converter in converters() if issubclass(converter.learner, LinearScores)}
    register(Converter(Mine, scores))
    X, y = data()
    assert_same(Mine("logistic", fn_cost=3).fit(X, y), X)
