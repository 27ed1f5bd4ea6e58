"""JAX losses beyond their values: transformations, precisions, costs and messages."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import torch

import uneven
from uneven.adapters.jax import inverse_link, uneven_loss
from uneven.adapters.torch import UnevenLoss
from uneven.errors import LossError, ParameterError

T = jnp.array([-2.0, -0.3, 0.4, 3.0])
Y = jnp.array([1, 0, 1, 0])


@pytest.mark.slow
def test_the_logistic_loss_is_that_of_optax() -> None:
    ours, theirs = uneven_loss("logistic"), optax.sigmoid_binary_cross_entropy
    assert np.allclose(ours(T, Y), theirs(T, Y), rtol=1e-6)
    slopes = [jax.grad(lambda t, f=f: f(t, Y).mean())(T) for f in (ours, theirs)]
    assert np.allclose(*slopes, rtol=1e-5)


@pytest.mark.slow
def test_transformations_agree() -> None:
    loss = uneven_loss(uneven.UnevenMarginLoss("beta", gamma=2))
    each = loss(T, Y)
    assert np.allclose(jax.jit(loss)(T, Y), each, rtol=1e-6)
    assert np.allclose(jax.vmap(loss)(T, Y), each, rtol=1e-6)
    slope = jax.grad(lambda t: loss(t, Y).sum())(T)
    _, forward = jax.jvp(lambda t: loss(t, Y), (T,), (jnp.ones_like(T),))
    assert np.allclose(forward, slope, rtol=1e-6)
    curvature = jnp.diag(jax.hessian(lambda t: loss(t, Y).sum())(T))
    assert np.allclose(curvature, uneven.UnevenMarginLoss("beta", gamma=2).curvature(2 * np.array(Y) - 1, T), rtol=1e-5)


@pytest.mark.slow
def test_half_precision_is_computed_in_single() -> None:
    t = jnp.array([-1e4, -0.7, 0.4, 1e4], dtype=jnp.bfloat16)
    loss = uneven_loss("logistic")
    slope = jax.grad(lambda x: loss(x, Y).sum())(t)
    assert slope.dtype == jnp.bfloat16
    assert loss(t, Y).astype(jnp.float32).tolist() == loss(t.astype(jnp.float32), Y).astype(jnp.bfloat16).tolist()


def test_costs_are_those_of_the_torch_module() -> None:
    costs = {"fp_cost": np.array([1.0, 2, 3, 4]), "fn_cost": np.array([9.0, 1, -1, 2]), "tn_cost": 0.5}
    loss = uneven.UnevenMarginLoss("logistic", alpha=0.2)
    found = uneven_loss(loss)(T, Y, **costs)
    given = {name: torch.tensor(value) for name, value in costs.items()}
    expected = UnevenLoss(loss, reduction="none")(torch.tensor(np.array(T)), torch.tensor(np.array(Y)), **given)
    assert np.allclose(found, expected, rtol=1e-5)


@pytest.mark.slow
def test_an_example_that_does_not_count_has_slope_0_even_if_its_loss_overflows() -> None:
    loss = uneven_loss("exponential")
    slope = jax.grad(lambda t: loss(t, jnp.array([1, 1]), fn_cost=jnp.array([0.0, 1.0])).mean())(jnp.array([-1e4, 0]))
    assert slope.tolist() == [0.0, -0.5]


@pytest.mark.slow
def test_probabilities() -> None:
    loss = uneven.UnevenMarginLoss("tangent", gamma=2, alpha=0.1)
    t = jnp.array([-1e4, -3.0, 0.0, 0.7, 1e4])
    assert np.allclose(inverse_link(loss)(t), loss.inverse_link(np.array(t)), rtol=1e-5, atol=1e-30)
    assert jax.vmap(jax.grad(inverse_link(loss)))(t)[2] > 0
    with pytest.raises(LossError, match="does not identify probabilities"):
        inverse_link("hinge")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((jnp.array([1, 2]), Y[:2]), "logits must be floats"),
        ((T, Y[:3]), "labels must have the shape of the logits"),
        ((T, jnp.array([1, 0, 0.5, 1])), r"got 0\.5"),
    ],
)
def test_bad_input(arguments: tuple[jax.Array, jax.Array], complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        uneven_loss("logistic")(*arguments)
