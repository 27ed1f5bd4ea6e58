"""A range loss, sharp and soft, in every part of the library that takes a loss."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from array_libraries import LIBRARIES
from onnxruntime import InferenceSession

import uneven
from uneven.adapters.onnx import to_onnx
from uneven.losses.margin_function import smooth_switches
from uneven.ops.kernels import compile_kernel

LOSSES = {
    f"{weight}, softness {softness}": uneven.range_loss((5, 50), weight=weight, softness=softness, at=15)  # type: ignore[arg-type]
    for weight in ("unit", "money")
    for softness in (0, "1/2")
}
each_loss = pytest.mark.parametrize("name", LOSSES)


def sample(rows: int = 600) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(5)
    X = random.normal(size=(rows, 2))
    return X, (random.uniform(size=rows) < 1 / (1 + np.exp(2.5 - X @ [1.5, -1.0]))).astype(int)


@pytest.mark.slow
@each_loss
def test_certificates(name: str) -> None:
    """Proved at the ratio that the score is shifted to, refuted elsewhere; both are checked again."""
    for alpha, status in (("1/16", "proved"), ("1/11", "refuted"), ("1/2", "refuted"), ("1/100", "refuted")):
        certificate = uneven.certify(LOSSES[name], alpha)
        assert certificate.status == status
        assert uneven.verify(certificate.to_json())
    assert uneven.implied_alpha(LOSSES[name]).exact == Fraction(1, 16)


@pytest.mark.slow
@each_loss
def test_a_proved_psi_below_the_numeric_one(name: str) -> None:
    analysis = uneven.analyze(LOSSES[name], "1/16")
    eps = [0.01, 0.1, 0.5]
    low, high = analysis.psi_bounds(eps)
    assert (low <= analysis.psi(eps) * (1 + 1e-9)).all()
    assert (analysis.psi(eps) <= high * (1 + 1e-9)).all()
    assert 0 < analysis.regret_bound(1e-3) < analysis.largest_regret


@pytest.mark.slow
@each_loss
def test_compiled_kernels(name: str) -> None:
    t = np.linspace(-7.001, 7.003, 801)
    for label, partial in zip((1, -1), LOSSES[name].partials, strict=True):
        value, slope = compile_kernel(partial.tree, smooth_switches(partial.tree)).first(t)
        assert np.allclose(value, LOSSES[name](label, t), rtol=1e-10, atol=1e-14)
        assert np.allclose(slope, LOSSES[name].slope(label, t), rtol=1e-9, atol=1e-12)


@each_loss
def test_slopes_are_those_of_the_values(name: str) -> None:
    loss, step = LOSSES[name], 1e-6
    t = np.linspace(-5.003, 5.001, 101)
    for label in (1, -1):
        quotient = (loss(label, t + step) - loss(label, t - step)) / (2 * step)
        assert np.allclose(loss.slope(label, t), quotient, rtol=1e-5, atol=1e-7)


@each_loss
@pytest.mark.slow
def test_torch_and_jax(name: str) -> None:
    loss = LOSSES[name]
    y, t = np.array([1, -1, 1, -1, 1, -1]), np.array([-1e4, 1e4, 0.7, -0.6, -2.5, 2.0], dtype=np.float32)
    for jets in LIBRARIES.values():
        value, slope, _ = jets(loss, y, t)
        assert np.allclose(value, loss(y, t), rtol=1e-5, atol=1e-6)
        assert np.allclose(slope, loss.slope(y, t), rtol=1e-4, atol=1e-6)


@each_loss
@pytest.mark.slow
def test_the_linear_learner_and_onnx(name: str) -> None:
    X, y = sample()
    clf = uneven.UnevenLinearClassifier(LOSSES[name], fp_cost=1, fn_cost=15).fit(X, y)
    flagged = clf.predict(X)
    cost = uneven.metrics.expected_cost(y, flagged, fp_cost=1, fn_cost=15)
    assert cost < 0.8 * min(15 * np.mean(y == 1), np.mean(y == 0))  # cheaper than flagging all, or none
    session = InferenceSession(to_onnx(clf, X.astype(np.float32)).SerializeToString())
    label = session.run(["label"], {"X": X.astype(np.float32)})[0]
    assert np.mean(label == flagged) > 0.995


@each_loss
@pytest.mark.slow
def test_boosting(name: str) -> None:
    X, y = sample()
    loss: Any = LOSSES[name]
    for objective in (uneven.adapters.lightgbm.objective, uneven.adapters.xgboost.objective):
        gradient, hessian = objective(loss, fn_cost=15)(y, np.zeros(y.size))
        assert np.array_equal(np.ravel(gradient) < 0, y == 1)
        assert (np.ravel(hessian) > 0).all()
    clf = uneven.UnevenXGBClassifier(loss, fn_cost=15, n_estimators=20, max_depth=2, n_jobs=1).fit(X, y)
    cost = uneven.metrics.expected_cost(y, clf.predict(X), fp_cost=1, fn_cost=15)
    assert cost < 0.8 * min(15 * np.mean(y == 1), np.mean(y == 0))
