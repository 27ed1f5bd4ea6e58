"""Compiled kernels: the tree of a phi printed as the source of a module, so that Numba's disk cache works.

A kernel is a C function that fills arrays: values and slopes, or curvatures, at an array of margins. It knows
nothing of data, labels or weights; solvers call it by its address for one block of rows after another. The
derivatives are those of :mod:`uneven.expression`; nothing is written by hand.
"""

from __future__ import annotations

import hashlib
import importlib.util
import math
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from uneven._inputs import to_float
from uneven.expression import Node, derivative
from uneven.expression.tree import Where
from uneven.ops.evaluate import evaluate
from uneven.ops.floats import plain_values

#: A point where the formula changes but phi is smooth, and the slope there.
SmoothSwitch = tuple[float, float]

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


class _Printer:
    """An arithmetic whose numbers are names of variables; each distinct operation becomes one line."""

    def __init__(self) -> None:
        self.lines: dict[str, str] = {}

    def emit(self, expression: str) -> str:
        return self.lines.setdefault(expression, f"v{len(self.lines)}")

    def number(self, value: Fraction) -> str:
        return _literal(to_float(value))

    def constant(self, name: str) -> str:
        return _literal(getattr(math, name))

    def add(self, x: str, y: str) -> str:
        return self.emit(f"{x} + {y}")

    def subtract(self, x: str, y: str) -> str:
        return self.emit(f"{x} - {y}")

    def negate(self, x: str) -> str:
        return self.emit(f"-{x}")

    def multiply(self, x: str, y: str) -> str:
        return self.emit(f"{x} * {y}")

    def divide(self, x: str, y: str) -> str:
        return self.emit(f"{x} / {y}")

    def rational_power(self, x: str, exponent: Fraction) -> str:
        if exponent.denominator == 1 and 2 <= exponent <= 4:
            square = self.emit(f"{x} * {x}")
            return square if exponent == 2 else self.emit(f"{square} * {x if exponent == 3 else square}")
        if abs(exponent) >= 2**53 and exponent.denominator == 1:  # as a double it would be even
            size = self.emit(f"abs({x}) ** {self.number(exponent)}")
            return self.emit(f"math.copysign({size}, {x})") if exponent % 2 else size
        return self.emit(f"{x} ** {self.number(exponent)}")

    def power(self, x: str, y: str) -> str:
        return self.emit(f"{x} ** {y}")

    def call(self, name: str, *arguments: str) -> str:
        return CALLS[name](self, *arguments)

    def where(self, node: Where, t: str, value: Callable[[Node, str], str]) -> str:
        left, right, yes, no = (value(part, t) for part in (node.left, node.right, node.yes, node.no))
        return self.select(f"{left} {node.op} {right}", yes, no)

    def select(self, condition: str, yes: str, no: str) -> str:
        """Choose between two values that are both computed already, so that the compiled code needs no branch."""
        return self.emit(f"{yes} if {condition} else {no}")

    def small_exp(self, x: str) -> str:
        """exp(-abs(x)), shared by expit and softplus."""
        size = self.emit(f"abs({x})")
        return self.emit(f"exp(-{size})")

    def expit(self, x: str) -> str:
        small = self.small_exp(x)
        above = self.select(f"{x} >= 0.0", "1.0", small)
        below = self.emit(f"1.0 + {small}")
        return self.emit(f"{above} / {below}")

    def softplus(self, x: str) -> str:
        small = self.small_exp(x)
        logarithm = self.emit(f"log1p_of_small({small})")
        positive = self.select(f"{x} > 0.0", x, "0.0")
        return self.emit(f"{positive} + {logarithm}")


def library(name: str) -> Callable[..., str]:
    """A function of the C library, correct everywhere; not vectorised."""
    return lambda printer, x: printer.emit(f"math.{name}({x})")


