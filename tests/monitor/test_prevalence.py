"""The share of positives without labels: exact where probabilities are exact, covered by its intervals elsewhere."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import expit

from uneven.costs import RowCosts
from uneven.monitor import PrevalenceEstimate
from uneven.monitor.estimated_cost import estimate_cost
from uneven.monitor.prevalence import (
    ScoredReference,
    finite_log_odds,
    likeliest_share,
    move_probability,
    share_by_decisions,
    share_by_probability,
)

RANDOM = np.random.default_rng(0)


def drawn(random: np.random.Generator, count: int, share: float, base: float) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and log-odds that are right where a share ``base`` is positive."""
    truth = random.random(count) < share
    score = random.normal(np.where(truth, 1.2, -1.2))
    return truth, 2.4 * score + np.log(base / (1 - base))


def reference_of(random: np.random.Generator, count: int, base: float, cut: float = -2.0) -> ScoredReference:
    truth, z = drawn(random, count, base, base)
    return ScoredReference(z, truth, z > cut, np.ones(count))


@pytest.mark.parametrize("base", [0.02, 0.3, 0.7])
@pytest.mark.parametrize("share", [0.001, 0.05, 0.5, 0.99])
def test_an_exact_mixture_gives_its_share(base: float, share: float) -> None:
    """Cells with their expected numbers of rows, in place of random rows: the likeliest share is the true one."""
    among = RANDOM.dirichlet(np.ones(12), 2)  # negatives, positives
    probability = base * among[1] / (base * among[1] + (1 - base) * among[0])
    rows = share * among[1] + (1 - share) * among[0]
    assert likeliest_share(probability, base, rows) == pytest.approx(share, rel=1e-6)


def test_it_is_where_the_iteration_of_saerens_ends() -> None:
    for _ in range(4):
        probability, base = RANDOM.beta(0.5, 1, 100), float(RANDOM.uniform(0.05, 0.5))
        share = base
        for _ in range(5000):
            share = float(move_probability(probability, base, share).mean())
        assert likeliest_share(probability, base) == pytest.approx(share, abs=2e-4)


def test_at_the_reference_both_give_its_own_share() -> None:
    reference = reference_of(RANDOM, 3000, 0.1)
    assert share_by_probability(reference, reference.log_odds).value == pytest.approx(reference.share, abs=1e-3)
    assert share_by_decisions(reference, reference.flagged).value == pytest.approx(reference.share, abs=1e-12)


def test_weights_are_rows() -> None:
    truth, z = drawn(RANDOM, 400, 0.2, 0.2)
    often = RANDOM.integers(1, 4, 400)
    few = ScoredReference(z, truth, z > 0, often.astype(float))
    many = ScoredReference(*(np.repeat(part, often) for part in (z, truth, z > 0)), np.ones(often.sum()))
    new = drawn(RANDOM, 500, 0.4, 0.2)[1]
    for one, other in zip(
        (share_by_probability(few, new), share_by_decisions(few, new > 0)),
        (share_by_probability(many, new), share_by_decisions(many, new > 0)),
        strict=True,
    ):
        assert one.value == pytest.approx(other.value, abs=1e-6)
    assert few.rates() == many.rates()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "new", "base", "share", "wrong"),
    [
        (2000, 1000, 0.1, 0.2, (1.0, 0.0)),
        (2000, 1000, 0.1, 0.2, (0.5, 0.3)),  # probabilities that are far from right
        (500, 300, 0.05, 0.05, (1.0, 0.0)),
        (5000, 2000, 0.02, 0.0, (1.0, 0.0)),
        (300, 3000, 0.1, 0.3, (1.0, 0.0)),
    ],
)
def test_intervals_cover(rows: int, new: int, base: float, share: float, wrong: tuple[float, float]) -> None:
    """95 % intervals hold the true share in about 95 % of draws, also if probabilities are off."""
    random, lives = np.random.default_rng(1), 300
    held = np.zeros(2)
    for _ in range(lives):
        truth, z = drawn(random, rows, base, base)
        later = drawn(random, new, share, base)[1]
        z, later = (wrong[0] * part + wrong[1] for part in (z, later))
        reference = ScoredReference(z, truth, z > -2, np.ones(rows))
        found = share_by_probability(reference, later), share_by_decisions(reference, later > -2)
        held += [one.low <= share <= one.high for one in found]
    assert (held / lives >= 0.91).all()


