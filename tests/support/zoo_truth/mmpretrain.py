"""mmpretrain's own functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from zoo_truth.openmmlab import losses_of
from zoo_truth.tensors import constant, logits


def focal(t: np.ndarray, label: int, **parameters: Any) -> np.ndarray:
    function = losses_of("mmpretrain", "focal_loss").sigmoid_focal_loss
    return function(logits(t)[:, None], constant(t, label)[:, None], reduction="none", **parameters).numpy()[:, 0]


def asymmetric(t: np.ndarray, label: int, **parameters: Any) -> np.ndarray:
    function = losses_of("mmpretrain", "asymmetric_loss").asymmetric_loss
    return function(logits(t)[:, None], constant(t, label)[:, None], reduction="none", **parameters).numpy()[:, 0]


def asymmetric_class(t: np.ndarray, label: int, **parameters: Any) -> np.ndarray:
    loss = losses_of("mmpretrain", "asymmetric_loss").AsymmetricLoss(reduction="none", **parameters)
    both = np.stack([t, t], axis=1)  # one column would be taken for class numbers
    target = constant(t, label)[:, None].repeat(1, 2)
    return loss(logits(both), target).numpy()[:, 0]


LOSSES = {
    "mmpretrain.models.losses.AsymmetricLoss": asymmetric_class,
    "mmpretrain.models.losses.FocalLoss": focal,
    "mmpretrain.models.losses.asymmetric_loss.asymmetric_loss": asymmetric,
}
PARAMETERS = {
    "mmpretrain.models.losses.AsymmetricLoss": [{"gamma_neg": 2.5, "clip": 0.2}],
    "mmpretrain.models.losses.FocalLoss": [{"alpha": 0.4, "gamma": 3.0}],
    "mmpretrain.models.losses.asymmetric_loss.asymmetric_loss": [{"gamma_pos": 2.5, "clip": 0.2, "eps": 1e-3}],
}
