"""Compiled kernels: the tree of a phi printed as the source of a module, so that Numba's disk cache works.

A kernel is a C function that fills arrays: values and slopes, or curvatures, at an array of margins. It knows nothing
of data, labels or weights; solvers call it by its address for one block of rows after another. The derivatives are
those of :mod:`uneven.expression`; nothing is written by hand. For few numbers, the same tree is printed as functions
of NumPy arrays, without a compiler.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable
from functools import cached_property, lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from uneven.expression import Node, derivative
from uneven.ops import floats
from uneven.ops.array_programs import Library, Printer, SmoothSwitch, cut, literal, print_window

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
    >>> from uneven.ops.kernels import plain_phi
    >>> value, slope = plain_phi(parse("relu(1 - t)**2")).first(np.array([-1.0, 2.0]))
    >>> value.tolist(), (slope + 0).tolist()
    ([4.0, 0.0], [-4.0, 0.0])
    """
    return PlainPhi(tree, switches)


_HEADER = '''"""Printed from the tree of a phi; remade whenever it is missing."""

import math

from numba import carray, cfunc

from uneven.ops.vector_math import exp, log1p_of_small

_OPTIONS = {"error_model": "numpy", "fastmath": {"contract"}, "cache": True}
'''
_FUNCTION = """

@cfunc("void(intp, CPointer(double){pointers})", **_OPTIONS)
def {name}(n, t_{arguments}):
    ts = carray(t_, (n,))
{arrays}
    for i in range(n):
        t = ts[i]
{body}
"""


class _KernelPrinter(Printer):
    """Lines of a loop over doubles."""

    def call(self, name: str, *arguments: Any) -> str:
        return CALLS[name](self, *arguments)

    def select(self, condition: str, yes: str, no: str) -> str:
        """Choose between two values that are both computed already, so that the compiled code needs no branch."""
        return self.emit(f"{yes} if {condition} else {no}")

    def exp(self, x: str) -> str:
        return self.emit(f"exp({x})")

    def log1p_of_small(self, x: str) -> str:
        return self.emit(f"log1p_of_small({x})")


def library(name: str) -> Callable[..., str]:
    """A function of the C library, correct everywhere; not vectorised."""
    return lambda printer, x: printer.emit(f"math.{name}({x})")


#: Each function of the language as printed lines; returns the name of the variable that holds the value.
CALLS: dict[str, Callable[..., str]] = {
    "exp": _KernelPrinter.exp,
    "log": library("log"),
    "log1p": library("log1p"),
    "expm1": library("expm1"),
    "sqrt": library("sqrt"),
    "abs": Printer.size,
    "tanh": library("tanh"),
    "atan": library("atan"),
    "erf": library("erf"),
    "erfc": library("erfc"),
    "expit": Printer.expit,
    "softplus": Printer.softplus,
    "relu": lambda printer, x: printer.select(f"{x} > 0.0", x, "0.0"),
    "max": lambda printer, x, y: printer.select(f"{x} >= {y}", x, y),
    "min": lambda printer, x, y: printer.select(f"{x} <= {y}", x, y),
    "step": lambda printer, x: printer.select(f"{x} > 0.0", "1.0", "0.0"),
    "window": print_window,
}


def source(tree: Node, switches: tuple[SmoothSwitch, ...] = ()) -> str:
    """The module: ``first`` fills values and slopes, ``second`` curvatures."""
    slope = derivative(tree)
    curvature = derivative(slope)
    return (
        _HEADER
        + _function("first", {"value": tree, "slope": slope}, switches)
        + _function("second", {"curvature": curvature}, ())
    )


def steps_source(tree: Node, switches: tuple[SmoothSwitch, ...] = ()) -> str:
    """The module of :func:`compiled_steps`: ``steps`` fills slopes and curvatures."""
    slope = derivative(tree)
    return _HEADER + _function("steps", {"slope": slope, "curvature": derivative(slope)}, switches)


def _function(name: str, trees: dict[str, Node], switches: tuple[SmoothSwitch, ...]) -> str:
    printer = _KernelPrinter()
    results = {kind: cut(printer, tree) for kind, tree in trees.items()}
    for point, slope in switches:
        results["slope"] = printer.select(f"t == {literal(point)}", literal(slope), results["slope"])
    lines = [f"{variable} = {expression}" for expression, variable in printer.lines.items()]
    lines += [f"{kind}s[i] = {result}" for kind, result in results.items()]
    return _FUNCTION.format(
        name=name,
        pointers=", CPointer(double)" * len(trees),
        arguments="".join(f", {kind}_" for kind in trees),
        arrays="\n".join(f"    {kind}s = carray({kind}_, (n,))" for kind in trees),
        body="\n".join(f"        {line}" for line in lines),
    )


