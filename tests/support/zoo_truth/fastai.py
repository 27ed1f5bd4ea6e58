"""fastai's own class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoo_truth.tensors import classes, two_columns


def focal(t: np.ndarray, label: int, weight: Any = None, **parameters: Any) -> np.ndarray:
    import torch

    losses = pytest.importorskip("fastai.losses", reason="make test-zoo installs it")
    pair = None if weight is None else torch.tensor(weight, dtype=torch.float64)
    return losses.FocalLoss(weight=pair, reduction="none", **parameters)(two_columns(t), classes(t, label)).numpy()


LOSSES = {"fastai.losses.FocalLoss": focal}
PARAMETERS = {"fastai.losses.FocalLoss": [{"weight": (2.0, 0.5), "gamma": 1.5}]}
