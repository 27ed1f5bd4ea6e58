"""kornia's own functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from zoo_truth.tensors import classes, constant, logits, two_columns


def binary(t: np.ndarray, label: int, pos_weight: Any = None, **parameters: Any) -> np.ndarray:
    import torch
    from kornia.losses import binary_focal_loss_with_logits

    weight = None if pos_weight is None else torch.tensor([pos_weight], dtype=torch.float64)
    found = binary_focal_loss_with_logits(
        logits(t)[:, None], constant(t, label)[:, None], pos_weight=weight, reduction="none", **parameters
    )
    return found.numpy()[:, 0]


def focal(t: np.ndarray, label: int, weight: Any = None, **parameters: Any) -> np.ndarray:
    import torch
    from kornia.losses import focal_loss

    pair = None if weight is None else torch.tensor(weight, dtype=torch.float64)
    found = focal_loss(two_columns(t), classes(t, label), weight=pair, reduction="none", **parameters)
    return found.numpy().sum(axis=1)


LOSSES = {"kornia.losses.binary_focal_loss_with_logits": binary, "kornia.losses.focal_loss": focal}
PARAMETERS = {
    "kornia.losses.binary_focal_loss_with_logits": [{"alpha": 0.4, "gamma": 1.5, "pos_weight": 7.0}],
    "kornia.losses.focal_loss": [{"alpha": 0.4, "gamma": 1.5, "weight": (2.0, 3.0)}],
}
