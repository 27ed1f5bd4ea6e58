"""A margin function phi: one expression in t, with its values, derivatives, kinks, limits and declared facts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from uneven import inputs
from uneven.errors import ExpressionError, LossError, ParameterError
from uneven.expression import Node, derivative, parse, simplify, substitute, to_text
from uneven.expression.algebra import add, call, inv, mul, neg
from uneven.expression.functions import FUNCTIONS
from uneven.expression.latex import to_latex
from uneven.expression.tree import CONSTANTS, MAX_CHARACTERS, ONE, Number, depends_on_t, put
from uneven.inputs import Exact, brief, to_float
from uneven.losses import registry
from uneven.losses.declaration import Declaration
from uneven.losses.notebook import block, phi_latex
from uneven.ops.floats import plain_values, values
from uneven.shape.structure import is_convex

if TYPE_CHECKING:
    from uneven.losses.loss import Loss


@lru_cache(maxsize=4096)
def limit(tree: Node, side: int) -> float:
    """The limit at plus (side 1) or minus infinity as a float: the exact one, else :func:`numeric_limit`.

    Examples
    --------
    >>> from uneven.expression import parse
    >>> from uneven.losses.margin_function import limit
    >>> limit(parse("1/log(2 + t**2)"), 1), limit(parse("t*exp(-t)"), 1)
    (0.0, 0.0)
    """
    from uneven.shape.exact_limits import exact_limit  # loads ball arithmetic, which a fit does not need

    exact = exact_limit(tree, side)
    return numeric_limit(tree, side) if exact is None else to_float(exact) if isinstance(exact, Fraction) else exact


def numeric_limit(tree: Node, side: int) -> float:
    """A guess of the limit, from the three points farthest out where the tree can be evaluated.

    If the values still grow there, the limit is taken to be infinite; if they still shrink by a constant factor, 0.
    """
    seen: list[float] = []
    for size in (1e300, 1e150, 1e75, 1e30, 1e12, 1e6, 1e3, 1e2, 1e1):
        try:
            seen.append(float(values(tree, np.array([side * size]))[0]))
        except ExpressionError:
            continue
        if len(seen) == 3:
            break
    far, middle, near = seen
    if far > middle > near and far - middle > 1e-6 * abs(far):
        return math.inf
    if 0 < abs(far) < 0.9 * abs(middle) < 0.81 * abs(near):
        return 0.0
    if far < middle < near and middle - far > 1e-6 * abs(far):
        return -math.inf
    return far


#: Words of the language; not names of a phi.
RESERVED = ("t", "where", *CONSTANTS, *FUNCTIONS)


class Phi:
    r"""A function :math:`\varphi: \mathbb{R} \to [0, \infty)`, made by :func:`phi`.

    Frozen, hashable, comparable by its normal form, picklable.

    Attributes
    ----------
    name : str or None
        Registered name; None for an expression.
    parameters : dict of str to float
    tree : Node
        Normal form, with the parameters put in.
    """

    __slots__ = ("_declaration", "_hash", "_parameters", "name", "tree")
    name: str | None
    tree: Node
    _declaration: Declaration
    _parameters: tuple[tuple[str, Fraction], ...]
    _hash: int  # kept: a learner asks for it several times in one fit

    def __init__(
        self, name: str | None, declaration: Declaration, parameters: tuple[tuple[str, Fraction], ...], tree: Node
    ) -> None:
        frozen: dict[str, Any] = {"name": name, "_declaration": declaration, "_parameters": parameters, "tree": tree}
        frozen["_hash"] = hash((name, tree))
        for attribute, value in frozen.items():
            object.__setattr__(self, attribute, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a phi is frozen")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a phi is frozen")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Phi) and self.tree == other.tree and self.name == other.name

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        if self.name in registry.files():
            return (_from_name, (self.name, dict(self._parameters)))
        return (from_declaration, (self.name, self._declaration, dict(self._parameters)))

    def __repr__(self) -> str:
        given = "".join(f", {name}={inputs.shown(value)}" for name, value in self._parameters)
        return f"uneven.phi({self.name or self.text!r}{given})"

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters by name, as floats."""
        return {name: float(value) for name, value in self._parameters}

    @property
    def exact_parameters(self) -> dict[str, Fraction]:
        """The parameters by name, as rational numbers."""
        return dict(self._parameters)

    @property
    def built_in(self) -> bool:
        """Whether a file of the library declares it (so that its facts are tested), not a call or an expression."""
        return self.name is not None and self.name in registry.files()

    @property
    def declaration(self) -> Declaration:
        """What is declared about it."""
        return self._declaration

    @property
    def text(self) -> str:
        """Canonical text in the little language."""
        return to_text(self.tree)

    def latex(self) -> str:
        """Formula in LaTeX."""
        return to_latex(self.tree)

    def _repr_latex_(self) -> str | None:
        """The formula, for a notebook."""
        return phi_latex(self)

    def _repr_html_(self) -> str:
        """The repr and the formula, for a notebook."""
        return block(repr(self), phi_latex(self))

    @property
    def convex(self) -> bool | None:
        """True if declared or provable from the structure; None if unknown."""
        return True if is_convex(self.tree) else self._declaration.convex

    @property
    def kinks(self) -> tuple[float, ...]:
        """Values of t where phi jumps or has no derivative."""
        from uneven.shape.kinks import kinks

        return kinks(self.tree)

    @property
    def limits(self) -> tuple[float, float]:
        """phi at minus and plus infinity."""
        if self._declaration.limits is None:
            return limit(self.tree, -1), limit(self.tree, 1)
        left, right = (self._declared(sentence) for sentence in self._declaration.limits)
        return left, right

    def _declared(self, sentence: str) -> float:
        from uneven.ops.floats import values

        if sentence == "inf":
            return math.inf
        names = [name for name, _ in self._parameters]
        tree = substitute(parse(sentence, names), _numbers(self._parameters))
        if depends_on_t(tree):
            raise LossError(f"a declared limit or minimum is a number, but {sentence!r} depends on t")
        return float(values(tree, np.zeros(1))[0])

    @property
    def minimum(self) -> float | None:
        """The infimum, if declared."""
        return None if self._declaration.minimum is None else self._declared(self._declaration.minimum)

    def __call__(self, t: Any) -> Any:
        """phi(t) for a scalar or an array."""
        array, scalar = inputs.float_array("t", t)
        return inputs.unwrapped(self.values(array), scalar)

    def values(self, t: np.ndarray) -> np.ndarray:
        """phi at an array of floats."""
        special = self._declaration.special_value
        if special is None or not np.isfinite(t).all():
            return evaluate_at(self.tree, t, lambda: self.limits)
        with np.errstate(all="ignore"):
            return special(t)

    def slope(self, t: Any) -> Any:
        """phi'(t); at a kink a fixed value between the one-sided slopes."""
        array, scalar = inputs.float_array("t", t)
        return inputs.unwrapped(self.derivatives(1, array), scalar)

    def curvature(self, t: Any) -> Any:
        """phi''(t); at a kink, and at a jump of the slope, that of one neighbouring piece."""
        array, scalar = inputs.float_array("t", t)
        return inputs.unwrapped(self.derivatives(2, array), scalar)

    def derivatives(self, order: int, t: np.ndarray) -> np.ndarray:
        """First or second derivative at an array of floats."""
        slope = derivative(self.tree)
        result = evaluate_at(slope if order == 1 else derivative(slope), t)
        if order == 1:
            for point, value in smooth_switches(self.tree):
                result[t == point] = value
        return result


