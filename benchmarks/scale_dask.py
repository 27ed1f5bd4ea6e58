"""Fits on a local Dask cluster: seconds and bytes of a pass against rows, workers and partitions.

    python benchmarks/scale_dask.py --rows 1e6 1e7 --workers 1 2 4
    python benchmarks/scale_dask.py --rows 1e6 --workers 2 --partitions 8 32 128 512
    python benchmarks/scale_dask.py --rows 1e6 --workers 2 --columns 5 20 80 320
    python benchmarks/scale_dask.py --kinks --rows 1e5 1e6 --workers 2 --columns 20 200

Needs the extra ``dask``. The rows are float32, made on the workers, each worker a process with one thread. A pass is
one question to all partitions: value, gradient and second derivatives. "net" are all bytes that the machine's loopback
device carried per pass, those of Dask's own messages included, so nothing else may use it at the same time. "moved" are
the rows that went from one worker to another during the passes: none should.

``--kinks`` compares two routes for the hinge to the same gap. "smoothed" is the fit on Dask as it is. "multipliers" is
the route of the fit in memory: its questions are counted as they would be asked in parts. A step is at least one
question (gradient and second derivatives, together with the first trial of the step length); each further trial of a
step length is one more. The rows would keep their scores and multipliers, which are lost with their worker.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from uneven import UnevenLinearClassifier
from uneven.adapters.dask import DaskUnevenLinearClassifier
from uneven.parts import dask_parts
from uneven.solvers.linear.lagrangian import Lagrangian


def part_of_rows(count: int, d: int, seed: int) -> np.ndarray:
    """Rows of one partition, the label last."""
    random = np.random.default_rng(seed)
    rows = random.standard_normal((count, d + 1), dtype=np.float32)
    weights = 1 / np.arange(1, d + 1)
    rows[:, d] = rows[:, :d] @ weights + random.logistic(size=count) > 2
    return rows


def features(rows: np.ndarray) -> np.ndarray:
    """All columns but the last."""
    return np.ascontiguousarray(rows[:, :-1])


def labels(rows: np.ndarray) -> np.ndarray:
    """The last column."""
    return rows[:, -1].astype(np.int8)


def collections(n: int, d: int, partitions: int) -> tuple[Any, Any]:
    """X and y as Dask arrays, whose rows are made where they are needed."""
    X, y = [], []
    for seed in range(partitions):
        count = n * (seed + 1) // partitions - n * seed // partitions
        made = dask.delayed(part_of_rows)(count, d, seed)
        X.append(da.from_delayed(dask.delayed(features)(made), (count, d), np.float32))
        y.append(da.from_delayed(dask.delayed(labels)(made), (count,), np.int8))
    return da.concatenate(X), da.concatenate(y)


def carried() -> int:
    """Bytes that the loopback device carried so far."""
    with open("/proc/net/dev", encoding="ascii") as file:
        for line in file:
            if line.strip().startswith("lo:"):
                return int(line.split()[1])
    return 0


class Passes:
    """Seconds and bytes of the passes of a fit."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.bytes: list[int] = []
        self._ask = dask_parts.DaskParts.ask

    def __enter__(self) -> Passes:
        def ask(parts: Any, question: Any) -> Any:
            before, started = carried(), time.perf_counter()
            answer = self._ask(parts, question)
            self.seconds.append(time.perf_counter() - started)
            self.bytes.append(carried() - before)
            return answer

        dask_parts.DaskParts.ask = ask  # type: ignore[method-assign]
        return self

    def __exit__(self, *error: object) -> None:
        dask_parts.DaskParts.ask = self._ask  # type: ignore[method-assign]


def moved(client: Client) -> int:
    """Bytes of rows that workers got from other workers."""

    def total(dask_worker: Any) -> int:
        log = dask_worker.transfer_incoming_log
        return sum(size or 0 for one in log for key, size in one["keys"].items() if "read_rows" in str(key))

    return sum(client.run(total).values())


