"""Laws that every phi must obey: registered, written as an expression, or declared by a user."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from flint import arb

import uneven
from uneven.expression import derivative, parse, simplify, to_text
from uneven.expression.latex import to_latex
from uneven.losses import Phi
from uneven.losses.margin_function import find_false_fact, smooth_switches
from uneven.ops.balls import enclose, enclose_interval, interval
from uneven.ops.kernels import compile_kernel
from uneven.ops.rationals import exact_value

Law = Callable[[Phi], None]
LAWS: dict[str, Law] = {}
RANDOM = np.random.default_rng(20261115)


def law(function: Law) -> Law:
    LAWS[function.__name__] = function
    return function


def away_from(points: tuple[float, ...], distance: float = 0.02) -> np.ndarray:
    """Arguments of moderate size that are not close to the given points."""
    t = np.concatenate([np.linspace(-7.013, 7.017, 97), [-31.7, -0.0031, 0.0027, 29.3]])
    for point in points:
        t = t[np.abs(t - point) > distance]
    return t


def switch_points(phi: Phi) -> tuple[float, ...]:
    from uneven.shape.kinks import switch_points

    return tuple(map(float, switch_points(phi.tree)))


def differences(function: Callable[[np.ndarray], np.ndarray], t: np.ndarray) -> np.ndarray:
    """First derivative by a central difference of order eight."""
    h = 2.0**-9
    weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    return sum(w * (function(t + k * h) - function(t - k * h)) for k, w in weights.items()) / h


@law
def slope_is_the_derivative(phi: Phi) -> None:
    t = away_from(switch_points(phi))
    scale = 1 + np.abs(phi(t)) + np.abs(phi.slope(t))
    assert np.all(np.abs(phi.slope(t) - differences(phi, t)) <= 1e-9 * scale)


@law
def curvature_is_the_derivative_of_slope(phi: Phi) -> None:
    t = away_from(switch_points(phi))
    scale = 1 + np.abs(phi.slope(t)) + np.abs(phi.curvature(t))
    assert np.all(np.abs(phi.curvature(t) - differences(phi.slope, t)) <= 1e-9 * scale)


@law
def slope_and_value_are_continuous_away_from_kinks(phi: Phi) -> None:
    """At a switch point that is not listed as a kink, neither the slope nor the value may jump."""
    for point in switch_points(phi):
        step = 1e-7 * max(1.0, abs(point))
        left, right = point - step, point + step
        jump = abs(phi.slope(left) - phi.slope(right)) + abs(phi(left) - phi(right))
        scale = 1 + abs(phi(point)) + abs(phi.slope(left)) + abs(phi.curvature(left)) + abs(phi.curvature(right))
        if any(abs(point - kink) < 1e-9 * max(1.0, abs(point)) for kink in phi.kinks):
            assert jump > 1e-4, f"no kink at {point}"
        else:
            assert jump <= 1e-5 * scale, f"a kink at {point} is not listed"


@law
def every_kink_is_a_switch_point(phi: Phi) -> None:
    assert set(phi.kinks) <= set(switch_points(phi))


@law
def declared_facts_survive_falsification(phi: Phi) -> None:
    assert find_false_fact(phi) is None


@law
def convex_means_below_every_chord(phi: Phi) -> None:
    if not phi.convex:
        return
    x, y = RANDOM.normal(scale=6, size=(2, 4000))
    weight = RANDOM.uniform(size=4000)
    chord = weight * phi(x) + (1 - weight) * phi(y)
    assert np.all(phi(weight * x + (1 - weight) * y) <= chord * (1 + 1e-12) + 1e-12)


@law
def not_convex_means_above_some_chord(phi: Phi) -> None:
    if phi.convex is not False:
        return
    x = np.linspace(-12, 12, 1201)
    y = phi(x)
    assert np.any(y[1:-1] > (y[:-2] + y[2:]) / 2 + 1e-12)


@law
def limits_are_approached(phi: Phi) -> None:
    for limit, t in zip(phi.limits, (-1e300, 1e300), strict=True):
        assert phi(np.copysign(np.inf, t)) == limit
        assert phi(t) > 100 if np.isinf(limit) else np.isclose(phi(t), limit, rtol=1e-9, atol=1e-12)


@law
def never_negative_or_nan(phi: Phi) -> None:
    t = np.concatenate([RANDOM.standard_cauchy(2000) * 10, [0.0, 5e-324, -5e-324]])
    assert np.all(phi(t) >= 0)
    for function in (phi, phi.slope, phi.curvature):
        assert not np.isnan(function(t)).any()
        for extreme in (1e308, -1e308):
            try:
                assert not np.isnan(function(extreme))
            except uneven.errors.ExpressionError as error:
                assert phi.name is None
                assert "huge terms cancel" in str(error)


@law
def enclosures_contain_values(phi: Phi) -> None:
    """Checked at random points of random balls, including wide ones and ones around switch points and infinity."""
    trees = (phi.tree, derivative(phi.tree))
    for _ in range(25):
        centre, radius = RANDOM.normal(scale=3), 10.0 ** RANDOM.uniform(-8, 2)
        ball = arb(centre, radius)
        points = [Fraction(centre) + Fraction(radius) * Fraction(u) for u in RANDOM.uniform(-1, 1, size=4)]
        for tree in trees:
            enclosure = enclose(tree, ball)
            for point in points:
                truth = enclose(tree, interval(point, point), bits=200)
                assert not enclosure.is_nan()
                assert enclosure.overlaps(truth)
    for lo, hi in ((-np.inf, 0.3), (-2.0, np.inf), (-np.inf, np.inf)):
        wide = enclose_interval(phi.tree, interval(lo, hi))
        for point in (-1e6, -1.0, 0.25, 40.0):
            if lo <= point <= hi:
                assert float(wide.lo) * (1 - 1e-12) <= phi(point) <= float(wide.hi) * (1 + 1e-12)


@law
def rational_values_agree_with_floats(phi: Phi) -> None:
    for point in (Fraction(-7, 4), Fraction(0), Fraction(3, 8), Fraction(5)):
        value = exact_value(phi.tree, point)
        if value is not None:
            assert np.isclose(phi(float(point)), float(value), rtol=1e-15, atol=0)


@law
def text_and_tree_are_two_views(phi: Phi) -> None:
    for tree in (phi.tree, derivative(phi.tree), derivative(derivative(phi.tree))):
        assert parse(to_text(tree)) == tree
        assert simplify(tree) == tree
        assert to_latex(tree)


@law
def frozen_hashable_picklable(phi: Phi) -> None:
    assert pickle.loads(pickle.dumps(phi)) == phi
    assert hash(pickle.loads(pickle.dumps(phi))) == hash(phi)
    assert eval(repr(phi), {"uneven": uneven}) == phi
    try:
        phi.name = "other"  # type: ignore[misc]
    except AttributeError:
        return
    raise AssertionError("a phi can be changed")


@law
def dtypes_and_shapes_are_kept(phi: Phi) -> None:
    t = np.linspace(-3, 3, 6).reshape(2, 3)
    for function in (phi, phi.slope, phi.curvature):
        assert function(t).shape == (2, 3)
        assert function(t).dtype == np.float64
        single = function(t.astype(np.float32))
        assert single.dtype == np.float32
        assert np.allclose(single, function(t.astype(np.float32).astype(float)), rtol=2e-5, atol=2e-6)
        assert isinstance(function(1), float)
        assert isinstance(function(np.float32(0.5)), np.float32)
        assert function(np.array([1, 2])).dtype == np.float64
        assert function(np.zeros(0)).shape == (0,)


@law
def uneven_margins_compose(phi: Phi) -> None:
    """L1(t) = phi(t), L-1(t) = beta phi(-gamma t), and their derivatives by the chain rule."""
    t = away_from(())
    loss = uneven.UnevenMarginLoss(phi, gamma=2.5, beta=0.75, alpha=0.2)
    assert np.allclose(loss.positive(t), 0.8 * phi(t), rtol=1e-14, atol=0)
    assert np.allclose(loss.negative(t), 0.2 * 0.75 * phi(-2.5 * t), rtol=1e-14, atol=0)
    assert np.allclose(loss.slope(-1, t), -0.2 * 0.75 * 2.5 * phi.slope(-2.5 * t), rtol=1e-13, atol=1e-322)
    assert np.allclose(loss.curvature(-1, t), 0.2 * 0.75 * 2.5**2 * phi.curvature(-2.5 * t), rtol=1e-13, atol=1e-322)
    assert eval(repr(loss), {"uneven": uneven}) == loss == pickle.loads(pickle.dumps(loss))


@law
def conditional_risk_is_the_mixture(phi: Phi) -> None:
    loss = uneven.UnevenMarginLoss(phi, gamma=0.5)
    t = np.array([-2.0, 0.0, 0.7])
    eta = np.array([[0.0], [0.3], [1.0]])
    risk = loss.conditional_risk(eta, t)
    assert np.allclose(risk, eta * loss.positive(t) + (1 - eta) * loss.negative(t), rtol=1e-14)
    extreme = loss.conditional_risk([0.0, 1.0], [[-1e308], [1e308]])
    assert not np.isnan(extreme).any()


@law
def symmetry_of_gamma(phi: Phi) -> None:
    """C_{1/gamma}(eta, gamma t) = gamma C_gamma(1 - eta, -t) for every phi with beta = 1/gamma."""
    t, eta = np.linspace(-2, 2, 9), 0.3
    one, other = uneven.UnevenMarginLoss(phi, gamma=4), uneven.UnevenMarginLoss(phi, gamma=0.25)
    assert np.allclose(other.conditional_risk(eta, 4 * t), 4 * one.conditional_risk(1 - eta, -t), rtol=1e-13)


@law
def kernels_agree_with_values(phi: Phi) -> None:
    """The compiled kernel gives the same values, slopes and curvatures as NumPy, also in the tails, and never NaN."""
    kernel = compile_kernel(phi.tree, smooth_switches(phi.tree))
    t = np.concatenate([RANDOM.normal(scale=3, size=2000), np.linspace(-800, 800, 1601), [0.0, 1e-12, 1e100, -1e100]])
    t = t[~np.isin(t, phi.kinks)]
    found = (*kernel.first(t), kernel.second(t))
    wanted = (phi(t), phi.slope(t), phi.curvature(t))
    sizes = [np.abs(array) for array in wanted]
    # Rounding t changes a result by t times its slope. Where terms cancel, allow a share of the lower-order result too.
    with np.errstate(all="ignore"):
        slack = (t * sizes[1], t * sizes[2] + sizes[0] / 100, t * sizes[2] + sizes[1] / 100)
    for ours, truth, size, other in zip(found, wanted, sizes, slack, strict=True):
        assert not np.isnan(ours).any()
        finite = np.isfinite(size) & np.isfinite(other)
        assert np.array_equal(ours[~np.isfinite(size)], truth[~np.isfinite(size)])
        error = np.abs(ours[finite] - truth[finite])
        assert np.all(error <= (4e-13 * size + 4e-14 * np.abs(other))[finite] + 1e-320)


@law
def inverse_link_minimises_or_says_why(phi: Phi) -> None:
    loss = uneven.UnevenMarginLoss(phi, gamma=1.5, alpha=0.3)
    try:
        loss.inverse_link(0.0)
    except uneven.errors.LossError as error:
        assert "identif" in str(error)
        return
    around = np.linspace(-3, 3, 601)
    for t in (-0.3, 0.0, 0.2):
        eta = loss.inverse_link(t)
        risk = loss.conditional_risk(eta, around)
        assert loss.conditional_risk(eta, t) <= risk.min() + 1e-12
    link = loss.inverse_link(np.array([-1e308, -800.0, -1.0, 0.0, 1.0, 800.0, 1e308]))
    assert np.all(np.diff(link) >= 0)
    assert link[0] == 0
    assert link[-1] == 1


@law
def calibrated_or_refused(phi: Phi) -> None:
    """At the target alpha, A = B; just below it t < 0 is better, just above it t > 0 is better."""
    from uneven.calibration.half_lines import HalfLineSolver

    for gamma, alpha in ((1.0, 0.5), (3.0, 0.2), (0.2, 0.7)):
        try:
            loss = uneven.calibrated_loss(phi, alpha=alpha, gamma=gamma)
        except uneven.errors.LossError as error:
            assert "calibrated for no alpha" in str(error)
            return
        solver = HalfLineSolver(loss)
        eta = np.array([0.0, alpha / 2, alpha - 1e-3, alpha + 1e-3, (1 + alpha) / 2, 1.0])
        difference = solver.minimum(1, eta, 1 - eta).value - solver.minimum(-1, eta, 1 - eta).value
        assert np.all(difference[:3] > 0)
        assert np.all(difference[3:] < 0)


@law
def certified_for_one_alpha_or_none(phi: Phi) -> None:
    """A certificate is valid and agrees with the verdict; for a registered phi it is not undecided."""
    for gamma in (1, 3):
        loss = uneven.UnevenMarginLoss(phi, gamma=gamma)
        certificate = uneven.certify(loss, budget=100 if phi.name is None else 3000)
        if certificate.status == "undecided":
            assert phi.name is None, certificate
            continue
        assert uneven.verify(certificate)
        if certificate.interval is None:
            assert uneven.analyze(loss).verdict.status == "not calibrated"
            continue
        middle = sum(certificate.interval, Fraction(0)) / 2
        assert uneven.analyze(loss, middle).verdict.status != "not calibrated"
        assert uneven.certify(loss, 1 - middle / 2).status != "proved"
