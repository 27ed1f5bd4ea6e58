"""KerasCV's own class, on Keras instead of TensorFlow, in single precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from zoo_truth import keras as keras_truth
from zoo_truth.bare import bare
from zoo_truth.keras import columns, keras_itself, numbers

TOLERANCE = 1e-4
GRID = keras_truth.GRID


def focal(t: np.ndarray, label: int, **parameters: Any) -> np.ndarray:
    keras = keras_itself()
    module = bare(
        "keras_cv.src.losses.focal",
        keras_cv__src__api_export={"keras_cv_export": lambda name: lambda thing: thing},
        keras_cv__src__backend={"keras": keras, "ops": keras.ops},
    )
    return numbers(module.FocalLoss(from_logits=True, reduction=None, **parameters)(*columns(t, label)))


LOSSES = {"keras_cv.losses.FocalLoss": focal}
PARAMETERS = {"keras_cv.losses.FocalLoss": [{"label_smoothing": 0.4, "alpha": 0.3}, {"alpha": 0.3, "gamma": 1.5}]}