def evaluate_at(tree: Node, t: np.ndarray, limits: Callable[[], tuple[float, float]] | None = None) -> np.ndarray:
    """Values at floats; at infinite t the limits (computed if not given)."""
    from uneven.ops.floats import values

    infinite = np.isinf(t)
    if not infinite.any():
        return values(tree, t) + t.dtype.type(0)  # a fresh array, and no negative zero
    left, right = limits() if limits else (limit(tree, -1), limit(tree, 1))
    result = values(tree, np.where(infinite, t.dtype.type(0), t)) + t.dtype.type(0)
    with np.errstate(over="ignore"):  # a limit beyond single precision
        result[infinite] = np.where(t[infinite] > 0, right, left)
    return result


@lru_cache(maxsize=1024)
def smooth_switches(tree: Node) -> tuple[tuple[float, float], ...]:
    """Points where the formula changes but phi is smooth, with the slope there.

    The derivative of relu and abs at 0 is taken to be 0. A sum of them may be smooth there, with another slope.
    """
    from uneven.ops.floats import values
    from uneven.shape.kinks import kinks, switch_points
    from uneven.shape.pieces import Undecidable, slope_beside

    found = []
    for point in switch_points(tree):
        if float(point) in kinks(tree) or Fraction(float(point)) != point:
            continue
        try:
            slope = values(slope_beside(tree, point, 1), np.array([float(point)]))[0]
        except (Undecidable, ExpressionError):
            continue
        found.append((float(point), float(slope)))
    return tuple(found)


