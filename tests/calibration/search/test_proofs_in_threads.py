"""A verdict does not depend on what other threads do, on the precision they set, or on how busy the machine is."""

from __future__ import annotations

import functools
import gc
import multiprocessing
import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import flint
import pytest

import uneven
from uneven.calibration import calibrated_losses
from uneven.calibration.calibrated_losses import kept, kept_property
from uneven.calibration.search import cells, prover
from uneven.calibration.search.prover import cut_short, formulas_of
from uneven.calibration.trusted.formulas import Formulas
from uneven.expression import parse
from uneven.ops import balls
from uneven.ops.balls import shared_lock
from uneven.ops.precise import nearest_float, value_at
from uneven.zoo.certificates import shipped

LOSSES = [uneven.UnevenMarginLoss(name, gamma=gamma) for name in uneven.losses.names() for gamma in (1, 3)]
#: Caches of these packages hold what proofs are made of.
PROVING = (
    "uneven.calibration",
    "uneven.expression",
    "uneven.calibration.calibrated_losses",
    "uneven.ops.precise",
    "uneven.shape",
)


@functools.lru_cache(maxsize=1)
def caches(loaded: int) -> list[Any]:
    """The caches that would hide a second computation; looked for again when more modules are loaded."""
    # its type, not isinstance: some objects of other libraries warn when they are looked at
    found = [thing for thing in gc.get_objects() if type(thing) is functools._lru_cache_wrapper]
    return [cache for cache in found if str(cache.__module__).startswith(PROVING)]


def forget() -> None:
    for cache in caches(len(sys.modules)):
        cache.cache_clear()


def verdicts(loss: uneven.Loss) -> tuple[Any, ...]:
    """All that is proved about a loss, to the last byte."""
    certificate, analysis = uneven.certify(loss), uneven.analyze(loss, alpha="1/4")
    checked = None if certificate.status == "undecided" else bool(uneven.verify(certificate))
    implied = analysis.implied_alpha
    kinks = [partial.function.kinks for partial in loss.partials]
    return certificate.to_json(), checked, str(analysis.verdict), implied.interval, implied.exact, kinks


@pytest.fixture(scope="module")
def alone() -> list[tuple[Any, ...]]:
    forget()
    return [verdicts(loss) for loss in LOSSES]


@contextmanager
def many_switches() -> Iterator[None]:
    """Python changes threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


@pytest.mark.slow
def test_eight_threads_prove_what_one_proves(alone: list[tuple[Any, ...]]) -> None:
    """One proof of 315 came out undecided, and stayed so: Arb's precision is one number for the whole process."""
    forget()
    with many_switches(), ThreadPoolExecutor(8) as threads:
        together = list(threads.map(verdicts, LOSSES))
    assert together == alone


@pytest.mark.slow
def test_eight_threads_verify_the_zoo() -> None:
    certificates = [case.certificate for case in shipped()][::6]
    forget()
    with many_switches(), ThreadPoolExecutor(8) as threads:
        checked = list(threads.map(lambda certificate: bool(uneven.verify(certificate)), certificates))
    assert all(checked)


@pytest.mark.slow
@pytest.mark.parametrize("bits", [2, 3000])
def test_a_precision_set_elsewhere_changes_no_verdict(alone: list[tuple[Any, ...]], bits: int) -> None:
    forget()
    before = flint.ctx.prec
    flint.ctx.prec = bits
    try:
        disturbed = [verdicts(loss) for loss in LOSSES]
        assert flint.ctx.prec == bits
    finally:
        flint.ctx.prec = before
    assert disturbed == alone


def test_a_precision_set_elsewhere_changes_no_enclosure() -> None:
    tree, third = parse("softplus(t) - 2*atan(t)/pi"), Fraction(1, 3)

    def enclosures() -> list[Any]:
        intervals = [balls.interval(third, third), balls.enclose_interval(tree, balls.interval(third, third), bits=90)]
        ball = balls.enclose(tree, balls.interval(third, 1.0), bits=90)
        ends = [end.man_exp() for interval in intervals for end in interval]
        sharp = value_at(tree, balls.interval(1.0, 1.0).lo)
        return [*ends, ball.mid().man_exp(), sharp.mid().man_exp(), nearest_float(tree, 0.3)]

    expected, before = enclosures(), flint.ctx.prec
    flint.ctx.prec = 2
    try:
        assert enclosures() == expected
        assert balls.interval(third, third).contains(third)
    finally:
        flint.ctx.prec = before


def test_threads_wait_for_each_other_inside_a_block() -> None:
    entered, seen = threading.Event(), []

    def other() -> None:
        entered.set()
        with balls.precision(77):
            seen.append(flint.ctx.prec)

    with balls.precision(200):
        thread = threading.Thread(target=other)
        thread.start()
        entered.wait()
        with balls.precision(300):  # the lock can be taken again
            assert flint.ctx.prec == 300
        assert seen == []
        assert flint.ctx.prec == 200
    thread.join()
    assert seen == [77]


@pytest.mark.slow
def test_derivatives_keep_their_order_in_threads() -> None:
    """Two threads that append to one list would call a slope a curvature."""
    partials = formulas_of(uneven.UnevenMarginLoss("sigmoid", gamma=3))
    expected = Formulas(*partials, 160).trees(3)
    for _ in range(20):
        forget()
        shared = Formulas(*partials, 160)
        with many_switches(), ThreadPoolExecutor(8) as threads:
            assert set(threads.map(shared.trees, [3] * 16)) == {expected}
            assert len(shared._trees) == 4


