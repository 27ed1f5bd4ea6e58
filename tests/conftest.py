"""Settings of all tests: threads that wait without work, Hypothesis without deadlines, the longest pages first."""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

# Threads of OpenMP and OpenBLAS spin while they wait. Beside a second worker that costs a third of all processor time.
# Set before NumPy is imported; processes that tests start inherit it.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

# Started in the background, as by `make test &`, the suite would ignore Ctrl-C, and so would processes that it starts.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "uneven", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
settings.load_profile("uneven")

# Nobody looks for doctests in these files: of two modules named conftest only one can be imported as a test.
collect_ignore_glob = ["conftest.py", "*/conftest.py"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A page of the documentation is one test: at the end, one worker would run it while the others have no work."""
    items.sort(key=lambda item: item.path.suffix != ".md")
