"""Compiled passes over the rows of a matrix: scores, losses and gradient of a block while it is in the cache.

Every function works on the rows lo to hi and shares nothing, so that each thread can run one. ``phi`` holds the
addresses of two compiled functions (:mod:`uneven.ops.kernels`), of the negative and the positive class. ``y`` is 0 or
1; ``weights`` and ``scales`` have one entry per class. The loss of a row is weights[y] * s * phi[y](scales[y] * score);
an empty ``s`` means 1 for all rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from uneven.solvers.loops.compile_options import ANY_ORDER

#: Bytes of a block of rows. Each block is read twice, the second time from the cache.
_BLOCK_BYTES = 1 << 17
#: Most rows of a block.
MOST_ROWS = 1024


def _caller(pointers: int) -> Any:
    """Code that calls the C function at an address with a length and some pointers, all given as integers."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word, pointer = ir.IntType(64), ir.DoubleType().as_pointer()
        function = ir.FunctionType(ir.VoidType(), [word, *[pointer] * pointers])
        target = builder.inttoptr(arguments[0], function.as_pointer())
        builder.call(target, [arguments[1], *(builder.inttoptr(value, pointer) for value in arguments[2:])])
        return context.get_dummy_value()

    return types.void(*[types.int64] * (2 + pointers)), code


@intrinsic
def call_first(typing_context: Any, address: Any, n: Any, t: Any, value: Any, slope: Any) -> Any:
    return _caller(3)


@intrinsic
def call_second(typing_context: Any, address: Any, n: Any, t: Any, curvature: Any) -> Any:
    return _caller(2)


@njit(**ANY_ORDER)
def row_factor(y: Any, s: Any, weights: Any, i: int) -> float:
    """The factor of row i's loss."""
    a = weights[y[i]]
    return a * s[i] if s.size else a


@njit(**ANY_ORDER)
def losses(phi: Any, y: Any, s: Any, weights: Any, scales: Any, lo: int, n: int, work: Any) -> float:
    """Sum of the losses of n rows from lo on. Their scores are in work[0]; slopes in the score replace them."""
    for i in range(n):
        work[0, i] *= scales[y[lo + i]]
    call_first(phi[1], n, work[0].ctypes.data, work[1].ctypes.data, work[2].ctypes.data)
    if phi[0] != phi[1]:
        call_first(phi[0], n, work[0].ctypes.data, work[3].ctypes.data, work[4].ctypes.data)
        for i in range(n):
            if y[lo + i] == 0:
                work[1, i] = work[3, i]
                work[2, i] = work[4, i]
    total = 0.0
    for i in range(n):
        a = row_factor(y, s, weights, lo + i)
        # A row of weight 0 counts as 0 even if its loss overflows.
        total += a * work[1, i] if a > 0 else 0.0
        work[0, i] = a * scales[y[lo + i]] * work[2, i] if a > 0 else 0.0
    return total


@njit(**ANY_ORDER)
def losses_along(pair: Any, t: Any, q: Any, step: float, r: Any, h: Any) -> Any:
    """The sum of the losses at the scores t + step * q, and its first and second derivative in ``step``.

    Slopes and curvatures in the score go to r and h; a curvature that is negative or not a number counts as 0. ``pair``
    holds the addresses of first and second derivatives, y, s, and the weights and scales of the classes.
    """
    first, second, y, s, weights, scales = pair
    work, other = np.empty((4, MOST_ROWS)), np.empty((3, MOST_ROWS))
    total = slope = curvature = 0.0
    for lo in range(0, t.size, MOST_ROWS):
        n = min(MOST_ROWS, t.size - lo)
        for i in range(n):
            work[0, i] = scales[y[lo + i]] * (t[lo + i] + step * q[lo + i])
        call_first(first[1], n, work[0].ctypes.data, work[1].ctypes.data, work[2].ctypes.data)
        call_second(second[1], n, work[0].ctypes.data, work[3].ctypes.data)
        if first[0] != first[1]:
            call_first(first[0], n, work[0].ctypes.data, other[0].ctypes.data, other[1].ctypes.data)
            call_second(second[0], n, work[0].ctypes.data, other[2].ctypes.data)
            for i in range(n):
                if y[lo + i] == 0:
                    for k in range(3):
                        work[1 + k, i] = other[k, i]
        for i in range(n):
            label = y[lo + i]
            a = row_factor(y, s, weights, lo + i)
            scale = a * scales[label] if a > 0 else 0.0
            # A row of weight 0 counts as 0 even if its loss overflows.
            total += a * work[1, i] if a > 0 else 0.0
            bend = work[3, i] if work[3, i] > 0.0 and a > 0 else 0.0
            r[lo + i] = scale * work[2, i] if a > 0 else 0.0
            h[lo + i] = min(scale * scales[label] * bend, 1e300)
            slope += r[lo + i] * q[lo + i]
            curvature += h[lo + i] * q[lo + i] * q[lo + i]
    return total, slope, curvature


