"""bokbokbok's own gradients."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest


def slope(name: str) -> Callable[..., np.ndarray]:
    def computed(t: np.ndarray, label: int, **parameters: Any) -> np.ndarray:
        functions = pytest.importorskip("bokbokbok.loss_functions.classification", reason="make test-zoo installs it")
        rows = SimpleNamespace(get_label=lambda: np.full(t.size, float(label)))
        gradient, _ = getattr(functions, name)(**parameters)(t, rows)
        return gradient

    return computed


SLOPES = {
    f"bokbokbok.loss_functions.classification.{name}": slope(name)
    for name in ("WeightedCrossEntropyLoss", "WeightedFocalLoss")
}
PARAMETERS = {"bokbokbok.loss_functions.classification.WeightedFocalLoss": [{"alpha": 3.0, "gamma": 1.5}]}