def phi(function: str | Phi, /, **parameters: Exact) -> Phi:
    r"""A margin function, registered by name or written as an expression in t.

    Parameters
    ----------
    function : str or Phi
        A name of :func:`uneven.losses.names`, or a sentence such as ``"log(1 + exp(-t))"``.
    **parameters : number
        Parameters of a registered phi, e.g. ``uneven.phi("ramp", cap=1.5)``.

    Returns
    -------
    Phi

    Raises
    ------
    ExpressionError
        If the text is not of the language, or is negative or undefined somewhere, or not finite at 0.

    Examples
    --------
    >>> import uneven
    >>> logistic = uneven.phi("log(1 + exp(-t))")
    >>> logistic.text
    'softplus(-t)'
    >>> logistic(-1000)
    1000.0
    >>> uneven.phi("ramp", cap=1.5)(-9.0)
    1.5
    """
    if isinstance(function, Phi):
        if parameters:
            raise ParameterError(f"parameters go with a name, not with the object {function!r}")
        return function
    if not isinstance(function, str):
        raise LossError(
            f"a phi is a registered name or an expression in t, got {brief(function)} of type {type(function).__name__}"
        )
    name = function.strip()
    if name.isidentifier() and name not in RESERVED and len(name) <= MAX_CHARACTERS:
        return from_declaration(name, registry.declared(name), parameters)
    if parameters:
        raise ParameterError(
            f"parameters go with a registered name; write their values into the expression {function!r}"
        )
    return from_declaration(None, Declaration(sentence=function), {})


def from_declaration(name: str | None, declaration: Declaration, parameters: Mapping[str, Exact]) -> Phi:
    """Build a phi and check that it is a loss."""
    values = declaration.read(name, parameters)
    return Phi(name, declaration, values, _check_tree(declaration.sentence, values))


@lru_cache(maxsize=1024)
def _check_tree(sentence: str, values: tuple[tuple[str, Fraction], ...]) -> Node:
    from uneven.shape.domain import require_loss

    written = parse(sentence, [name for name, _ in values])
    # Whether a loss is defined is decided on the sentence as written, before any simplification.
    require_loss(put(written, _numbers(values)))
    return substitute(simplify(written), _numbers(values))


def _numbers(values: tuple[tuple[str, Fraction], ...]) -> dict[str, Node]:
    return {name: Number(value) for name, value in values}


def _from_name(name: str, parameters: dict[str, Exact]) -> Phi:
    return phi(name, **parameters)


# -- whether the facts declared about a phi are false, tested on a grid
# ----------------------------------------------------

_POINTS = np.unique(
    np.concatenate([np.linspace(-8, 8, 401), np.geomspace(1e-3, 1e3, 61), -np.geomspace(1e-3, 1e3, 61)])
)


def find_false_fact(phi: Phi) -> str | None:
    """A sentence about the first declared fact that is false on the grid; None if there is none."""
    values = np.asarray(phi(_POINTS))
    scale = 1e-12 * (1 + np.where(np.isfinite(values), values, 0))
    if phi.declaration.convex:
        middle = phi((_POINTS[:-2] + _POINTS[2:]) / 2)
        chord = values[:-2] / 2 + values[2:] / 2  # halve first, because the sum may overflow
        bad = middle > chord + scale[:-2] + scale[2:]
        if bad.any():
            return f"declared convex, but it is above its chord at t = {_POINTS[1:-1][bad][0]:.6g}"
    if phi.declaration.limits is not None:
        for declared, end in zip(phi.limits, (-1, 1), strict=True):
            reached = limit(phi.tree, end)
            if not np.isclose(reached, declared, rtol=1e-9, atol=1e-9):
                return f"declared to tend to {declared:.6g}, but it tends to {reached:.6g} as t -> {end * np.inf}"
    if phi.declaration.minimiser is not None:
        slack = scale[:-1] + scale[1:]
        with np.errstate(invalid="ignore"):
            steps = np.nan_to_num(np.diff(values))
        falling = _POINTS[1:] <= phi.declaration.minimiser
        rising = _POINTS[:-1] >= phi.declaration.minimiser
        if (steps[falling] > slack[falling]).any() or (steps[rising] < -slack[rising]).any():
            return f"declared to fall up to t = {phi.declaration.minimiser:.6g} and rise after it, but it does not"
    minimum = phi.minimum
    if minimum is not None and (values < minimum - scale).any():
        return f"declared to be at least {minimum:.6g}, but it is {values.min():.6g}"
    return None


def require_true(phi: Phi) -> None:
    """Raise if a declared fact is false."""
    complaint = find_false_fact(phi)
    if complaint is not None:
        raise LossError(f"{phi.text} is {complaint}: correct the declaration")


# -- from a decision value to the probability it stands for, and back, where the loss allows it
# ---------------------------

# In units of a partial loss's own scale: beyond it the link is 0 or 1 to rounding, and slopes may be smaller
# than any number that ball arithmetic keeps apart from 0.
_SATURATED = 1e15


