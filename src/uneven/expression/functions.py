r"""The functions of the language: one record each, which says everything but the numerics.

A record holds what the rest of the package knows about a function: how it is written, its derivative, where it is
defined, where it changes formula, its sign, direction, curvature, zeros and limits. The parser, the normal form,
the derivative, LaTeX and :mod:`uneven.shape` read the record. How to compute the function is one entry in the table
``CALLS`` of each arithmetic (:mod:`uneven.ops`). Identities between functions, such as
softplus(x) - x = softplus(-x), are optional; they are in :mod:`uneven.expression.stable_forms`.

Sentences of a record are written in the language itself, with ``x`` (and ``y``) for the arguments.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import comb, isqrt
from typing import Literal

#: Directions of a function or a tree: nondecreasing, constant, nonincreasing.
RISING, CONSTANT, FALLING = 1, 0, -1
#: Curvatures of a function or a tree.
CONVEX, AFFINE, CONCAVE = 1, 0, -1

#: A rational number, or an infinity (a float).
Extended = Fraction | float


def nothing_exact(*arguments: Fraction) -> Fraction | None:
    """No value at a rational argument is known to be rational."""
    return None


@dataclass(frozen=True, kw_only=True)
class Function:
    r"""What is known about a function; tests try to falsify each entry.

    Parameters
    ----------
    name : str
        The name in the language.
    latex : str
        LaTeX, with ``#1`` and ``#2`` for the arguments.
    also_called : tuple of str
        Names in other languages; not accepted, but the error for them suggests this function.
    takes_exponent : bool
        An exponent can follow the LaTeX directly, as in :math:`\sigma(t)^2`; otherwise parentheses are added.
    arity : int
        Number of arguments. With two, more may be written: ``max(a, b, c)`` is ``max(max(a, b), c)``.
    orders : range or None
        For a family of functions of x: the whole numbers that may follow x, as in ``window(t, 8)``. An order is a
        number or a parameter, never a formula.
    slope : str, callable or None
        The derivative as an expression in x, in the form that keeps relative accuracy in the tails. For a family: from
        the order to that expression. None, for a function with ``pieces``: the slope of the piece.
    pieces : str or None
        For a function that changes formula: the same function written with one ``where``.
    jumps : bool
        The function is discontinuous at x = 0 (and continuous elsewhere).
    domain : str or None
        The condition under which the function is defined, such as ``"x > 0"``; None: everywhere. With ``>=``, the
        function is continuous at the end of its domain but not smooth.
    sign : {"positive", "nonnegative"} or None
        The sign of every value.
    keeps_sign : bool
        f(x) has the sign of x; f(0) = 0.
    zeros : str or None
        An expression whose zeros are those of the function (where a function vanishes on an interval: the ends of
        the interval). None: not known, or none (``sign="positive"``).
    direction : {RISING, FALLING} or None
        The direction in each argument.
    curvature : {CONVEX, CONCAVE} or None
        The curvature on the whole domain.
    limits : pair
        Limits at minus and plus infinity; None: irrational, or outside the domain, or known from ``pieces``.
    slow_growth : bool
        f(x)/x tends to 0 although f(x) tends to infinity: f can be a double where x is too large for one.
    odd, even : bool
        f(-x) = -f(x); f(-x) = f(x).
    exact_value : callable
        The value at rational arguments (and the order) if it is known to be rational, else None.
    """

    name: str
    latex: str
    also_called: tuple[str, ...] = ()
    takes_exponent: bool = False
    arity: int = 1
    orders: range | None = None
    slope: str | Callable[[int], str] | None = None
    pieces: str | None = None
    jumps: bool = False
    domain: str | None = None
    sign: Literal["positive", "nonnegative"] | None = None
    keeps_sign: bool = False
    zeros: str | None = None
    direction: int | None = None
    curvature: int | None = None
    limits: tuple[Extended | None, Extended | None] = (None, None)
    slow_growth: bool = False
    odd: bool = False
    even: bool = False
    exact_value: Callable[..., Fraction | None] = nothing_exact


def only_at(point: int, value: Fraction | int) -> Callable[[Fraction], Fraction | None]:
    """A function with one known rational value, at one point."""
    return lambda x: Fraction(value) if x == point else None


def _rational_root(x: Fraction) -> Fraction | None:
    if x < 0:
        return None
    root = Fraction(isqrt(x.numerator), isqrt(x.denominator))
    return root if root * root == x else None


def _window_slope(order: int) -> str:
    """The density x^(k+1) (1 - x)^k / B(k+1, k), with 1/B(k+1, k) = k binomial(2k, k)."""
    return f"{order * comb(2 * order, order)}*expit(x)**{order + 1}*expit(-x)**{order}"


def _window_value(x: Fraction, order: int) -> Fraction | None:
    """P(more than k heads in 2k tosses of a fair coin)."""
    return Fraction(1, 2) - Fraction(comb(2 * order, order), 2 * 4**order) if x == 0 else None


_RECORDS = (
    Function(
        name="exp",
        latex="e^{#1}",
        slope="exp(x)",
        sign="positive",
        direction=RISING,
        curvature=CONVEX,
        limits=(Fraction(0), math.inf),
        exact_value=only_at(0, 1),
    ),
    Function(
        name="log",
        also_called=("ln", "logarithm"),
        latex=r"\ln\left(#1\right)",
        slope="1/x",
        domain="x > 0",
        zeros="x - 1",
        direction=RISING,
        curvature=CONCAVE,
        limits=(None, math.inf),
        slow_growth=True,
        exact_value=only_at(1, 0),
    ),
    Function(
        name="log1p",
        latex=r"\ln\left(1 + #1\right)",
        slope="1/(1 + x)",
        domain="1 + x > 0",
        keeps_sign=True,
        zeros="x",
        direction=RISING,
        curvature=CONCAVE,
        limits=(None, math.inf),
        slow_growth=True,
        exact_value=only_at(0, 0),
    ),
    Function(
        name="expm1",
        latex=r"\left(e^{#1} - 1\right)",
        slope="exp(x)",
        keeps_sign=True,
        zeros="x",
        direction=RISING,
        curvature=CONVEX,
        limits=(Fraction(-1), math.inf),
        exact_value=only_at(0, 0),
    ),
    Function(
        name="sqrt",
        also_called=("root",),
        latex=r"\sqrt{#1}",
        slope="0.5/sqrt(x)",
        domain="x >= 0",
        sign="nonnegative",
        keeps_sign=True,
        zeros="x",
        direction=RISING,
        curvature=CONCAVE,
        limits=(None, math.inf),
        slow_growth=True,
        exact_value=_rational_root,
    ),
    Function(
        name="abs",
        also_called=("absolute", "fabs"),
        latex=r"\left|#1\right|",
        slope="step(x) - step(-x)",
        pieces="where(x >= 0, x, -x)",
        sign="nonnegative",
        zeros="x",
        curvature=CONVEX,
        even=True,
        exact_value=abs,
    ),
    Function(
        name="tanh",
        latex=r"\tanh\left(#1\right)",
        slope="4*expit(2*x)*expit(-2*x)",  # 1 - tanh(x)**2 would cancel
        keeps_sign=True,
        zeros="x",
        direction=RISING,
        limits=(Fraction(-1), Fraction(1)),
        odd=True,
        exact_value=only_at(0, 0),
    ),
    Function(
        name="atan",
        also_called=("arctan",),
        latex=r"\arctan\left(#1\right)",
        slope="1/(1 + x**2)",
        keeps_sign=True,
        zeros="x",
        direction=RISING,
        odd=True,
        exact_value=only_at(0, 0),
    ),
    Function(
        name="erf",
        latex=r"\operatorname{erf}\left(#1\right)",
        slope="2/sqrt(pi)*exp(-x**2)",
        keeps_sign=True,
        zeros="x",
        direction=RISING,
        limits=(Fraction(-1), Fraction(1)),
        odd=True,
        exact_value=only_at(0, 0),
    ),
    Function(
        name="erfc",
        latex=r"\operatorname{erfc}\left(#1\right)",
        slope="-2/sqrt(pi)*exp(-x**2)",
        sign="positive",
        direction=FALLING,
        limits=(Fraction(2), Fraction(0)),
        exact_value=only_at(0, 1),
    ),
    Function(
        name="expit",
        also_called=("sigmoid", "logistic"),
        latex=r"\sigma(#1)",
        takes_exponent=True,
        slope="expit(x)*expit(-x)",
        sign="positive",
        direction=RISING,
        limits=(Fraction(0), Fraction(1)),
        exact_value=only_at(0, Fraction(1, 2)),
    ),
    Function(
        name="softplus",
        also_called=("log1pexp", "logaddexp"),
        latex=r"\ln\left(1 + e^{#1}\right)",
        slope="expit(x)",
        sign="positive",
        direction=RISING,
        curvature=CONVEX,
        limits=(Fraction(0), math.inf),
    ),
    Function(
        name="relu",
        also_called=("positive_part", "pos", "hinge"),
        latex=r"\left(#1\right)_+",
        takes_exponent=True,
        slope="step(x)",
        pieces="where(x >= 0, x, 0)",
        sign="nonnegative",
        zeros="x",
        direction=RISING,
        curvature=CONVEX,
        exact_value=lambda x: max(x, Fraction(0)),
    ),
    Function(
        name="max",
        also_called=("maximum", "fmax"),
        latex=r"\max\left(#1, #2\right)",
        arity=2,
        pieces="where(x >= y, x, y)",
        direction=RISING,
        curvature=CONVEX,
        exact_value=max,
    ),
    Function(
        name="min",
        also_called=("minimum", "fmin"),
        latex=r"\min\left(#1, #2\right)",
        arity=2,
        pieces="where(x <= y, x, y)",
        direction=RISING,
        curvature=CONCAVE,
        exact_value=min,
    ),
    Function(
        name="step",
        also_called=("heaviside", "indicator"),
        latex=r"\mathbf{1}\{#1 > 0\}",
        slope="0",
        pieces="where(x > 0, 1, 0)",
        jumps=True,
        sign="nonnegative",
        zeros="x",
        direction=RISING,
        exact_value=lambda x: Fraction(x > 0),
    ),
    Function(
        name="window",
        latex=r"I_{\sigma(#1)}(#2{+}1, #2)",  # the regularised incomplete beta function
        orders=range(1, 65),
        slope=_window_slope,
        sign="positive",
        direction=RISING,
        limits=(Fraction(0), Fraction(1)),
        exact_value=_window_value,
    ),
)

#: The functions of the language by name.
FUNCTIONS: dict[str, Function] = {record.name: record for record in _RECORDS}
