"""Trees that the prover rewrites keep their values, and what is read off them is true."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from uneven.expression import Node, derivative, parse, simplify
from uneven.ops.balls import Undefined, enclose_interval, interval
from uneven.ops.floats import plain_values
from uneven.shape.exact_limits import constant_limit, constant_sign
from uneven.shape.pieces import formula_inside
from uneven.shape.rewrites import as_one_quotient, factor_out, use_guards
from uneven.shape.signs import never_negative

SMOOTH = (
    "expit({s}t)",
    "softplus({s}t)",
    "atan({s}t)",
    "exp(-t**2)",
    "tanh({s}t)",
    "t",
    "expit({s}t)**2",
    "1/(1+t**2)",
)
POINTS = [Fraction(k, 16) for k in range(-80, 81, 3)] + [Fraction(10**6), Fraction(-(10**6))]


def _smooth(rng: random.Random) -> str:
    chosen = [piece.format(s=rng.choice(("", "-", "2*", "-3*"))) for piece in rng.sample(SMOOTH, 2)]
    return rng.choice(["{0}*{1}", "{0} + {1}", "{0} - 2*{1}", "{0}"]).format(*(f"({piece})" for piece in chosen))


def _number(rng: random.Random) -> str:
    return rng.choice(["0", "1/2", "0.05", "1", "-1", "1/3", "3/4"])


def _switched(rng: random.Random) -> str:
    u, op, c = _smooth(rng), rng.choice(("<", "<=", ">", ">=")), _number(rng)
    branch = rng.choice([f"({u} - ({c}))**2 + ({c})", f"exp({u})", f"({u})*expit(t)", f"2*({u})", _smooth(rng)])
    other = rng.choice([c, f"2*({c})", f"exp({c})", "0", _smooth(rng), f"-({u})"])
    return rng.choice(
        [
            f"where({u} {op} {c}, {branch}, {other})",
            f"where({u} {op} {c}, {other}, {branch})",
            f"where(abs({rng.choice(['t', '1-t', '2*t+1', u])}) {op} {c}, {branch}, {other})",
            f"where(expit({rng.choice(['t', '-t', '2-t'])}) {op} 1/2, {branch}, {other})",
            f"max({u}, {c})*min({branch}, {c})",
            f"relu({u} - ({c}))**2 + step({branch})",
            f"abs(relu({u}) - ({c}))",
        ]
    )


def _tree(rng: random.Random) -> Node:
    a, b = _switched(rng), rng.choice([_smooth, _switched])(rng)
    return simplify(parse(rng.choice([a, f"({a})*({b})", f"({a}) + ({b})", f"({a})**2"])))


def _require_equal(tree: Node, other: Node, points: list[Fraction]) -> None:
    """Enclosures of both at exact points meet."""
    for t in points:
        point = interval(t, t)
        try:
            first, second = (enclose_interval(x, point, bits=128) for x in (tree, other))
        except Undefined:
            continue
        assert first.lo <= second.hi, (tree, other, t)
        assert second.lo <= first.hi, (tree, other, t)


@pytest.mark.parametrize("seed", range(12))
def test_conditions_keep_their_values(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(5):
        tree = _tree(rng)
        _require_equal(tree, use_guards(tree), POINTS)


@pytest.mark.parametrize("seed", range(12))
def test_the_formula_of_a_cell(seed: int) -> None:
    rng = random.Random(500 + seed)
    for _ in range(5):
        tree = _tree(rng)
        low, high = sorted(rng.sample(POINTS, 2))
        for u, v in ((low, high), (low, math.inf), (-math.inf, high)):
            inner = [t for t in POINTS if u < t < v]
            _require_equal(tree, formula_inside(tree, u, v), inner)


@pytest.mark.parametrize("seed", range(12))
def test_common_factors(seed: int) -> None:
    rng = random.Random(900 + seed)
    slope = derivative(simplify(parse(f"({_smooth(rng)})*expit(-t)**2*softplus(t)")))
    _require_equal(slope, factor_out(slope), POINTS)
    _require_equal(derivative(slope), factor_out(derivative(factor_out(slope))), POINTS)


@pytest.mark.parametrize("seed", range(40))
def test_sums_that_are_one_quotient(seed: int) -> None:
    rng = random.Random(2100 + seed)
    u = rng.choice(["expit(t)", "relu(expit(t) - 0.05)", "exp(-t)", "softplus(t)", "t", "relu(t)*step(t)"])

    def term() -> str:
        below = rng.choice(["1", "(2 - {u})", "(1 + {u})**2", "(3 + {u}/2)", "(2 + {u}**2)"]).format(u=u)
        return f"{rng.randint(-3, 3)}/2*({u})**{rng.randint(0, 4)}/{below}"

    tree = simplify(parse(" + ".join(term() for _ in range(4))))
    quotient = as_one_quotient(tree)
    for other in (factor_out(tree), tree if quotient is None else quotient):
        _require_equal(tree, other, POINTS)
    step = simplify(parse(f"step(t)*({term()}) + relu(t)*({term()}) + relu(t)**2*expit(t)"))
    _require_equal(step, factor_out(step), POINTS)


@pytest.mark.parametrize("seed", range(12))
def test_what_is_never_negative(seed: int) -> None:
    rng = random.Random(1300 + seed)
    for _ in range(20):
        tree = _tree(rng)
        for candidate in (tree, use_guards(tree)):
            if never_negative(candidate):
                values = plain_values(candidate, np.array([float(t) for t in POINTS]))
                assert np.nanmin(values) >= -1e-12, candidate


@pytest.mark.parametrize("seed", range(12))
def test_limits(seed: int) -> None:
    rng = random.Random(1700 + seed)
    for _ in range(20):
        tree = simplify(parse(rng.choice([_smooth, _switched])(rng)))
        for side in (1, -1):
            limit = constant_limit(tree, side)
            if limit is None:
                continue
            value = float(plain_values(tree, np.array([side * 1e9]))[0])
            if isinstance(limit, float):
                assert abs(value) > 1e5 or math.isnan(value), tree
                assert not value * limit < 0
            else:
                wanted = float(enclose_interval(limit, interval(Fraction(0), Fraction(0))).lo)
                assert value == pytest.approx(wanted, abs=1e-6), tree


@pytest.mark.parametrize(
    ("text", "side", "sign"),
    [
        ("1 - atan(t)*2/pi", 1, 0),
        ("1 + atan(t)*2/pi", -1, 0),
        ("pi/2 + atan(-3*t)", 1, 0),
        ("1.5707963267948966 - atan(t)", 1, -1),
        ("1.5707963267948967 - atan(t)", 1, 1),
        ("exp(-t) + log(2) - log(1 + expit(t))", 1, 0),
        ("tanh(t) - expit(t)", 1, 0),
    ],
)
def test_limits_that_cancel(text: str, side: int, sign: int) -> None:
    limit = constant_limit(simplify(parse(text)), side)
    assert limit is not None
    assert not isinstance(limit, float)
    assert constant_sign(limit) == sign


@pytest.mark.parametrize(
    "text", ["t*exp(-t)", "t - softplus(t)/2", "step(exp(-t))", "log(expit(-t))/t", "where(exp(-t) > 0, 1, 2)"]
)
def test_limits_that_are_not_told(text: str) -> None:
    assert constant_limit(parse(text), 1) is None
