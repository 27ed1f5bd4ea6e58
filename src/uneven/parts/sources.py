"""Rows of arrays and of batches that a program hands out, and what memory they may take."""

from __future__ import annotations

import mmap
import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from uneven.costs import COSTS
from uneven.errors import CostError, ParameterError
from uneven.inputs import brief
from uneven.labels import read_target
from uneven.parts.blocks import Batch, Load, as_load

#: Numbers in a block: few enough to stay in the processor's cache, where one thread makes and uses them.
_NUMBERS = 1 << 19
#: Numbers of rows that are decoded together. With many columns they are a block, whose answer is a large matrix.
_NUMBERS_OF_TABLE = 1 << 21
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
_SMALLEST = 64 * 10**6


def rows_per_block(width: int, numbers: int | None = None) -> int:
    """Rows of a block with so many columns, of which so many are stored; by default all."""
    numbers = max(width if numbers is None else numbers, 1)
    return max(256, min(max(_NUMBERS // numbers, min(2 * width, _NUMBERS_OF_TABLE // numbers)), 1 << 16))


def rows_per_table(width: int, numbers: int | None = None) -> int:
    """Rows that are decoded together: those of several blocks."""
    block = rows_per_block(width, numbers)
    return block * max(1, _NUMBERS_OF_TABLE // (max(width if numbers is None else numbers, 1) * block))


def read_memory_limit(limit: Any) -> int:
    """Bytes that rows in memory may take.

    Examples
    --------
    >>> from uneven.parts.sources import read_memory_limit
    >>> read_memory_limit("1.5GB"), read_memory_limit(200_000_000)
    (1500000000, 200000000)
    """
    if limit is None:
        return max(available_memory() // 4, _SMALLEST)
    found = None
    if isinstance(limit, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([KMGT]?I?B)?\s*", limit.upper())
        if match and (match[2] or "") in _UNITS:
            found = float(match[1]) * _UNITS[match[2] or ""]
    elif isinstance(limit, int | float) and not isinstance(limit, bool):
        found = float(limit)
    if found is None or not _SMALLEST <= found < float("inf"):
        raise ParameterError(
            f"memory_limit must be a number of bytes, or a text such as '1.5GB', of at least 64 MB, got {brief(limit)}"
        )
    return int(found)


def available_memory() -> int:
    """Bytes of memory that are free now, in a container no more than it may still use, or 4 GB if that is unknown."""
    return min(_free_memory(), _left_in_container())


def _free_memory() -> int:
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):
        return 4 * 1024**3


def _left_in_container(folder: str = "/sys/fs/cgroup") -> int:
    """What the limit of a container leaves; pages of files that were not used lately can be given back."""
    try:
        most, used = (Path(folder, name).read_text().strip() for name in ("memory.max", "memory.current"))
        stat = dict(line.split() for line in Path(folder, "memory.stat").read_text().splitlines())
        return max(0, int(most) - int(used) + int(stat.get("inactive_file", 0)))
    except (OSError, ValueError):  # no container, or no limit ("max")
        return sys.maxsize


# -- files mapped into memory, whose pages are given back after use ---------------------------------------------------


def give_back(mapping: Any, start: int, size: int) -> None:
    """Give back the pages of some bytes: they count as memory of this process until then. The file is not changed."""
    if size > 0 and hasattr(mapping, "madvise"):
        begin = start // mmap.PAGESIZE * mmap.PAGESIZE
        with suppress(ValueError, OSError):
            mapping.madvise(mmap.MADV_DONTNEED, begin, min(start + size, len(mapping)) - begin)


def begin_of(array: np.ndarray, mapping: Any) -> int:
    """Where in a mapping an array begins."""
    return int(array.ctypes.data - np.frombuffer(mapping, dtype=np.uint8).ctypes.data)


class MappedFile:
    """A file that Arrow reads without a copy.

    Parameters
    ----------
    path : str
    """

    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            self._mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def open_reader(self) -> Any:
        """A reader for one thread."""
        import pyarrow as pa

        return pa.BufferReader(pa.py_buffer(self._mapping))

    def release(self, start: int, size: int) -> None:
        """Give back the memory of some bytes that are not needed for now."""
        give_back(self._mapping, start, size)


# -- rows of one array, in memory or mapped from a file ---------------------------------------------------------------


class ArraySource:
    """Slices of an array and of what belongs to its rows.

    A slice of a mapped file is copied, and its pages are given back, so that the file never fills the memory.
    """

    names: list[str] | None = None
    numbers: np.ndarray | None = None

    def __init__(self, X: Any, y: Any = None, weight: Any = None, costs: dict[str, Any] | None = None) -> None:
        if getattr(X, "ndim", None) != 2 or X.dtype.kind not in "fiub":
            raise CostError(
                f"an array of rows must have two dimensions and hold numbers, got shape {getattr(X, 'shape', None)} "
                f"and type {getattr(X, 'dtype', type(X).__name__)}"
            )
        self.X, count = X, X.shape[0]
        self.y = None if y is None else read_target(y, count)
        self.weight = self._vector("sample_weight", weight)
        self.costs = {name: self._vector(name, value) for name, value in (costs or {}).items()}
        self._size = rows_per_block(X.shape[1])

    @property
    def row_costs(self) -> tuple[str, ...]:
        return tuple(self.costs)

    def _vector(self, name: str, value: Any) -> np.ndarray:
        if value is None:
            return np.empty(0)
        array = np.asarray(value)
        if array.shape != (self.X.shape[0],) or array.dtype.kind not in "fiub":
            raise CostError(f"{name} must be {self.X.shape[0]} numbers, one for each row of X, got shape {array.shape}")
        return array

    def loads(self, first: int = 0) -> Iterator[Load]:
        for number in range(first, -(-self.X.shape[0] // self._size)):
            part = slice(number * self._size, min((number + 1) * self._size, self.X.shape[0]))
            yield Load(number, partial(self._batch, part))

    def _batch(self, part: slice, keep: bool) -> Iterator[Batch]:
        yield Batch(
            self._rows(part),
            None if self.y is None else self.y[part],
            self.weight[part].astype(np.float64, copy=False),
            {name: cost[part] for name, cost in self.costs.items()},
        )

    def _rows(self, part: slice) -> Any:
        X = self.X[part]
        dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)
        if not isinstance(self.X, np.memmap):
            return np.asarray(X, dtype=dtype) if isinstance(X, np.ndarray) else X.astype(dtype, copy=False)
        copied = np.array(X, dtype=dtype)
        mapping: Any = getattr(self.X, "_mmap", None)
        if mapping is not None and self.X.flags.c_contiguous:
            start = begin_of(self.X, mapping) + part.start * self.X.strides[0]
            give_back(mapping, start, X.nbytes)
        return copied

    def require_unchanged(self) -> None:
        """An array cannot change its number of rows."""


# -- rows that a program hands out in batches: any object that can be iterated again and again ------------------------

_SHAPE = (
    "a batch is (X, y), (X, y, weight) or (X, y, weight, costs), where costs is a dict such as {'fn_cost': amounts}"
)


class BatchSource:
    """Batches (X, y[, weight[, costs]]); to predict, X alone will do."""

    numbers: np.ndarray | None = None
    names: list[str] | None = None

    def __init__(self, batches: Any, *, labelled: bool = True) -> None:
        if iter(batches) is batches:
            raise CostError(
                f"the rows are read several times, but {brief(batches)} can be iterated only once; give a list of "
                "batches, or an object whose __iter__ starts anew each time"
            )
        self._batches, self._labelled = batches, labelled
        self._width: int | None = None
        self._costs: tuple[str, ...] | None = None

    @property
    def row_costs(self) -> tuple[str, ...]:
        """Known from the first batch on."""
        return self._costs or ()

    def loads(self, first: int = 0) -> Iterator[Load]:
        number = -1
        for number, item in enumerate(islice(self._full(), first, None), start=first):
            yield as_load(self._read(item, number), number)
        if number < 0:
            raise CostError("there are no rows: the iterable gave no batch with a row")

    def _full(self) -> Iterator[Any]:
        """The batches that have rows."""
        for item in self._batches:
            X = item[0] if isinstance(item, tuple | list) else item
            if len(X) if not hasattr(X, "shape") else X.shape[0]:
                yield item

    def _read(self, item: Any, number: int) -> Batch:
        if not self._labelled:
            return Batch(self._features(item[0] if isinstance(item, tuple | list) else item, number))
        if not isinstance(item, tuple | list) or not 2 <= len(item) <= 4:
            raise CostError(f"{_SHAPE}; batch {number} is {brief(item)}")
        X = self._features(item[0], number)
        count = X.shape[0]
        try:
            y = read_target(item[1], count)
        except ValueError as error:
            raise CostError(f"in batch {number}: {error}") from None
        weight = item[2] if len(item) > 2 else None
        costs = dict(item[3]) if len(item) > 3 and item[3] is not None else {}
        unknown = [name for name in costs if name not in COSTS]
        if unknown:
            raise CostError(f"costs of rows are {', '.join(COSTS)}, got {unknown[0]!r} in batch {number}")
        names = tuple(sorted(costs))
        if self._costs is None:
            self._costs = names
        if names != self._costs:
            raise CostError(
                f"all batches must have costs of rows for the same names: batch {number} has {brief(list(names))}, the "
                f"first one {brief(list(self._costs))}"
            )
        return Batch(
            X,
            y,
            np.empty(0) if weight is None else _vector("weight", weight, count, number),
            {name: _vector(name, value, count, number) for name, value in costs.items()},
        )

    def _features(self, given: Any, number: int) -> Any:
        from scipy.sparse import issparse

        if issparse(given):
            X = given.tocsr()
        else:
            X = np.asarray(given)
            if X.ndim != 2 or X.dtype.kind not in "fiub":
                raise CostError(
                    f"X of a batch must have two dimensions and hold numbers, got shape {X.shape} and type {X.dtype} "
                    f"in batch {number}"
                )
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        if self._width is None:
            self._width = X.shape[1]
        if X.shape[1] != self._width:
            raise CostError(
                f"all batches must have the same columns: batch {number} has {X.shape[1]}, the first one {self._width}"
            )
        return X

    def require_unchanged(self) -> None:
        """Only the number of rows is compared, by the loop over the batches."""


def _vector(name: str, value: Any, count: int, number: int) -> np.ndarray:
    array = np.asarray(value)
    if array.shape != (count,) or array.dtype.kind not in "fiub":
        raise CostError(
            f"{name} of a batch must be one number for each row, got shape {array.shape} for {count} rows in batch "
            f"{number}"
        )
    return array.astype(np.float64, copy=False)
