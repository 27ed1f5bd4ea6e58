"""Processes with limits: of time, of questions that wait, and what happens when one is lost."""

from __future__ import annotations

import json
import multiprocessing
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError

import pytest

from uneven.app.explorer import workers as pools
from uneven.app.explorer.workers import DONE, FAILED, REFUSED, Broken, Busy, Pool, TookTooLong, answer

QUESTION = {"kind": "phi", "phi": "hinge", "gamma": "2", "beta": None, "fp": "1", "fn": "20"}
#: For one answer: a new process takes long to begin on a busy machine.
SECONDS = 300.0
#: Takes seconds to prove.
HARD = {**QUESTION, "kind": "own", "text": "expit(-t)**2*softplus(-t) + 0.3*expit(-3*t) + 0.1*erfc(t)"}


@pytest.fixture
def pool() -> Iterator[Pool]:
    made = Pool(1, waiting=3, seconds=SECONDS)
    made.start()
    yield made
    made.close()


def status_of(pool: Pool) -> str:
    """The status of the usual question, which must be answered."""
    kind, content = pool.submit("verdict", QUESTION).future.result(timeout=SECONDS)
    assert kind == DONE
    status: str = json.loads(content)["status"]
    return status


def test_answers_and_refusals(pool: Pool) -> None:
    assert status_of(pool) == "calibrated"
    kind, content = pool.submit("verdict", {**QUESTION, "gamma": "-1"}).future.result(timeout=SECONDS)
    assert (kind, content["field"]) == (REFUSED, "gamma")


def test_a_question_that_takes_too_long_ends_with_its_process(pool: Pool) -> None:
    assert status_of(pool) == "calibrated"
    before = {child.pid for child in multiprocessing.active_children()}
    pool.seconds = 0.0
    with pytest.raises(TookTooLong):
        pool.submit("enclosure", HARD).future.result(timeout=SECONDS)
    pool.seconds = SECONDS
    assert status_of(pool) == "calibrated"
    assert {child.pid for child in multiprocessing.active_children()}.isdisjoint(before)


def test_a_question_that_nobody_waits_for_is_dropped(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "_PATIENCE", 0.0)
    assert status_of(pool) == "calibrated"
    running, waiting = pool.submit("enclosure", HARD), pool.submit("enclosure", HARD)
    while not running.future.running():
        time.sleep(0.01)
    waiting.abandon()
    running.abandon()
    with pytest.raises(Broken, match="nobody waits"):
        running.future.result(timeout=SECONDS)
    with pytest.raises(CancelledError):
        waiting.future.result(timeout=SECONDS)
    assert status_of(pool) == "calibrated"


def test_too_many_questions(pool: Pool) -> None:
    jobs = [pool.submit("verdict", QUESTION)]
    jobs += [pool.submit("enclosure", HARD) for _ in range(2)]  # three may wait, and one may have begun
    with pytest.raises(Busy):
        [pool.submit("enclosure", HARD) for _ in range(3)]
    for job in jobs[1:]:
        job.abandon()


def test_a_process_that_ends_by_itself(pool: Pool) -> None:
    job = pool.submit("enclosure", HARD)
    while not job.future.running() or not multiprocessing.active_children():
        time.sleep(0.01)
    for child in multiprocessing.active_children():
        child.kill()
    with pytest.raises(Broken, match="ended"):
        job.future.result(timeout=SECONDS)
    assert status_of(pool) == "calibrated"


def test_a_process_is_replaced_after_many_questions(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "_QUESTIONS", 1)
    assert status_of(pool) == "calibrated"
    first = {child.pid for child in multiprocessing.active_children()}
    assert status_of(pool) == "calibrated"
    assert status_of(pool) == "calibrated"
    assert {child.pid for child in multiprocessing.active_children()} != first


def test_a_process_is_replaced_when_it_has_grown() -> None:
    seen = set()
    pool = Pool(1, waiting=3, seconds=SECONDS, growth=-1)  # so every process has
    pool.start()
    for _ in range(3):
        assert status_of(pool) == "calibrated"
        seen |= {child.pid for child in multiprocessing.active_children()}
    pool.close()
    assert len(seen) > 1


def test_closing_ends_what_runs(pool: Pool) -> None:
    job = pool.submit("enclosure", HARD)
    while not job.future.running():
        time.sleep(0.01)
    pool.close()
    with pytest.raises(Broken, match="stopped"):
        job.future.result(timeout=SECONDS)
    assert not multiprocessing.active_children()


def test_our_own_failures_are_said_to_be_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from uneven.app.explorer import answers

    monkeypatch.setattr(answers, "analyze", lambda *_: 1 / 0)
    kind, content = answer("curves", QUESTION, lambda part: None)
    assert kind == FAILED
    assert "please report it" in content
    assert "ZeroDivisionError" in capsys.readouterr().err
