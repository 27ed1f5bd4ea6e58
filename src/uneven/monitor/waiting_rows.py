"""Decided rows whose labels come later, until they have them; and what becomes of these labels."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.costs import COSTS, RowCosts
from uneven.errors import ParameterError
from uneven.inputs import brief
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


@dataclass(frozen=True)
class LateLabels:
    """What became of labels that came late.

    Attributes
    ----------
    added : int
    unknown : int
        Labels of rows that were never decided here.
    repeated : int
        Labels that were known already, and are the same.
    changed : int
        Labels that were known to be the other one: they are not counted again.
    """

    added: int
    unknown: int = 0
    repeated: int = 0
    changed: int = 0


def read_ids(ids: Any, count: int) -> list[str] | None:
    if ids is None:
        return None
    values = np.asarray(ids, dtype=object)
    if values.shape != (count,):
        raise ParameterError(f"ids must name each of {count:,} rows, got {brief(ids)}")
    names = [_name(value) for value in values]
    if len(set(names)) < count:
        seen: set[str] = set()
        again = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ParameterError(f"ids must differ: {again!r} occurs more than once")
    return names


def _name(value: Any) -> str:
    """A whole number held as a float has the name of the whole number."""
    return (
        str(int(value))
        if isinstance(value, float | np.floating) and math.isfinite(value) and value == int(value)
        else str(value)
    )


def find_rows(
    waiting: Mapping[str, WaitingRows], ids: list[str], label: np.ndarray
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], int]:
    """Where rows with these names wait, by batch, their labels, and how many wait nowhere."""
    wanted = dict(zip(ids, label.tolist(), strict=True))
    places, labels, found = {}, {}, 0
    for name, rows in waiting.items():
        if rows.ids is None:
            continue
        at = np.array([k for k, one in enumerate(rows.ids) if one in wanted], dtype=np.intp)
        if at.size:
            places[name], found = at, found + at.size
            labels[name] = np.array([wanted[rows.ids[k]] for k in at], dtype=np.int8)
    return places, labels, len(ids) - found


def match_labels(
    waiting: Mapping[str, WaitingRows], places: dict[str, np.ndarray], labels: dict[str, np.ndarray], unknown: int
) -> tuple[dict[str, tuple[np.ndarray, np.ndarray]], LateLabels]:
    """Places and labels of the rows, by batch, that get one now, and what became of all that came."""
    fresh, repeated, changed = {}, 0, 0
    for name, at in places.items():
        before, now = waiting[name].label[at], labels[name]
        told = now != UNKNOWN
        new = told & (before == UNKNOWN)
        repeated += int((told & ~new & (now == before)).sum())
        changed += int((told & ~new & (now != before)).sum())
        fresh[name] = (at[new], now[new])
    return fresh, LateLabels(sum(at.size for at, _ in fresh.values()), unknown, repeated, changed)


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
