"""Our objectives in the Dask estimators of XGBoost and LightGBM, on a cluster that may lose a worker in training."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dask_training import COSTS, ROUNDS
from places import SUPPORT
from tree_models import data

import uneven

pytest.importorskip("distributed", reason="the extra dask is not installed")

LIBRARIES = ["xgboost", "lightgbm"]


def wait(until: Callable[[], bool], seconds: float) -> bool:
    """Whether it came true in this time."""
    end = time.monotonic() + seconds
    while not until():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def trained(library: str, folder: Path, *, dying: bool = False) -> dict[str, Any]:
    """What came of a training: the scores of a model, an error, or nothing if the library waited for ever."""
    folder.mkdir()
    answer = folder / "answer.json"
    paths = os.pathsep.join([str(SUPPORT), *filter(None, [os.environ.get("PYTHONPATH")])])
    with (folder / "said.txt").open("w") as said:
        program = subprocess.Popen(
            [sys.executable, SUPPORT / "dask_training.py", library, folder, *(["dying"] if dying else [])],
            env={**os.environ, "PYTHONPATH": paths},
            start_new_session=True,  # its workers end with it
            stdout=said,
            stderr=said,
        )
        try:
            ends = [answer, folder / "died"]
            wait(lambda: program.poll() is not None or any(path.exists() for path in ends), 400)
            wait(lambda: program.poll() is not None or answer.exists(), 20 if dying else 0)
        finally:
            with contextlib.suppress(ProcessLookupError):  # it has ended, and so have its workers
                os.killpg(program.pid, signal.SIGKILL)
            program.wait()
    if answer.exists():
        result: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
        return result
    return {"said": (folder / "said.txt").read_text(encoding="utf-8")[-2000:]}


@pytest.mark.slow
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_worker_that_dies_in_training_leaves_no_wrong_model(tmp_path: Path, library: str) -> None:
    found = trained(library, tmp_path / "fit", dying=True)
    assert (tmp_path / "fit" / "died").exists(), found
    assert "scores" not in found  # an error within seconds, mostly; the other worker may also wait for ever


@pytest.mark.slow
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_training_gives_the_model_of_one_machine(tmp_path: Path, library: str) -> None:
    for attempt in range(3):  # LightGBM chooses free ports first and opens them later: others may be faster
        found = trained(library, tmp_path / str(attempt))
        if "scores" in found:
            break
    score = np.array(found["scores"])
    X, y = data(600)
    given = {**COSTS, "n_estimators": ROUNDS, "max_depth": 3, "n_jobs": 1}
    alone = uneven.UnevenXGBClassifier(**given) if library == "xgboost" else uneven.UnevenLGBMClassifier(**given)
    assert np.corrcoef(score, alone.fit(X, y).decision_function(X))[0, 1] > 0.95  # bins are found part by part
    cost = uneven.metrics.expected_cost(y, (score > 0).astype(int), fn_cost=9)
    assert cost < 0.9 * min(9 * y.mean(), 1 - y.mean())
