"""The bar of long work: when it shows what, also while no part ends."""

from __future__ import annotations

import io
import re
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uneven.solvers import running
from uneven.solvers.running import Bar, listening, while_waiting


class Terminal(io.StringIO):
    """Where people look."""

    def isatty(self) -> bool:
        return True


@given(
    st.lists(st.floats(0.1, 10), min_size=2, max_size=30),
    st.lists(st.floats(0.1, 100), min_size=30, max_size=30),
    st.floats(1, 300),
)
def test_the_time_left_is_known_late_and_never_beyond_the_limit(
    efforts: list[float], seconds: list[float], limit: float
) -> None:
    now, total, done = 100.0, sum(efforts), 0.0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running.time, "perf_counter", lambda: now)
        shown = io.StringIO()
        patch.setattr(sys, "stderr", shown)
        bar = Bar(True, "work", len(efforts), "parts", total, limit=limit)
        for effort, took in zip(efforts, seconds, strict=False):
            now += took
            done += effort
            bar.advance(effort)
            left = re.search(r"([0-9.]+) s to go$", shown.getvalue())
            assert (left is not None) == (done >= Bar.KNOWN * total)
            assert left is None or float(left[1]) <= max(0.0, limit - (now - 100)) + 0.05
        assert shown.getvalue().endswith(", 0.0 s to go\n")


def test_parts_that_turn_out_to_be_needless_leave_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", shown := io.StringIO())
    bar = Bar(True, "work", 0, "parts")
    bar.expect(4, 8.0)
    bar.advance(2.0)
    bar.expect(-2, -5.0)
    bar.advance(1.0)
    assert "1 of 4 parts" in shown.getvalue().splitlines()[0]
    assert "2 of 2 parts" in shown.getvalue().splitlines()[1]
    assert shown.getvalue().endswith(" 0.0 s to go\n")


@pytest.mark.parametrize("terminal", [True, False])
def test_lines_come_also_while_no_part_ends(monkeypatch: pytest.MonkeyPatch, terminal: bool) -> None:
    shown = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    for name in ("TICK", "PAUSE", "LONG"):
        monkeypatch.setattr(Bar, name, 0.001)
    with Bar(None if terminal else True, "work", 0, "parts").ticking() as bar:
        bar.enter("reading")
        while shown.getvalue().count("reading") < 3:
            time.sleep(0.001)
        bar.expect(1, 1.0)
        bar.advance()
        bar.tell("a line of its own")
    lines = shown.getvalue()
    assert lines.endswith("\n")
    assert lines.count("\n") == 1 if terminal else lines.count("\n") >= 4
    assert ("a line of its own\n" in lines) is not terminal


def test_nothing_is_shown_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    for verbose, stream in ((None, io.StringIO()), (False, Terminal())):
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setattr(Bar, "LONG", 0.0)
        with Bar(verbose, "work", 1, "parts").ticking() as bar:
            bar.advance()
            bar.tell("a line")
        assert stream.getvalue() == ""


def test_a_program_that_listens_is_reminded_and_shows_it_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    now, heard = [0.0], []
    monkeypatch.setattr(sys, "stderr", shown := Terminal())
    monkeypatch.setattr(running.time, "perf_counter", lambda: now[0])
    with listening(lambda *told: heard.append(told)), Bar(None, "work", 2, "parts").ticking() as bar:
        now[0] = 1e6
        while_waiting()  # nothing is done yet, so there is nothing to say
        bar.advance()
        while_waiting()
        now[0] += 2 * Bar.TICK
        while_waiting()
    while_waiting()
    assert heard == [("work", "1 of 2 parts", 0.5)] * 2
    assert shown.getvalue() == ""
