"""Memory and determinism of the linear learner."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from linear_data import binary

from uneven import UnevenLinearClassifier as Linear

PEAK = """
import resource, sys, threading
import numpy as np
from uneven import UnevenLinearClassifier as Linear

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

class Watch(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.done, self.peak = threading.Event(), 0
    def run(self):
        while not self.done.wait(0.0005):
            self.peak = max(self.peak, resident())

random = np.random.default_rng(0)
n, d = 400_000, 50
X = np.empty((n, d), dtype=sys.argv[1])
for start in range(0, n, 10_000):
    X[start:start + 10_000] = random.standard_normal((10_000, d), dtype=np.float32)
y = (X[:, :3].sum(axis=1) + random.logistic(size=n) > 3).astype(np.int8)
for order in "CF":
    X = np.asarray(X, order=order)
    for loss in ("logistic", "hinge"):
        model = Linear(loss, fn_cost=9, margin_gamma=2, C=0.01, tol=1e-4)
        model.fit(X, y)  # compiled code and libraries are not the fit's, and fewer rows may need other ones
        X.sum()  # the system may have put pages of X aside; coming back, they would count as the fit's
        watch, before = Watch(), resident()
        watch.start()
        model.fit(X, y)
        watch.done.set()
        print(order, loss, (watch.peak - before) / X.nbytes)
"""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads the resident size where Linux keeps it")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_peak_extra_memory_is_a_small_part_of_the_data(dtype: str) -> None:
    done = subprocess.run([sys.executable, "-c", PEAK, dtype], capture_output=True, text=True, check=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    assert len(lines) == 4
    most = 0.25 if dtype == "float32" else 0.15  # vectors with a double for each row weigh twice as much
    for order, loss, share in lines:
        assert float(share) < most, (order, loss)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "sigmoid"])
def test_the_same_every_time_and_for_any_number_of_threads(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = binary(60_000, 10, seed=2)
    first = Linear(loss, fn_cost=3, C=0.01, random_state=0).fit(X, y)
    assert np.array_equal(first.coef_, Linear(loss, fn_cost=3, C=0.01, random_state=0).fit(X, y).coef_)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert np.array_equal(first.coef_, Linear(loss, fn_cost=3, C=0.01, random_state=0).fit(X, y).coef_)
    other = Linear(loss, fn_cost=3, C=0.01, random_state=1).fit(X, y)
    assert np.isclose(other.objective_, first.objective_, rtol=1e-5 if loss != "sigmoid" else 1e-3)
