"""The own class of balanced-loss."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoo_truth.tensors import classes, two_columns


def balanced(t: np.ndarray, label: int, samples_per_class: Any = None, **parameters: Any) -> np.ndarray:
    library = pytest.importorskip("balanced_loss", reason="make test-zoo installs it")
    counts = None if samples_per_class is None else [float(count) for count in samples_per_class]
    loss = library.Loss(samples_per_class=counts, **parameters)
    return np.array(
        [float(loss(two_columns(t[k : k + 1]).float(), classes(t[k : k + 1], label))) for k in range(t.size)]
    )


TOLERANCE = 1e-5
LOSSES = {"balanced_loss.Loss": balanced}
PARAMETERS = {"balanced_loss.Loss": [{"class_balanced": True, "beta": 0.9, "samples_per_class": (3, 50)}]}
