"""timm's own classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from zoo_truth.bare import bare
from zoo_truth.tensors import classes, gradient_of_sum, one_by_one, two_columns

_MULTI = "timm.loss.AsymmetricLossMultiLabel"


def multi_label(t: np.ndarray, label: int, **parameters: Any) -> np.ndarray:
    return one_by_one(bare("timm.loss.asymmetric_loss").AsymmetricLossMultiLabel(**parameters), t, label)


def multi_label_slope(t: np.ndarray, label: int, **parameters: Any) -> np.ndarray:
    return gradient_of_sum(bare("timm.loss.asymmetric_loss").AsymmetricLossMultiLabel(**parameters), t, label)


def single_label(t: np.ndarray, label: int, **parameters: Any) -> np.ndarray:
    loss = bare("timm.loss.asymmetric_loss").AsymmetricLossSingleLabel(reduction="none", **parameters)
    return loss(two_columns(t), classes(t, label)).numpy()


def binary(t: np.ndarray, label: int, num_classes: float = 2, **parameters: Any) -> np.ndarray:
    """The first of the columns, which is the target or is not."""
    import torch

    z = torch.tensor(t, dtype=torch.float64)[:, None].repeat(1, int(num_classes))
    target = torch.full((t.size,), 1 - label, dtype=torch.long)
    return (
        bare("timm.loss.binary_cross_entropy")
        .BinaryCrossEntropy(reduction="none", **parameters)(z, target)
        .numpy()[:, 0]
    )


LOSSES = {
    _MULTI: multi_label,
    "timm.loss.AsymmetricLossSingleLabel": single_label,
    "timm.loss.BinaryCrossEntropy": binary,
}
SLOPES = {_MULTI: multi_label_slope}
PARAMETERS = {
    _MULTI: [
        {"gamma_neg": 2, "gamma_pos": 3, "clip": 0.2},
        {"gamma_neg": 2, "gamma_pos": 3, "clip": 0.2, "disable_torch_grad_focal_loss": True},
    ],
    "timm.loss.AsymmetricLossSingleLabel": [{"gamma_pos": 0.5, "gamma_neg": 2.0, "eps": 0.3}],
    "timm.loss.BinaryCrossEntropy": [{"smoothing": 0.3, "pos_weight": 3.0, "num_classes": 5}],
}
