"""Work on ranges of rows in threads. The ranges do not depend on the number of threads, so neither do the results."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from uneven.errors import CostError

T = TypeVar("T")

#: Numbers of X in a range below which a thread is not worth its start: then there are fewer ranges.
_LEAST_WORK = 400_000
#: Most ranges. The number does not depend on the cores, so that sums are the same on every machine; of more than eight
#: cores, some rest.
_MOST_RANGES = 8


def row_ranges(n: int, work: int, width: int = 0) -> list[tuple[int, int]]:
    """Row ranges of about equal length for n rows that hold ``work`` numbers.

    If each range needs a vector of its own, ``width`` is its length: it must be short against the numbers of the range.
    """
    count = max(1, min(_MOST_RANGES, n, work // max(_LEAST_WORK, 2 * width)))
    count += 1 < count < n and count % 2  # an odd number would leave one of two cores idle at the end
    return [(n * k // count, n * (k + 1) // count) for k in range(count)]


def score_ranges(n: int) -> list[tuple[int, int]]:
    """Ranges for a pass over n scores: the loss of a row costs about as much as reading 16 numbers."""
    return row_ranges(n, 16 * n)


def in_threads(function: Callable[[int, int, int], T], ranges: list[tuple[int, int]]) -> list[T]:
    """The results of function(k, lo, hi) for every range, in order."""
    if len(ranges) == 1 or thread_count() == 1:
        return [function(k, lo, hi) for k, (lo, hi) in enumerate(ranges)]
    return list(_pool(os.getpid()).map(lambda item: function(item[0], *item[1]), enumerate(ranges)))


def thread_count() -> int:
    """Cores this process may use; fewer if the environment says so, as joblib's workers do."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        value = os.environ.get(name, "")
        if value.isdigit():
            count = min(count, max(1, int(value)))
    return count


class _BlasThreads:
    """A context in which BLAS uses a number of threads.

    threadpoolctl's own context describes every library each time, which takes longer than a small fit.
    """

    def __init__(self, count: int) -> None:
        self._count = count

    def __enter__(self) -> None:
        self._before = [(library, library.get_num_threads()) for library in _blas()]
        self._set([(library, self._count) for library, count in self._before if count != self._count])

    def __exit__(self, *error: object) -> None:
        self._set([(library, count) for library, count in self._before if count != self._count])

    @staticmethod
    def _set(counts: list[tuple[Any, int | None]]) -> None:
        for library, count in counts:
            if count is not None:  # a library that cannot tell its number of threads
                library.set_num_threads(count)


def single_threaded_blas() -> _BlasThreads:
    """A context in which BLAS uses one thread, because our own threads call it at the same time."""
    return _BlasThreads(1)


def blas_on_all_cores() -> _BlasThreads:
    """A context in which BLAS uses as many threads as we would: for products and factors of large matrices."""
    return _BlasThreads(thread_count())


@lru_cache(maxsize=1)
def _blas() -> tuple[Any, ...]:
    from threadpoolctl import ThreadpoolController

    return tuple(ThreadpoolController().select(user_api="blas").lib_controllers)


@lru_cache(maxsize=1)
def _pool(process: int) -> ThreadPoolExecutor:
    """One pool per process, because a fork does not inherit the threads of its parent."""
    return ThreadPoolExecutor(thread_count(), thread_name_prefix="uneven")


def require_finite(name: str, X: Any, *, missing: bool = False) -> None:
    """Raise unless every number is finite, or missing (NaN) if allowed; the message says where the first bad one is."""
    data = X if isinstance(X, np.ndarray) else X.data

    def total(k: int, lo: int, hi: int) -> float:
        with np.errstate(all="ignore"):
            return float(data[lo:hi].sum())

    if math.isfinite(sum(in_threads(total, row_ranges(data.shape[0], data.size)))):
        return
    bad = np.argwhere(np.isinf(data) if missing else ~np.isfinite(data))
    if not len(bad):  # the sum overflowed, or the bad ones are allowed
        return
    value = data[tuple(bad[0])]
    kind = "NaN" if np.isnan(value) else "inf"
    place = f"row {bad[0][0]}, column {bad[0][1]}" if isinstance(X, np.ndarray) else "its stored values"
    raise CostError(
        f"{name} must hold finite numbers, got {kind} in {place}; fill in or drop such values (NaN, inf) before"
    )
