"""XGBoost's own gradients, read off the leaf of one tree: with a large lambda it is -gradient/lambda."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

TOLERANCE = 1e-5
GRID = np.array([-6.0, -2.0, -0.5, 0.25, 0.75, 3.0, 8.0])
_LAMBDA = 1e7


def slope(t: np.ndarray, label: int, **parameters: Any) -> np.ndarray:
    xgboost = pytest.importorskip("xgboost", reason="a package of the extra dev")
    found = []
    for x in t:
        data = xgboost.DMatrix(np.zeros((1, 1)), label=[label], base_margin=[x])
        settings = {"objective": "binary:logistic", "lambda": _LAMBDA, "eta": 1.0, "min_child_weight": 0, "nthread": 1}
        booster = xgboost.train({**settings, **parameters}, data, num_boost_round=1)
        leaf = json.loads(booster.get_dump(dump_format="json")[0])["leaf"]
        found.append(-leaf * _LAMBDA)
    return np.array(found)


SLOPES = {"xgboost.XGBClassifier": slope}
PARAMETERS = {"xgboost.XGBClassifier": [{"objective": "binary:hinge", "scale_pos_weight": 3.0}]}
