"""Optax's own functions, in single precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

TOLERANCE = 1e-4


def _optax() -> Any:
    return pytest.importorskip("optax", reason="a package of the extra dev")


def rows(name: str, *, signs: bool = False) -> Callable[..., np.ndarray]:
    def computed(t: np.ndarray, label: int, **parameters: Any) -> np.ndarray:
        targets = np.full(t.size, float(2 * label - 1 if signs else label), dtype=np.float32)
        return np.asarray(getattr(_optax().losses, name)(t.astype(np.float32), targets, **parameters))

    return computed


def poly(t: np.ndarray, label: int, epsilon: float = 2.0) -> np.ndarray:
    z = np.stack([0.3 - t / 2, 0.3 + t / 2], axis=1).astype(np.float32)
    target = np.tile(np.eye(2, dtype=np.float32)[label], (t.size, 1))
    return np.asarray(_optax().losses.poly_loss_cross_entropy(z, target, epsilon=epsilon))


LOSSES = {
    "optax.losses.hinge_loss": rows("hinge_loss", signs=True),
    "optax.losses.sparsemax_loss": rows("sparsemax_loss"),
    "optax.losses.perceptron_loss": rows("perceptron_loss", signs=True),
    "optax.losses.poly_loss_cross_entropy": poly,
    "optax.losses.sigmoid_binary_cross_entropy": rows("sigmoid_binary_cross_entropy"),
    "optax.losses.sigmoid_focal_loss": rows("sigmoid_focal_loss"),
}
PARAMETERS = {
    "optax.losses.poly_loss_cross_entropy": [{"epsilon": 0.5}],
    "optax.losses.sigmoid_focal_loss": [{"alpha": 0.4, "gamma": 1.5}],
}