def inverse_link(loss: Loss, t: np.ndarray) -> np.ndarray:
    """P(Y = 1) for an array of decision values."""
    bound = t.dtype.type(_SATURATED * max(widths(loss)))
    return evaluate_at(link_tree(loss), np.clip(t, -bound, bound))


@lru_cache(maxsize=256)
def link_tree(loss: Loss) -> Node:
    r"""The tree of :math:`\eta(t) = L_{-1}'(t)/(L_{-1}'(t) - L_1'(t))`, slopes of the wrong sign cut to 0.

    The slope of the conditional risk at eta has the sign of eta(t) - eta. If eta(t) is nondecreasing from 0
    to 1, every t is therefore a minimiser at eta(t) and at no other probability.
    """
    for partial in loss.partials:
        kinks = partial.require_phi("inverse link").kinks
        if kinks:
            at = kinks[0] / to_float(partial.inner)
            raise LossError(
                f"{loss!r} does not identify probabilities: at its kink t = {at:.6g} many values of P(Y=1) "
                "share one minimiser; a smooth loss such as 'logistic' would work"
            )
    falling = call("relu", neg(derivative(loss.partials[0].tree)))
    rising = call("relu", derivative(loss.partials[1].tree))
    tree = inv(add(ONE, mul(falling, inv(rising))))
    probability = plain_values(tree, _probes(loss))
    probability = probability[~np.isnan(probability)]
    if (np.diff(probability) < -1e-9).any() or probability.min() > 1e-3 or probability.max() < 1 - 1e-3:
        raise LossError(
            f"{loss!r} does not identify probabilities: some values of P(Y=1) in (0, 1) have no minimiser of "
            "their own; a loss such as 'logistic' would work"
        )
    return tree


def widths(loss: Loss) -> set[float]:
    """The scales of t at which the two partial losses change."""
    return {1 / abs(to_float(partial.inner)) for partial in loss.partials}


def _probes(loss: Loss) -> np.ndarray:
    scales = 2.0 ** np.arange(-20, 10, 0.25)
    points = [sign * width * scales for width in widths(loss) for sign in (-1, 1)]
    return np.unique(np.concatenate([*points, np.zeros(1)]))


#: A bracket is widened this many times by this factor; beyond it the inverse link is 0 or 1 to rounding.
_WIDENINGS, _FACTOR = 26, 4.0
#: Of a bracket as wide as the scale of the loss; where its two parts have scales far apart, the wider one needs more.
_HALVINGS = 64
#: Values of the inverse link that one pass computes. Of few probabilities a pass halves several times: a call takes
#: longer than its numbers. The result is that of single halvings.
_AT_ONCE = 255


def link(loss: Loss, probability: np.ndarray) -> np.ndarray:
    """The largest t with ``inverse_link(t) <= probability``; infinite if that is none, or every t.

    So ``inverse_link(t) > probability`` for exactly the t above it.
    """
    distinct, where = np.unique(probability, return_inverse=True)
    return _thresholds(loss, distinct.astype(np.float64))[where].reshape(probability.shape)


def _thresholds(loss: Loss, p: np.ndarray) -> np.ndarray:
    """By bisection: the inverse link does not fall."""
    scales = widths(loss)
    width = max(scales)
    low, high = np.full(p.shape, -width), np.full(p.shape, width)
    for _ in range(_WIDENINGS):
        down = inverse_link(loss, low) > p
        up = ~down & (inverse_link(loss, high) <= p)
        if not down.any() and not up.any():
            break
        low, high = (
            np.where(down, _FACTOR * low, np.where(up, high, low)),
            np.where(down, low, np.where(up, _FACTOR * high, high)),
        )
    halvings = _HALVINGS + math.ceil(math.log2(width / min(scales)))
    while halvings > 0:
        depth = min(halvings, max(1, int(math.log2(1 + _AT_ONCE / max(1, p.size)))))
        low, high = _halve(loss, p, low, high, depth)
        halvings -= depth
    return np.where(down, -np.inf, np.where(up, np.inf, low))


def _halve(loss: Loss, p: np.ndarray, low: np.ndarray, high: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
    """Brackets halved so many times, with one evaluation of all middles that could be asked for."""
    steps = [2**k for k in reversed(range(depth))]
    points = np.empty((2**depth + 1, p.size))
    points[0], points[-1] = low, high
    for step in steps:
        left, right = points[: -1 : 2 * step], points[2 * step :: 2 * step]
        points[step :: 2 * step] = left + (right - left) / 2
    higher = inverse_link(loss, points[1:-1]) > p
    at, columns = np.zeros(p.size, dtype=np.intp), np.arange(p.size)
    for step in steps:
        at = np.where(higher[at + step - 1, columns], at, at + step)
    return points[at, columns], points[at + 1, columns]