def measure(n: int, d: int, workers: int, partitions: int, loss: str, tol: float) -> None:
    """Fit once to warm up, once to measure, and print a line."""
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0", memory_limit=None) as cluster,
        Client(cluster) as client,
    ):
        small = collections(2000, d, workers)
        DaskUnevenLinearClassifier(loss, fn_cost=10, tol=tol).fit(*small)  # imports and compiles on every worker
        started = time.perf_counter()
        X, y = client.persist(collections(n, d, partitions))
        client.gather([client.submit(len, future) for future in client.futures_of([X, y])])
        made = time.perf_counter() - started
        model = DaskUnevenLinearClassifier(loss, fn_cost=10, tol=tol)
        started = time.perf_counter()
        with Passes() as passes:
            model.fit(X, y)
        fit = time.perf_counter() - started
        steps = passes.seconds[2:-1]  # without the survey, the start and the proof
        gap = model.duality_gap_ / model.objective_
        print(
            f"| {n:.0e} | {d} | {workers} | {partitions} | {made:.1f} | {fit:.2f} | {model.n_passes_} "
            f"| {np.median(steps):.3f} | {n / np.median(steps) / 1e6:.1f} | {model.largest_message_} "
            f"| {np.median(passes.bytes[2:-1]) / partitions:.0f} | {moved(client)} | {gap:.1e} |",
            flush=True,
        )


class Questions:
    """How often the route with multipliers would ask all partitions."""

    def __init__(self, rows: int) -> None:
        self.rows, self.steps, self.gradients, self.trials = rows, 0, 0, 0
        self._methods = {name: getattr(Lagrangian, name) for name in ("gradient", "along", "step")}

    def __enter__(self) -> Questions:
        for name, attribute in (("gradient", "gradients"), ("along", "trials"), ("step", "steps")):
            setattr(Lagrangian, name, self._counted(self._methods[name], attribute))
        return self

    def _counted(self, method: Any, attribute: str) -> Any:
        def counted(state: Any, *given: Any) -> Any:
            if state.objective.design.n == self.rows:  # not those of its start, which is from a sample
                setattr(self, attribute, getattr(self, attribute) + 1)
            return method(state, *given)

        return counted

    def __exit__(self, *error: object) -> None:
        for name, method in self._methods.items():
            setattr(Lagrangian, name, method)

    @property
    def asked(self) -> int:
        """With the survey, the start and the proof."""
        return self.gradients + max(0, self.trials - self.steps) + 3


def compare_kinks(n: int, d: int, workers: int, partitions: int, tol: float) -> None:
    """Print a line: the hinge by smoothing on Dask, and by multipliers in memory."""
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0", memory_limit=None) as cluster,
        Client(cluster) as client,
    ):
        X, y = client.persist(collections(n, d, partitions))
        DaskUnevenLinearClassifier("hinge", fn_cost=10, tol=1e-2).fit(X, y)  # imports and compiles on every worker
        started = time.perf_counter()
        with Passes() as passes:
            model = DaskUnevenLinearClassifier("hinge", fn_cost=10, tol=tol).fit(X, y)
        seconds = time.perf_counter() - started
        rows, marks = dask.compute(X, y)
    with Questions(n) as questions:
        alone = UnevenLinearClassifier("hinge", fn_cost=10, tol=tol, solver="lagrangian").fit(rows, marks)
    print(
        f"| {n:.0e} | {d} | {partitions} | {model.n_passes_} | {seconds:.2f} | {np.median(passes.seconds):.3f} "
        f"| {model.duality_gap_ / model.objective_:.1e} | {questions.gradients + 3} | {questions.asked} "
        f"| {alone.duality_gap_ / alone.objective_:.1e} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, nargs="+", default=[1e5])
    parser.add_argument("--columns", type=int, nargs="+", default=[20])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--partitions", type=int, nargs="+", help="by default 4 for each worker")
    parser.add_argument("--loss", default="logistic")
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--kinks", action="store_true", help="compare two routes for the hinge")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    cases = [
        (int(n), d, workers, partitions)
        for n in given.rows
        for d in given.columns
        for workers in given.workers
        for partitions in given.partitions or [4 * workers]
    ]
    if given.kinks:
        print(f"{os.cpu_count()} cores, hinge, tol {given.tol:g}")
        print(
            "| rows | columns | partitions | smoothed: passes | fit s | s per pass | gap "
            "| multipliers: steps, with 3 other passes | passes with all trials | gap |"
        )
        print("|---" * 10 + "|")
        for case in cases:
            compare_kinks(*case, given.tol)
        return
    print(f"{os.cpu_count()} cores, loss {given.loss}, tol {given.tol:g}")
    print(
        "| rows | columns | workers | partitions | made s | fit s | passes | s per pass | million rows/s "
        "| largest message | net bytes per partition and pass | rows moved | gap |"
    )
    print("|---" * 13 + "|")
    for case in cases:
        measure(*case, given.loss, given.tol)


if __name__ == "__main__":
    main()
