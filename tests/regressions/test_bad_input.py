"""Bad input of every kind ends in one clear sentence; odd but good input works."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import uneven
from uneven import inputs
from uneven.errors import CostError, ParameterError
from uneven.losses import Parameter
from uneven.metrics import cost_curve, expected_cost

RANGE = r"0 or within the range of double precision \(5e-324 to 1.8e308\), got "


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("1e400", f"{RANGE}'1e400'"),
        ("1e-400", f"{RANGE}'1e-400'"),
        ("-1e999999999", RANGE),
        ("1e-" + "9" * 3000, RANGE),
        ("1/" + "9" * 400, RANGE),
        (Decimal("1e99999"), RANGE),
        (Fraction(1, 10**5000), f"{RANGE}a Fraction without a repr"),
        (-(10**5000), f"{RANGE}an int of 16610 bits"),
        (2**1024, RANGE),
        (2**1024 - 2**970, RANGE),
        (Fraction(1, 2**1074) * Fraction(99, 100), RANGE),
        (np.longdouble("1e4000"), RANGE),
        (np.longdouble("inf"), "a finite number"),
        ("0." + "1" * 5000, "at most 2000 digits, got '0.111"),
        (Fraction(10**5000 + 1, 10**5000), "at most 2000 digits"),
        ("1/2e99999", "a finite number"),
        ("1/0", "a finite number"),
        (Decimal("sNaN"), "a finite number"),
        (np.timedelta64(1, "s"), "a number, got "),
        (Unprintable(), "a number, got a Unprintable without a repr"),
    ],
    ids=inputs.brief,
)
def test_an_exact_number_outside_the_doubles_is_refused(value: object, says: str) -> None:
    started = time.process_time()
    with pytest.raises(ParameterError, match=f"gamma must be (written with )?{says}"):
        uneven.UnevenMarginLoss("hinge", gamma=value)
    with pytest.raises(ParameterError, match=f"cap must be (written with )?{says}"):
        uneven.phi("ramp", cap=value)
    assert time.process_time() - started < 5.0  # nobody computes with numbers that are refused


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("0e99999", 0),
        (Decimal("0e-99999"), 0),
        (5e-324, Fraction(1, 2**1074)),
        (2**1024 - 2**970 - 1, 2**1024 - 2**970 - 1),
        (" 1_000/3 ", Fraction(1000, 3)),
        ("1.5E-3", Fraction(3, 2000)),
        (f"{Decimal(math.ulp(0.0)):f}", Fraction(1, 2**1074)),
        (np.longdouble(1) + np.finfo(np.longdouble).eps, 1 + Fraction(1, 2**63)),
        (np.float32(0.1), Fraction(float(np.float32(0.1)))),
        (np.int8(100), 100),
    ],
    ids=inputs.brief,
)
def test_an_exact_number_is_read_without_rounding(value: object, number: Fraction) -> None:
    read = inputs.exact("gamma", value)
    assert read == number
    assert type(read.numerator) is type(read.denominator) is int
    assert math.isfinite(float(read))


@pytest.mark.parametrize("alpha", ["1e-400", 1 - Fraction(1, 10**400), 10**5000, 0, Fraction(1)], ids=inputs.brief)
def test_alpha_keeps_clear_of_0_and_1(alpha: object) -> None:
    with pytest.raises(CostError, match="alpha must"):
        uneven.Cost.from_alpha(alpha)
    with pytest.raises(ParameterError, match="alpha must"):
        uneven.UnevenMarginLoss("hinge", alpha=alpha)


@pytest.mark.parametrize(
    ("t", "says"),
    [
        (10**400, "numbers that fit a double, got 1000"),
        (10**5000, "numbers that fit a double, got an int of 16610 bits"),
        (Fraction(10**400), "numbers that fit a double"),
        ([Decimal("1e400")], "numbers that fit a double"),
        (np.longdouble("1e4000"), "numbers that fit a double"),
        ("1.5", "numbers, got '1.5'"),
        (b"1.5", "numbers"),
        (["1.5"], "numbers"),
        (np.array(["1.5"], dtype=object), "numbers"),
        (np.array([1, None]), "numbers"),
        (np.datetime64("2020-01-01"), "numbers"),
        (np.array([np.timedelta64(1, "s")], dtype=object), "numbers"),
        (np.zeros(2, dtype=[("a", float)]), "numbers"),
        ([[1], [1, 2]], "numbers"),
        (1j, "numbers"),
        ([Decimal("NaN")], "NaN"),
    ],
    ids=inputs.brief,
)
def test_t_holds_numbers(t: object, says: str) -> None:
    with pytest.raises(ParameterError, match=f"t must (hold|not contain) {says}"):
        uneven.phi("exp(-t)")(t)


def test_masked_arrays_are_refused_where_something_is_masked() -> None:
    phi, loss = uneven.phi("exp(-t)"), uneven.UnevenMarginLoss("hinge")
    masked = np.ma.array([1.0, 1.0], mask=[False, True])
    for t in (masked, np.ma.masked):
        with pytest.raises(ParameterError, match="t must not be masked"):
            phi(t)
    with pytest.raises(ParameterError, match="y must not be masked"):
        loss(masked, 0.0)
    with pytest.raises(CostError, match="y_true must not contain missing labels"):
        expected_cost(masked, [1, 1])
    assert phi(np.ma.array([0.0])).tolist() == [1.0]


def test_arrays_of_plain_python_numbers_work() -> None:
    phi = uneven.phi("relu(1 - t)")
    mixed = np.array([[Fraction(1, 2), Decimal("0.5")], [0, 2**70]], dtype=object)
    assert phi(mixed).tolist() == [[0.5, 0.5], [1.0, 0.0]]
    assert phi(Fraction(1, 2)) == phi(Decimal("0.5")) == phi(np.longdouble(0.5)) == 0.5
    assert phi([Decimal("inf"), -math.inf]).tolist() == [0.0, math.inf]
    assert phi([]).shape == phi(np.array([], dtype=object)).shape == (0,)
    loss = uneven.UnevenMarginLoss("hinge")
    assert loss(np.array([1, -1], dtype=object), 0.5).tolist() == [0.5, 1.5]
    assert loss([], []).shape == (0,)


@pytest.mark.parametrize(
    "y", [[[1], [1, 2]], 10**400, True, [True], None, "1", [1, None], math.nan, np.datetime64(1, "s")]
)
def test_y_holds_signs(y: object) -> None:
    with pytest.raises(ParameterError, match=r"y must be -1 or \+1 .*, got"):
        uneven.UnevenMarginLoss("hinge")(y, 0.0)


def test_costs_are_read_exactly() -> None:
    assert expected_cost([1, 0], [0, 1], fp_cost="1/3", fn_cost=Decimal("0.5")) == pytest.approx(5 / 12)
    assert uneven.Cost(fp_cost="1/3", fn_cost="2/3").exact_alpha == Fraction(1, 3)
    assert expected_cost([1, 0], [0, 1], fp_cost=1.7e308, fn_cost=1.7e308) == pytest.approx(1.7e308)
    for cost in (10**400, -(10**5000), "1e-400"):
        with pytest.raises(CostError, match="fp_cost must be 0 or within the range of double precision"):
            expected_cost([1, 0], [0, 1], fp_cost=cost)


def mixed(*labels: object) -> np.ndarray:
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


@pytest.mark.parametrize(
    ("y_true", "pos_label", "says"),
    [
        ([0, 1], [1], r"pos_label must be one of the labels 0 and 1, got \[1\]"),
        ([1, 1], (1,), "pos_label must be one of the labels"),
        ([1, 1], math.nan, "pos_label must be one of the labels"),
        ([1, 1], np.array(1), "pos_label must be one of the labels"),
        ([[1], [1, 2]], None, "y_true must be a one-dimensional array"),
        (mixed(1, "a"), None, "pos_label must say which of the labels 'a' and 1"),
        (mixed([1], [2]), None, "y_true must hold numbers, booleans or strings"),
        (mixed((1, 2), (2,)), None, "y_true must hold numbers, booleans or strings"),
        (np.array([1, 2], dtype="M8[s]"), 1, "y_true must hold numbers, booleans or strings"),
        (np.zeros(2, dtype=[("a", int)]), None, "y_true must hold numbers, booleans or strings"),
        (mixed("a", Decimal("NaN")), "a", "y_true must not contain missing labels"),
    ],
)
def test_labels(y_true: object, pos_label: object, says: str) -> None:
    with pytest.raises(CostError, match=says):
        expected_cost(y_true, [1, 1], pos_label=pos_label)
    with pytest.raises(CostError, match=says):
        cost_curve(y_true, [0.0, 1.0], pos_label=pos_label)


def test_labels_of_mixed_types_work_with_a_pos_label() -> None:
    assert expected_cost(mixed(1, "a"), mixed("a", "a"), fn_cost=3, pos_label=1) == 1.5


@pytest.mark.parametrize("scale", [1e308, 5e-324, 1.0])
def test_weights_of_any_size(scale: float) -> None:
    weight = [scale, scale, 0.0]
    assert expected_cost([1, 0, 1], [0, 0, 1], sample_weight=weight) == 0.5
    assert cost_curve([1, 0, 1], [-1, -2, 3], alphas=0.5, sample_weight=weight).cost.tolist() == [0.25]
    assert expected_cost([1, 0], [0, 0], sample_weight=[1.7e308, 5e-324]) == 1.0
    assert cost_curve([1, 0], [1, 2], sample_weight=[1.0, 5e-324]).best_cost.max() <= 1e-300


@pytest.mark.parametrize("weight", [1.0, "ab", [[1], [1, 2]], [10**400, 1], [1, None]])
def test_weights_are_numbers(weight: object) -> None:
    with pytest.raises(CostError, match="sample_weight must"):
        expected_cost([0, 1], [0, 1], sample_weight=weight)


@pytest.mark.parametrize(
    "score",
    [
        [1 + 2**-52, 1 + 2**-51, 3.0],
        [1.6e308, 1.7e308, -1.7e308],
        [-math.inf, math.inf, 0.0],
        [math.inf, -math.inf, -math.inf],
        [-math.inf, -math.inf, -math.inf],
        [-5e-324, 0.0, 5e-324],
        np.array([1, 1 + 2**-23, 2], dtype=np.float32),
    ],
)
@pytest.mark.parametrize("truth", [[0, 1, 1], [1, 0, 1], [1, 1, 0], [1, 1, 1], [0, 0, 0]])
def test_the_best_threshold_attains_the_best_cost(score: list[float], truth: list[int]) -> None:
    curve = cost_curve(truth, score)
    for alpha, threshold, cost in zip(curve.alpha, curve.best_threshold, curve.best_cost, strict=True):
        guess = (np.asarray(score) > float(threshold)).astype(int)
        attained = expected_cost(truth, guess, fp_cost=alpha, fn_cost=1 - alpha)
        assert attained == pytest.approx(cost, abs=1e-15)


@pytest.mark.parametrize(
    ("score", "alphas", "says"),
    [
        ([0, 1], "abc", "alphas must hold numbers, got 'abc'"),
        ([0, 1], [[0.1, 0.2]], r"alphas must be a one-dimensional array of numbers, got shape \(1, 2\)"),
        ([0, 1], [[0.1], [0.1, 0.2]], "alphas must hold numbers"),
        ([0, 1], math.nan, "alphas must not contain NaN"),
        ([[0], [1, 2]], None, "y_score must hold numbers"),
        (0.5, None, r"y_score must be a one-dimensional array of numbers, got shape \(\)"),
        ([10**400, 1], None, "y_score must hold numbers that fit a double"),
    ],
)
def test_cost_curve_refuses(score: object, alphas: object, says: str) -> None:
    with pytest.raises(CostError, match=says):
        cost_curve([0, 1], score, alphas=alphas)


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ({"sentence": ["t"]}, r"the sentence must be a text in the little language, got \['t'\]"),
        ({"limits": 3}, "limits must be a pair of texts"),
        ({"limits": ("inf",)}, "limits must be a pair of texts"),
        ({"limits": (1, 0)}, "limits must be a pair of texts"),
        ({"minimiser": "a"}, "minimiser must hold numbers"),
        ({"minimiser": math.nan}, "minimiser must not contain NaN"),
        ({"minimiser": [1]}, "minimiser must be one number"),
        ({"minimiser": 10**400}, "minimiser must hold numbers that fit a double"),
        ({"minimum": 0}, "minimum must be a text such as '0', got 0"),
        ({"parameters": ("k",)}, "parameters must be a tuple of uneven.losses.Parameter"),
        ({"parameters": Parameter("k", 1)}, "parameters must be a tuple of uneven.losses.Parameter"),
        ({"parameters": (Parameter("k", 1), Parameter("k", 2))}, "parameters must be of different names"),
        ({"convex": "yes"}, "convex must be True, False or None, got 'yes'"),
        ({"doc": None}, "doc must be a text"),
        ({"name": ["aa"]}, "the name of a phi is a lower-case identifier"),
        ({"name": "where"}, "the name 'where' is a word of the language"),
    ],
)
def test_register_names_what_is_wrong(facts: dict[str, object], says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        uneven.losses.register(**{"name": "aa", "sentence": "exp(-t)", **facts})
    assert "aa" not in uneven.losses.names()


@pytest.mark.parametrize("call", [uneven.losses.declared, uneven.losses.unregister])
@pytest.mark.parametrize("name", [None, [1], 3])
def test_a_family_is_found_by_its_name(call: Callable[[object], object], name: object) -> None:
    with pytest.raises(ParameterError, match="the name of a phi is a text such as 'hinge', got"):
        call(name)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"at_least": "a"}, "at_least of k must be a finite number, got 'a'"),
        ({"above": None, "at_most": "1e400"}, "at_most of k must be 0 or within the range"),
        ({"default": None}, "the default of k must be a number, got None"),
        ({"default": math.inf}, "the default of k must be a finite number, got inf"),
        ({"at_least": 2}, "the default of k must be at least 2, got 1"),
        ({"above": 1}, "the default of k must be greater than 1, got 1"),
        ({"at_most": "1/2"}, "the default of k must be at most 1/2, got 1"),
        ({"name": "K"}, "the name of a parameter is a lower-case identifier"),
        ({"name": "a b"}, "the name of a parameter is a lower-case identifier"),
        ({"name": 3}, "the name of a parameter is a lower-case identifier"),
        *(
            ({"name": word}, f"the name '{word}' is a word of the language")
            for word in ("t", "pi", "e", "exp", "where")
        ),
    ],
)
def test_parameter_names_what_is_wrong(arguments: dict[str, object], says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        Parameter(**{"name": "k", "default": 1, **arguments})


def test_a_parameter_holds_rationals() -> None:
    assert Parameter("k", "1/2", at_most=0.5) == Parameter("k", Fraction(1, 2), at_most=Decimal("0.5"))
    assert Parameter("k", 0.5).read("1/3") == Fraction(1, 3)


def test_declared_facts_are_tried_without_overflow() -> None:
    huge = "1.7e308"
    uneven.losses.register("aa", huge, convex=True, limits=(huge, huge), minimiser=Fraction(1, 2), minimum=huge)
    uneven.losses.unregister("aa")