#: Each function of the language as printed lines; returns the name of the variable that holds the value.
CALLS: dict[str, Callable[..., str]] = {
    "exp": lambda printer, x: printer.emit(f"exp({x})"),
    "log": library("log"),
    "log1p": library("log1p"),
    "expm1": library("expm1"),
    "sqrt": library("sqrt"),
    "abs": lambda printer, x: printer.emit(f"abs({x})"),
    "tanh": library("tanh"),
    "atan": library("atan"),
    "erf": library("erf"),
    "erfc": library("erfc"),
    "expit": _Printer.expit,
    "softplus": _Printer.softplus,
    "relu": lambda printer, x: printer.select(f"{x} > 0.0", x, "0.0"),
    "max": lambda printer, x, y: printer.select(f"{x} >= {y}", x, y),
    "min": lambda printer, x, y: printer.select(f"{x} <= {y}", x, y),
    "step": lambda printer, x: printer.select(f"{x} > 0.0", "1.0", "0.0"),
}


def _literal(value: float) -> str:
    if math.isinf(value):
        return "math.inf" if value > 0 else "(-math.inf)"
    return repr(value) if value >= 0 else f"({value!r})"


def source(tree: Node, switches: tuple[SmoothSwitch, ...] = ()) -> str:
    """The module: ``first`` fills values and slopes, ``second`` curvatures."""
    slope = derivative(tree)
    curvature = derivative(slope)
    return (
        _HEADER
        + _function("first", {"value": tree, "slope": slope}, switches)
        + _function("second", {"curvature": curvature}, ())
    )


def _function(name: str, trees: dict[str, Node], switches: tuple[SmoothSwitch, ...]) -> str:
    printer = _Printer()
    results = {kind: _cut(printer, tree) for kind, tree in trees.items()}
    for point, slope in switches:
        results["slope"] = printer.select(f"t == {_literal(point)}", _literal(slope), results["slope"])
    lines = [f"{variable} = {expression}" for expression, variable in printer.lines.items()]
    lines += [f"{kind}s[i] = {result}" for kind, result in results.items()]
    return _FUNCTION.format(
        name=name,
        pointers=", CPointer(double)" * len(trees),
        arguments="".join(f", {kind}_" for kind in trees),
        arrays="\n".join(f"    {kind}s = carray({kind}_, (n,))" for kind in trees),
        body="\n".join(f"        {line}" for line in lines),
    )


def _cut(printer: _Printer, tree: Node) -> str:
    """The tree as printed lines; where |t| is so large that floats become NaN, a straight line continues it."""
    bound = _bound(tree)
    if math.isinf(bound):
        return evaluate(tree, printer, "t")
    t = printer.select(f"t > {_literal(bound)}", _literal(bound), "t")
    t = printer.select(f"{t} < {_literal(-bound)}", _literal(-bound), t)
    inside = evaluate(tree, printer, t)
    slope = derivative(tree)
    ends = [float(plain_values(slope, np.array([end]))[0]) for end in (bound, -bound)]
    right, left = (end if math.isfinite(end) else 0.0 for end in ends)
    rise = printer.select("t > 0.0", _literal(right), _literal(left))
    return printer.emit(f"{inside} + {rise} * (t - {t})")


def _bound(tree: Node) -> float:
    """The greatest power of two up to which plain floating point is never NaN (0 * inf)."""
    sizes = 2.0 ** np.arange(-1, 1024)
    lost = np.isnan(plain_values(tree, np.stack([sizes, -sizes]))).any(axis=0)
    return float(sizes[max(int(lost.argmax()) - 1, 0)]) if lost.any() else math.inf


@dataclass(frozen=True)
class CompiledPhi:
    """A compiled phi: addresses of C functions, and the same as functions of arrays."""

    first_address: int
    second_address: int
    module: ModuleType

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
def compiled(tree: Node, switches: tuple[SmoothSwitch, ...] = ()) -> CompiledPhi:
    """Compile a tree in normal form, or load it from the disk cache if a process on this machine compiled it before.

    Parameters
    ----------
    tree : Node
        phi in t.
    switches : tuple of pairs
        Points where the formula changes but phi is smooth, and the slope there: the derivative of the tree may
        be wrong at such a point.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.expression import parse
    >>> from uneven.ops.kernels import compiled
    >>> value, slope = compiled(parse("relu(1 - t)**2")).first(np.array([-1.0, 2.0]))
    >>> value, slope
    (array([4., 0.]), array([-4., -0.]))
    """
    module = _imported(source(tree, switches))
    return CompiledPhi(module.first.address, module.second.address, module)


def _imported(text: str) -> ModuleType:
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
