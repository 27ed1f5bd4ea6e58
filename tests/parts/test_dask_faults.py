"""Fits and searches on a Dask cluster that loses workers or its scheduler."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import uneven
from uneven.errors import ClusterError

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")

import dask.array as da  # noqa: E402 - if it is there

from uneven.adapters.dask import DaskUnevenLinearClassifier  # noqa: E402
from uneven.parts import dask_parts  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # of distributed: about lost workers, and about ports

#: To wait for anything. Whoever waits in vain has failed anyway, so that much time costs nothing.
SECONDS = 600


class Cluster:
    """A scheduler and two workers, each a process of its own; the workers' nanny replaces those that die."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        tool = [sys.executable, "-m"]
        quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
        options = ["--scheduler-file", str(self.file), "--no-dashboard"]
        self.scheduler = subprocess.Popen(
            [*tool, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", *options], **quiet
        )
        self.processes = [self.scheduler]
        try:
            ends = time.monotonic() + SECONDS
            while not self.file.exists():
                if time.monotonic() > ends:
                    raise TimeoutError("the scheduler did not start")
                time.sleep(0.05)
            self.processes.append(
                subprocess.Popen(
                    [*tool, "distributed.cli.dask_worker", "--nworkers", "2", "--nthreads", "1", *options], **quiet
                )
            )
            self.client = distributed.Client(scheduler_file=str(self.file), timeout=SECONDS)
            self.client.wait_for_workers(2, timeout=SECONDS)
        except BaseException:  # nobody will close what was not made
            self.close()
            raise

    def close(self) -> None:
        if hasattr(self, "client"):
            self.client.close(timeout=1)
        for process in reversed(self.processes):
            process.terminate()
        for process in reversed(self.processes):
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Cluster]]:
    """A function that gives a cluster with a scheduler: the same one, until a test kills it."""
    made: list[Cluster] = []

    def current() -> Cluster:
        if not made or made[-1].scheduler.poll() is not None:
            made.append(Cluster(tmp_path_factory.mktemp("cluster")))
        return made[-1]

    yield current
    for cluster in made:
        cluster.close()
    with warnings.catch_warnings():  # what distributed left open is no other test's fault
        warnings.simplefilter("ignore")
        gc.collect()


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    X = random.normal(size=(600, 3))
    return X, X[:, 0] + random.logistic(size=600) > 1


def disturbed(monkeypatch: pytest.MonkeyPatch, number: int, before: Callable[[], None]) -> None:
    """Run something on the worker of each partition before it answers the question of that number."""
    ask, count = dask_parts.DaskParts.ask, [0]

    class Disturbed:
        def __init__(self, question: Any) -> None:
            self.question = question

        def answer(self, block: Any) -> Any:
            before()
            return self.question.answer(block)

    def asked(parts: Any, question: Any) -> Any:
        count[0] += 1
        return ask(parts, Disturbed(question) if count[0] == number else question)

    monkeypatch.setattr(dask_parts.DaskParts, "ask", asked)


def fitted(client: Any, data: Any, **more: Any) -> DaskUnevenLinearClassifier:
    X, y = (da.from_array(part, chunks=(150, *part.shape[1:])) for part in data)
    return DaskUnevenLinearClassifier(fn_cost=4, tol=1e-9, client=client, **more).fit(X, y)


@pytest.mark.slow
def test_a_worker_that_dies_in_the_middle_of_a_fit(
    running: Any, data: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, mark = running().client, str(tmp_path / "died")

    def die_once() -> None:
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        os.kill(os.getpid(), signal.SIGKILL)

    calm = fitted(client, data)
    disturbed(monkeypatch, 4, die_once)
    model = fitted(client, data)
    assert os.path.exists(mark)
    np.testing.assert_array_equal(model.coef_, calm.coef_)
    assert (model.objective_, model.duality_gap_) == (calm.objective_, calm.duality_gap_)
    alone = uneven.UnevenLinearClassifier(fn_cost=4, tol=1e-9).fit(*data)
    assert model.objective_ == pytest.approx(alone.objective_, rel=1e-8)


@pytest.mark.slow
def test_a_worker_that_dies_in_the_middle_of_a_search(running: Any, data: Any, tmp_path: Path) -> None:
    client, mark = running().client, str(tmp_path / "died")

    def deadly(rows: np.ndarray) -> np.ndarray:
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return rows
        os.kill(os.getpid(), signal.SIGKILL)
        return rows

    def search(step: Any, **more: Any) -> uneven.UnevenClassifierCV:
        learner = make_pipeline(step, uneven.UnevenLinearClassifier(fn_cost=5))
        return uneven.UnevenClassifierCV(learner, margin_gammas=[1, 2], cv=2, **more).fit(*data)

    there = search(FunctionTransformer(deadly), client=client)
    assert os.path.exists(mark)
    here = search(FunctionTransformer())
    assert there.best_params_ == here.best_params_
    np.testing.assert_array_equal(there.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"])


@pytest.mark.slow
def test_a_scheduler_that_is_gone_is_said_and_the_fit_goes_on_elsewhere(
    running: Any, data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    calm = fitted(running().client, data)
    first = running()
    pid = first.scheduler.pid

    def end() -> None:
        os.kill(pid, signal.SIGKILL)

    with monkeypatch.context() as patch:
        disturbed(patch, calm.n_passes_ - 1, end)
        X, y = (da.from_array(part, chunks=(150, *part.shape[1:])) for part in data)
        model = DaskUnevenLinearClassifier(fn_cost=4, tol=1e-9, client=first.client, warm_start=True)
        with pytest.raises(
            ClusterError, match=r"^the Dask scheduler at tcp://\S+ is gone; connect a new client, .*\.?$"
        ):
            model.fit(X, y)
    assert not hasattr(model, "coef_")
    first.scheduler.wait(SECONDS)
    model = pickle.loads(pickle.dumps(model))
    with distributed.Client(processes=False, dashboard_address=":0", n_workers=1, timeout=SECONDS):
        model.fit(X, y)
    assert model.n_passes_ < calm.n_passes_
    assert model.objective_ == pytest.approx(calm.objective_, rel=1e-8)
