"""Run as a program, `dask_training.py LIBRARY FOLDER [dying]`: trains through Dask, and writes what came of it as JSON.

With `dying`, one worker kills itself in the middle. A program of its own, so that a test can end it if a library waits
for the dead worker for ever.
"""

from __future__ import annotations

import json
import os
import signal
import sys
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


class Training:
    """Training through both libraries on a cluster; a worker dies if there is a `marker` to say so."""

    def __init__(self, client: Any, marker: Path | None) -> None:
        import dask.array as da

        X, y = data(600)
        self.client = client
        self.rows, self.labels = da.from_array(X, chunks=(300, 3)), da.from_array(y.astype(float), chunks=300)
        loss = uneven.adapters.xgboost.objective("logistic", **COSTS)
        self.start = loss.start(y)
        self.initial = da.full(y.size, self.start, chunks=300)
        self.objective = loss if marker is None else Deadly(loss, marker)

    def xgboost(self) -> np.ndarray:
        import xgboost.dask

        model = xgboost.dask.DaskXGBRegressor(
            objective=self.objective, base_score=self.start, n_estimators=ROUNDS, max_depth=3
        )
        model.client = self.client
        return np.asarray(model.fit(self.rows, self.labels).predict(self.rows).compute())

    def lightgbm(self) -> np.ndarray:
        import lightgbm.dask

        model = lightgbm.dask.DaskLGBMRegressor(
            client=self.client, objective=self.objective, n_estimators=ROUNDS, max_depth=3, verbosity=-1
        )
        model.fit(self.rows, self.labels, init_score=self.initial)
        return np.asarray(self.start + model.predict(self.rows).compute())


def main(library: str, folder: Path, *, dying: bool) -> None:
    import distributed

    warnings.simplefilter("ignore")  # of other libraries: about the lost worker, and about ports
    given = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "dashboard_address": ":0",
    }  # any free port: Dask leaves a socket open if its usual one is taken
    with distributed.LocalCluster(**given) as cluster, distributed.Client(cluster, timeout=600) as client:
        training = Training(client, folder / "died" if dying else None)
        try:
            found: dict[str, Any] = {"scores": getattr(training, library)().tolist()}
        except Exception as error:
            found = {"error": [type(error).__name__, str(error)]}
        whole = folder / "answer.part"
        whole.write_text(json.dumps(found), encoding="utf-8")
        whole.rename(folder / "answer.json")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), dying="dying" in sys.argv[3:])