class CompiledPhi:
    """A phi that is compiled when it is first needed: addresses of C functions, and the same as functions of arrays."""

    def __init__(self, tree: Node, switches: tuple[SmoothSwitch, ...]) -> None:
        self._tree, self._switches = tree, switches

    @cached_property
    def module(self) -> ModuleType:
        """The printed module; compiled, or loaded from the disk cache."""
        return _import_printed(source(self._tree, self._switches))

    @property
    def first_address(self) -> int:
        """The C function that fills values and slopes."""
        return int(self.module.first.address)

    @property
    def second_address(self) -> int:
        """The C function that fills curvatures."""
        return int(self.module.second.address)

    @cached_property
    def plain(self) -> PlainPhi:
        """The same by NumPy, for a few numbers: nothing is compiled."""
        return plain_phi(self._tree, self._switches)

    def first(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values and slopes at a float64 array."""
        margins = np.ascontiguousarray(t, dtype=np.float64)
        value, slope = np.empty_like(margins), np.empty_like(margins)
        self.into(margins, value, slope)
        return value, slope

    def into(self, t: np.ndarray, value: np.ndarray, slope: np.ndarray) -> None:
        """Values and slopes at a contiguous float64 array, put into two others."""
        self.module.first.ctypes(t.size, *map(_pointer, (t, value, slope)))

    def second(self, t: np.ndarray) -> np.ndarray:
        """Curvatures at a float64 array."""
        margins = np.ascontiguousarray(t, dtype=np.float64)
        curvature = np.empty_like(margins)
        self.module.second.ctypes(margins.size, *map(_pointer, (margins, curvature)))
        return curvature


def _pointer(array: np.ndarray) -> Any:
    import ctypes

    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


@lru_cache(maxsize=256)
def compile_kernel(tree: Node, switches: tuple[SmoothSwitch, ...] = ()) -> CompiledPhi:
    """A phi that is compiled on first use, or loaded from disk if a process on this machine compiled it before.

    Parameters
    ----------
    tree : Node
        phi in t, in normal form.
    switches : tuple of pairs
        Points where the formula changes but phi is smooth, and the slope there: the derivative of the tree may
        be wrong at such a point.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.expression import parse
    >>> from uneven.ops.kernels import compile_kernel
    >>> value, slope = compile_kernel(parse("relu(1 - t)**2")).first(np.array([-1.0, 2.0]))
    >>> value, slope
    (array([4., 0.]), array([-4., -0.]))
    """
    return CompiledPhi(tree, switches)


@lru_cache(maxsize=256)
def compile_steps(tree: Node, switches: tuple[SmoothSwitch, ...] = ()) -> int:
    """The address of a C function that fills slopes and curvatures in one pass, which share their exponentials.

    It is a module of its own: only boosted trees need it, and every compiled function takes time.
    """
    return int(_import_printed(steps_source(tree, switches)).steps.address)


def _import_printed(text: str) -> ModuleType:
    import numba

    from uneven.ops import vector_math

    # Numba's cache notices changes of the printed file only, so the name contains a hash of what the file calls.
    parts = (text, Path(vector_math.__file__).read_text(encoding="utf-8"), numba.__version__, sys.version)
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
    name = f"uneven_kernel_{digest}"
    path = cache_folder() / f"{name}.py"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        # Written aside and moved, so that another process never reads half a file.
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    specification = importlib.util.spec_from_file_location(name, path)
    if specification is None or specification.loader is None:
        raise ImportError(f"the kernel {path} cannot be imported")
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module  # Numba's cache imports it by name
    specification.loader.exec_module(module)
    return module


@lru_cache(maxsize=1)
def cache_folder() -> Path:
    """Where kernels are kept: $UNEVEN_CACHE_DIR, else the user's cache folder, else a temporary one."""
    given = os.environ.get("UNEVEN_CACHE_DIR")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    for folder in (Path(given) if given else None, Path(home) / "uneven"):
        if folder is not None and _writable(folder):
            return folder
    return Path(tempfile.mkdtemp(prefix="uneven-"))


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
