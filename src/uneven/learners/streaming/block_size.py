"""How many rows are read at once, and how much memory rows may take."""

from __future__ import annotations

import os
import re
from typing import Any

from uneven._inputs import brief
from uneven.errors import ParameterError

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
    >>> from uneven.learners.streaming.block_size import read_memory_limit
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
    """Bytes of memory that are free now, or 4 GB if that is unknown."""
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
