"""Work in background threads that a deadline or Ctrl-C may leave behind.

A thread cannot be ended from outside. So the threads are daemons: the caller goes on with what is finished, and each
thread ends after the part it is working on. The end of the process waits for them: a thread that comes back from C++
code into an interpreter that is shutting down aborts the process, and the exit code of a program that did its work
would say that it failed.
"""

from __future__ import annotations

import atexit
import ctypes
import queue
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sklearn import config_context, get_config

from uneven.solvers.running import single_threaded_blas, while_waiting

#: How the work ended.
Ending = Literal["finished", "time limit", "interrupted"]

#: Seconds between two looks at the clock and at the keyboard.
_GLANCE = 0.1

#: Seconds that the caller waits for threads whose parts were ended. They only have to notice.
_FAREWELL = 0.5

#: Seconds that the end of the process waits for a thread that was left behind.
_GRACE = 30.0

#: What works, and on which work.
_threads: dict[threading.Thread, _Work] = {}


@dataclass
class _Work:
    parts: Sequence[Callable[[], Any]]
    config: dict[str, Any] = field(default_factory=get_config)  # scikit-learn keeps its settings per thread
    stop: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    results: queue.SimpleQueue[tuple[int, Any, BaseException | None]] = field(default_factory=queue.SimpleQueue)
    end: Callable[[], None] | None = None

    def __post_init__(self) -> None:
        self.numbers: Iterator[int] = iter(range(len(self.parts)))

    def leave(self) -> None:
        """Begin no further part, and end what can be ended."""
        self.stop.set()
        if self.end is not None:
            self.end()

    def run(self) -> None:
        """Do one part after the other until none is left or ``stop`` is set."""
        use_one_thread()
        with config_context(**self.config):
            while not self.stop.is_set():
                with self.lock:
                    number = next(self.numbers, None)
                if number is None:
                    return
                try:
                    self.results.put((number, self.parts[number](), None))
                except BaseException as error:
                    self.results.put((number, None, error))


def run_parts(
    parts: Sequence[Callable[[], Any]],
    receive: Callable[[int, Any], None],
    *,
    workers: int = 1,
    deadline: float | None = None,
    end: Callable[[], None] | None = None,
) -> Ending:
    """Do all parts, in order, and hand over the number and the result of each as soon as it is there.

    Parameters
    ----------
    parts : sequence of callables
        An exception of a part ends the work and is raised here.
    receive : callable
        Called in this thread.
    workers : int
        Number of parts at the same time. One worker without a deadline works in this thread.
    deadline : float, optional
        A value of ``time.monotonic()``. At that time the call returns; parts that run then are left behind.
    end : callable, optional
        Called if the work is not finished. It makes parts that run return soon, such as by ending their processes.

    Returns
    -------
    {"finished", "time limit", "interrupted"}
    """
    if workers == 1 and deadline is None:
        try:
            for number, part in enumerate(parts):
                receive(number, part())
        except KeyboardInterrupt:
            return "interrupted"
        return "finished"
    work = _Work(parts, end=end)
    threads: list[threading.Thread] = []
    ending: Ending = "interrupted"
    try:
        # BLAS counts its threads for the whole process: one for each of ours.
        # scikit-learn changes the list of warning filters while it works, in all threads at once; this keeps ours.
        with single_threaded_blas(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="`sklearn.utils.parallel.delayed` should be used")
            threads += [_start(work) for _ in range(min(workers, len(parts)))]
            ending = _collect(work, receive, deadline)
            if ending == "finished":  # they only have to find that nothing is left, but may wait for a busy processor
                for thread in threads:
                    thread.join()
            return ending
    except KeyboardInterrupt:
        return "interrupted"
    finally:
        work.stop.set()
        if end is not None and ending != "finished":
            end()
            until = time.monotonic() + _FAREWELL
            for thread in threads:
                thread.join(max(0.0, until - time.monotonic()))


def left_behind() -> list[threading.Thread]:
    """Threads that still work on a part."""
    return [thread for thread in tuple(_threads) if thread.is_alive()]


def _start(work: _Work) -> threading.Thread:
    thread = threading.Thread(target=work.run, daemon=True, name="uneven-background")
    for other in [other for other in tuple(_threads) if not other.is_alive()]:
        _threads.pop(other, None)
    thread.start()
    _threads[thread] = work
    return thread


@atexit.register
def _wait_at_exit() -> None:
    """End threads that were left behind: at the next line of Python, or when their call of compiled code returns."""
    waiting = left_behind()
    for thread in waiting:
        _threads[thread].leave()
    for thread in waiting:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(SystemExit))
    until = time.monotonic() + _GRACE
    for thread in waiting:
        thread.join(max(0.0, until - time.monotonic()))


def _collect(work: _Work, receive: Callable[[int, Any], None], deadline: float | None) -> Ending:
    missing = len(work.parts)
    while missing:
        if deadline is not None and time.monotonic() > deadline:
            work.stop.set()  # what is finished by now is still taken
            if work.results.empty():
                return "time limit"
        try:
            number, result, error = work.results.get(timeout=_GLANCE)
        except queue.Empty:
            while_waiting()
            continue
        if error is not None:
            raise error
        receive(number, result)
        missing -= 1
    return "finished"


def use_one_thread() -> None:
    """Let OpenMP use one thread for what this thread calls: it counts for each caller."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=1, user_api="openmp")