@pytest.mark.slow
def test_the_estimated_cost_covers_the_expected_one() -> None:
    random, lives, held = np.random.default_rng(2), 200, 0
    share, base, count = 0.15, 0.08, 1500
    truth, z = drawn(random, 2_000_000, share, base)
    expected = float(RowCosts.read(truth.size, fp_cost=1, fn_cost=10).paid(truth, z > -2).mean())
    costs = RowCosts.read(count, fp_cost=1, fn_cost=10)
    for _ in range(lives):
        reference = reference_of(random, 2000, base)
        later = drawn(random, count, share, base)[1]
        found = estimate_cost(reference, later, later > -2, costs, share_by_probability(reference, later))
        held += found.low <= expected <= found.high
    assert held / lives >= 0.91


@pytest.mark.parametrize("share", [0.02, 0.3])
def test_the_estimate_is_the_expected_cost_if_probabilities_are_right(share: float) -> None:
    """Against a sum over rows, with costs of each row; and correcting is best of all decisions."""
    base, count = 0.1, 500
    reference = reference_of(RANDOM, 4000, base)
    z = drawn(RANDOM, count, share, base)[1]
    p = move_probability(reference.probability(z), reference.base, share)
    costs = RowCosts.read(count, fp_cost=RANDOM.uniform(1, 2, count), fn_cost=RANDOM.uniform(5, 9, count), tp_cost=1)
    flagged = RANDOM.random(count) < 0.3
    given = PrevalenceEstimate(share, share, share)
    found = estimate_cost(reference, z, flagged, costs, given)
    total, best = 0.0, 0.0
    for k in range(count):
        fp, fn = costs.of_each_row("fp_cost")[k], costs.of_each_row("fn_cost")[k]
        no, yes = p[k] * fn, p[k] * 1 + (1 - p[k]) * fp
        total, best = total + (yes if flagged[k] else no), best + min(no, yes)
    assert found.value == pytest.approx(total / count)
    assert found.corrected == pytest.approx(best / count)
    assert found.low <= found.value <= found.high


def test_scores_that_say_nothing_leave_every_share_open() -> None:
    truth = np.arange(300) % 10 == 0
    reference = ScoredReference(np.zeros(300), truth, np.zeros(300, dtype=bool), np.ones(300))
    found = share_by_probability(reference, np.zeros(50))
    assert (found.low, found.high) == (0.0, 1.0)
    assert (share_by_decisions(reference, np.zeros(50, dtype=bool)).low) == 0.0
    assert (share_by_decisions(reference, np.zeros(50, dtype=bool)).high) == 1.0


def test_one_row_leaves_much_open_and_certain_rows_do_not_break_it() -> None:
    reference = reference_of(RANDOM, 2000, 0.1)
    for p in (0.0, 1.0, 0.5):
        found = share_by_probability(reference, finite_log_odds(np.array([p])))
        assert 0 <= found.low <= found.value <= found.high <= 1
        assert found.high - found.low > 0.3
    apart = ScoredReference(
        np.repeat([-40.0, 40.0], 50), np.repeat([False, True], 50), np.repeat([False, True], 50), np.ones(100)
    )
    found = share_by_probability(apart, np.repeat([-40.0, 40.0], [70, 30]))
    assert found.low < 0.3 < found.high
    assert found.value == pytest.approx(0.3, abs=0.02)


def test_more_confidence_is_a_wider_interval() -> None:
    reference, z = reference_of(RANDOM, 2000, 0.1), drawn(RANDOM, 700, 0.2, 0.1)[1]
    found = [share_by_probability(reference, z, level) for level in (0.5, 0.9, 0.99, 0.9999)]
    assert all(wide.low <= one.low and one.high <= wide.high for one, wide in pairwise(found))
    assert all(expit(0) > one.high - one.low for one in found)
