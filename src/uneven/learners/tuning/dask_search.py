"""The search of UnevenClassifierCV on a Dask cluster.

The data go to every worker once. A split is one task; if the cluster has more threads than there are splits, the
candidates of a split are divided among several tasks.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from uneven.errors import ClusterError
from uneven.learners.folds import Split
from uneven.learners.tuning.gamma_search import Column, Task, is_one_fit, run_split
from uneven.parts.cluster import distributed, read_client, require_scheduler

FEATURE = "searches on a Dask cluster"

#: How often the data are sent again after the workers that held them died.
_MOST_LOSSES = 3


@dataclass(frozen=True)
class Shared:
    """What every task needs, sent once."""

    task: Task
    X: Any
    y: np.ndarray
    sample_weight: Any
    splits: list[Split]


Piece = tuple[int, list[int]]


def pieces(task: Task, splits: int, threads: int) -> list[Piece]:
    """Tasks that keep so many threads busy: the number of a split, and the candidates to try in it.

    Neighbours stay together, because they share work; the gammas of a hinge are one fit and are never divided.
    """
    units: list[list[int]] = []
    shared: dict[int, bool] = {}  # by path
    for index, candidate in enumerate(task.candidates):
        path = candidate.path
        if path not in shared:
            learner = clone(task.learner).set_params(**candidate.others) if candidate.others else task.learner
            shared[path] = is_one_fit(learner, candidate.loss)
            units.append([index])
        elif shared[path]:
            units[-1].append(index)
        else:
            units.append([index])
    count = min(len(units), math.ceil(threads / splits))
    bounds = [len(units) * k // count for k in range(count + 1)]
    groups = [[index for unit in units[lo:hi] for index in unit] for lo, hi in itertools.pairwise(bounds)]
    return [(split, group) for split in range(splits) for group in groups]


def run_piece(shared: Shared, piece: Piece) -> Column:
    """One task: fit and score some candidates in one split."""
    split, indices = piece
    task = replace(shared.task, candidates=[shared.task.candidates[index] for index in indices])
    return run_split(task, shared.X, shared.y, shared.sample_weight, *shared.splits[split])


def run_on_cluster(client: Any, shared: Shared, columns: list[Column], started: Callable[[int], Any]) -> None:
    """Fill the columns, task by task.

    Parameters
    ----------
    client : dask.distributed.Client
    shared : Shared
    columns : list of Column
        One for each split; results appear in them as they arrive.
    started : callable
        Called with the number of tasks; what it returns is called after each.
    """
    client = read_client(client, FEATURE)
    again = "connect a new client and call fit again"
    require_scheduler(client, again)
    waiting = pieces(shared.task, len(shared.splits), max(1, sum(client.nthreads().values())))
    advance = started(len(waiting))
    for _ in range(1 + _MOST_LOSSES):
        waiting = _run_round(client, shared, waiting, columns, advance)
        require_scheduler(client, again)
        if not waiting:
            return
    raise ClusterError(
        f"the Dask workers lost the data of the search {_MOST_LOSSES + 1} times; fewer threads per worker, or more "
        "memory for each, would work"
    )


def _run_round(
    client: Any, shared: Shared, waiting: list[Piece], columns: list[Column], advance: Callable[[], None]
) -> list[Piece]:
    """Send the data and do the tasks; returns those whose data were lost with a worker."""
    library = distributed(FEATURE)
    lost: list[Piece] = []
    futures: dict[Any, Piece] = {}
    try:
        data = client.scatter([shared], broadcast=True, hash=False)[0]
        futures = {client.submit(run_piece, data, piece, pure=False): piece for piece in waiting}
        for future in library.as_completed(list(futures)):
            if future.status in ("cancelled", "lost"):
                lost.append(futures[future])
                continue
            _fill(columns, futures[future], _result(library, future))
            advance()
    except (OSError, library.CancelledError):  # the connection broke, not a task
        require_scheduler(client, "connect a new client and call fit again")
        raise
    finally:
        if client.status == "running":
            client.cancel([future for future in futures if not future.done()])
    return lost


def _result(library: Any, future: Any) -> Column:
    try:
        return future.result()
    except library.KilledWorker as error:
        raise ClusterError(
            f"a task of the search died with its Dask worker several times, probably for lack of memory ({error}); "
            "fewer threads per worker, or more memory for each, would work"
        ) from None


def _fill(columns: list[Column], piece: Piece, found: Column) -> None:
    split, indices = piece
    for name in ("scores", "fit_times", "score_times"):
        getattr(columns[split], name)[indices] = getattr(found, name)
