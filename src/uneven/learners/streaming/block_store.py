"""Blocks in a temporary file: numbers as they are used, so that text, gaps and compression are dealt with once."""

from __future__ import annotations

import math
import os
import tempfile
import threading
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from uneven.errors import UnevenError
from uneven.solvers.linear.parts.block import Block

#: Arrays begin at multiples of this many bytes, as compiled code likes them.
_ALIGNED = 64


@dataclass(frozen=True)
class Stored:
    """Where a block is in the file.

    Attributes
    ----------
    offset, size : int
        Bytes.
    arrays : tuple
        Offset from there, type and length of each array.
    shape : tuple of int
        Of X.
    order : str
        "C", "F", or "sparse".
    empty : Block
        The rest of the block.
    """

    offset: int
    size: int
    arrays: tuple[tuple[int, np.dtype[Any], int], ...]
    shape: tuple[int, int]
    order: str
    empty: Block


class BlockStore:
    """A temporary file of blocks. It has no name, so that nothing stays of it, however the process ends.

    Parameters
    ----------
    folder : str
    """

    def __init__(self, folder: str) -> None:
        if not hasattr(os, "preadv"):
            raise UnevenError("cache_folder needs a system such as Linux or macOS; leave it out")
        try:
            self._file = tempfile.TemporaryFile(dir=folder, prefix="uneven-", buffering=0)  # noqa: SIM115 - see close
        except OSError as error:
            raise UnevenError(
                f"no file can be written in cache_folder {folder!r} ({error.strerror}); give another folder, or none"
            ) from None
        self._end, self._lock = 0, threading.Lock()
        self._of_thread = threading.local()

    def close(self) -> None:
        """Give the space back."""
        self._file.close()

    def write(self, block: Block) -> Stored:
        """Write a block; OSError if the disk is full."""
        X = block.X
        if isinstance(X, np.ndarray):
            order = "F" if X.flags.f_contiguous else "C"
            parts = [X.ravel(order="K" if X.flags.f_contiguous or X.flags.c_contiguous else "C")]
        else:
            order, parts = "sparse", [X.data, X.indices, X.indptr]
        parts += [block.y, block.weight]
        places, size = [], 0
        for part in parts:
            places.append((size, part.dtype, part.size))
            size += -(-part.nbytes // _ALIGNED) * _ALIGNED
        with self._lock:
            offset, self._end = self._end, self._end + size
        for (place, _, _), part in zip(places, parts, strict=True):
            if part.size:
                _write(self._file, np.ascontiguousarray(part).view(np.uint8).data, offset + place)
        rest = replace(block, X=None, y=np.empty(0, np.int8), weight=np.empty(0))
        return Stored(offset, size, tuple(places), X.shape, order, rest)

    def read(self, stored: Stored) -> Block:
        """A block; the next one that this thread reads overwrites it."""
        memory = self._memory(stored.size)
        _read(self._file, memory.data, stored.offset)
        *parts, y, weight = (
            memory[place : place + count * dtype.itemsize].view(dtype) for place, dtype, count in stored.arrays
        )
        if stored.order == "sparse":
            from scipy.sparse import csr_matrix

            X: Any = csr_matrix(tuple(parts), shape=stored.shape)
        else:
            X = parts[0].reshape(stored.shape, order="F" if stored.order == "F" else "C")
        return replace(stored.empty, X=X, y=y, weight=weight)

    def _memory(self, size: int) -> np.ndarray:
        """Bytes of this thread, which are used again and again."""
        found: np.ndarray | None = getattr(self._of_thread, "memory", None)
        if found is None or found.size < size:
            found = self._of_thread.memory = np.empty(math.ceil(1.1 * size), dtype=np.uint8)
        return found[:size]


def _write(file: Any, data: memoryview, offset: int) -> None:
    while data:
        count = os.pwrite(file.fileno(), data, offset)
        data, offset = data[count:], offset + count


def _read(file: Any, into: memoryview, offset: int) -> None:
    while into:
        count = os.preadv(file.fileno(), [into], offset)
        if not count:  # what is after the last number was never written
            return
        into, offset = into[count:], offset + count
