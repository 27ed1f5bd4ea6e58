"""River's own classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest


def rows(name: str) -> Callable[..., np.ndarray]:
    def computed(t: np.ndarray, label: int, **parameters: Any) -> np.ndarray:
        losses = pytest.importorskip("river.optim.losses", reason="make test-zoo installs it")
        return getattr(losses, name)(**parameters)(np.full(t.size, label), t)

    return computed


LOSSES = {f"river.optim.losses.{name}": rows(name) for name in ("BinaryFocalLoss", "Hinge", "Log")}
PARAMETERS = {
    "river.optim.losses.BinaryFocalLoss": [{"gamma": 3.0, "beta": -1.0}],
    "river.optim.losses.Hinge": [{"threshold": 2.0}],
    "river.optim.losses.Log": [{"weight_pos": 3.0, "weight_neg": 0.5}],
}
