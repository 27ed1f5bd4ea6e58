"""mmdet's own functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from zoo_truth.openmmlab import losses_of
from zoo_truth.tensors import classes, constant, logits


def focal(t: np.ndarray, label: int, **parameters: Any) -> np.ndarray:
    loss = losses_of("mmdet", "focal_loss").FocalLoss(reduction="none", **parameters)
    return loss(logits(t), constant(t, label)).numpy()


def varifocal(t: np.ndarray, label: int, **parameters: Any) -> np.ndarray:
    loss = losses_of("mmdet", "varifocal_loss").VarifocalLoss(reduction="none", **parameters)
    return loss(logits(t), constant(t, label)).numpy()


def quality(t: np.ndarray, label: int, **parameters: Any) -> np.ndarray:
    loss = losses_of("mmdet", "gfocal_loss").QualityFocalLoss(reduction="none", **parameters)
    # One column: class 0 is the object, class 1 the background.
    return loss(logits(t)[:, None], (classes(t, 1 - label), constant(t, label))).numpy()


LOSSES = {
    "mmdet.models.losses.FocalLoss": focal,
    "mmdet.models.losses.QualityFocalLoss": quality,
    "mmdet.models.losses.VarifocalLoss": varifocal,
}
PARAMETERS = {
    "mmdet.models.losses.FocalLoss": [{"alpha": 0.4, "gamma": 3.0}],
    "mmdet.models.losses.QualityFocalLoss": [{"beta": 3.0}],
    "mmdet.models.losses.VarifocalLoss": [{"alpha": 0.4, "gamma": 3.0}],
}
