"""The whole state of a monitor as plain data, for one file."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from uneven.costs import GivenCosts
from uneven.errors import UnevenError
from uneven.inputs import brief
from uneven.metrics.cost_sequence import CostSequence
from uneven.metrics.intervals import CostEstimate
from uneven.monitor.batches import Alarm, Batch
from uneven.monitor.cost_alarm import CostAlarm
from uneven.monitor.drift import ColumnDrift, ColumnReference, ScoreReference
from uneven.monitor.estimated_cost import EstimatedCost
from uneven.monitor.prevalence import PrevalenceEstimate, ScoredReference
from uneven.monitor.waiting_rows import WaitingRows, pack, unpack
from uneven.monitor.watched_model import WatchedModel

if TYPE_CHECKING:
    from uneven.monitor.cost_monitor import CostMonitor

#: Format of a saved state: another one is refused.
FORMAT = 1


def write_state(monitor: CostMonitor) -> dict[str, Any]:
    """All that a monitor knows, without the model."""
    reference = monitor._reference
    return {
        "format": FORMAT,
        "model": monitor._watched.identity(),
        "given": {name: value for name, value in monitor._given.known.items() if not np.ndim(value)},
        "reference": {
            "log_odds": pack(reference.log_odds),
            "is_positive": pack(reference.is_positive.astype(np.int8)),
            "flagged": pack(reference.flagged.astype(np.int8)),
            "weight": pack(reference.weight.astype(np.float64)),
        },
        "scores": monitor._scores.counts,
        "same_model": monitor._same_model,
        "expected": monitor.expected_cost.to_dict(),
        "range": [monitor._least, monitor._most],
        "in_use": asdict(monitor._in_use),
        "corrected": monitor._decides is not monitor._watched,
        "episodes": monitor._episodes,
        "columns": [column.to_dict() for column in monitor._columns.values()],
        "realised": monitor.realised.to_dict(),
        "alarm": monitor._alarm.to_dict(),
        "batches": [asdict(one) for one in monitor.batches],
        "alarms": [asdict(one) for one in monitor.alarms],
        "waiting": {name: rows.to_dict() for name, rows in monitor._waiting.items()},
    }


def read_state(monitor: CostMonitor, state: Any, model: Any, pos_label: Any) -> None:
    """Fill an empty monitor from its state; an error says what is wrong with it."""
    if not isinstance(state, dict) or state.get("format") != FORMAT:
        shown = state.get("format") if isinstance(state, dict) else state
        raise UnevenError(f"this is no state of a monitor of format {FORMAT}, got {brief(shown)}")
    try:
        _fill(monitor, state, model, pos_label)
    except UnevenError:
        raise
    except Exception as error:  # a damaged state may raise any type of error
        raise UnevenError(f"the state of the monitor is damaged ({type(error).__name__}: {error})") from None


def _fill(monitor: CostMonitor, state: dict[str, Any], model: Any, pos_label: Any) -> None:
    monitor._given = GivenCosts(**state["given"])
    monitor._watched = monitor._decides = WatchedModel(model, monitor._given, pos_label)
    if monitor._watched.identity() != state["model"]:
        was, now = state["model"], monitor._watched.identity()
        raise UnevenError(
            f"this state is of another model: {was.get('type')} at {was.get('costs')}, and this is {now['type']} at "
            f"{now['costs']}"
        )
    kept = state["reference"]
    monitor._reference = ScoredReference(
        unpack(kept["log_odds"]),
        unpack(kept["is_positive"]).astype(bool),
        unpack(kept["flagged"]).astype(bool),
        unpack(kept["weight"]),
    )
    monitor._same_model = bool(state["same_model"])
    negative, positive = state["scores"]
    monitor._scores = ScoreReference((tuple(negative), tuple(positive)))
    monitor.expected_cost = CostEstimate(**state["expected"])
    monitor._least, monitor._most = state["range"]
    monitor._in_use = PrevalenceEstimate(**state["in_use"])
    monitor._episodes = int(state["episodes"])
    monitor._columns = {one["name"]: ColumnReference.from_dict(one) for one in state["columns"]}
    monitor.realised = CostSequence.from_dict(state["realised"])
    monitor._alarm = CostAlarm.from_dict(state["alarm"])
    monitor.promise = monitor._alarm.promise
    monitor.batches = [_read_batch(one) for one in state["batches"]]
    monitor.alarms = [Alarm(**one) for one in state["alarms"]]
    monitor._waiting = {name: WaitingRows.from_dict(rows) for name, rows in state["waiting"].items()}
    if state["corrected"]:
        changed = monitor._watched.with_prevalence(monitor._in_use.value)
        monitor._decides = WatchedModel(changed, monitor._given)


def _read_batch(state: dict[str, Any]) -> Batch:
    parts = dict(state)
    parts["estimate"] = EstimatedCost(**parts["estimate"])
    parts["prevalence"] = PrevalenceEstimate(**parts["prevalence"])
    parts["by_decisions"] = PrevalenceEstimate(**parts["by_decisions"])
    parts["drift"] = [ColumnDrift(**one) for one in parts["drift"]]
    parts["realised"] = None if parts["realised"] is None else CostEstimate(**parts["realised"])
    return Batch(**parts)
