"""H over wrong decisions: theorems 1 and 7, tightness and verdicts of losses that jump at t = 0, by brute force."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from jumping_losses import Jumping, jumping_loss

import uneven
from uneven._hull import lower_hull
from uneven.calibration import Analysis
from uneven.calibration.implied_costs import prescribe

#: Calibrated for 1/2; at t = 0, a negative decision, both partial losses lie between those of the two sides.
BETWEEN = uneven.Loss("where(t < 0, 1, where(t > 0, 0, 0.6))", "where(t < 0, 0, where(t > 0, 1, 0.5))")
#: Its negatives decide at 0: calibrated for 0.9, though its partial losses are mirror images of each other.
CHEAP_AT_ZERO = uneven.Loss("where(t < 0, 1, where(t > 0, 0, 0.1))", "where(t < 0, 0, where(t > 0, 1, 0.1))")


def cases(seed: int, count: int) -> list[tuple[Jumping, Analysis]]:
    """Losses with an alpha: often the one they are calibrated for."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        case = jumping_loss(rng)
        own = case.only_alpha()
        alpha = own if own is not None and rng.random() < 0.7 else Fraction(rng.randint(1, 15), 16)
        found.append((case, uneven.analyze(case.loss, alpha)))
    return found


def least_excess(case: Jumping, eta: np.ndarray, alpha: float) -> np.ndarray:
    """The infimum of C(eta, t) - C*(eta) over the t that decide wrongly; 0 at alpha."""
    positive, negative = case.infima(eta)
    wrong = np.where(eta < alpha, positive, negative)
    return np.where(eta == alpha, 0.0, wrong - np.minimum(positive, negative))


def test_the_bound_for_rows_is_tight_for_a_loss_that_jumps() -> None:
    """E2: psi(eps) = eps was claimed, but 1.2 eps holds, and no more: theorem R, part 4."""
    a = uneven.analyze(BETWEEN, "1/2")
    assert a.psi([0.1, 0.25, 0.5]) == pytest.approx([0.12, 0.3, 0.6], abs=1e-15)
    low, high = a.psi_bounds([0.1, 0.25, 0.5])
    assert low == pytest.approx(high, abs=1e-15)
    assert low == pytest.approx([0.12, 0.3, 0.6], abs=1e-15)
    assert a.regret_bound(0.12) == pytest.approx(0.1, abs=1e-15)
    tight = a.tight_distribution(0.25)
    assert (tight.cost_regret, tight.surrogate_regret) == pytest.approx((0.25, 0.3), abs=1e-12)
    assert a.verdict.status == a.verdict.definition_1 == "calibrated"


def test_the_cost_itself_has_its_calibration_functions() -> None:
    """E3: both were 0, as if theorem 7 needed no condition with t = 0 on both sides."""
    a = uneven.analyze(uneven.cost_loss("1/4"))
    assert a.calibration_function(0.1, 0.05) == pytest.approx(0.2, abs=1e-15)
    assert a.uniform_calibration_function(0.1) == pytest.approx(0.1, abs=1e-15)
    assert a.calibration_function(0.3, 0.05) == np.inf


@pytest.mark.parametrize("alpha", ["1/4", "1/2", "7/10", "1/1000000000000"])
def test_the_regret_of_the_cost_itself_is_the_cost_regret(alpha: str) -> None:
    loss = uneven.cost_loss(alpha)
    a = uneven.analyze(loss)
    eps = np.array([0.0, 1e-3, 0.2, 0.5, 1.0]) * a.largest_regret
    assert a.psi(eps) == pytest.approx(eps, rel=1e-12, abs=1e-300)
    assert a.psi_inverse(eps) == pytest.approx(eps, rel=1e-12, abs=1e-16)
    assert a.regret_bound(0.0) == 0.0
    low, high = a.psi_bounds(eps)
    assert np.all((low <= eps) & (eps <= high))
    assert low == pytest.approx(high, rel=1e-15)
    assert a.H([0.0, a.alpha, 1.0]) == pytest.approx([a.alpha, 0.0, 1 - a.alpha], rel=1e-12)
    assert a.verdict.status == "calibrated"
    assert a.verdict.definition_1 == "not calibrated"
    assert "the cost itself" in a.verdict.reason
    assert "definition 1 as printed" in a.verdict.reason
    assert a.prescription is None
    assert uneven.implied_alpha(loss).exact == Fraction(alpha)
    for share in (0.0, 0.1, 0.7, 1.0):
        tight = a.tight_distribution(share * a.largest_regret)
        assert tight.surrogate_regret == pytest.approx(tight.cost_regret, abs=1e-15)
        assert tight.cost_regret == pytest.approx(share * a.largest_regret, abs=1e-15)


