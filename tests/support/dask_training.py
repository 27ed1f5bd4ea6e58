"""Run as a program: trains through Dask while one worker kills itself, and prints what came of it as JSON.

A program of its own, so that a test can end it if a library waits for the dead worker for ever.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from tree_models import data

import uneven
import uneven.adapters.xgboost

ROUNDS = 10
COSTS: dict[str, Any] = {"fn_cost": 9, "margin_gamma": 2}


class Deadly:
    """An objective whose third call in one of the processes, the first to come so far, kills that process."""

    def __init__(self, loss: Any, marker: Path) -> None:
        self.loss, self.marker, self.calls = loss, marker, 0

    def __call__(self, y: Any, score: Any, sample_weight: Any = None) -> Any:
        self.calls += 1
        if self.calls == 3:
            try:
                self.marker.touch(exist_ok=False)
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return self.loss(y, score, sample_weight)


def attempts(client: Any, fit: Any, marker: Path) -> dict[str, Any]:
    """What the attempt says in which a worker dies, and the scores of the next one, with new workers."""
    said = None
    try:
        fit()
    except Exception as error:
        said = [type(error).__name__, str(error)]
    died = marker.exists()
    client.restart(timeout=200)  # a worker of LightGBM that survived may keep the broken connection
    return {"died": died, "error": said, "scores": np.asarray(fit()).tolist()}


def main() -> None:
    import dask.array as da
    import distributed
    import lightgbm.dask
    import xgboost.dask

    warnings.simplefilter("ignore")  # of other libraries: about the lost worker, and about ports
    X, y = data(600)
    loss = uneven.adapters.xgboost.objective("logistic", **COSTS)
    start = loss.start(y)
    with (
        tempfile.TemporaryDirectory() as folder,
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        rows, labels = da.from_array(X, chunks=(300, 3)), da.from_array(y.astype(float), chunks=300)

        def with_xgboost() -> Any:
            objective = Deadly(loss, Path(folder, "xgboost"))
            model = xgboost.dask.DaskXGBRegressor(
                objective=objective, base_score=start, n_estimators=ROUNDS, max_depth=3
            )
            model.client = client
            return model.fit(rows, labels).predict(rows).compute()

        def with_lightgbm() -> Any:
            objective = Deadly(loss, Path(folder, "lightgbm"))
            model = lightgbm.dask.DaskLGBMRegressor(
                client=client, objective=objective, n_estimators=ROUNDS, max_depth=3, verbosity=-1
            )
            initial = da.full(y.size, start, chunks=300)
            return start + model.fit(rows, labels, init_score=initial).predict(rows).compute()

        found = {
            "xgboost": attempts(client, with_xgboost, Path(folder, "xgboost")),
            "lightgbm": attempts(client, with_lightgbm, Path(folder, "lightgbm")),
        }
    Path(sys.argv[1]).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
