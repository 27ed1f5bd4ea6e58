"""Encoders side by side, each for some columns of a table."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer

from uneven.learners.names_as_text import with_names, with_text


class Blocks(ColumnTransformer):  # type: ignore[misc]
    """A ColumnTransformer for thousands of columns.

    Columns are given by position (see :func:`positions`): scikit-learn looks for each name in the list of all names,
    which takes time with the square of their number. The names and positions that it keeps are one text in a model
    file, which takes long for each object.
    """

    def __getstate__(self) -> dict[str, Any]:
        state = {**with_text(super().__getstate__())}
        places = state.pop("_transformer_to_input_indices", None)
        if places is not None:
            state["places"] = json.dumps({name: [int(k) for k in at] for name, at in places.items()})
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = {**with_names(state)}
        if "places" in state:
            state["_transformer_to_input_indices"] = json.loads(state.pop("places"))
        super().__setstate__(state)


def positions(made: list[str], *blocks: tuple[str, Any, list[str]]) -> list[tuple[str, Any, np.ndarray]]:
    """The blocks with the positions of their columns among those that are ``made``, in place of their names."""
    at = {name: k for k, name in enumerate(made)}
    return [
        (name, encoder, np.array([at[column] for column in columns], dtype=int)) for name, encoder, columns in blocks
    ]
