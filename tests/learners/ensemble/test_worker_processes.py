"""Fits in processes: what comes back, how they end, and that nothing of them stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB
from small_members import use_small_members
from stopped_clock import StoppedClock

import uneven
from uneven.learners.ensemble import classifier, plan
from uneven.learners.worker_processes import PartFailed, SharedRows, WorkerProcesses, _in_words

pytestmark = pytest.mark.slow  # each start of a process imports the library

ROWS = np.arange(6.0).reshape(3, 2), sparse.eye_array(3, format="csr")


@pytest.fixture(scope="module")
def one() -> Iterator[WorkerProcesses]:
    with WorkerProcesses(1) as processes:
        yield processes


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def in_another(train: Any, test: Any) -> tuple[int, Any, Any]:
    return os.getpid(), train, test


def change(train: np.ndarray, test: Any) -> float:
    train += 1
    return float(train.sum())


def warn(train: Any, test: Any) -> str:
    warnings.warn("beware", UserWarning, stacklevel=1)
    return "done"


def fail(train: Any, test: Any) -> None:
    raise ValueError("two\nlines")


def press(train: Any, test: Any) -> None:
    raise KeyboardInterrupt


def leave(train: Any, test: Any) -> None:
    os._exit(3)


def draw(train: Any, test: Any) -> float:
    return float(np.random.random())  # as models without a seed do


def sleep(train: Any, test: Any) -> None:
    time.sleep(600)


class Stays:
    """Cannot be sent."""

    def __reduce__(self) -> Any:
        raise TypeError("it stays here")


def make_one_that_stays(train: Any, test: Any) -> Stays:
    return Stays()


def test_a_part_sees_the_rows_and_its_changes_are_its_own(one: WorkerProcesses) -> None:
    rows = SharedRows(ROWS)
    pid, train, test = one.call("part", in_another, rows)
    assert pid != os.getpid()
    np.testing.assert_array_equal(train, ROWS[0])
    np.testing.assert_array_equal(test.toarray(), np.eye(3))
    assert [one.call("change", change, rows) for _ in range(2)] == [21.0, 21.0]
    assert change(*rows.load()) == 21.0
    assert one.call("empty", in_another, SharedRows((np.empty((0, 2)), None)))[1].shape == (0, 2)
    assert not one.unsent


def test_errors_and_warnings_are_those_of_the_part(one: WorkerProcesses) -> None:
    rows = SharedRows(ROWS)
    with pytest.raises(PartFailed, match=r"^ValueError: two lines$"):
        one.call("fail", fail, rows)
    with pytest.raises(KeyboardInterrupt):
        one.call("press", press, rows)
    with pytest.warns(UserWarning, match="beware"):
        assert one.call("warn", warn, rows) == "done"


def test_what_cannot_be_sent_is_done_here_and_noted(one: WorkerProcesses) -> None:
    rows, stays = SharedRows(ROWS), Stays()
    assert one.call("there", lambda train, test, given: given is stays, rows, stays)
    assert isinstance(one.call("back", make_one_that_stays, rows), Stays)
    assert one.unsent == {"there": "TypeError: it stays here", "back": "TypeError: it stays here"}
    one.unsent.clear()


def test_a_local_class_comes_back_as_itself(one: WorkerProcesses) -> None:
    class Local(GaussianNB):
        pass

    assert type(one.call("local", lambda train, test: Local(), SharedRows(ROWS))) is Local


def test_draws_without_a_seed_do_not_depend_on_what_was_done_before(one: WorkerProcesses) -> None:
    rows = SharedRows(ROWS)
    first, other, again = (one.call(name, draw, rows) for name in ("a", "b", "a"))
    assert first == again != other


def test_how_a_process_ended_is_one_sentence(one: WorkerProcesses) -> None:
    pid = one.call("part", in_another, SharedRows(ROWS))[0]
    with pytest.raises(PartFailed, match=r"^its process ended by itself with exit code 3$"):
        one.call("part", leave, SharedRows(ROWS))
    assert is_gone(pid)
    assert not one.unsent
    assert _in_words(-signal.SIGSEGV) == "was ended by the system (SIGSEGV)"
    assert _in_words(-signal.SIGKILL) == "was ended by the system (SIGKILL), which happens when memory runs out"


def test_closing_ends_what_is_under_way() -> None:
    processes, rows, ended = WorkerProcesses(1), SharedRows(ROWS), []

    def wait() -> None:
        try:
            processes.call("sleep", sleep, rows)
        except PartFailed as error:
            ended.append(str(error))

    (pid,) = [worker._process.pid for worker in processes._all]
    thread = threading.Thread(target=wait)
    thread.start()
    while processes._idle:
        time.sleep(0.01)
    processes.close()
    thread.join(60)
    assert is_gone(pid)
    assert ended == ["it was ended before it was finished"]
    with pytest.raises(PartFailed, match="ended"):
        processes.call("sleep", sleep, rows)


def test_without_a_process_the_work_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with WorkerProcesses(1) as processes:
        assert processes.call("part", in_another, SharedRows(ROWS))[0] == os.getpid()
    assert processes.unsent == {"part": "no process could be started: it ended by itself with exit code 1"}


# -- ensembles --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    return make_classification(200, 5, n_informative=3, weights=[0.8], flip_y=0.1, class_sep=0.7, random_state=1)


class Sleeps(GaussianNB):
    """Its fit takes longer than any time limit."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Sleeps:
        time.sleep(600)
        return self


