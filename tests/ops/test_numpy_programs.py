"""Trees as functions of NumPy's arrays: the same as the compiled kernels, at all sizes of arguments."""

from __future__ import annotations

import numpy as np
import pytest
from function_texts import text_of

import uneven
from uneven.expression import derivative, parse, simplify
from uneven.expression.functions import FUNCTIONS, Function
from uneven.losses.margin_function import smooth_switches
from uneven.ops.floats import plain_values
from uneven.ops.kernels import NUMPY, compile_kernel

T = np.linspace(-5, 5, 41)
SIZES = 10.0 ** np.arange(-300, 301, 20)
EVERYWHERE = np.concatenate([-SIZES, [0.0], SIZES, T])


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_every_function(function: Function) -> None:
    tree = simplify(parse(text_of(function)))
    for found in (tree, derivative(tree)):
        truth = plain_values(found, T)
        assert np.allclose(NUMPY.function(found)(T), truth, rtol=1e-12)
        single = NUMPY.function(found)(T.astype(np.float32))
        assert np.shape(single) in ((), T.shape)
        assert np.allclose(single, truth, rtol=3e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["hinge", "logistic", "modified_huber", "smoothed_hinge", "squared_hinge"])
def test_the_same_as_compiled_where_it_is_smooth(name: str) -> None:
    require_same(uneven.phi(name))


@pytest.mark.parametrize("text", ["t**2*exp(-t) + softplus(-t)", "relu(t)**2 + relu(-t)**2 + 1", "1 + 0*t", "exp(-t)"])
def test_the_same_as_compiled_for_expressions(text: str) -> None:
    require_same(uneven.phi(text))


def require_same(phi: uneven.losses.Phi) -> None:
    """Values, slopes and curvatures of every size, also where floats overflow and at switches of the formula."""
    switches = smooth_switches(phi.tree)
    kernel = compile_kernel(phi.tree, switches)
    points = np.concatenate([EVERYWHERE, [point for point, _ in switches]])
    points = points[~np.isin(points, phi.kinks)]
    with np.errstate(all="ignore"):
        found = kernel.plain.derivatives(points)
    expected = (*kernel.first(points), kernel.second(points))
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.shape == points.shape
        np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-320)
    for ours, theirs in zip(kernel.plain.first(points), expected, strict=False):
        np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-320)


def test_nothing_is_compiled_before_an_address_is_asked_for() -> None:
    kernel = compile_kernel(parse("softplus(-t) + 0.123456"), ())
    kernel.plain.first(T)
    assert "module" not in vars(kernel)
    assert kernel.first_address != kernel.second_address
    assert "module" in vars(kernel)
