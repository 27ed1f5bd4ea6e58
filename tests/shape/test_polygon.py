"""Functions of straight pieces, recognised by their formula."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import uneven
from uneven.expression import parse, simplify
from uneven.shape.kinks import Polygon, is_piecewise_linear, kinks_and_jumps, polygon


def polygons(seed: int) -> tuple[str, list[Fraction], list[Fraction], Fraction]:
    """A random polygon as text, with its kinks, jumps and leftmost slope."""
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 5))
    kinks = sorted({Fraction(int(k), 4) for k in random.integers(-12, 12, count)})
    jumps = [Fraction(int(j), 8) for j in random.integers(1, 20, len(kinks))]
    slope = -Fraction(int(random.integers(0, 16)), 8)
    terms = [f"{jump}*relu(t - ({kink}))" for kink, jump in zip(kinks, jumps, strict=True)]
    return f"({slope})*t + 50 + " + " + ".join(terms), kinks, jumps, slope


@pytest.mark.parametrize("seed", range(20))
def test_a_random_polygon_is_found(seed: int) -> None:
    text, kinks, jumps, slope = polygons(seed)
    tree = simplify(parse(text))
    assert is_piecewise_linear(tree)
    assert kinks_and_jumps(tree) == (tuple(map(float, kinks)), tuple(map(float, jumps)))
    found = polygon(tree)
    assert found is not None
    assert found.kinks == tuple(map(float, kinks))
    assert found.slopes == tuple(float(slope + sum(jumps[:k])) for k in range(len(jumps) + 1))
    assert found.value == float(slope * kinks[0] + 50)


@pytest.mark.parametrize("seed", range(5))
def test_two_formulas_of_one_function_are_one_polygon(seed: int) -> None:
    text, _, _, _ = polygons(seed)
    other = text.replace("relu(", "max(0, ")
    third = f"where(t < 100, {text}, {text})"
    assert polygon(parse(text)) == polygon(parse(other)) == polygon(parse(third))
    assert polygon(parse(text)) != polygon(parse(f"1 + {text}"))


@pytest.mark.parametrize("name", uneven.losses.names())
def test_the_registered_phis(name: str) -> None:
    """Straight where second differences vanish away from the kinks."""
    phi = uneven.phi(name)
    t = np.linspace(-6, 6, 997)
    clear = np.all([np.abs(t - kink) > 0.02 for kink in phi.kinks], axis=0) if phi.kinks else np.ones(t.size, bool)
    bend = np.abs(phi(t - 0.01) - 2 * phi(t) + phi(t + 0.01))[clear]
    assert is_piecewise_linear(phi.tree) == bool((bend < 1e-12).all())


def test_lines_jumps_and_curves() -> None:
    assert polygon(parse("3 - t/2")) == Polygon(kinks=(), slopes=(-0.5,), value=3.0)
    assert is_piecewise_linear(parse("step(t)"))
    assert polygon(parse("step(t)")) is None
    assert polygon(parse("relu(1 - t)**2")) is None
    assert kinks_and_jumps(parse("relu(1 - t)**2 + 2*relu(t)")) == ((0.0,), (2.0,))


@pytest.mark.parametrize(
    ("text", "kink", "jump"),
    [
        ("relu(1 - 3*t)", 1 / 3, 3.0),
        ("relu(1/3 - t)", 1 / 3, 1.0),
        ("relu(2/5 - t)", 0.4, 1.0),
        ("abs(1/3 - t)", 1 / 3, 2.0),
        ("relu(1 - 7*t)**2 + relu(1 - 7*t)", 1 / 7, 7.0),
    ],
)
def test_kinks_that_are_no_doubles(text: str, kink: float, jump: float) -> None:
    """The double nearest to 1/3 lies on one side of the kink; the slopes on both sides are found all the same."""
    kinks, jumps = kinks_and_jumps(simplify(parse(text)))
    assert kinks == (kink,)
    assert jumps == pytest.approx([jump], rel=1e-12)


def test_an_irrational_kink() -> None:
    (kink,), (jump,) = kinks_and_jumps(simplify(parse("max(softplus(-t), 1 - 2*t)")))
    assert np.log1p(np.exp(-kink)) == pytest.approx(1 - 2 * kink, rel=1e-14)
    assert jump == pytest.approx(2 - 1 / (1 + np.exp(kink)), rel=1e-12)
