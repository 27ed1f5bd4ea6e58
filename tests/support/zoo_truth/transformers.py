"""The own function of transformers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from zoo_truth.bare import bare
from zoo_truth.tensors import one_by_one

_NAME = "transformers.loss.loss_for_object_detection.sigmoid_focal_loss"


def focal(t: np.ndarray, label: int, **parameters: Any) -> np.ndarray:
    function = bare(
        "transformers.loss.loss_for_object_detection",
        transformers__utils={
            "is_scipy_available": lambda: False,
            "is_vision_available": lambda: False,
            "requires_backends": print,
            "is_accelerate_available": lambda: False,
            "logging": SimpleNamespace(get_logger=print),
        },
    ).sigmoid_focal_loss
    return one_by_one(lambda z, y: function(z, y, 1, **{"alpha": 0.25, "gamma": 2, **parameters}), t, label)


LOSSES = {_NAME: focal}
PARAMETERS = {_NAME: [{"alpha": 0.4, "gamma": 1.5}]}
