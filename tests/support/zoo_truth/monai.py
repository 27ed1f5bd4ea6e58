"""MONAI's own classes, in single precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoo_truth.tensors import constant, logits

TOLERANCE = 1e-5
_ASYMMETRIC = "monai.losses.unified_focal_loss.AsymmetricFocalLoss"


def focal(t: np.ndarray, label: int, **parameters: Any) -> np.ndarray:
    losses = pytest.importorskip("monai.losses", reason="make test-zoo installs it")
    return losses.FocalLoss(reduction="none", **parameters)(logits(t)[:, None], constant(t, label)[:, None]).numpy()[
        :, 0
    ]


def asymmetric(t: np.ndarray, label: int, **parameters: Any) -> np.ndarray:
    import torch

    module = pytest.importorskip("monai.losses.unified_focal_loss", reason="make test-zoo installs it")
    p = logits(t).sigmoid()
    probabilities = torch.stack([torch.sigmoid(-logits(t)), p], dim=1)
    y = constant(t, label)
    targets = torch.stack([1 - y, y], dim=1)
    return module.AsymmetricFocalLoss(reduction="none", **parameters)(probabilities, targets).sum(dim=1).numpy()


LOSSES = {"monai.losses.FocalLoss": focal, _ASYMMETRIC: asymmetric}
PARAMETERS = {
    "monai.losses.FocalLoss": [{"alpha": 0.4, "gamma": 1.5}],
    _ASYMMETRIC: [{"delta": 0.2, "gamma": 1.5, "epsilon": 1e-3}],
}
