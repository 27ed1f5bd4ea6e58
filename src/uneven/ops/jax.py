"""JAX arithmetic: a tree as a function of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.scipy import special

from uneven.ops.array_programs import Library, Program

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