class Crashes(GaussianNB):
    """The system ends its process."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Crashes:
        os.kill(os.getpid(), signal.SIGKILL)
        return self


def test_a_fit_that_runs_over_is_ended_and_said(
    data: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = StoppedClock()
    advance, pids = classifier.Bar.advance, []
    start = WorkerProcesses._start

    def started(processes: WorkerProcesses) -> Any:
        worker = start(processes)
        pids.append(worker._process.pid)
        return worker

    def told(bar: Any, effort: float = 1.0) -> None:
        advance(bar, effort)
        if bar.done == 5:  # the fast member is finished
            clock.move(1e6)

    monkeypatch.setattr(time, "monotonic", clock)
    monkeypatch.setattr(classifier.Bar, "advance", told)
    monkeypatch.setattr(WorkerProcesses, "_start", started)
    members = {"bayes": GaussianNB(), "sleeps": Sleeps()}
    model = uneven.UnevenEnsembleClassifier(fn_cost=5, members=members, time_limit=5).fit(*data)
    assert model.left_out_ == {"sleeps": "not finished (time limit)"}
    assert model.cut_short_ == (
        "The fit was cut by time_limit=5 s; members not finished and left out: sleeps; as models of folds, not of all "
        "rows: bayes."
    )
    assert model.cut_short_ in capsys.readouterr().err
    assert len(pids) == 1
    assert all(map(is_gone, pids))


def test_a_member_whose_process_crashes_is_left_out(data: tuple[np.ndarray, np.ndarray]) -> None:
    members = {"crashes": Crashes(), "bayes": GaussianNB()}
    with pytest.warns(UserWarning, match=r"member 'crashes' failed and is left out: its process was ended by the syst"):
        model = uneven.UnevenEnsembleClassifier(fn_cost=5, members=members, time_limit=600).fit(*data)
    assert model.weights_ == {"bayes": 1.0}
    assert model.cut_short_ is None


@pytest.mark.parametrize("classes", [2, 3])
def test_in_processes_or_in_threads_the_result_is_the_same(monkeypatch: pytest.MonkeyPatch, classes: int) -> None:
    """A law of the time limit: as long as it cuts nothing, it changes nothing, to the last bit."""
    use_small_members(monkeypatch)
    monkeypatch.setattr(plan, "_QUICK", 0)
    X, y = make_classification(150, 6, n_informative=4, n_classes=classes, random_state=2)
    costs = {"fn_cost": 5} if classes == 2 else {"costs": uneven.CostMatrix([[0, 1, 2], [4, 0, 1], [9, 3, 0]])}
    members = ["linear", "extra_trees", "lightgbm"] + ["xgboost", "catboost", "histogram"] * (classes == 2)
    one, other = (
        uneven.UnevenEnsembleClassifier(**costs, members=members, cv=2, time_limit=limit).fit(X, y)
        for limit in (None, 600)
    )
    assert one.weights_ == other.weights_
    assert one.settings_ == other.settings_
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    assert other.cut_short_ is None


SCRIPT = """
print("script", flush=True)
import sys, threading, time
import numpy as np
from sklearn.naive_bayes import GaussianNB
import uneven

class Fine(GaussianNB):
    pass

class Sleeps(GaussianNB):
    def fit(self, X, y, sample_weight=None):
        print("at work", flush=True)
        time.sleep(600)

def fit():
    X = np.arange(40.0)[:, None]
    members = {"fine": Fine(), "sleeps": Sleeps()}
    uneven.UnevenEnsembleClassifier(members=members, time_limit=600, cv=2).fit(X, X[:, 0] % 3 == 0)
    print("fitted")

if sys.argv[1] == "thread":
    threading.Thread(target=fit, daemon=True).start()
    sys.stdin.readline()
else:
    fit()
"""


@pytest.mark.parametrize("end", ["kill", "thread", "press"])
def test_nothing_stays_when_the_caller_is_gone(tmp_path: Path, end: str) -> None:
    """A script without a guard is not run again; its processes end with it: kill -9, its own end, Ctrl-C in the fit."""
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "files").mkdir()
    command = [sys.executable, str(tmp_path / "script.py"), end]
    environment = {**os.environ, "TMPDIR": str(tmp_path / "files")}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, env=environment, text=True, **pipes) as script:
        assert script.stdout is not None
        lines = [next(script.stdout), next(script.stdout)]
        if end == "kill":
            script.kill()
        elif end == "press":
            script.send_signal(signal.SIGINT)
        rest, _ = script.communicate("\n", timeout=60)  # until the last process that could write is gone
    assert lines == ["script\n", "at work\n"]
    said = "[UnevenEnsembleClassifier] interrupted: the model uses what is finished: fine\nfitted\n"
    assert rest == (said if end == "press" else "")
    assert script.returncode == (-signal.SIGKILL if end == "kill" else 0)
    assert list((tmp_path / "files").iterdir()) == []
