"""Hypothesis profile: reproducible, no deadline on a noisy machine."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "uneven", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
settings.load_profile("uneven")
