"""Empulse's own metrics."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest


def rows(name: str) -> Callable[..., np.ndarray]:
    def computed(t: np.ndarray, label: int, **costs: float) -> np.ndarray:
        metrics = pytest.importorskip("empulse.metrics", reason="make test-zoo installs it")
        p = 1 / (1 + np.exp(-t))
        function = getattr(metrics, name)
        return np.array([function([label], [x], check_input=False, **costs) for x in p])

    return computed


LOSSES = {f"empulse.metrics.{name}": rows(name) for name in ("expected_cost_loss", "expected_log_cost_loss")}
PARAMETERS = {"empulse.metrics.expected_log_cost_loss": [{"tp_cost": -3.0, "tn_cost": -2.0, "fn_cost": -0.5}]}
