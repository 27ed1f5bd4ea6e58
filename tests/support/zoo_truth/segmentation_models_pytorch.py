"""The own functions of segmentation_models_pytorch."""

from __future__ import annotations

from typing import Any

import numpy as np

from zoo_truth.bare import bare
from zoo_truth.focal import kept_rows
from zoo_truth.tensors import one_by_one

_CLASS = "segmentation_models_pytorch.losses.FocalLoss"
_FUNCTION = "segmentation_models_pytorch.losses._functional.focal_loss_with_logits"


def by_class(t: np.ndarray, label: int, **parameters: Any) -> np.ndarray:
    loss = bare("segmentation_models_pytorch.losses.focal").FocalLoss("binary", **parameters)
    return one_by_one(loss, t, label)


LOSSES = {
    _CLASS: by_class,
    _FUNCTION: kept_rows(
        lambda: bare("segmentation_models_pytorch.losses._functional").focal_loss_with_logits, reduction="none"
    ),
}
PARAMETERS = {
    _CLASS: [{"alpha": 0.4, "gamma": 1.5}],
    _FUNCTION: [{"alpha": 0.4, "gamma": 1.5, "reduced_threshold": 0.3}],
}
