"""Threads that Ctrl-C or a deadline left behind do not spoil the end of the process."""

from __future__ import annotations

import subprocess
import sys

import pytest

from uneven.learners import background

LEAVES_A_THREAD_BEHIND = """
import atexit, threading, time

atexit.register(lambda: print(background.left_behind()))  # the first handler runs last
from uneven.learners import background

started = threading.Event()

def python():
    started.set()
    while True:
        time.sleep(0.001)

def compiled():
    started.set()
    time.sleep(0.5)

def press(number, result):
    raise KeyboardInterrupt

assert background.run_parts([started.wait, {part}], press, workers=2) == "interrupted"
assert background.left_behind()
"""


@pytest.mark.slow
@pytest.mark.parametrize("part", ["python", "compiled"])
def test_the_end_of_the_process_waits_for_what_was_left_behind(part: str) -> None:
    command = [sys.executable, "-c", LEAVES_A_THREAD_BEHIND.replace("{part}", part)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")


def test_work_that_is_finished_leaves_no_thread_behind() -> None:
    """A command whose threads only had to notice the end was ended like one that left work behind."""
    received: list[int] = []
    for _ in range(200):
        assert background.run_parts([int] * 4, lambda number, _: received.append(number), workers=4) == "finished"
        assert background.left_behind() == []
    assert sorted(received) == sorted([0, 1, 2, 3] * 200)
