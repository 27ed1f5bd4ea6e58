"""Limits at infinity: exact first, numeric only where the exact rules cannot tell."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import sentences

import uneven
from uneven.errors import ExpressionError
from uneven.expression import parse, simplify
from uneven.losses.margin_function import limit, numeric_limit
from uneven.ops.balls import Undefined
from uneven.ops.precise import nearest_float
from uneven.shape.exact_limits import exact_limit


@pytest.mark.parametrize(
    ("text", "left", "right"),
    [
        ("expit(-2*t)**2/3", Fraction(1, 3), 0),
        ("min(2, relu(1 - t))", 2, 0),
        ("max(t, -t)", math.inf, math.inf),
        ("where(exp(t) > 0, 3, 3*tanh(t)**2)", 3, 3),  # the condition tends to equality, both branches to 3
        ("step(expit(t))", None, 1),
        ("atan(t)", None, None),
        ("1/log(3 + t**2)", 0, 0),
    ],
)
def test_exact_limits(text: str, left: Fraction | float | None, right: Fraction | float | None) -> None:
    assert (exact_limit(parse(text), -1), exact_limit(parse(text), 1)) == (left, right)


def test_a_limit_that_values_do_not_show_is_exact() -> None:
    text = "1/log(3 + log(3 + t**2))"
    tree = parse(text)
    assert numeric_limit(tree, 1) != 0  # its values fall too slowly
    assert limit(tree, 1) == 0
    assert uneven.phi(text).limits == (0, 0)


def test_an_irrational_limit_is_numeric() -> None:
    assert limit(parse("1 + atan(t)*2"), 1) == pytest.approx(1 + math.pi)
    assert uneven.phi("t**2*exp(-t)").limits == (math.inf, 0)


@given(sentences)
@settings(max_examples=200)
def test_exact_limits_are_approached(text: str) -> None:
    try:
        tree = simplify(parse(text))
    except ExpressionError:
        return
    for side in (-1, 1):
        exact = exact_limit(tree, side)
        if exact is None:
            continue
        distances = []
        for size in (1e2, 1e8, 1e30, 1e300):
            try:
                value = nearest_float(tree, side * size)
            except Undefined:
                continue
            if value is not None:
                distances.append(abs(value - float(exact)) if isinstance(exact, Fraction) else -value * np.sign(exact))
        assert not distances or distances[-1] <= distances[0] + 1e-12
