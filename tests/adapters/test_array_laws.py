"""PyTorch and JAX agree with NumPy: values, slopes and curvatures of every phi and of random expressions."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from array_libraries import LIBRARIES
from hypothesis import given, settings
from registered import CASES
from strategies import loss_sentences

import uneven
from uneven.losses import Parameter, Phi

EVERY_LIBRARY = pytest.mark.parametrize("library", LIBRARIES)
MODERATE = np.concatenate([np.linspace(-7.013, 7.017, 41), [-31.7, -0.0031, 0.0, 0.0027, 1.0, -1.0, 29.3]])
EXTREME = np.array([-1e4, -3e3, 3e3, 1e4])


def expected(loss: uneven.Loss, y: np.ndarray, t: np.ndarray) -> list[np.ndarray]:
    """From doubles, which hold every float32."""
    wide = t.astype(np.float64)
    return [loss(y, wide), loss.slope(y, wide), loss.curvature(y, wide)]


def assert_close(found: list[np.ndarray], truth: list[np.ndarray], dtype: type, rounding: float) -> None:
    """Equal up to rounding in this precision, or below the normal range; overflow is infinite.

    Terms of a slope or curvature may cancel: the rounding errors are relative to it and to a tenth of what it is the
    derivative of.
    """
    limits = np.finfo(dtype)
    before = np.zeros(truth[0].shape)
    for values, exact in zip(found, truth, strict=True):
        assert not np.isnan(values).any()
        with np.errstate(over="ignore", invalid="ignore"):
            lost = np.abs(exact) > limits.max
            assert (np.isinf(values[lost]) | (np.abs(values[lost]) >= 0.99 * limits.max)).all()
            error = np.abs(values.astype(np.float64) - exact)[~lost]
        scale = (np.abs(exact) + before / 10)[~lost]
        assert (error <= rounding * float(limits.eps) * scale + 4 * float(limits.tiny)).all()
        before = np.abs(exact)


def both_labels(points: np.ndarray, dtype: type) -> tuple[np.ndarray, np.ndarray]:
    t = np.concatenate([points, points]).astype(dtype)
    return np.repeat([1, -1], points.size), t


@pytest.mark.slow
@EVERY_LIBRARY
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_registry(library: str, name: str, parameters: dict[str, Fraction], dtype: type) -> None:
    loss = uneven.UnevenMarginLoss(uneven.phi(name, **parameters), gamma=2, alpha="1/4")
    y, t = both_labels(np.concatenate([MODERATE, EXTREME]), dtype)
    # A function whose argument is rounded loses as many units as its exponent is large: exp(-x**2) at 40.
    rounding = 4000 if name == "probit" else 200
    assert_close(LIBRARIES[library](loss, y, t), expected(loss, y, t), dtype, rounding)


@pytest.mark.slow
@EVERY_LIBRARY
def test_two_different_parts(library: str) -> None:
    loss = uneven.Loss("3*softplus(-t)", "relu(1 + t)**2", alpha=0.3)
    y, t = both_labels(MODERATE, np.float64)
    assert_close(LIBRARIES[library](loss, y, t), expected(loss, y, t), np.float64, 200)


@pytest.mark.slow
@EVERY_LIBRARY
@settings(max_examples=12, deadline=None)
@given(sentence=loss_sentences)
def test_random_expressions(library: str, sentence: str) -> None:
    loss = uneven.UnevenMarginLoss(sentence, gamma=3)
    y, t = both_labels(np.linspace(-4.001, 4.003, 33), np.float64)
    for found, truth in zip(LIBRARIES[library](loss, y, t), expected(loss, y, t), strict=True):
        scale = np.abs(truth) + 1e-3 * np.abs(truth).max()
        assert (np.abs(found - truth) <= 1e-9 * scale + 1e-300).all()
    y, t = both_labels(EXTREME, np.float32)
    for found in LIBRARIES[library](loss, y, t):
        assert not np.isnan(found).any()


@pytest.fixture
def throw_away() -> Iterator[Phi]:
    uneven.losses.register(
        "throw_away_here", "softplus(-t)**2 + pull*relu(-t)", parameters=(Parameter("pull", default=0, at_least=0),)
    )
    yield uneven.phi("throw_away_here", pull=1)
    uneven.losses.unregister("throw_away_here")


@EVERY_LIBRARY
def test_a_phi_registered_by_a_user(library: str, throw_away: Phi) -> None:
    loss = uneven.UnevenMarginLoss(throw_away, gamma=2)
    y, t = both_labels(np.concatenate([MODERATE, EXTREME]), np.float32)
    assert_close(LIBRARIES[library](loss, y, t), expected(loss, y, t), np.float32, 200)


@EVERY_LIBRARY
def test_python_functions_are_refused(library: str) -> None:
    loss = uneven.Loss(lambda t: np.exp(-t), "exp(t)")
    with pytest.raises(uneven.errors.LossError, match="needs the loss as expressions, but the positive part"):
        LIBRARIES[library](loss, np.array([1]), np.array([0.5]))


@EVERY_LIBRARY
@pytest.mark.parametrize("labels", [[1.0, 0.9], [0.0, -1.0], [2.0, 1.0]])
def test_labels_of_another_kind_are_refused(library: str, labels: list[float]) -> None:
    with pytest.raises(uneven.errors.ParameterError, match="targets must be 0 and 1, or -1 and 1"):
        LIBRARIES[library](uneven.UnevenMarginLoss("logistic"), np.array(labels), np.array([0.5, 0.5]))
