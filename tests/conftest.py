"""Hypothesis profile: reproducible, no deadline on a noisy machine. Warnings that PyTorch and Dask raise themselves."""

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "uneven", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
settings.load_profile("uneven")

_OWN_WARNINGS = (
    "ignore:.*should not be instantiated:DeprecationWarning",  # its tracer makes an instance of autograd.Function
    "ignore:.*torch.jit.script.*:DeprecationWarning",  # its forward mode loads TorchScript
    "ignore:Creating scratch directories is taking:UserWarning",  # Dask, on a loaded machine
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "adapters" in item.path.parts:
            for warning in _OWN_WARNINGS:
                item.add_marker(pytest.mark.filterwarnings(warning))
