"""The own gradients of imbalance-xgboost."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from zoo_truth.bare import bare

TOLERANCE = 1e-6  # it adds 1e-9 inside the logarithm
_WEIGHTED, _FOCAL = "imxgboost.weighted_loss.Weight_Binary_Cross_Entropy", "imxgboost.focal_loss.Focal_Binary_Loss"


def _rows(t: np.ndarray, label: int) -> SimpleNamespace:
    return SimpleNamespace(get_label=lambda: np.full(t.size, float(label)))


def weighted(t: np.ndarray, label: int, imbalance_alpha: float) -> np.ndarray:
    loss = bare("imxgboost.weighted_loss").Weight_Binary_Cross_Entropy(imbalance_alpha)
    return loss.weighted_binary_cross_entropy(t, _rows(t, label))[0]


def focal(t: np.ndarray, label: int, gamma_indct: float) -> np.ndarray:
    return bare("imxgboost.focal_loss").Focal_Binary_Loss(gamma_indct).focal_binary_object(t, _rows(t, label))[0]


SLOPES = {_WEIGHTED: weighted, _FOCAL: focal}
PARAMETERS = {_WEIGHTED: [{"imbalance_alpha": 0.3}], _FOCAL: [{"gamma_indct": 1.5}]}
