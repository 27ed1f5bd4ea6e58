"""A model in use: estimated and realised cost, prevalence without labels, drift in money, alarms that seldom err."""

from typing import TYPE_CHECKING

from uneven._lazy import on_first_use

if TYPE_CHECKING:
    from uneven.monitor.batches import Alarm as Alarm
    from uneven.monitor.batches import Batch as Batch
    from uneven.monitor.cost_alarm import CostAlarm as CostAlarm
    from uneven.monitor.cost_monitor import CostMonitor as CostMonitor
    from uneven.monitor.drift import ColumnDrift as ColumnDrift
    from uneven.monitor.estimated_cost import EstimatedCost as EstimatedCost
    from uneven.monitor.prevalence import PrevalenceEstimate as PrevalenceEstimate
    from uneven.monitor.waiting_rows import LateLabels as LateLabels

_HOME = {
    "Alarm": "uneven.monitor.batches",
    "Batch": "uneven.monitor.batches",
    "ColumnDrift": "uneven.monitor.drift",
    "CostAlarm": "uneven.monitor.cost_alarm",
    "CostMonitor": "uneven.monitor.cost_monitor",
    "EstimatedCost": "uneven.monitor.estimated_cost",
    "LateLabels": "uneven.monitor.waiting_rows",
    "PrevalenceEstimate": "uneven.monitor.prevalence",
}

__all__ = sorted(_HOME)  # noqa: PLE0605 - a list of strings
__getattr__, __dir__ = on_first_use(__name__, _HOME)
