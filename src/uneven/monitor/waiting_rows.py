"""Decided rows whose labels come later, until they have them."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.costs import COSTS, RowCosts
from uneven.metrics.intervals import CostEstimate, estimates
from uneven.monitor.watched_model import UNKNOWN


@dataclass
class WaitingRows:
    """The rows of one batch.

    Attributes
    ----------
    flagged : ndarray of bool
    costs : RowCosts
    label : ndarray of int8
        1 for positive, 0 for negative, -1 if it is not known yet.
    ids : list of str or None
    """

    flagged: np.ndarray
    costs: RowCosts
    label: np.ndarray
    ids: list[str] | None

    def paid(self, rows: np.ndarray) -> np.ndarray:
        """What the decisions on some labelled rows cost."""
        return np.asarray(self.costs.take(rows).paid(self.label[rows] == 1, self.flagged[rows]), dtype=np.float64)

    def estimate(self) -> CostEstimate | None:
        """The mean cost of the labelled rows, with an interval for rows like them."""
        known = np.flatnonzero(self.label != UNKNOWN)
        if not known.size:
            return None
        said = self.flagged[known][None]
        return estimates(self.costs.take(known), self.label[known] == 1, {"realised": said})[0]

    def to_dict(self) -> dict[str, Any]:
        """The rows as plain data: arrays are texts."""
        return {
            "flagged": pack(self.flagged.astype(np.int8)),
            "label": pack(self.label),
            "ids": self.ids,
            "by_row": list(self.costs.by_row),
            "costs": {
                name: pack(value) if isinstance(value := getattr(self.costs, name), np.ndarray) else float(value)
                for name in COSTS
            },
        }

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> WaitingRows:
        """The rows that :meth:`to_dict` told of."""
        flagged = unpack(state["flagged"]).astype(bool)
        four = {name: unpack(value) if isinstance(value, dict) else value for name, value in state["costs"].items()}
        costs = RowCosts(flagged.size, **four, by_row=tuple(state["by_row"]))
        return cls(flagged, costs, unpack(state["label"]).copy(), state["ids"])


def pack(array: np.ndarray) -> dict[str, str]:
    """An array as text."""
    plain = np.ascontiguousarray(array)
    return {"type": plain.dtype.str, "data": base64.b64encode(plain.tobytes()).decode()}


def unpack(state: dict[str, str]) -> np.ndarray:
    """The array that a text holds."""
    kind = np.dtype(state["type"])
    if kind.kind not in "fib":
        raise ValueError("not an array of numbers")
    return np.frombuffer(base64.b64decode(state["data"], validate=True), dtype=kind)
