"""Upper bounds of curvatures: never exceeded, and close to what is reached."""

from __future__ import annotations

import math

import numpy as np
import pytest

import uneven
from uneven.expression import derivative, parse, simplify
from uneven.shape.bounds import upper_bound

POINTS = np.concatenate([np.linspace(-30, 30, 60_001), np.geomspace(30, 1e12, 200), -np.geomspace(30, 1e12, 200)])


@pytest.mark.parametrize("name", [name for name in uneven.losses.names() if not uneven.phi(name).kinks])
def test_curvatures_stay_below(name: str) -> None:
    phi = uneven.phi(name)
    bound = upper_bound(derivative(derivative(phi.tree)))
    values = np.asarray(phi.curvature(POINTS))
    assert values.max() <= bound * (1 + 1e-12)
    if name != "exponential":  # which has none
        assert bound <= 1.02 * values.max()


def test_no_bound_is_infinity() -> None:
    assert upper_bound(simplify(parse("exp(-t)"))) == math.inf
    assert upper_bound(simplify(parse("expit(-t)"))) == pytest.approx(1, rel=0.02)
