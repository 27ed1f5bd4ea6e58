"""The alarm for costs above a promise: its capital, its errors in whole lives, and how soon it fires."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from uneven.monitor import CostAlarm


def test_the_capital_is_that_of_its_definition() -> None:
    """Every bet, started before every batch, as products over rows."""
    random = np.random.default_rng(0)
    alarm = CostAlarm(0.4, least=-0.5, most=5, delta=0.01)
    batches = [random.choice([-0.5, 0.0, 1.0, 5.0], 6) for _ in range(4)]
    best = 0.0
    for end in range(1, 5):
        for row in range(1, 7):
            rows = [*batches[: end - 1], batches[end - 1][:row]]
            capital = 1 / (end + 1)
            for start in range(1, end + 1):
                for bet in alarm._bets:
                    gained = math.prod(1 + bet * (x - 0.4) for part in rows[start - 1 :] for x in part)
                    capital += gained / (start * (start + 1)) / alarm._bets.size
            best = max(best, capital)
        alarm.update(batches[end - 1])
        assert alarm.evidence == pytest.approx(max(best, 1.0), rel=1e-9)
    assert alarm.mean == pytest.approx(np.mean(batches))


def test_a_bet_never_loses_all() -> None:
    alarm = CostAlarm(1e-6, least=0, most=1e6, delta=0.05).update(np.zeros(20_000))
    assert np.isfinite(alarm._capital).all()
    assert not alarm.fires
    assert alarm.update(np.full(3, 1e9)).fires  # dearer than anything it was made for


@pytest.mark.slow
def test_in_its_whole_life_it_seldom_errs() -> None:
    """Rows that cost just what was promised, looked at after each of 40 batches; 300 lives."""
    random, fired = np.random.default_rng(3), 0
    for _ in range(300):
        alarm = CostAlarm(0.3, least=0, most=10, delta=0.05)
        for _ in range(40):
            u = random.random(50)
            alarm.update(np.where(u < 0.02, 10.0, np.where(u < 0.12, 1.0, 0.0)))
        fired += alarm.fires
    assert fired / 300 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 300)


def test_it_goes_on_from_a_file() -> None:
    rows = np.random.default_rng(4).choice([0.0, 0.0, 1.0, 9.0], 900)
    whole, parts = (CostAlarm(1.0, least=0, most=9, delta=0.05) for _ in range(2))
    for part in np.split(rows, 9):
        whole.update(part)
        parts = CostAlarm.from_dict(json.loads(json.dumps(parts.update(part).to_dict())))
    assert parts.to_dict() == whole.to_dict()
