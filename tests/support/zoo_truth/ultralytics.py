"""The own classes of ultralytics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoo_truth.tensors import one_by_one

TOLERANCE = 1e-5  # VarifocalLoss computes in single precision


def focal(t: np.ndarray, label: int, **parameters: Any) -> np.ndarray:
    module = pytest.importorskip("ultralytics.utils.loss", reason="make test-zoo installs it")
    return one_by_one(module.FocalLoss(**parameters), t, label)


def varifocal(t: np.ndarray, label: int, **parameters: Any) -> np.ndarray:
    module = pytest.importorskip("ultralytics.utils.loss", reason="make test-zoo installs it")
    loss = module.VarifocalLoss(**parameters)
    return one_by_one(lambda z, y: loss(z, y, y), t, label)


LOSSES = {"ultralytics.utils.loss.FocalLoss": focal, "ultralytics.utils.loss.VarifocalLoss": varifocal}
PARAMETERS = {
    "ultralytics.utils.loss.FocalLoss": [{"alpha": 0.4, "gamma": 3.0}],
    "ultralytics.utils.loss.VarifocalLoss": [{"alpha": 0.4, "gamma": 3.0}],
}
