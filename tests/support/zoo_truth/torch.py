"""PyTorch's own functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from zoo_truth.tensors import classes, constant, logits, two_columns


def _pair(weight: Any) -> Any:
    import torch

    return None if weight is None else torch.tensor(weight, dtype=torch.float64)


def bce(t: np.ndarray, label: int, pos_weight: float = 1.0) -> np.ndarray:
    import torch

    loss = torch.nn.BCEWithLogitsLoss(pos_weight=torch.tensor(pos_weight, dtype=torch.float64), reduction="none")
    return loss(logits(t), constant(t, label)).numpy()


def cross_entropy(t: np.ndarray, label: int, weight: Any = None, label_smoothing: float = 0.0) -> np.ndarray:
    import torch

    loss = torch.nn.CrossEntropyLoss(weight=_pair(weight), label_smoothing=label_smoothing, reduction="none")
    return loss(two_columns(t), classes(t, label)).numpy()


def multi_margin(t: np.ndarray, label: int, weight: Any = None, p: float = 1, margin: float = 1.0) -> np.ndarray:
    import torch

    loss = torch.nn.MultiMarginLoss(p=int(p), margin=margin, weight=_pair(weight), reduction="none")
    return loss(two_columns(t), classes(t, label)).numpy()


def multi_label(t: np.ndarray, label: int) -> np.ndarray:
    import torch

    return torch.nn.MultiLabelSoftMarginLoss(reduction="none")(logits(t)[:, None], constant(t, label)[:, None]).numpy()


def soft_margin(t: np.ndarray, label: int) -> np.ndarray:
    import torch

    return torch.nn.SoftMarginLoss(reduction="none")(logits(t), 2 * constant(t, label) - 1).numpy()


def squared(t: np.ndarray, label: int) -> np.ndarray:
    import torch

    return torch.nn.MSELoss(reduction="none")(logits(t).sigmoid(), constant(t, label)).numpy()


def absolute(t: np.ndarray, label: int) -> np.ndarray:
    import torch

    return torch.nn.L1Loss(reduction="none")(logits(t).sigmoid(), constant(t, label)).numpy()


LOSSES = {
    "torch.nn.BCEWithLogitsLoss": bce,
    "torch.nn.CrossEntropyLoss": cross_entropy,
    "torch.nn.L1Loss": absolute,
    "torch.nn.MSELoss": squared,
    "torch.nn.MultiLabelSoftMarginLoss": multi_label,
    "torch.nn.MultiMarginLoss": multi_margin,
    "torch.nn.SoftMarginLoss": soft_margin,
}
PARAMETERS = {
    "torch.nn.BCEWithLogitsLoss": [{"pos_weight": 0.3}],
    "torch.nn.CrossEntropyLoss": [{"weight": (2.5, 0.4), "label_smoothing": 0.35}],
    "torch.nn.MultiMarginLoss": [{"weight": (2, 3), "p": 2, "margin": 0.5}],
}
