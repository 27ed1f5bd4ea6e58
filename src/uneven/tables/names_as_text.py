"""The names of columns in the state of an estimator: one text, because a model file takes long for each object."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

_NAMES = "feature_names_in_"


def with_text(state: dict[str, Any]) -> dict[str, Any]:
    """The state to store: with one text in place of the names."""
    names = state.get(_NAMES)
    if names is None or not all(type(name) is str for name in names):
        return state
    return {**state, _NAMES: json.dumps(list(names))}


def with_names(state: dict[str, Any]) -> dict[str, Any]:
    """The state that was stored: with the names again."""
    names = state.get(_NAMES)
    return {**state, _NAMES: np.array(json.loads(names), dtype=object)} if isinstance(names, str) else state
