"""Our objectives in the Dask estimators of XGBoost and LightGBM, on a local cluster that loses a worker in training."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dask_training import COSTS, ROUNDS
from tree_models import data

import uneven

pytest.importorskip("distributed", reason="the extra dask is not installed")

#: Far more than it takes: the program is ended only if a library waits for ever.
SECONDS = 400
SUPPORT = Path(__file__).parents[1] / "support"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What came of training with each library, once while a worker dies and once more."""
    answer = tmp_path_factory.mktemp("dask") / "answer.json"
    paths = os.pathsep.join([str(SUPPORT), *filter(None, [os.environ.get("PYTHONPATH")])])
    program = subprocess.Popen(
        [sys.executable, SUPPORT / "dask_training.py", answer],
        env={**os.environ, "PYTHONPATH": paths},
        start_new_session=True,  # its workers end with it
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        said = program.communicate(timeout=SECONDS)[1]
    except subprocess.TimeoutExpired:
        os.killpg(program.pid, signal.SIGKILL)
        raise
    assert program.returncode == 0, said[-2000:]
    result: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
    return result


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_a_worker_that_dies_in_training_is_an_error_and_no_wrong_model(found: dict[str, Any], library: str) -> None:
    assert found[library]["died"]
    assert found[library]["error"] is not None  # an XGBoostError or LightGBMError, unless Dask notices first


def test_the_next_attempt_gives_the_right_model(found: dict[str, Any]) -> None:
    X, y = data(600)
    given = {**COSTS, "n_estimators": ROUNDS, "max_depth": 3, "n_jobs": 1}
    alone = {"xgboost": uneven.UnevenXGBClassifier(**given), "lightgbm": uneven.UnevenLGBMClassifier(**given)}
    for library, model in alone.items():
        score = np.array(found[library]["scores"])
        assert np.corrcoef(score, model.fit(X, y).decision_function(X))[0, 1] > 0.95  # bins are found part by part
        cost = uneven.metrics.expected_cost(y, (score > 0).astype(int), fn_cost=9)
        assert cost < 0.9 * min(9 * y.mean(), 1 - y.mean())
