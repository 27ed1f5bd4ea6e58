"""The limits of the explorer, in one place."""

from __future__ import annotations

import os
from dataclasses import dataclass

#: Bytes of a question; the longest text of the little language is far shorter.
MOST_QUESTION = 64 * 1024
#: Bytes of a table.
MOST_TABLE = 64 * 1024 * 1024
#: Seconds in which the body of a request must have come.
ARRIVES_WITHIN = 30.0
#: Requests under way at the same time, of all kinds.
MOST_REQUESTS = 400


@dataclass(frozen=True)
class PoolLimits:
    """Limits of one kind of work, as in :class:`uneven.explorer.service.pool.Pool`."""

    processes: int
    waiting: int
    seconds: float
    modesty: int
    growth: int


def pool_limits() -> dict[str, PoolLimits]:
    """Pictures never wait behind proofs, nor proofs behind fits; what can wait stands back."""
    cores = max(1, os.cpu_count() or 1)
    return {
        "pictures": PoolLimits(min(4, max(2, cores)), 128, 30.0, 0, 48 << 20),
        "proofs": PoolLimits(min(4, max(2, cores - 1)), 128, 90.0, 3, 24 << 20),
        "data": PoolLimits(1, 4, 1800.0, 5, 400 << 20),  # a fit needs packages and room for the table
    }
