"""The window phi: what docs/window.md says of every order."""

from __future__ import annotations

import math
import re
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import DOCS, ROOT

import uneven
from uneven.calibration.half_lines import HalfLineSolver
from uneven.errors import ExpressionError, ParameterError

ORDERS = (1, 2, 3, 4, 8, 16, 33, 64)
each_order = pytest.mark.parametrize("order", ORDERS)
orders = st.integers(1, 64)
alphas = st.fractions(Fraction(1, 200), Fraction(199, 200))


def mean_distance(order: int) -> Fraction:
    return Fraction(math.comb(2 * order, order), 4**order)


@each_order
def test_it_is_twice_the_mean_cost_over_alphas(order: int) -> None:
    """phi(t) = 2 E[(1 - c) 1{p <= c}], c ~ Beta(k, k): an integral of a polynomial, exact by Gauss's rule."""
    nodes, weights = np.polynomial.legendre.leggauss(order + 2)
    scale = order * math.comb(2 * order, order)  # 2/B(k, k)
    for t in (-2.5, -0.4, 0.0, 0.3, 1.7):
        p = 1 / (1 + math.exp(-t))
        c = p + (1 - p) * (1 + nodes) / 2
        mean = (1 - p) / 2 * np.sum(weights * (1 - c) * (c * (1 - c)) ** (order - 1)) * scale
        assert uneven.phi("beta", order=order)(t) == pytest.approx(mean, rel=1e-11)


def test_the_first_order_is_savage_at_half_the_scale() -> None:
    t = np.linspace(-30, 30, 301)
    assert np.allclose(uneven.phi("beta", order=1)(t), uneven.phi("savage")(t / 2), rtol=1e-14, atol=0)


@each_order
def test_partial_losses_of_both_labels_leave_an_even_split(order: int) -> None:
    """1 - phi(t) - phi(-t) is the probability of exactly k successes in 2k trials."""
    phi, t = uneven.phi("beta", order=order), np.linspace(-3, 3, 61)
    p = 1 / (1 + np.exp(-t))
    assert np.allclose(1 - phi(t) - phi(-t), math.comb(2 * order, order) * (p * (1 - p)) ** order, atol=1e-14)


@each_order
def test_scores_are_log_odds(order: int) -> None:
    loss = uneven.UnevenMarginLoss(uneven.phi("beta", order=order))
    t = np.concatenate([np.linspace(-20, 20, 81), [-1e308, 1e308]])
    with np.errstate(over="ignore"):
        assert np.allclose(loss.inverse_link(t), 1 / (1 + np.exp(-t)), rtol=1e-12, atol=0)
    assert loss.link(0.9) == pytest.approx(math.log(9), rel=1e-9)


@each_order
def test_the_tail_is_zero_only_where_it_must_be(order: int) -> None:
    """Far out phi is binomial(2k, k + 1) e^(-(k+1)t): a double as long as that is one, and its slope too."""
    phi = uneven.phi("beta", order=order)
    for exponent, leading, function in (
        (-690.0, math.comb(2 * order, order + 1), phi),
        (-690.0, -order * math.comb(2 * order, order), phi.slope),
    ):
        t = (math.log(abs(leading)) - exponent) / (order + 1)
        true = leading * math.exp(-(order + 1) * t) / (1 + math.exp(-t)) ** (2 * order)
        assert function(t) == pytest.approx(true, rel=3 * order * math.exp(-t) + 1e-11)
        assert abs(function(t + 100 / (order + 1))) == 0
    assert phi(-1e308) == 1
    assert phi(1e308) == phi.slope(1e308) == phi.slope(-1e308) == phi.curvature(1e308) == 0


@each_order
def test_it_falls(order: int) -> None:
    t = np.sort(np.random.default_rng(order).normal(scale=4, size=4000))
    value = uneven.phi("beta", order=order)(t)
    assert np.all(np.diff(value) <= 1e-15)
    assert np.all((value >= 0) & (value <= 1))


