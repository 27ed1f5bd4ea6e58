"""Compiled: blocks of the matrix of a kernel.

A few columns are computed at a time, so that the products are still in the cache when the kernel is applied to them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from uneven.ops.vector_math import exp
from uneven.solvers.compiled.options import IN_ORDER

#: Columns that are computed at once.
_COLUMNS = 512

LINEAR, POLY, RBF, SIGMOID = 0, 1, 2, 3

_LOG2_E, _LN2 = np.float32(1 / math.log(2)), np.float32(math.log(2))
_TO_INTEGER = np.float32(1.5 * 2.0**23)
_LEAST = np.float32(-87.0)
_ONE = np.float32(1.0)
_F2, _F3, _F4, _F5, _F6, _F7 = (np.float32(1 / math.factorial(k)) for k in range(2, 8))


@intrinsic
def _bits_of(typing_context: Any, x: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(32))

    return types.int32(types.float32), code


@intrinsic
def _from_bits(typing_context: Any, x: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(builder.trunc(arguments[0], ir.IntType(32)), ir.FloatType())

    return types.float32(types.int64), code


@njit(**IN_ORDER)
def _small_exp(x: Any) -> Any:
    """e**x for x <= 0 in float32, eight at a time; x below -87 counts as -87."""
    y = x if x > _LEAST else _LEAST
    shifted = y * _LOG2_E + _TO_INTEGER
    r = y - (shifted - _TO_INTEGER) * _LN2
    p = _F6 + r * _F7
    p = _F5 + r * p
    p = _F4 + r * p
    p = _F3 + r * p
    p = _F2 + r * p
    p = _ONE + (r + r * r * p)
    exponent = np.int64(_bits_of(shifted)) - np.int64(_bits_of(_TO_INTEGER))
    return p * _from_bits((exponent + np.int64(127)) << np.int64(23))


@njit(**IN_ORDER)
def _gaussian(products: Any, mine: float, other: Any, width: float, out: Any) -> None:
    """exp(-width |x - z|^2); a squared distance that is negative by rounding counts as 0."""
    for k in range(out.size):
        distance = mine + other[k] - 2.0 * products[k]
        out[k] = exp(-width * (distance if distance > 0.0 else 0.0))


@njit(**IN_ORDER)
def _gaussian_32(products: Any, mine: float, other: Any, width: float, out: Any) -> None:
    """The same for rows stored in float32."""
    for k in range(out.size):
        distance = mine + other[k] - 2.0 * products[k]
        out[k] = _small_exp(np.float32(-width * (distance if distance > 0.0 else 0.0)))


@njit(**IN_ORDER)
def apply(
    products: Any, kind: int, width: float, offset: float, degree: float, own: Any, other: Any, lo: int, out: Any
) -> None:
    """Write the kernel into the columns of out from lo on, from inner products and squared norms (own, other)."""
    count = products.shape[1]
    for r in range(products.shape[0]):
        row, target = products[r], out[r, lo : lo + count]
        if kind == RBF:
            if out.itemsize == 4:
                _gaussian_32(row, own[r], other[lo : lo + count], width, target)
            else:
                _gaussian(row, own[r], other[lo : lo + count], width, target)
        elif kind == LINEAR:
            for k in range(count):
                target[k] = row[k]
        elif kind == POLY:
            for k in range(count):
                target[k] = (width * row[k] + offset) ** degree
        else:
            for k in range(count):
                target[k] = np.tanh(width * row[k] + offset)


@njit(**IN_ORDER)
def fill(
    rows: Any,
    X: Any,
    kind: int,
    width: float,
    offset: float,
    degree: float,
    own: Any,
    other: Any,
    lo: int,
    hi: int,
    out: Any,
) -> None:
    """Write the kernel of some rows with the rows lo to hi of a C-ordered X into the columns lo to hi of out."""
    for start in range(lo, hi, _COLUMNS):
        products = np.dot(rows, X[start : min(start + _COLUMNS, hi)].T)
        apply(products, kind, width, offset, degree, own, other, start, out)
