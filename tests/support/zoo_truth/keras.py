"""Keras' own functions, in single precision."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

TOLERANCE = 1e-4
GRID = np.linspace(-7.0, 7.0, 29)  # beyond, 1 - p has few digits in single precision


def keras_itself() -> Any:
    pytest.importorskip("torch", reason="Keras needs a backend")
    os.environ.setdefault("KERAS_BACKEND", "torch")
    return pytest.importorskip("keras", reason="make test-zoo installs it")


def columns(t: np.ndarray, label: int) -> tuple[np.ndarray, np.ndarray]:
    return np.full((t.size, 1), float(label), dtype=np.float32), t[:, None].astype(np.float32)


def numbers(value: Any) -> np.ndarray:
    return keras_itself().ops.convert_to_numpy(value)


def entropy(t: np.ndarray, label: int, **parameters: Any) -> np.ndarray:
    return numbers(keras_itself().losses.binary_crossentropy(*columns(t, label), from_logits=True, **parameters))


def focal(t: np.ndarray, label: int, **parameters: Any) -> np.ndarray:
    return numbers(keras_itself().losses.binary_focal_crossentropy(*columns(t, label), from_logits=True, **parameters))


def hinge(t: np.ndarray, label: int) -> np.ndarray:
    return numbers(keras_itself().losses.hinge(*columns(t, label)))


def squared_hinge(t: np.ndarray, label: int) -> np.ndarray:
    return numbers(keras_itself().losses.squared_hinge(*columns(t, label)))


def generalized(t: np.ndarray, label: int, q: float = 0.5) -> np.ndarray:
    p = 1 / (1 + np.exp(-t))
    loss = keras_itself().losses.CategoricalGeneralizedCrossEntropy(q=q, reduction=None)
    return numbers(loss(np.full(t.size, label), np.stack([1 - p, p], axis=1).astype(np.float32)))


LOSSES = {
    "keras.losses.BinaryCrossentropy": entropy,
    "keras.losses.BinaryFocalCrossentropy": focal,
    "keras.losses.CategoricalGeneralizedCrossEntropy": generalized,
    "keras.losses.Hinge": hinge,
    "keras.losses.SquaredHinge": squared_hinge,
}
PARAMETERS = {
    "keras.losses.BinaryCrossentropy": [{"label_smoothing": 0.4}],
    "keras.losses.BinaryFocalCrossentropy": [
        {"label_smoothing": 0.4, "apply_class_balancing": True, "alpha": 0.3, "gamma": 1.5}
    ],
    "keras.losses.CategoricalGeneralizedCrossEntropy": [{"q": 0.9}],
}
