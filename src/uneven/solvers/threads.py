"""Work on pieces of the rows in threads. The pieces never depend on the number of threads, so neither do results."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any, TypeVar

T = TypeVar("T")

#: Less work than this (numbers of X in a piece) is not worth a thread.
_LEAST_WORK = 400_000
_MOST_PIECES = 8


def row_ranges(n: int, work: int) -> list[tuple[int, int]]:
    """Row ranges of about equal length for n rows that hold ``work`` numbers."""
    count = max(1, min(_MOST_PIECES, n, work // _LEAST_WORK))
    return [(n * k // count, n * (k + 1) // count) for k in range(count)]


def in_threads(function: Callable[[int, int, int], T], ranges: list[tuple[int, int]]) -> list[T]:
    """function(k, lo, hi) for every range, in order of the ranges."""
    if len(ranges) == 1 or _threads() == 1:
        return [function(k, lo, hi) for k, (lo, hi) in enumerate(ranges)]
    return list(_pool(os.getpid()).map(lambda item: function(item[0], *item[1]), enumerate(ranges)))


def _threads() -> int:
    """Cores this process may use, fewer if a surrounding program says so (joblib does, in its workers)."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        value = os.environ.get(name, "")
        if value.isdigit():
            count = min(count, max(1, int(value)))
    return count


def single_threaded_blas() -> AbstractContextManager[object]:
    """Within it BLAS uses one thread: ours call it on parts of the work, and its own would wait for each other."""
    return _controller().limit(limits=1, user_api="blas")


@lru_cache(maxsize=1)
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@lru_cache(maxsize=1)
def _pool(process: int) -> ThreadPoolExecutor:
    """One pool per process: the threads of a parent do not exist in its forks."""
    return ThreadPoolExecutor(_threads(), thread_name_prefix="uneven")