@each_order
def test_certified_for_its_alpha(order: int) -> None:
    phi = uneven.phi("beta", order=order)
    for alpha in (Fraction(1, 2), Fraction(1, 101)):
        certificate = uneven.certify(uneven.UnevenMarginLoss(phi, alpha=alpha))
        assert certificate.status == "proved"
        assert certificate.interval == (alpha, alpha)
        assert uneven.verify(certificate)


@pytest.mark.slow
@each_order
def test_the_gamma_at_which_alpha_leaves_one_half(order: int) -> None:
    """On both sides of gamma_k the proof, which does not use the declaration, agrees with it."""
    phi, mean = uneven.phi("beta", order=order), mean_distance(order)
    odds = phi.declaration.own_odds
    assert odds is not None
    largest = (1 + mean) / (1 - mean)
    half = Fraction(1, 2)
    for gamma in (largest * Fraction(99, 100), largest * Fraction(101, 100)):
        inside = gamma < largest
        assert (odds.odds(gamma, phi.exact_parameters) == 1) == inside
        assert (odds.odds(1 / gamma, phi.exact_parameters) == 1) == inside
        certificate = uneven.certify(uneven.UnevenMarginLoss(phi, gamma=gamma))
        assert certificate.status == "proved"
        assert (certificate.interval == (half, half)) if inside else (certificate.interval[1] < half)


@pytest.mark.slow
@given(orders, st.floats(0, 1), st.floats(1e-9, 1))
def test_the_closed_form_is_the_infimum(order: int, eta: float, scale: float) -> None:
    """Over both half lines, against the search of the engine and the integral of P(V <= x)."""
    phi = uneven.phi("beta", order=order)
    a, b = np.array([scale * eta]), np.array([scale * (1 - eta)])
    closed = phi.declaration.closed_form
    assert closed is not None
    found = closed.sides(a, b, a - b, 1.0, {"order": order})
    searched = HalfLineSolver(uneven.UnevenMarginLoss(phi))
    for side, value in ((1, found.positive), (-1, found.negative)):
        assert value == pytest.approx(searched.minimum(side, a, b).value, rel=1e-10, abs=1e-13 * scale)
    assert found.difference == pytest.approx(found.positive - found.negative, abs=1e-13 * scale)


@given(orders, st.integers(1, 40))
def test_the_gap_keeps_its_digits_near_alpha(order: int, power: int) -> None:
    """H = (w/2) E(|z| - V)+ is w k c_k z^2/2 (1 - (k-1) z^2/6 + ...) for small z, down to z = 1e-40."""
    closed = uneven.phi("beta", order=order).declaration.closed_form
    assert closed is not None
    z = 10.0**-power / order
    half = np.array([0.5])
    gap = -closed.sides(half, half, np.array([z]), 1.0, {"order": order}).difference
    leading = order * float(mean_distance(order)) * z * z / 2
    assert gap == pytest.approx(leading, rel=order * z * z + 1e-13)


@pytest.mark.slow
@given(orders, orders, alphas)
def test_the_bound_tightens_with_the_order(one: int, other: int, alpha: Fraction) -> None:
    """Theorem W: H rises strictly in k, psi never falls, the regret bound never rises."""
    low, high = sorted((one, other))
    wide, narrow = (
        uneven.analyze(uneven.UnevenMarginLoss(uneven.phi("beta", order=k), alpha=alpha)) for k in (low, high)
    )
    eta = np.array([float(alpha) * share for share in (0.0, 0.3, 0.9)] + [float(alpha), (1 + float(alpha)) / 2, 1.0])
    assert np.all(wide.H(eta) <= narrow.H(eta) * (1 + 1e-12))
    if low < high:
        assert np.all(wide.H(eta)[[0, 1, 2, 4, 5]] < narrow.H(eta)[[0, 1, 2, 4, 5]])
    eps = np.linspace(0, float(wide.largest_regret), 9)
    assert np.all(wide.psi(eps) <= narrow.psi(eps) * (1 + 1e-9))
    regrets = np.geomspace(1e-6, 1, 9)
    assert np.all(narrow.psi_inverse(regrets) <= wide.psi_inverse(regrets) * (1 + 1e-9))


