"""A compiled copy of columns that lie anywhere in memory into one matrix: one call without a lock for all of them."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from uneven.solvers.compiled.options import ANY_ORDER


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
