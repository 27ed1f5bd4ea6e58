"""Losses for JAX, made from any :class:`uneven.Loss`; needs the extra ``jax``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from uneven.errors import ParameterError, needs_extra
from uneven.inputs import brief

with needs_extra("JAX losses", "jax"):
    import jax
    import jax.numpy as jnp
    from jax.scipy import special

from uneven.adapters.array_losses import (
    class_factors,
    inverse_links,
    may_overflow,
    mix,
    of_order,
    read_loss,
    require_hard,
    turn_labels,
)
from uneven.losses import Loss, Phi
from uneven.ops.array_programs import Library, Program

__all__ = ["inverse_link", "uneven_loss"]

Array = Any


def _scalar(value: float, like: Array) -> Array:
    return jnp.asarray(value, like.dtype)


def _relu(x: Array) -> Array:
    return jnp.maximum(x, 0)


def _cast(t: Array, dtype: Any) -> Array:
    return t.astype(dtype)


def _in_double(function: Program, t: Array) -> Array:
    with jax.enable_x64(True):  # also if the rest of the user's program has single precision only
        return function(t.astype(jnp.float64)).astype(t.dtype)


_OWN: dict[str, Callable[..., Any]] = {"scalar": _scalar, "relu": _relu, "erf": special.erf, "erfc": special.erfc}

#: For example ``JAX.function(parse("softplus(-t)"))(jnp.array([-1e4, 0.0]))``.
JAX = Library(
    name="jax",
    lookup=lambda name: _OWN.get(name) or getattr(jnp, name),
    single=jnp.float32,
    double=jnp.float64,
    cast=_cast,
    in_double=_in_double,
)


def uneven_loss(loss: Loss | str | Phi, *, validate: bool = True) -> Callable[..., Array]:
    """Any loss of this library as a function of logits and labels, in the manner of optax.

    Parameters
    ----------
    loss : Loss, str or Phi
        Usually ``uneven.calibrated_loss("logistic", alpha=1/21)``. A name, an expression or a phi alone treats both
        classes alike. Both parts must be expressions, not Python functions.
    validate : bool
        Check labels wherever they are not traced.

    Returns
    -------
    callable
        ``function(logits, labels)`` gives one number for each logit, like ``optax.sigmoid_binary_cross_entropy``; take
        the mean yourself. Labels are 0 and 1, or -1 and 1: what is above 0 is positive. Soft labels are refused (where
        ``jit`` traces them, nobody can look at them). A logit is a decision value: predict positive where it is above
        0. Costs of the examples are given as ``fp_cost``, ``fn_cost``, ``tp_cost`` and ``tn_cost``: if one is given,
        the others are 1 for mistakes and 0 for right decisions. Each example then counts with what its mistake costs
        more than the right decision.

    Notes
    -----
    Derivatives are the slopes of :meth:`uneven.Loss.slope`, found by exact differentiation, of every order, in forward
    and reverse mode. ``jit``, ``vmap`` and ``grad`` work. bfloat16 and float16 are computed in float32.

    Examples
    --------
    >>> import jax
    >>> import jax.numpy as jnp
    >>> import uneven
    >>> from uneven.adapters.jax import uneven_loss
    >>> loss = uneven_loss(uneven.calibrated_loss("logistic", alpha="1/21"))       # a miss costs 20 false alarms
    >>> logits, labels = jnp.array([-1e4, -1.0, 2.0]), jnp.array([1, 0, 0])
    >>> [round(float(slope), 4) for slope in jax.grad(lambda t: loss(t, labels).mean())(logits)]
    [-0.3175, 0.0043, 0.014]
    """
    read = read_loss(loss, "JAX")
    guarded = may_overflow(read)
    values = differentiable(lambda order: of_order(read, order, JAX), guarded=guarded)

    def function(
        logits: Array,
        labels: Array,
        *,
        fp_cost: Array = None,
        fn_cost: Array = None,
        tp_cost: Array = None,
        tn_cost: Array = None,
    ) -> Array:
        """The loss of each logit."""
        t = _floats(logits)
        y = _labels(labels, t, validate)
        costs = (fp_cost, fn_cost, tp_cost, tn_cost)
        if all(cost is None for cost in costs):
            return values(y, t)
        negative, positive = class_factors(read)
        fp, fn, tp, tn = (
            default if cost is None else _broadcast("costs", jnp.asarray(cost, t.dtype), t)
            for cost, default in zip(costs, (1, 1, 0, 0), strict=True)
        )
        share = jnp.clip(y.astype(t.dtype), 0, 1)
        label, regret = turn_labels(share, mix(share, fn - tp, fp - tn), JAX)
        factor = regret * mix(jnp.clip(label, 0, 1), positive, negative)
        result = factor * values(label, t)
        return jnp.where(factor == 0, 0, result) if guarded else result

    return function


def inverse_link(loss: Loss | str | Phi) -> Callable[[Array], Array]:
    """From logits to probabilities of the positive class, for a loss that identifies them; others are refused.

    Parameters
    ----------
    loss : Loss, str or Phi

    Returns
    -------
    callable
        ``function(logits)``; ``jit``, ``vmap`` and ``grad`` work.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> import uneven
    >>> from uneven.adapters.jax import inverse_link
    >>> inverse_link(uneven.UnevenMarginLoss("squared_hinge"))(jnp.array([-2.0, 0.0, 0.5])).tolist()
    [0.0, 0.5, 0.75]
    """
    read = read_loss(loss, "JAX")
    values = differentiable(lambda order: inverse_links(read, order, JAX), guarded=False)
    return lambda logits: values(_floats(logits))


def differentiable(of_order: Callable[[int], Callable[..., Array]], *, guarded: bool) -> Callable[..., Array]:
    """The function of order 0, whose derivative in its last argument is that of order 1, and so on.

    Parameters
    ----------
    of_order : callable
        From an order to a function of arrays of one shape.
    guarded : bool
        Whether a derivative can be infinite: then it is the largest float, so that 0 times it is 0.
    """
    chain: list[Callable[..., Array]] = []

    def at(order: int) -> Callable[..., Array]:
        while len(chain) <= order:
            values = of_order(len(chain))
            chain.append(_with_derivative(_finite(values) if guarded and chain else values, len(chain) + 1))
        return chain[order]

    def _with_derivative(values: Callable[..., Array], following: int) -> Callable[..., Array]:
        function = jax.custom_jvp(jax.jit(values))

        def tangent(primals: tuple[Array, ...], tangents: tuple[Array, ...]) -> tuple[Array, Array]:
            return function(*primals), tangents[-1] * at(following)(*primals)

        function.defjvp(tangent)
        return function

    return at(0)


def _finite(values: Callable[..., Array]) -> Callable[..., Array]:
    """The largest float instead of infinity, so that 0 times it is 0; NaN stays."""
    return lambda *inputs: jnp.nan_to_num(values(*inputs), nan=jnp.nan)


def _floats(logits: Array, name: str = "logits") -> Array:
    t = jnp.asarray(logits)
    if not jnp.issubdtype(t.dtype, jnp.floating):
        raise ParameterError(f"{name} must be floats, got {brief(logits)}")
    return t


def _labels(labels: Array, t: Array, validate: bool) -> Array:
    y = jnp.asarray(labels)
    if not (jnp.issubdtype(y.dtype, jnp.bool_) or jnp.issubdtype(y.dtype, jnp.integer)):
        _floats(y, "labels")
    if validate and not isinstance(y, jax.core.Tracer):
        known = np.asarray(y)  # not with jnp, which would trace even these inside jit
        other = (known != 0) & (known != 1) & (known != -1)
        require_hard(
            zero=bool((known == 0).any()),
            minus_one=bool((known == -1).any()),
            other=bool(other.any()),
            example=lambda: float(known[other][0]),
        )
    return _broadcast("labels", y, t)


def _broadcast(name: str, values: Array, t: Array) -> Array:
    """In the shape of the logits."""
    try:
        return jnp.broadcast_to(values, t.shape)
    except ValueError:
        raise ParameterError(
            f"{name} must have the shape of the logits, {t.shape}, or broadcast to it, got shape {values.shape}"
        ) from None
