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


def what_goes_wrong(fit: Any) -> list[str] | None:
    """The kind and the words of the error, if there is one."""
    try:
        fit()
    except Exception as error:
        return [type(error).__name__, str(error)]
    return None


class Trainings:
    """Training through both libraries on a cluster."""

    def __init__(self, client: Any, folder: Path) -> None:
        import dask.array as da

        X, y = data(600)
        self.client, self.folder = client, folder
        self.rows, self.labels = da.from_array(X, chunks=(300, 3)), da.from_array(y.astype(float), chunks=300)
        self.loss = uneven.adapters.xgboost.objective("logistic", **COSTS)
        self.start = self.loss.start(y)
        self.initial = da.full(y.size, self.start, chunks=300)

    def xgboost(self) -> np.ndarray:
        import xgboost.dask

        objective = Deadly(self.loss, self.folder / "xgboost")
        model = xgboost.dask.DaskXGBRegressor(
            objective=objective, base_score=self.start, n_estimators=ROUNDS, max_depth=3
        )
        model.client = self.client
        return np.asarray(model.fit(self.rows, self.labels).predict(self.rows).compute())

    def lightgbm(self) -> np.ndarray:
        import lightgbm.dask

        objective = Deadly(self.loss, self.folder / "lightgbm")
        model = lightgbm.dask.DaskLGBMRegressor(
            client=self.client, objective=objective, n_estimators=ROUNDS, max_depth=3, verbosity=-1
        )
        model.fit(self.rows, self.labels, init_score=self.initial)
        return np.asarray(self.start + model.predict(self.rows).compute())


def main() -> None:
    import distributed

    warnings.simplefilter("ignore")  # of other libraries: about the lost worker, and about ports
    found: dict[str, dict[str, Any]] = {"xgboost": {}, "lightgbm": {}}
    given = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with distributed.LocalCluster(**given) as cluster, distributed.Client(cluster) as client:
            for library, result in found.items():
                client.wait_for_workers(2)  # the one that died was replaced
                result["error"] = what_goes_wrong(getattr(Trainings(client, folder), library))
                result["died"] = (folder / library).exists()
        with distributed.LocalCluster(**given) as cluster, distributed.Client(cluster) as client:
            for library, result in found.items():
                result["scores"] = getattr(Trainings(client, folder), library)().tolist()
    Path(sys.argv[1]).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