@given(orders, alphas)
def test_the_bound_lies_between_its_limits(order: int, alpha: Fraction) -> None:
    """The corollary: (eps - c_k B)/2 <= psi(eps) <= eps/2."""
    analysis = uneven.analyze(uneven.UnevenMarginLoss(uneven.phi("beta", order=order), alpha=alpha))
    largest = float(analysis.largest_regret)
    eps = np.linspace(0, largest, 17)
    psi = analysis.psi(eps)
    assert np.all(psi <= eps / 2 * (1 + 1e-12))
    assert np.all(psi >= (eps - float(mean_distance(order)) * largest) / 2 - 1e-12)


def table_of_the_page() -> dict[tuple[Fraction, int], Fraction]:
    """The bounds of docs/window.md by alpha and order."""
    lines = [line for line in (DOCS / "window.md").read_text().splitlines() if re.match(r"\| 1/\d+, 0\.01 \|", line)]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {
        (Fraction(row[0].split(",")[0]), order): Fraction(number)
        for row in cells
        for order, number in zip((1, 2, 4, 8, 16, 32, 64), row[1:-1], strict=True)
    }


def test_no_entry_of_the_table_is_below_the_truth() -> None:
    """nu at the entry, in rationals: it must be at least the surrogate regret, since psi is not above nu."""
    table = table_of_the_page()
    assert len(table) == 21
    for (alpha, order), entry in table.items():
        moments = [(-1) ** j * Fraction(math.comb(order - 1, j)) for j in range(order)]  # of (1 - v^2)^(k-1)
        mass = sum(part / (2 * j + 1) for j, part in enumerate(moments))
        values = []
        for eta in (alpha - entry, alpha + entry):
            if 0 <= eta <= 1:
                a, b = (1 - alpha) * eta, alpha * (1 - eta)
                z = abs(a - b) / (a + b)
                mean = sum(part * z ** (2 * j + 2) / ((2 * j + 1) * (2 * j + 2)) for j, part in enumerate(moments))
                values.append((a + b) / 2 * mean / mass)
        assert min(values) >= Fraction(1, 100), (alpha, order)


@pytest.mark.slow
def test_the_table_shows_proved_bounds_rounded_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "benchmarks"), *sys.path])
    from window_bounds import lines

    assert "\n".join(lines()) in (DOCS / "window.md").read_text()


@pytest.mark.parametrize(
    ("order", "complaint"),
    [
        (0, "order must be at least 1, got 0"),
        (65, "order must be at most 64, got 65"),
        (2.5, "order must be a whole number, got 2.5"),
        ("3/2", "order must be a whole number, got '3/2'"),
        (None, "order must be a number, got None"),
    ],
)
def test_a_bad_order_is_named(order: object, complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        uneven.phi("beta", order=order)


@pytest.mark.parametrize(
    "text", ["window(-t)", "window(-t, 2.5)", "window(-t, 65)", "window(-t, 0)", "window(-t, t)", "window(-t, pi)",
             "window(-t, 1 + 1)", "window(-t, 2, 3)", "window(2, -t)"],
)  # fmt: skip
def test_an_order_in_a_text_is_a_whole_number(text: str) -> None:
    with pytest.raises(ExpressionError, match="from 1 to 64") as caught:
        uneven.phi(text)
    assert "\n" not in str(caught.value)


def test_a_parameter_can_be_the_order_of_a_new_phi() -> None:
    window = uneven.losses.Parameter("depth", default=3, at_least=1)
    uneven.losses.register("two_windows", "window(-t, depth) + window(-2*t, 5)", parameters=(window,))
    try:
        phi = uneven.phi("two_windows", depth=4)
        assert phi(0.7) == pytest.approx(uneven.phi("beta", order=4)(0.7) + uneven.phi("beta", order=5)(1.4), rel=1e-14)
        with pytest.raises(ExpressionError, match=r"a whole number from 1 to 64 .*, got 9/2"):
            uneven.phi("two_windows", depth="9/2")
    finally:
        uneven.losses.unregister("two_windows")