def test_the_cost_itself_is_certified_with_its_psi() -> None:
    certificate = uneven.certify(uneven.cost_loss("1/4"), psi=["0.01", "0.3", "3/4"])
    assert certificate.status == "proved"
    assert certificate.alpha == Fraction(1, 4)
    assert all(eps == low == high for eps, low, high in certificate.psi_table)
    assert uneven.verify(certificate.to_json())
    other = uneven.certify(uneven.cost_loss("1/4"), alpha="1/3")
    assert other.status == "refuted"
    assert Fraction(1, 4) <= other.witness < Fraction(1, 3)


@pytest.mark.slow
def test_bounded_scores_of_losses_that_jump() -> None:
    """The cost itself does not know how large a score is; of curved pieces a bound cuts off the best scores."""
    a = uneven.analyze(uneven.cost_loss("1/4"), score_bound=2)
    assert a.loss.clipped(2) == a.loss
    assert a.verdict.status == "calibrated"
    assert a.psi_bounds(0.3) == pytest.approx((0.3, 0.3), abs=1e-15)
    curved = uneven.Loss("where(t > 0, expit(-t), 1 + expit(-t))", "where(t > 0, 1 + expit(t), expit(t))")
    free, bounded = uneven.analyze(curved), uneven.analyze(curved, score_bound=1)
    assert free.verdict.status == bounded.verdict.status == "calibrated up to rounding"
    assert bounded.psi(0.4) < free.psi(0.4)
    for b in (free, bounded):
        low, high = b.psi_bounds(0.4)
        assert low <= b.psi(0.4) + 1e-12
        assert b.psi(0.4) <= high + 1e-12
        tight = b.tight_distribution(0.4)
        assert tight.surrogate_regret == pytest.approx(b.psi(0.4), abs=1e-9)
        assert np.all(np.abs(tight.decisions) <= (1 if b is bounded else np.inf))


def test_a_kink_beside_a_jump() -> None:
    """The hinge plus the mistake itself: each side has its own formulas, which do not jump."""
    loss = uneven.Loss("relu(1 - t) + 1 - step(t)", "relu(1 + t) + step(t)")
    a = uneven.analyze(loss)
    assert uneven.implied_alpha(loss).exact == Fraction(1, 2)
    assert a.verdict.definition_1 == "calibrated"
    assert a.psi_bounds(0.3) == pytest.approx((1.2, 1.2), abs=1e-9)


def test_a_loss_that_is_infinite_for_every_positive_decision() -> None:
    """No number is NaN: below alpha no finite excess risk belongs to a wrong decision."""
    a = uneven.analyze(uneven.Loss(lambda t: 1.0 * (t <= 0), lambda t: np.where(t > 0, np.inf, 0.0)), 0.3)
    assert a.H([0.0, 0.2, 0.3, 0.5, 1.0]).tolist() == [np.inf, np.inf, 0.0, 0.0, 1.0]
    assert a.psi([0.0, 0.1, 0.7]).tolist() == [0.0, 0.0, 1.0]


