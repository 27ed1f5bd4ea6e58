"""A cache of rows of K."""

from __future__ import annotations

import numpy as np

from uneven.solvers.kernel.gram import Gram, Stored, combined_rows

#: Up to this many rows, computing all of K at once is faster than computing its rows one by one.
_FEW_ROWS = 3000
#: Above this many rows, reading them is most of the work; then they are stored in float32, unless tol is too small.
_SOME_ROWS = 4000
#: Largest entry of K in float32.
_MOST_32 = 1e37


class RowCache:
    """Some rows of K; a new row replaces the least recently used one.

    ``fine`` asks for float64, if all rows fit.
    """

    def __init__(self, gram: Gram, megabytes: float, *, fine: bool = True) -> None:
        self.gram = gram
        n = gram.n
        self.slot = np.full(n, -1, dtype=np.int64)
        whole_fits = 8 * n * n <= megabytes * 2**20
        self.complete = isinstance(gram, Stored) or (whole_fits and n <= _FEW_ROWS)
        if self.complete:
            self.rows = gram.whole()
            self.slot = np.arange(n)
        else:
            # In float32 twice as many rows fit, and they are read twice as fast.
            dtype = np.float64 if whole_fits and (fine or n <= _SOME_ROWS) else np.float32
            if not np.abs(gram.diagonal()).max() < _MOST_32:
                dtype = np.float64
            count = min(n, max(2, int(megabytes * 2**20 / (np.dtype(dtype).itemsize * n))))
            self.rows = np.empty((count, n), dtype=dtype)
        self.used = np.full(len(self.rows), -1, dtype=np.int64)
        self.owner = np.full(len(self.rows), -1, dtype=np.int64)
        self.filled = 0

    @property
    def rough(self) -> bool:
        """Whether rows are stored in float32."""
        return self.rows.dtype == np.float32

    def times(self, b: np.ndarray) -> np.ndarray:
        """K b in double precision, from the rows that are stored if possible."""
        chosen = np.flatnonzero(b)
        if self.rough or (self.slot[chosen] < 0).any():
            return self.gram.times(b)
        return combined_rows(self.rows, self.slot[chosen], b[chosen])

    def fetch(self, wanted: int, clock: int) -> None:
        """Compute a row. The row that the next step needs as well is marked as used later, so it stays."""
        if self.filled < len(self.rows):
            here = self.filled
            self.filled += 1
        else:
            here = int(self.used.argmin())
            self.slot[self.owner[here]] = -1
        self.gram.fill_row(wanted, self.rows[here : here + 1])
        self.slot[wanted] = here
        self.owner[here] = wanted
        self.used[here] = clock + 1

    def among(self, chosen: np.ndarray) -> np.ndarray:
        """K of the chosen rows with each other, in double precision."""
        if not self.rough and (self.slot[chosen] >= 0).all():
            return np.asarray(self.rows[np.ix_(self.slot[chosen], chosen)])
        out = np.empty((chosen.size, chosen.size))
        size = self.gram.rows_per_block()
        for lo in range(0, chosen.size, size):
            part = chosen[lo : lo + size]
            block = np.empty((part.size, self.gram.n))
            self.gram.fill(part, block)
            out[lo : lo + size] = block[:, chosen]
        return out