@njit(**ANY_ORDER)
def absolute_sums(r: Any, t: Any) -> Any:
    """The sums of the absolute values of r and of r * t."""
    size = moment = 0.0
    for i in range(r.size):
        size += abs(r[i])
        moment += abs(r[i] * t[i])
    return size, moment


@njit(**ANY_ORDER)
def rows_per_block(width: int, item: int) -> int:
    return max(16, min(MOST_ROWS, _BLOCK_BYTES // (item * max(width, 1)) // 4 * 4))


@njit(**ANY_ORDER)
def block_scores_rows(X: Any, w: Any, b: float, lo: int, n: int, out: Any) -> None:
    """Write the scores of n rows from lo on to the start of out."""
    d = X.shape[1]
    full = n // 4 * 4
    for i in range(0, full, 4):
        r0, r1, r2, r3 = X[lo + i], X[lo + i + 1], X[lo + i + 2], X[lo + i + 3]
        t0 = t1 = t2 = t3 = 0.0
        for j in range(d):
            wj = w[j]
            t0 += wj * r0[j]
            t1 += wj * r1[j]
            t2 += wj * r2[j]
            t3 += wj * r3[j]
        out[i], out[i + 1], out[i + 2], out[i + 3] = t0 + b, t1 + b, t2 + b, t3 + b
    for i in range(full, n):
        row = X[lo + i]
        t = 0.0
        for j in range(d):
            t += w[j] * row[j]
        out[i] = t + b


@njit(**ANY_ORDER)
def add_rows(X: Any, r: Any, lo: int, n: int, g: Any) -> None:
    """Add X' r of n rows from lo on to g; rows of slope 0 (beyond the margin) are not read."""
    d = X.shape[1]
    used = np.empty(n + 1, np.int64)
    count = 0
    for i in range(n):
        used[count] = i
        count += r[i] != 0.0
    full = count // 4 * 4
    for k in range(0, full, 4):
        i0, i1, i2, i3 = used[k], used[k + 1], used[k + 2], used[k + 3]
        r0, r1, r2, r3 = X[lo + i0], X[lo + i1], X[lo + i2], X[lo + i3]
        a0, a1, a2, a3 = r[i0], r[i1], r[i2], r[i3]
        for j in range(d):
            g[j] += (a0 * r0[j] + a1 * r1[j]) + (a2 * r2[j] + a3 * r3[j])
    for k in range(full, count):
        row = X[lo + used[k]]
        a = r[used[k]]
        for j in range(d):
            g[j] += a * row[j]


@njit(**ANY_ORDER)
def _scores_columns(Xt: Any, w: Any, b: float, lo: int, n: int, out: Any) -> None:
    for i in range(n):
        out[i] = b
    d = Xt.shape[0]
    full = d // 4 * 4
    for j in range(0, full, 4):
        c0, c1, c2, c3 = Xt[j, lo:], Xt[j + 1, lo:], Xt[j + 2, lo:], Xt[j + 3, lo:]
        w0, w1, w2, w3 = w[j], w[j + 1], w[j + 2], w[j + 3]
        for i in range(n):
            out[i] += (w0 * c0[i] + w1 * c1[i]) + (w2 * c2[i] + w3 * c3[i])
    for j in range(full, d):
        column = Xt[j, lo:]
        wj = w[j]
        for i in range(n):
            out[i] += wj * column[i]


@njit(**ANY_ORDER)
def add_columns(Xt: Any, r: Any, lo: int, n: int, g: Any) -> None:
    for j in range(Xt.shape[0]):
        column = Xt[j, lo:]
        total = 0.0
        for i in range(n):
            total += r[i] * column[i]
        g[j] += total


@njit(**ANY_ORDER)
def _scores_sparse(data: Any, indices: Any, indptr: Any, w: Any, b: float, lo: int, n: int, out: Any) -> None:
    for i in range(n):
        t = b
        # Unsigned, because Numba tests signed indices for being negative.
        for k in range(np.uint64(indptr[lo + i]), np.uint64(indptr[lo + i + 1])):
            t += data[k] * w[np.uint64(indices[k])]
        out[i] = t


@njit(**ANY_ORDER)
def add_sparse(data: Any, indices: Any, indptr: Any, r: Any, lo: int, n: int, g: Any) -> None:
    for i in range(n):
        a = r[i]
        if a != 0.0:
            for k in range(np.uint64(indptr[lo + i]), np.uint64(indptr[lo + i + 1])):
                g[np.uint64(indices[k])] += a * data[k]


@njit(**ANY_ORDER)
def scores_rows(X: Any, w: Any, b: float, lo: int, hi: int, out: Any) -> None:
    """Write the scores of the rows lo to hi of a C-ordered matrix to out."""
    block_scores_rows(X, w, b, lo, hi - lo, out[lo:])


@njit(**ANY_ORDER)
def scores_columns(Xt: Any, w: Any, b: float, lo: int, hi: int, out: Any) -> None:
    size = 4 * rows_per_block(Xt.shape[0], Xt.itemsize)
    for start in range(lo, hi, size):
        _scores_columns(Xt, w, b, start, min(size, hi - start), out[start:])


@njit(**ANY_ORDER)
def scores_sparse(data: Any, indices: Any, indptr: Any, w: Any, b: float, lo: int, hi: int, out: Any) -> None:
    _scores_sparse(data, indices, indptr, w, b, lo, hi - lo, out[lo:])


@njit(**ANY_ORDER)
def transposed_rows(X: Any, r: Any, q: Any, lo: int, hi: int, g: Any, sizes: Any) -> None:
    """Add X' r of the rows lo to hi of a C-ordered matrix to g, and abs(X)' abs(q) to sizes."""
    d = X.shape[1]
    for i in range(lo, hi):
        a, size, row = r[i], abs(q[i]), X[i]
        if size == 0.0:
            continue
        for j in range(d):
            g[j] += a * row[j]
            sizes[j] += size * abs(row[j])


@njit(**ANY_ORDER)
def transposed_columns(Xt: Any, r: Any, q: Any, lo: int, hi: int, g: Any, sizes: Any) -> None:
    """The same for the transpose of an F-ordered matrix."""
    part, weight = r[lo:hi], q[lo:hi]
    for j in range(Xt.shape[0]):
        column = Xt[j, lo:hi]
        total = size = 0.0
        for i in range(part.size):
            total += part[i] * column[i]
            size += abs(weight[i] * column[i])
        g[j] += total
        sizes[j] += size


@njit(**ANY_ORDER)
def both_transposed_sparse(data: Any, indices: Any, indptr: Any, r: Any, q: Any, lo: int, hi: int, sums: Any) -> None:
    """The same for the rows of a CSR matrix: the two sums of a column lie side by side."""
    for i in range(lo, hi):
        a, size = r[i], abs(q[i])
        if size != 0.0:
            for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
                j = np.uint64(2) * np.uint64(indices[k])
                sums[j] += a * data[k]
                sums[j + np.uint64(1)] += size * abs(data[k])


@njit(**ANY_ORDER)
def combine_sparse(data: Any, indices: Any, indptr: Any, chosen: Any, r: Any, out: Any) -> Any:
    """Add some rows of a CSR matrix, each times its coefficient, to out."""
    for position in range(chosen.size):
        i, a = chosen[position], r[position]
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            out[np.uint64(indices[k])] += a * data[k]
    return out


@njit(**ANY_ORDER)
def squared_sparse(data: Any, indices: Any, indptr: Any, r: Any, out: Any) -> Any:
    """The squares of a CSR matrix, transposed, times a vector."""
    for i in range(r.size):
        a = r[i]
        if a != 0.0:
            for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
                out[np.uint64(indices[k])] += a * data[k] * data[k]
    return out


@njit(**ANY_ORDER)
def pass_rows(
    X: Any, phi: Any, y: Any, s: Any, weights: Any, scales: Any, w: Any, b: float, lo: int, hi: int, g: Any
) -> float:
    """Sum of the losses of rows of a C-ordered matrix; their gradient is added to g, the intercept's to g[-1]."""
    size = rows_per_block(X.shape[1], X.itemsize)
    work = np.empty((5, size))
    total = 0.0
    for start in range(lo, hi, size):
        n = min(size, hi - start)
        block_scores_rows(X, w, b, start, n, work[0])
        total += losses(phi, y, s, weights, scales, start, n, work)
        add_rows(X, work[0], start, n, g)
        g[-1] += work[0, :n].sum()
    return total


@njit(**ANY_ORDER)
def pass_columns(
    Xt: Any, phi: Any, y: Any, s: Any, weights: Any, scales: Any, w: Any, b: float, lo: int, hi: int, g: Any
) -> float:
    """The same for the transpose of an F-ordered matrix, with longer blocks, because columns are read."""
    size = 4 * rows_per_block(Xt.shape[0], Xt.itemsize)
    work = np.empty((5, size))
    total = 0.0
    for start in range(lo, hi, size):
        n = min(size, hi - start)
        _scores_columns(Xt, w, b, start, n, work[0])
        total += losses(phi, y, s, weights, scales, start, n, work)
        add_columns(Xt, work[0], start, n, g)
        g[-1] += work[0, :n].sum()
    return total


@njit(**ANY_ORDER)
def pass_sparse(
    data: Any,
    indices: Any,
    indptr: Any,
    phi: Any,
    y: Any,
    s: Any,
    weights: Any,
    scales: Any,
    w: Any,
    b: float,
    lo: int,
    hi: int,
    g: Any,
) -> float:
    """The same for the rows of a CSR matrix."""
    work = np.empty((5, MOST_ROWS))
    total = 0.0
    for start in range(lo, hi, MOST_ROWS):
        n = min(MOST_ROWS, hi - start)
        _scores_sparse(data, indices, indptr, w, b, start, n, work[0])
        total += losses(phi, y, s, weights, scales, start, n, work)
        add_sparse(data, indices, indptr, work[0], start, n, g)
        g[-1] += work[0, :n].sum()
    return total


@njit(**ANY_ORDER)
def curvature_product_rows(X: Any, curvature: Any, v: Any, c: float, lo: int, hi: int, g: Any) -> None:
    """Add (X 1)' diag(curvature) (X 1) (v c) of the rows lo to hi of a C-ordered matrix to g."""
    size = rows_per_block(X.shape[1], X.itemsize)
    work = np.empty(size)
    for start in range(lo, hi, size):
        n = min(size, hi - start)
        block_scores_rows(X, v, c, start, n, work)
        for i in range(n):
            work[i] *= curvature[start + i]
        add_rows(X, work, start, n, g)
        g[-1] += work[:n].sum()


@njit(**ANY_ORDER)
def curvature_product_columns(Xt: Any, curvature: Any, v: Any, c: float, lo: int, hi: int, g: Any) -> None:
    """The same for the transpose of an F-ordered matrix."""
    size = 4 * rows_per_block(Xt.shape[0], Xt.itemsize)
    work = np.empty(size)
    for start in range(lo, hi, size):
        n = min(size, hi - start)
        _scores_columns(Xt, v, c, start, n, work)
        for i in range(n):
            work[i] *= curvature[start + i]
        add_columns(Xt, work, start, n, g)
        g[-1] += work[:n].sum()


@njit(**ANY_ORDER)
def curvature_product_sparse(
    data: Any, indices: Any, indptr: Any, curvature: Any, v: Any, c: float, lo: int, hi: int, g: Any
) -> None:
    """The same for a CSR matrix; rows without curvature are not read."""
    total = 0.0
    for i in range(lo, hi):
        h = curvature[i]
        if h == 0.0:
            continue
        first, last = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        t = c
        for k in range(first, last):
            t += data[k] * v[np.uint64(indices[k])]
        t *= h
        total += t
        for k in range(first, last):
            g[np.uint64(indices[k])] += t * data[k]
    g[-1] += total


@njit(**ANY_ORDER)
def add_squares(X: Any, h: Any, total: Any) -> None:
    """Add the lower triangle of (X 1)' diag(h) (X 1) to total, four rows of positive weight at a time."""
    d = X.shape[1]
    four = np.zeros((4, d + 1))
    held = 0
    for i in range(h.size + 1):
        if i < h.size:
            if h[i] == 0.0:
                continue
            root, row, into = np.sqrt(h[i]), X[i], four[held]
            for j in range(d):
                into[j] = root * row[j]
            into[d] = root
            held += 1
            if held < 4:
                continue
        else:
            four[held:] = 0.0
        held = 0
        f0, f1, f2, f3 = four[0], four[1], four[2], four[3]
        for a in range(d + 1):
            x0, x1, x2, x3 = f0[a], f1[a], f2[a], f3[a]
            into = total[a]
            for b in range(a + 1):
                into[b] += (x0 * f0[b] + x1 * f1[b]) + (x2 * f2[b] + x3 * f3[b])
