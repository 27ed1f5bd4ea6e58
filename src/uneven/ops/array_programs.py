"""Trees as functions of the arrays of another library: printed once, then run by it, traced or compiled.

The library (PyTorch, JAX) says which functions its arrays have. A printed function
holds plain calls only, so the compilers of these libraries read it as if a user had written it.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import CodeType, FunctionType
from typing import Any, Literal

import numpy as np

from uneven.expression import Node
from uneven.expression.functions import FUNCTIONS
from uneven.expression.tree import Call, Where, depends_on_t
from uneven.ops import window
from uneven.ops.evaluate import evaluate
from uneven.ops.floats import leaves_single_precision
from uneven.ops.printing import Printer, bound_of, cut, literal

Array = Any
#: A function from an array to an array of the same shape, or to several.
Program = Callable[[Array], Array]
#: A point where the formula changes but the function is smooth, and the slope there.
SmoothSwitch = tuple[float, float]
Tails = Literal["line", "constant", "nan"]


class ArrayPrinter(Printer):
    """Lines of a function of arrays."""

    def __init__(self) -> None:
        super().__init__()
        self.functions: set[str] = {"where", "scalar"}

    def function(self, name: str, *arguments: str) -> str:
        """A function of the library at arrays; a number becomes an array."""
        self.functions.add(name)
        return self.emit(f"{name}({', '.join(map(self.array, arguments))})")

    def array(self, x: str) -> str:
        """An array without dimensions if it is a number: libraries want at least one array."""
        return self.emit(f"scalar({x}, t)") if _is_number(x) else x

    def call(self, name: str, *arguments: Any) -> str:
        known = CALLS.get(name)
        return self.function(name, *arguments) if known is None else known(self, *arguments)

    def select(self, condition: str, yes: str, no: str) -> str:
        yes = self.array(yes) if _is_number(no) else yes  # two numbers would have the library's default precision
        return self.emit(f"where({condition}, {yes}, {no})")

    def where(self, node: Where, t: str, value: Callable[[Node, str], str]) -> str:
        def as_array(part: Node, at: str) -> str:
            return self.array(value(part, at)) if part is node.left else value(part, at)

        return super().where(node, t, as_array)

    def exp(self, x: str) -> str:
        return self.function("exp", x)

    def log1p_of_small(self, x: str) -> str:
        return self.function("log1p", x)

    def clamped(self, t: str, bound: float) -> str:
        self.functions.add("clip")
        return self.emit(f"clip({t}, {literal(-bound)}, {literal(bound)})")


#: Functions that are not calls of a function with the same name in the library.
CALLS: dict[str, Callable[..., str]] = {
    "abs": Printer.size,
    "expit": Printer.expit,
    "softplus": Printer.softplus,
    "max": lambda printer, x, y: printer.function("maximum", x, y),
    "min": lambda printer, x, y: printer.function("minimum", x, y),
    "step": lambda printer, x: printer.select(f"{x} > 0.0", "1.0", "0.0"),
    "window": window.printed,
}


def _is_number(x: str) -> bool:
    return x[0].isdigit() or x.startswith(("(-", "math."))


@dataclass(frozen=True)
class Library:
    """How printed lines become functions of one library's arrays.

    float64 stays float64. float32, bfloat16 and float16 are computed in float32, unless a high power of the tree leaves
    its range on the way: then in float64. The result has the precision of the input.

    Parameters
    ----------
    name : str
        For the name of printed functions.
    lookup : callable
        From a name, such as ``"exp"``, to a function of arrays. Beside the functions of the language: ``where``,
        ``clip``, ``maximum``, ``minimum``, and ``scalar(number, t)``, an array without dimensions, of the precision of
        t.
    single, double : dtype
        The two precisions.
    cast : callable
        From an array and a dtype to an array of that precision.
    in_double : callable
        From a function of float64 arrays and another array to the result in the precision of the array.
    """

    name: str
    lookup: Callable[[str], Any]
    single: Any
    double: Any
    cast: Callable[[Array, Any], Array]
    in_double: Callable[[Program, Array], Array]

    def function(self, tree: Node, switches: tuple[SmoothSwitch, ...] = (), *, tails: Tails = "line") -> Program:
        """The values of a tree at arrays of any precision; derivatives do not see through it.

        Parameters
        ----------
        tree : Node
        switches : tuple of pairs
            Points at which the value is given.
        tails : {"line", "constant", "nan"}
            What happens where |t| is so large that floats become NaN: a straight line continues the function, it stays
            constant, or it is NaN.
        """
        # Functions hold functions and dtypes only: a compiler that traces them cannot look into other objects.
        full, in_double, working, cast = self.double, self.in_double, self.working, self.cast
        double = self._program(tree, np.float64, switches, tails)
        if leaves_single_precision(tree):
            return lambda t: double(t) if t.dtype == full else in_double(double, t)
        single = self._program(tree, np.float32, switches, tails)

        def values(t: Array) -> Array:
            return double(t) if t.dtype == full else cast(single(working(t)), t.dtype)

        return values

    @cached_property
    def working(self) -> Program:
        """The array in the precision in which it is computed with: float64 or float32."""
        full, half, cast = self.double, self.single, self.cast
        return lambda t: t if t.dtype == full else cast(t, half)

    def together(self, trees: tuple[Node, ...], switches: Mapping[int, tuple[SmoothSwitch, ...]]) -> Program:
        """The values of several trees at a float64 array, in one function: what they share is computed once.

        ``switches`` holds the points at which the value of a tree is given, by its place among the trees.
        """
        printer = ArrayPrinter()
        results = []
        for place, tree in enumerate(trees):
            result = _printed(printer, tree, np.float64, switches.get(place, ()), "line")
            results.append(result if depends_on_t(tree) else printer.select("t == t", result, "t"))
        return self._built(printer, f"({', '.join(results)},)")

    def _program(self, tree: Node, dtype: type, switches: tuple[SmoothSwitch, ...], tails: Tails) -> Program:
        printer = ArrayPrinter()
        return self._built(printer, _kept_nan(printer, tree, _printed(printer, tree, dtype, switches, tails)))

    def _built(self, printer: ArrayPrinter, result: str) -> Program:
        lines = [f"    {variable} = {expression}" for expression, variable in printer.lines.items()]
        text = "\n".join(["def program(t):", *lines, f"    return {result}"])
        own = {name: self.lookup(name) for name in printer.functions}
        namespace = {"__builtins__": builtins, "math": math, "abs": abs, **own}  # torch.compile looks for the builtins
        module = compile(text, f"<{self.name} program printed from a tree>", "exec")
        body = next(part for part in module.co_consts if isinstance(part, CodeType))
        return FunctionType(body, namespace)


def _printed(printer: ArrayPrinter, tree: Node, dtype: type, switches: tuple[SmoothSwitch, ...], tails: Tails) -> str:
    """The name of the variable that holds the value of a tree."""
    if tails == "line":
        result = cut(printer, tree, dtype)
    else:
        bound = bound_of(tree, dtype) if tails == "constant" else math.inf
        result = evaluate(tree, printer, "t" if math.isinf(bound) else printer.clamped("t", bound))
    for point, value in switches:
        result = printer.select(f"t == {literal(point)}", literal(value), result)
    return result


def _kept_nan(printer: ArrayPrinter, tree: Node, result: str) -> str:
    """NaN in, NaN out, of the shape of t, also if the result is a number or comparisons with NaN, which are false."""
    jumps = any(isinstance(n, Where) or (isinstance(n, Call) and FUNCTIONS[n.name].jumps) for n in tree.walk())
    return printer.select("t == t", result, "t") if jumps or not depends_on_t(tree) else result
