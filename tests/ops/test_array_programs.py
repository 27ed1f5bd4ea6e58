"""Trees as functions of PyTorch's and JAX's arrays: every function, both precisions, and NaN."""

from __future__ import annotations

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from function_texts import text_of

from uneven.adapters.jax import JAX
from uneven.adapters.torch import TORCH
from uneven.expression import derivative, parse, simplify
from uneven.expression.functions import FUNCTIONS, Function
from uneven.ops.floats import plain_values

T = np.linspace(-5, 5, 41)


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_every_function(function: Function) -> None:
    tree = simplify(parse(text_of(function)))
    for found in (tree, derivative(tree)):
        truth = plain_values(found, T)
        assert np.allclose(TORCH.function(found)(torch.from_numpy(T)), truth, rtol=1e-12)
        assert np.allclose(TORCH.function(found)(torch.from_numpy(T).float()), truth, rtol=3e-6, atol=1e-6)
        assert np.allclose(JAX.function(found)(jnp.asarray(T)), truth, rtol=3e-6, atol=1e-6)


@pytest.mark.parametrize(
    "text", ["2", "exp(1)", "where(exp(1) < 3, t, 0)", "max(0.5, exp(1))*t", "step(t)", "where(t > 1, 0.1, 0.3)"]
)
def test_numbers_have_the_shape_and_the_precision_of_t(text: str) -> None:
    tree = simplify(parse(text))
    found = TORCH.function(tree)(torch.from_numpy(T))
    assert found.dtype == torch.float64
    assert np.allclose(found, plain_values(tree, T), rtol=1e-14)
    with jax.enable_x64(True):
        other = JAX.function(tree)(jnp.asarray(T))
    assert other.dtype == np.float64
    assert np.allclose(other, plain_values(tree, T), rtol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["2", "relu(t)", "where(t < 0, 1, 2)", "step(t)", "t**2*exp(-t)", "window(t, 3)"])
def test_nan_stays_nan(text: str) -> None:
    tree = simplify(parse(text))
    assert bool(TORCH.function(tree)(torch.tensor([float("nan")])).isnan().all())
    assert bool(jnp.isnan(JAX.function(tree)(jnp.array([jnp.nan]))).all())


def test_where_floats_lose_it_a_line_goes_on() -> None:
    tree = simplify(parse("t**2*exp(-t) + softplus(-t)"))
    for t in (torch.tensor([1e4, 1e30, -1e4]), torch.tensor([1e4, 1e300, -1e4], dtype=torch.float64)):
        assert TORCH.function(tree)(t).tolist() == [0, 0, float("inf")]


@pytest.mark.slow
def test_the_package_imports_no_framework() -> None:
    program = """
import sys, uneven, uneven.adapters
uneven.UnevenMarginLoss("logistic")(1, 0.5)
print([name for name in ("torch", "jax", "onnx", "skl2onnx") if name in sys.modules])
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "jax", "skl2onnx"):
            raise ImportError(name)
sys.meta_path.insert(0, Blocked())
for name in ("torch", "jax", "onnx"):
    try:
        __import__(f"uneven.adapters.{name}")
    except uneven.errors.MissingExtraError as error:
        print(error.extra)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "torch", "jax", "export"]
