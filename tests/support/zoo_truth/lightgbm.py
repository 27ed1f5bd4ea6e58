"""LightGBM's own gradients, read off two leaves: with a large lambda they are -gradient/lambda."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

TOLERANCE = 1e-5
GRID = np.array([-6.0, -2.0, -0.5, 0.25, 0.75, 3.0, 8.0])
_LAMBDA = 1e10  # much more than the sum of 1,000 hessians


def slope(t: np.ndarray, label: int, counts: Any = (20, 20), **parameters: Any) -> np.ndarray:
    lightgbm = pytest.importorskip("lightgbm", reason="a package of the extra dev")
    negatives, positives = (int(count) for count in counts)
    y = np.repeat([0, 1], [negatives, positives])
    settings = {
        "objective": "binary",
        "lambda_l2": _LAMBDA,
        "learning_rate": 1.0,
        "num_leaves": 2,
        "min_data_in_leaf": 1,
        "min_data_in_bin": 1,
        "min_sum_hessian_in_leaf": 0,
        "feature_pre_filter": False,
        "verbose": -1,
        "num_threads": 1,
    }
    found = []
    for x in t:
        data = lightgbm.Dataset(y[:, None].astype(float), label=y, init_score=np.full(y.size, x))
        booster = lightgbm.train({**settings, **parameters}, data, num_boost_round=1)
        leaf = booster.predict(np.array([[float(label)]]), raw_score=True)[0]
        found.append(-leaf * _LAMBDA / (positives if label else negatives))
    return np.array(found)


SLOPES = {"lightgbm.LGBMClassifier": slope}
PARAMETERS = {"lightgbm.LGBMClassifier": [{"scale_pos_weight": 3.0}, {"is_unbalance": True, "counts": (5, 20)}]}
