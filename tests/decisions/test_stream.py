"""A stream of decisions: the limit of a period is never exceeded, and little is lost against knowing all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import uneven
from uneven.errors import ParameterError

THREE = uneven.Actions(clear=(100, 0), review=(8, 5), block=(0, 20))


def test_the_limit_is_never_exceeded_whatever_comes() -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        past = uneven.decide(rng.beta(*rng.uniform(0.2, 3, 2), 200), actions=THREE)
        most = int(rng.integers(0, 20))
        at_most: Any = {"review": most} if rng.random() < 0.5 else most
        stream = uneven.Stream(past, at_most=at_most, rows_per_period=float(rng.uniform(1, 300)))
        for day in range(3):
            used = 0
            for _ in range(int(rng.integers(1, 6))):
                new = uneven.decide(rng.beta(*rng.uniform(0.2, 3, 2), int(rng.integers(1, 60))), actions=THREE)
                made = stream.decide(new, period=day)
                limited = made.action == "review" if isinstance(at_most, dict) else made.flagged
                used += int(limited.sum())
                assert (made.choice == new.choice)[~np.isin(new.choice, stream.limited)].all()
                assert made.gap == pytest.approx(made.constraint_cost)
            assert used == stream.used <= most
    assert stream.price == float("inf") or stream.used < most


def test_without_a_binding_limit_nothing_changes() -> None:
    rng = np.random.default_rng(1)
    past = uneven.decide(rng.random(500), actions=THREE)
    stream = uneven.Stream(past, at_most=1000, rows_per_period=500)
    new = uneven.decide(rng.random(400), actions=THREE)
    np.testing.assert_array_equal(stream.decide(new).choice, new.choice)
    assert stream.price == 0
    assert repr(stream) == f"<Stream: {int(new.flagged.sum())} of 1,000 places used after 400 rows>"


@pytest.mark.slow
def test_little_is_lost_against_knowing_the_day() -> None:
    """At least 95 % of the saving of the best 30 rows of each day, one row at a time or in batches."""
    rng = np.random.default_rng(2)
    past = uneven.decide(rng.beta(0.3, 5, 30_000), fp_cost=1, fn_cost=20)
    alone = uneven.Stream(past, at_most=30, rows_per_period=1000)
    together = uneven.Stream(past, at_most=30, rows_per_period=1000)
    kept = best = 0.0
    for day in range(25):
        p = rng.beta(0.3, 5, rng.poisson(1000))
        new = uneven.decide(p, fp_cost=1, fn_cost=20)
        made = together.decide(new, period=day)
        kept += float(made.saving.sum())
        best += float(uneven.decide(p, fp_cost=1, fn_cost=20, at_most=30).saving.sum())
        if day == 0:
            one = [alone.decide(uneven.decide([x], fp_cost=1, fn_cost=20), period=day).choice[0] for x in p]
            np.testing.assert_array_equal(one, made.choice)
    assert 0.95 * best <= kept <= best


def test_groups_of_the_past_say_how_many_rows_a_period_has() -> None:
    past = uneven.decide(np.linspace(0, 1, 60), fp_cost=1, fn_cost=1, at_most=5, per=np.arange(60) % 3)
    assert uneven.Stream(past, at_most=5).rows_per_period == 20


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda past: uneven.Stream([0.5], at_most=1), "past must be what decide returns"),
        (lambda past: uneven.Stream(past, at_most=1), "give rows_per_period"),
        (lambda past: uneven.Stream(past, at_most=1.5, rows_per_period=5), "whole number"),
        (lambda past: uneven.Stream(past, at_most=1, rows_per_period=0), "rows_per_period must be positive"),
        (
            lambda past: uneven.Stream(past, at_most={"clear": 1}, rows_per_period=5),
            "a limit can be on review or block",
        ),
        (
            lambda past: uneven.Stream(past, at_most=1, rows_per_period=5).decide(past, period=np.array([1, 2])),
            "period must be one period",
        ),
        (
            lambda past: uneven.Stream(past, at_most=1, rows_per_period=5).decide(
                uneven.decide([0.5], fp_cost=1, fn_cost=1)
            ),
            "with the actions clear, review, block",
        ),
    ],
)
def test_bad_streams(make: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        make(uneven.decide([0.1, 0.9], actions=THREE))


@pytest.mark.parametrize(
    "limits",
    [
        {"at_most": 3, "per": np.arange(50) % 2},
        {"recall_at_least": 0.9},
        {"recall_at_least": 0.5, "held_out": (np.linspace(0, 1, 100), np.ones(100))},
    ],
)
def test_rows_decided_within_limits_are_refused(limits: dict[str, Any]) -> None:
    """The stream changes decisions: a recall that was kept, or guaranteed, would still be told."""
    p = np.linspace(0.1, 0.9, 50)
    stream = uneven.Stream(uneven.decide(p, fp_cost=1, fn_cost=1), at_most=5, rows_per_period=50)
    with pytest.raises(ParameterError, match="decide about them without limits"):
        stream.decide(uneven.decide(p, fp_cost=1, fn_cost=1, **limits))
