"""CatBoost's own metrics, and the class weights that a trained model reports."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


def _metric(t: np.ndarray, label: int, metric: str) -> np.ndarray:
    utils = pytest.importorskip("catboost.utils", reason="a package of the extra dev")
    return np.array([utils.eval_metric([label], [float(x)], metric, thread_count=1)[0] for x in t])


def logloss(
    t: np.ndarray,
    label: int,
    class_weights: Any = None,
    scale_pos_weight: float = 1.0,
    auto_class_weights: Any = None,
    counts: Any = None,
) -> np.ndarray:
    weights = class_weights if class_weights is not None else (1.0, scale_pos_weight)
    if auto_class_weights is not None:
        catboost = pytest.importorskip("catboost", reason="a package of the extra dev")
        y = np.repeat([0, 1], [int(count) for count in counts])
        model = catboost.CatBoostClassifier(
            iterations=1,
            auto_class_weights=auto_class_weights,
            verbose=False,
            allow_writing_files=False,
            thread_count=1,
        ).fit(y[:, None].astype(float), y)
        weights = model.get_all_params()["class_weights"]
    return weights[label] * _metric(t, label, "Logloss")


def focal(t: np.ndarray, label: int, focal_alpha: float, focal_gamma: float) -> np.ndarray:
    return _metric(t, label, f"Focal:focal_alpha={focal_alpha};focal_gamma={focal_gamma}")


_FOCAL = "catboost.CatBoostClassifier(loss_function='Focal')"
TOLERANCE = 1e-5  # class weights are kept in single precision
LOSSES = {"catboost.CatBoostClassifier": logloss, _FOCAL: focal}
PARAMETERS = {
    "catboost.CatBoostClassifier": [{"auto_class_weights": "SqrtBalanced", "counts": (70, 930)}],
    _FOCAL: [{"focal_alpha": 0.9, "focal_gamma": 1.5}],
}
