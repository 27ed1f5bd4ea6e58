"""Trees as printed source code, and as functions of the arrays of another library that runs, traces or compiles it.

Printing is an arithmetic whose numbers are names of variables: operators, the stable forms of expit and softplus, and
what happens where |t| is so large that floats become NaN. :mod:`~uneven.ops.kernels` prints loops over doubles with
it. A printed function of arrays holds plain calls only, so that the compilers of PyTorch and JAX read it as if a user
had written it; the library says which functions its arrays have.
"""

from __future__ import annotations

import builtins
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import comb
from types import CodeType, FunctionType
from typing import Any, Literal

import numpy as np

from uneven.errors import ExpressionError
from uneven.expression import Node, derivative
from uneven.expression.functions import FUNCTIONS
from uneven.expression.tree import Call, Where, depends_on_t
from uneven.inputs import to_float
from uneven.ops.evaluate import PRODUCTS, evaluate
from uneven.ops.floats import leaves_single_precision, plain_values
from uneven.ops.window import coefficients


class Printer(ABC):
    """An arithmetic whose numbers are names of variables; each distinct operation becomes one line."""

    def __init__(self) -> None:
        self.lines: dict[str, str] = {}
        self._opposites: dict[str, str] = {}

    def emit(self, expression: str) -> str:
        return self.lines.setdefault(expression, f"v{len(self.lines)}")

    def number(self, value: Fraction) -> str:
        return literal(to_float(value))

    def constant(self, name: str) -> str:
        return literal(getattr(math, name))

    def add(self, x: str, y: str) -> str:
        return self.emit(f"{x} + {y}")

    def subtract(self, x: str, y: str) -> str:
        return self.emit(f"{x} - {y}")

    def negate(self, x: str) -> str:
        result = self.emit(f"-{x}")
        self._opposites[result] = x
        return result

    def multiply(self, x: str, y: str) -> str:
        return self.emit(f"{x} * {y}")

    def divide(self, x: str, y: str) -> str:
        return self.emit(f"{x} / {y}")

    def rational_power(self, x: str, exponent: Fraction) -> str:
        if exponent.denominator == 1 and 2 <= exponent <= PRODUCTS:
            return self.whole_power(x, exponent.numerator)
        if abs(exponent) >= 2**53 and exponent.denominator == 1:  # as a double it would be even
            size = self.emit(f"{self.size(x)} ** {self.number(exponent)}")
            return self.select(f"{x} < 0.0", self.negate(size), size) if exponent % 2 else size
        return self.emit(f"{x} ** {self.number(exponent)}")

    def whole_power(self, x: str, exponent: int) -> str:
        """A power as products, which stay in vector registers."""
        if exponent == 1:
            return x
        half = self.whole_power(x, exponent // 2)
        square = self.emit(f"{half} * {half}")
        return self.emit(f"{square} * {x}") if exponent % 2 else square

    def power(self, x: str, y: str) -> str:
        return self.emit(f"{x} ** {y}")

    @abstractmethod
    def call(self, name: str, *arguments: Any) -> str: ...

    def where(self, node: Where, t: str, value: Callable[[Node, str], str]) -> str:
        left, right, yes, no = (value(part, t) for part in (node.left, node.right, node.yes, node.no))
        return self.select(f"{left} {node.op} {right}", yes, no)

    @abstractmethod
    def select(self, condition: str, yes: str, no: str) -> str:
        """One of two values."""

    @abstractmethod
    def exp(self, x: str) -> str: ...

    @abstractmethod
    def log1p_of_small(self, x: str) -> str:
        """ln(1 + x) for 0 <= x <= 1."""

    def size(self, x: str) -> str:
        """The absolute value: the same for -x and x, so that expit(-t) and expit(t) share their exponential."""
        return self.emit(f"abs({self._opposites.get(x, x)})")

    def clamped(self, t: str, bound: float) -> str:
        """t, cut to [-bound, bound]."""
        t = self.select(f"{t} > {literal(bound)}", literal(bound), t)
        return self.select(f"{t} < {literal(-bound)}", literal(-bound), t)

    def small_exp(self, x: str) -> str:
        """exp(-abs(x)), shared by expit and softplus."""
        return self.exp(f"-{self.size(x)}")

    def expit(self, x: str) -> str:
        small = self.small_exp(x)
        above = self.select(f"{x} >= 0.0", "1.0", small)
        below = self.emit(f"1.0 + {small}")
        return self.emit(f"{above} / {below}")

    def softplus(self, x: str) -> str:
        small = self.small_exp(x)
        logarithm = self.log1p_of_small(small)
        positive = self.call("relu", x)
        return self.emit(f"{positive} + {logarithm}")


def literal(value: float) -> str:
    """A number as source code."""
    if math.isinf(value):
        return "math.inf" if value > 0 else "(-math.inf)"
    return repr(value) if value >= 0 else f"({value!r})"


def print_window(printer: Printer, x: str, order: int) -> str:
    """The function ``window`` of the language, as :mod:`~uneven.ops.window` explains it."""
    small = printer.small_exp(x)
    below = printer.emit(f"1.0 + {small}")
    larger = printer.emit(f"1.0 / {below}")
    smaller = printer.emit(f"{small} * {larger}")
    highest, *others = reversed(coefficients(order))
    total = literal(float(highest))
    for coefficient in others:
        total = printer.emit(f"{literal(float(coefficient))} + {larger} * {total}")
    power = printer.whole_power(smaller, (order + 1) // 2)
    tail = printer.emit(f"{power} * {total} * {power}")
    if order % 2 == 0:
        tail = printer.emit(f"{tail} * {smaller}")
    product = printer.emit(f"{smaller} * {larger}")
    even = printer.emit(f"{literal(float(comb(2 * order, order)))} * {printer.whole_power(product, order)}")
    rest = printer.emit(f"1.0 - ({tail} + {even})")
    return printer.select(f"{x} > 0.0", rest, tail)


def cut(printer: Printer, tree: Node, dtype: type = np.float64) -> str:
    """The tree as printed lines; where |t| is so large that floats become NaN, a straight line continues it."""
    bound = bound_of(tree, dtype)
    if math.isinf(bound):
        return evaluate(tree, printer, "t")
    left, right = _slopes_at(tree, bound, dtype)
    t = printer.clamped("t", bound)
    inside = evaluate(tree, printer, t)
    rise = printer.select("t > 0.0", literal(right), literal(left))
    return printer.emit(f"{inside} + {rise} * (t - {t})")


@lru_cache(maxsize=4096)
def bound_of(tree: Node, dtype: type = np.float64) -> float:
    """The greatest power of two up to which plain floating point is never NaN (0 * inf); infinite if there is none."""
    sizes: np.ndarray = (2.0 ** np.arange(-1, np.finfo(dtype).maxexp)).astype(dtype)
    lost = np.isnan(plain_values(tree, np.stack([sizes, -sizes]))).any(axis=0)
    return float(sizes[max(int(lost.argmax()) - 1, 0)]) if lost.any() else math.inf


def _slopes_at(tree: Node, bound: float, dtype: type) -> tuple[float, float]:
    """The slopes at both ends, 0 if they are not finite, or too long to be written down."""
    try:
        ends = plain_values(derivative(tree), np.array([-bound, bound], dtype=dtype))
    except ExpressionError:
        return 0.0, 0.0
    left, right = (float(end) if math.isfinite(end) else 0.0 for end in ends)
    return left, right


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
    "window": print_window,
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
            result = _print_program(printer, tree, np.float64, switches.get(place, ()), "line")
            results.append(result if depends_on_t(tree) else printer.select("t == t", result, "t"))
        return self._built(printer, f"({', '.join(results)},)")

    def _program(self, tree: Node, dtype: type, switches: tuple[SmoothSwitch, ...], tails: Tails) -> Program:
        printer = ArrayPrinter()
        return self._built(printer, _kept_nan(printer, tree, _print_program(printer, tree, dtype, switches, tails)))

    def _built(self, printer: ArrayPrinter, result: str) -> Program:
        lines = [f"    {variable} = {expression}" for expression, variable in printer.lines.items()]
        text = "\n".join(["def program(t):", *lines, f"    return {result}"])
        own = {name: self.lookup(name) for name in printer.functions}
        namespace = {"__builtins__": builtins, "math": math, "abs": abs, **own}  # torch.compile looks for the builtins
        module = compile(text, f"<{self.name} program printed from a tree>", "exec")
        body = next(part for part in module.co_consts if isinstance(part, CodeType))
        return FunctionType(body, namespace)


def _print_program(
    printer: ArrayPrinter, tree: Node, dtype: type, switches: tuple[SmoothSwitch, ...], tails: Tails
) -> str:
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
