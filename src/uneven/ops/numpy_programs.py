"""NumPy programs: the tree of a phi printed as functions of float64 arrays, for few numbers and without a compiler.

They compute what the compiled kernels compute (:mod:`~uneven.ops.kernels`): also where floating point would lose the
value, where both go on as a straight line. :mod:`~uneven.ops.floats` is for users: it is right everywhere, but slower.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from uneven.expression import Node, derivative
from uneven.ops import floats
from uneven.ops.array_programs import Library, SmoothSwitch

_OWN: dict[str, Callable[..., Any]] = {"scalar": lambda value, like: like.dtype.type(value)}

#: For example ``NUMPY.function(parse("softplus(-t)"))(np.array([-1e4, 0.0]))``.
NUMPY = Library(
    name="numpy",
    lookup=lambda name: _OWN.get(name) or floats.CALLS.get(name) or getattr(np, name),
    single=np.dtype(np.float32),
    double=np.dtype(np.float64),
    cast=np.ndarray.astype,
    in_double=lambda function, t: function(t.astype(np.float64)).astype(t.dtype),
)


class PlainPhi:
    """A phi as functions of float64 arrays."""

    def __init__(self, tree: Node, switches: tuple[SmoothSwitch, ...]) -> None:
        self._tree, self._switches = tree, {1: switches}

    @cached_property
    def derivatives(self) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """The function that gives values, slopes and curvatures; it may warn where they overflow."""
        slope = derivative(self._tree)
        return NUMPY.together((self._tree, slope, derivative(slope)), self._switches)

    @cached_property
    def _first(self) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
        return NUMPY.together((self._tree, derivative(self._tree)), self._switches)

    @np.errstate(all="ignore")
    def first(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values and slopes."""
        return self._first(t)


@lru_cache(maxsize=256)
def plain_phi(tree: Node, switches: tuple[SmoothSwitch, ...] = ()) -> PlainPhi:
    """A tree in normal form as functions of arrays.

    Parameters
    ----------
    tree : Node
        phi in t.
    switches : tuple of pairs
        Points where the formula changes but phi is smooth, and the slope there.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.expression import parse
    >>> from uneven.ops.numpy_programs import plain_phi
    >>> value, slope = plain_phi(parse("relu(1 - t)**2")).first(np.array([-1.0, 2.0]))
    >>> value.tolist(), (slope + 0).tolist()
    ([4.0, 0.0], [-4.0, 0.0])
    """
    return PlainPhi(tree, switches)
