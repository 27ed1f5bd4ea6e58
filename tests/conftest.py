"""Hypothesis profile: reproducible, no deadline on a noisy machine. The longest pages run first."""

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "uneven", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
settings.load_profile("uneven")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A page of the documentation is one test: at the end, one worker would run it while the others have no work."""
    items.sort(key=lambda item: item.path.suffix != ".md")
