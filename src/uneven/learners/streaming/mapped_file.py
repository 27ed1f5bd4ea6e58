"""A file mapped into memory, whose pages are given back when they have been used."""

from __future__ import annotations

import mmap
from contextlib import suppress
from typing import Any

import numpy as np


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

    def opened(self) -> Any:
        """A reader for one thread."""
        import pyarrow as pa

        return pa.BufferReader(pa.py_buffer(self._mapping))

    def used(self, start: int, size: int) -> None:
        """Some bytes are not needed for now."""
        give_back(self._mapping, start, size)
