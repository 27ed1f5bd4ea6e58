"""LibAUC's own class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoo_truth.tensors import one_by_one


def focal(t: np.ndarray, label: int, alpha: float = 0.25, gamma: float = 2) -> np.ndarray:
    losses: Any = pytest.importorskip("libauc.losses", reason="make test-zoo installs it")
    return one_by_one(losses.FocalLoss(alpha=alpha, gamma=gamma, device="cpu"), t, label)


TOLERANCE = 1e-6  # alpha is kept in single precision
LOSSES = {"libauc.losses.FocalLoss": focal}
PARAMETERS = {"libauc.losses.FocalLoss": [{"alpha": 0.4, "gamma": 3}]}
