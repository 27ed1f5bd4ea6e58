"""Compiled passes over the rows of a part: a first look at them, a random sample, and columns from anywhere in memory.

A first look sums weights, columns and their squares for each class. ``out`` has six rows of d + 1 numbers: weighted
sums of x - about of the negative and the positive class, the same of its square, and both sums over all rows without
weights. The last entries of the first two rows are sums of weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from uneven.solvers.loops.compile_options import ANY_ORDER, IN_ORDER

#: Rows of a column that are summed while their weights are in the cache.
_MOST_ROWS = 2048


@njit(**ANY_ORDER)
def add_rows(X: Any, y: Any, s: Any, about: Any, lo: int, hi: int, out: Any) -> None:
    """Add the rows lo to hi of a C-ordered matrix."""
    d = X.shape[1]
    for i in range(lo, hi):
        label = y[i]
        a = s[i] if s.size else 1.0
        row, sums, squares = X[i], out[label], out[2 + label]
        for j in range(d):
            x = row[j] - about[j]
            sums[j] += a * x
            squares[j] += a * x * x
        out[label, d] += a
        if s.size:
            for j in range(d):
                x = row[j] - about[j]
                out[4, j] += x
                out[5, j] += x * x
    if not s.size:
        _take_over(d, out)


@njit(**ANY_ORDER)
def _take_over(d: int, out: Any) -> None:
    """Without weights the sums over all rows are those of both classes."""
    for j in range(d):
        out[4, j] = out[0, j] + out[1, j]
        out[5, j] = out[2, j] + out[3, j]


@njit(**ANY_ORDER)
def add_columns(Xt: Any, y: Any, s: Any, about: Any, lo: int, hi: int, out: Any) -> None:
    """The same for the transpose of an F-ordered matrix."""
    d = Xt.shape[0]
    mine, whole, one = np.empty(_MOST_ROWS), np.empty(_MOST_ROWS), np.empty(_MOST_ROWS)
    for start in range(lo, hi, _MOST_ROWS):
        n = min(_MOST_ROWS, hi - start)
        all_weights = weights_1 = 0.0
        for i in range(n):
            whole[i] = s[start + i] if s.size else 1.0
            one[i] = whole[i] * y[start + i]
            all_weights += whole[i]
            weights_1 += one[i]
        out[0, d] += all_weights - weights_1
        out[1, d] += weights_1
        for j in range(d):
            column, centre = Xt[j, start : start + n], about[j]
            plain = square = sum_1 = square_1 = 0.0
            for i in range(n):
                x = column[i] - centre
                first = one[i] * x
                plain += x
                square += x * x
                sum_1 += first
                square_1 += first * x
                mine[i] = x
            out[4, j] += plain
            out[5, j] += square
            out[1, j] += sum_1
            out[3, j] += square_1
            if s.size:
                plain = square = 0.0
                for i in range(n):
                    first = whole[i] * mine[i]
                    plain += first
                    square += first * mine[i]
            out[0, j] += plain - sum_1
            out[2, j] += square - square_1


@njit(**IN_ORDER)
def draw_rows(state: Any, y: Any, limits: Any) -> Any:
    """The rows whose random numbers between 0 and 1 do not exceed the limits of their classes, and these numbers.

    The number of row i is the i-th of the generator splitmix64 from a state on.
    """
    chosen, order = np.empty(y.size, np.int64), np.empty(y.size)
    low, high = limits[0], limits[1]
    count = 0
    for i in range(y.size):
        z = state + np.uint64(i + 1) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = (z ^ (z >> np.uint64(31))) >> np.uint64(11)
        u = np.float64(z) * (1.0 / 9007199254740992.0)
        chosen[count], order[count] = i, u
        count += u <= (high if y[i] else low)
    return chosen[:count].copy(), order[:count].copy()


@njit(**ANY_ORDER)
def add_sparse(data: Any, indices: Any, indptr: Any, y: Any, s: Any, about: Any, lo: int, hi: int, out: Any) -> None:
    """The same for the rows of a CSR matrix; what is not stored is 0."""
    d = about.size
    for i in range(lo, hi):
        label = y[i]
        a = s[i] if s.size else 1.0
        out[label, d] += a
        for k in range(indptr[i], indptr[i + 1]):
            j, x = indices[k], np.float64(data[k])
            centre = about[j]
            change, square = x, x * x - 2.0 * x * centre  # against a number that is not stored
            out[label, j] += a * change
            out[2 + label, j] += a * square
            out[4, j] += change
            out[5, j] += square
    for label in range(2):
        for j in range(d):
            out[label, j] -= out[label, d] * about[j]
            out[2 + label, j] += out[label, d] * about[j] ** 2
    for j in range(d):
        out[4, j] -= (hi - lo) * about[j]
        out[5, j] += (hi - lo) * about[j] ** 2


@intrinsic
def _copy_bytes(typing_context: Any, target: Any, source: Any, count: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        to, of = (builder.inttoptr(address, byte) for address in arguments[:2])
        cgutils.raw_memcpy(builder, to, of, arguments[2], 1)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), code


@njit(**ANY_ORDER)
def copy_columns(addresses: Any, lo: int, places: Any, out: Any) -> None:
    """Copy numbers lo, lo + 1, ... of the columns at some addresses into the rows of ``out`` with the given places.

    Every column holds numbers of the type of ``out``, and enough of them.
    """
    n, item = out.shape[1], out.itemsize
    for k in range(addresses.size):
        _copy_bytes(out[places[k]].ctypes.data, addresses[k] + lo * item, n * item)
