"""Our objectives in the Dask estimators of XGBoost and LightGBM, on a local cluster that loses a worker."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tree_models import data

import uneven

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # of other libraries: about the lost worker, and about ports


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster, timeout=120) as client,
    ):
        yield client


def kill_one(client: Any) -> None:
    """Kill a worker's process, with the data that it holds; its nanny starts another one."""
    before = set(client.scheduler_info()["workers"])
    os.kill(next(iter(client.cluster.workers.values())).pid, signal.SIGKILL)
    ends = time.monotonic() + 120
    while time.monotonic() < ends:
        now = set(client.scheduler_info()["workers"])
        if len(now) == 2 and now != before:
            return
        time.sleep(0.1)
    raise TimeoutError("the killed worker was not replaced")


def test_dask_estimators_take_our_objectives(client: Any) -> None:
    import dask.array as da
    import lightgbm.dask
    import xgboost.dask

    X, y = data(600)
    rows, labels = client.persist((da.from_array(X, chunks=(300, 3)), da.from_array(y.astype(float), chunks=300)))
    loss = uneven.adapters.xgboost.objective("logistic", fn_cost=9, margin_gamma=2)
    start = loss.start(y)
    kill_one(client)
    model = xgboost.dask.DaskXGBRegressor(objective=loss, base_score=start, n_estimators=10, max_depth=3)
    model.client = client
    score = np.asarray(model.fit(rows, labels).predict(rows).compute())
    alone = uneven.UnevenXGBClassifier(fn_cost=9, margin_gamma=2, n_estimators=10, max_depth=3, n_jobs=1).fit(X, y)
    assert np.corrcoef(score, alone.decision_function(X))[0, 1] > 0.95  # bins are found part by part
    light = lightgbm.dask.DaskLGBMRegressor(client=client, objective=loss, n_estimators=10, verbosity=-1)
    initial = da.full(y.size, start, chunks=300)
    other = start + np.asarray(light.fit(rows, labels, init_score=initial).predict(rows).compute())
    for each in (score, other):
        cost = uneven.metrics.expected_cost(y, (each > 0).astype(int), fn_cost=9)
        assert cost < 0.9 * min(9 * y.mean(), 1 - y.mean())
