"""The own class of super-gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from zoo_truth.bare import bare
from zoo_truth.tensors import constant, logits


def focal(t: np.ndarray, label: int, **parameters: Any) -> np.ndarray:
    import torch

    module = bare("super_gradients.training.losses.focal_loss")
    return module.FocalLoss(torch.nn.BCEWithLogitsLoss(reduction="none"), **parameters)(
        logits(t), constant(t, label)
    ).numpy()


LOSSES = {"super_gradients.training.losses.FocalLoss": focal}
PARAMETERS = {"super_gradients.training.losses.FocalLoss": [{"alpha": 0.4, "gamma": 3.0}]}