def test_zero_is_a_negative_decision() -> None:
    """Mirror images do not tie where t = 0, which has no mirror image, is the best negative decision."""
    assert uneven.implied_alpha(CHEAP_AT_ZERO).exact == Fraction(9, 10)
    verdict = uneven.analyze(CHEAP_AT_ZERO, "9/10").verdict
    assert (verdict.status, verdict.definition_1) == ("calibrated", "not calibrated")
    half = uneven.analyze(CHEAP_AT_ZERO, "1/2")
    assert half.verdict.status == "not calibrated"
    assert half.H(half.verdict.witness) == 0
    remedy = prescribe(CHEAP_AT_ZERO, Fraction(1, 2))
    assert remedy is not None
    assert uneven.analyze(remedy.loss, "1/2").verdict.status == "calibrated"


def test_a_loss_that_is_continuous_from_the_right_is_calibrated_by_both_definitions() -> None:
    for loss in ("zero_one", "hinge", "where(t < 0, 1, where(t < 1, 0.5, 0))"):
        a = uneven.analyze(uneven.UnevenMarginLoss(loss))
        assert a.verdict.status == a.verdict.definition_1
    # Steps whose value at 0 is that of t > 0: then the negative decision t = 0 is as good as any positive one.
    a = uneven.analyze(uneven.Loss("where(t < 0, 1, 0)", "where(t < 0, 0, 1)"))
    assert a.verdict.definition_1 == a.verdict.status == "not calibrated"
    assert "for no alpha" in a.verdict.reason
    assert a.psi([0.1, 0.5]) == pytest.approx([0.0, 0.0], abs=1e-15)


@pytest.mark.slow
def test_theorem_1_for_losses_that_jump() -> None:
    """20,000 distributions on up to five points, with decisions at, beside and far from 0."""
    rng = np.random.default_rng(1)
    trials, m = 400, 5
    for case, a in cases(1, 50):
        alpha, places = a.alpha, np.array(case.places)
        weights = rng.dirichlet(np.full(m, 0.4), size=trials)
        special = np.array([0, 1, alpha, min(2 * alpha, 1), max(2 * alpha - 1, 0)])
        eta = np.where(rng.random((trials, m)) < 0.4, rng.choice(special, (trials, m)), rng.random((trials, m)))
        f = rng.choice(places, (trials, m))
        wrong = (f > 0) != (eta > alpha)
        cost = (weights * np.abs(eta - alpha) * wrong).sum(axis=1)
        risk = eta * case.loss.positive(f) + (1 - eta) * case.loss.negative(f)
        surrogate = (weights * (risk - np.minimum(*case.infima(eta)))).sum(axis=1)
        assert np.all(a.psi(np.minimum(cost, a.largest_regret)) <= surrogate + 1e-12), case.loss


@pytest.mark.slow
def test_theorem_7_for_losses_that_jump() -> None:
    """20,000 pairs of eta and eps: delta is the infimum of the excess risk over all t whose cost regret reaches eps."""
    rng = np.random.default_rng(2)
    for case, a in cases(2, 50):
        eta, eps = rng.random(400), rng.random(400) * a.largest_regret
        eta[:3] = 0.0, 1.0, a.alpha
        distance = np.abs(eta - a.alpha)
        eps[:200] *= distance[:200]
        truth = np.where(eps <= distance, least_excess(case, eta, a.alpha), np.inf)
        assert a.calibration_function(eps, eta) == pytest.approx(truth, abs=1e-12), case.loss
        grid = np.unique(np.concatenate([np.linspace(0, 1, 4001), eta]))
        heights, apart = least_excess(case, grid, a.alpha), np.abs(grid - a.alpha)
        least = np.array([heights[apart >= x].min() for x in eps[:40]])
        found = a.uniform_calibration_function(eps[:40])
        assert np.all(found <= least + 1e-12), case.loss
        assert np.all(found >= least - 2e-3), case.loss  # slopes of H are at most 8
        outside = np.nextafter(a.largest_regret, 2)
        assert a.uniform_calibration_function(outside) == np.inf