@pytest.mark.slow
def test_threads_share_an_analysis() -> None:
    alone = uneven.analyze(uneven.UnevenMarginLoss("sigmoid", gamma=3)).regret_bound([0.01, 0.1]).tolist()
    shared = uneven.analyze(uneven.UnevenMarginLoss("sigmoid", gamma=3))
    with many_switches(), ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: shared.regret_bound([0.01, 0.1]).tolist(), range(16)))
    assert found == [alone] * 16


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.*fork.*:RuntimeWarning")  # of JAX, if another test has imported it
def test_a_fork_inherits_no_locked_lock() -> None:
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            with balls.precision(999):
                pass

    thread = threading.Thread(target=busy)
    with many_switches():
        thread.start()
        try:
            context = multiprocessing.get_context("fork")
            for _ in range(5):
                child = context.Process(target=_prove_in_child)
                child.start()
                child.join(600)
                assert child.exitcode == 0
        finally:
            stop.set()
            thread.join()


def _prove_in_child() -> None:
    usual = flint.ctx.prec == 53
    os._exit(0 if usual and uneven.certify(uneven.UnevenMarginLoss("hinge", gamma=5)).status == "proved" else 1)


# -- what is kept -----------------------------------------------------------------------------------------------------

SLOW = uneven.UnevenMarginLoss("tangent", gamma=50)


@contextmanager
def starved(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The clock jumps ahead, as if others had the processor."""
    hours = iter(range(10**9))
    with monkeypatch.context() as patched:
        patched.setattr(cells.time, "monotonic", lambda: 3600.0 * next(hours))
        yield


QUESTIONS = {
    "decide": lambda: prover.decide(SLOW).claim.only.kind,
    "decide for an alpha": lambda: prover.decide(SLOW, Fraction(1, 4)).claim.status,
    "certify": lambda: uneven.certify(SLOW).status,
    "verdict": lambda: uneven.analyze(SLOW, alpha="1/4").verdict.status,
    "implied": lambda: uneven.implied_alpha(SLOW).interval,
    "own alpha": lambda: calibrated_losses.own_alpha(SLOW.phi, Fraction(50)).source,
    "analysis of a learner": lambda: calibrated_losses.analysis_of(SLOW, Fraction(1, 4)).verdict.status,
    "alpha of a finished loss": lambda: _or_error(lambda: calibrated_losses.only_alpha(SLOW)),
}


def _or_error(question: Any) -> Any:
    try:
        return question()
    except uneven.errors.LossError as error:
        return str(error)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(QUESTIONS))
def test_a_search_on_a_starved_machine_is_not_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    forget()
    expected = QUESTIONS[name]()
    forget()
    with starved(monkeypatch):
        assert prover.decide(SLOW).claim.status == "undecided"
        QUESTIONS[name]()
    assert QUESTIONS[name]() == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", list(QUESTIONS))
def test_a_shorter_limit_of_time_leaves_nothing_behind(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    forget()
    expected = QUESTIONS[name]()
    forget()
    with monkeypatch.context() as patched:
        patched.setattr(prover, "Limits", functools.partial(prover.Limits, seconds=1e-9))
        assert prover.decide(SLOW).claim.status == "undecided"
        QUESTIONS[name]()
    assert QUESTIONS[name]() == expected


def test_a_search_that_had_its_time_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hard loss would otherwise cost ten seconds at each question about it."""
    forget()
    calls = []

    def counted(*given: Any, **named: Any) -> Any:
        calls.append(given)
        return real(*given, **named)

    real = prover.prove
    monkeypatch.setattr(prover, "Limits", functools.partial(prover.Limits, seconds=1e-9))
    monkeypatch.setattr(prover, "prove", counted)
    assert [prover.decide(SLOW).stopped for _ in range(3)] == [True] * 3
    assert len(calls) == 1


@pytest.mark.slow
def test_looser_bounds_of_a_starved_machine_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    loss = uneven.UnevenMarginLoss("sigmoid", gamma=3)
    expected = uneven.analyze(loss).regret_bound(0.01)
    shared = uneven.analyze(loss)
    assert shared._psi_bounds is not None
    with starved(monkeypatch):
        assert shared.regret_bound(0.01) == shared.largest_regret
    assert shared.regret_bound(0.01) == expected


def test_what_was_cut_short_is_not_kept() -> None:
    calls = []

    @kept(maxsize=4)
    def function(short: bool) -> int:
        calls.append(short)
        if short:
            cut_short()
        return len(calls)

    class Owner:
        short = True

        @kept_property
        def value(self) -> int:
            return function(self.short)

    assert (function(False), function(False), function(True), function(True)) == (1, 1, 2, 3)
    owner = Owner()
    assert (owner.value, owner.value) == (4, 5)
    owner.short = False
    assert (owner.value, owner.value, owner.__dict__["value"]) == (1, 1, 1)
    assert isinstance(Owner.value, kept_property)


def test_a_shared_lock_is_taken_again_by_its_owner() -> None:
    lock = shared_lock()
    with lock, lock:
        taken = []
        thread = threading.Thread(target=lambda: taken.append(lock.acquire(timeout=0.01)))
        thread.start()
        thread.join()
    assert taken == [False]