@pytest.mark.slow
def test_no_larger_psi_is_true() -> None:
    """20,000 cost regrets: psi is what two points attain whose decisions, chosen by brute force, are wrong."""
    rng = np.random.default_rng(3)
    for case, a in cases(3, 100):
        etas = np.array([float(eta) for eta in case.kinks()] + [a.alpha])
        etas = np.unique(np.concatenate([etas, 2 * a.alpha - etas]))
        etas = etas[(etas >= 0) & (etas <= 1)]
        eps, heights = np.abs(etas - a.alpha), least_excess(case, etas, a.alpha)
        points = {float(x): heights[np.abs(eps - x) < 1e-14].min() for x in np.unique(eps)}
        hull = lower_hull(list(points), list(points.values()))
        x, y = (np.array([column[k] for k in hull]) for column in (list(points), list(points.values())))
        wanted = np.append(rng.random(198), [0.0, 1.0]) * a.largest_regret
        assert a.psi(wanted) == pytest.approx(np.interp(wanted, x, y), abs=1e-12), case.loss


@pytest.mark.slow
def test_tight_distributions_of_losses_that_jump() -> None:
    """Their regrets are computed without the library: eps, and psi(eps)."""
    rng = np.random.default_rng(3)
    for case, a in cases(3, 25):
        for eps in np.append(rng.random(8), [0.0, 1.0]) * a.largest_regret:
            tight = a.tight_distribution(float(eps))
            wrong = (tight.decisions > 0) != (tight.etas > a.alpha)
            cost = float(np.sum(tight.weights * np.abs(tight.etas - a.alpha) * wrong))
            risk = tight.etas * case.loss.positive(tight.decisions)
            risk += (1 - tight.etas) * case.loss.negative(tight.decisions)
            surrogate = float(np.sum(tight.weights * (risk - np.minimum(*case.infima(tight.etas)))))
            assert cost == pytest.approx(eps, abs=1e-9), case.loss
            assert surrogate == pytest.approx(a.psi(eps), abs=1e-9), case.loss
            assert tight.weights.size <= 2


@pytest.mark.slow
def test_verdicts_of_losses_that_jump() -> None:
    """What is proved is true, by exact arithmetic; nothing stays undecided; proved bounds of psi hold it."""
    rng = random.Random(4)
    proved = 0
    for _ in range(40):
        case = jumping_loss(rng)
        true = case.only_alpha()
        certificate = uneven.certify(case.loss)
        assert uneven.verify(certificate.to_json()), case.loss
        if true is None:
            assert certificate.document["claim"]["kind"] == "calibrated for no alpha", case.loss
            continue
        proved += 1
        assert certificate.status == "proved", case.loss
        low, high = certificate.interval
        assert low <= true <= high, case.loss
        a = uneven.analyze(case.loss, true)
        holds = a.verdict.definition_1 != "not calibrated"
        assert a.verdict.definition_1 != "undecided"
        assert holds == case.printed_definition_holds(true), case.loss
        eps = np.array([0.01, 0.3, 0.9]) * a.largest_regret
        least, most = a.psi_bounds(eps)
        assert np.all(least <= a.psi(eps) + 1e-12)
        assert np.all(a.psi(eps) <= most + 1e-12)
        assert np.all(most - least <= 0.02 * a.psi(a.largest_regret)), case.loss
    assert proved > 10


@pytest.mark.slow
def test_functions_that_jump() -> None:
    """A loss given as Python functions: its curves, not its proofs."""
    cost = uneven.Loss(lambda t: 0.75 * (t <= 0), lambda t: 0.25 * (t > 0))
    a = uneven.analyze(cost, "1/4")
    assert a.psi([0.1, 0.5, 0.75]) == pytest.approx([0.1, 0.5, 0.75], abs=1e-12)
    assert a.tight_distribution(0.2).surrogate_regret == pytest.approx(0.2, abs=1e-9)
    assert uneven.implied_alpha(cost).alpha == pytest.approx(0.25, abs=1e-12)
    assert a.verdict.status == a.verdict.definition_1 == "undecided"
    between = uneven.Loss(
        lambda t: np.select([t < 0, t > 0], [1.0, 0.0], 0.6), lambda t: np.select([t < 0, t > 0], [0.0, 1.0], 0.5)
    )
    assert uneven.analyze(between).psi([0.1, 0.5]) == pytest.approx([0.12, 0.6], abs=1e-12)
