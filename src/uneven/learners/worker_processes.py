"""Fits in processes that can be ended: at a deadline, by Ctrl-C, or by the system, and the rest of the work goes on.

1. A process is `python -c` with one import of this module: it never runs the script, notebook or test of the user.
2. The caller's threads stay what they were (background.py); each hands its part to a process and waits for the answer.
3. The two talk over a pair of sockets. A part and its answer are pickled, classes of scripts and notebooks by value.
4. Arrays of rows are written once to a file without a name and mapped by every process, which may change its own copy.
5. A process that is ended, or ends by itself, closes its socket: the thread that waits gets one sentence.
6. A process leads a group of its own, so Ctrl-C is the caller's alone, and what it has started ends with it.
7. When the caller is gone, even by kill -9, the socket is closed, and the process ends its group.
8. Nothing has a name in the file system, so nothing can be left there.
9. What cannot be sent, or has no process, is done in the thread of the caller, and :attr:`unsent` says why.
10. Without sockets that carry files (Windows), there are no processes, and members are fitted in threads.
"""

from __future__ import annotations

import json
import mmap
import os
import pickle
import selectors
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import warnings
import weakref
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

import numpy as np
from sklearn import config_context, get_config

from uneven.errors import sentence
from uneven.learners import background
from uneven.solvers.running import single_threaded_blas

try:
    import cloudpickle  # joblib needs it, which scikit-learn needs
except ImportError:  # before joblib 1.6
    from joblib.externals import cloudpickle

_DONE, _FAILED, _UNSENDABLE, _INTERRUPTED = "done", "failed", "unsendable", "interrupted"

_ENDED = "it was ended before it was finished"

#: Length of what follows, and whether a file comes with it.
_HEADER = struct.Struct("!Q?")

#: Bytes between two arrays in a file: compiled code likes them at multiples of this.
_ALIGNMENT = 64

#: Seconds between two looks at whether the caller is still there. Its end closes the socket, unless another process
#: that the caller forked holds it open.
_LOOK = 1.0

_START = (
    "import json, sys; fd, path = sys.argv[1:]; sys.argv[1:] = []; sys.path[:] = json.loads(path); "
    "from uneven.learners.worker_processes import serve; serve(int(fd))"
)


#: Warnings that were shown, for filters that show each once.
_shown: dict[Any, Any] = {}


class PartFailed(Exception):
    """The part raised an error, or its process ended; the text is one sentence."""


class Unsendable(Exception):
    """A part, or its result, cannot be sent to another process; the text says why."""


# -- arrays that several processes see --------------------------------------------------------------------------------


class SharedRows:
    """Two tables, train and test, whose arrays lie in a file without a name.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.learners.worker_processes import SharedRows
    >>> rows = SharedRows((np.arange(3.0), np.eye(2)))
    >>> rows.load()[0].tolist()
    [0.0, 1.0, 2.0]
    """

    def __init__(self, rows: tuple[Any, Any]) -> None:
        buffers: list[pickle.PickleBuffer] = []
        self.head = _dump(rows, buffers.append)
        self.places: list[tuple[int, int]] = []
        with tempfile.TemporaryFile() as file:
            for buffer in buffers:
                raw = buffer.raw()
                start = -(-file.tell() // _ALIGNMENT) * _ALIGNMENT
                file.seek(start)
                file.write(raw)
                self.places.append((start, start + raw.nbytes))
            file.flush()
            self.fd = os.dup(file.fileno())
        weakref.finalize(self, os.close, self.fd)

    def load(self) -> Any:
        """The tables; changes of the arrays are not seen by others."""
        return _load_rows(self.fd, self.head, self.places)


def _load_rows(fd: int, head: bytes, places: list[tuple[int, int]]) -> Any:
    size = os.fstat(fd).st_size
    whole = memoryview(mmap.mmap(fd, size, access=mmap.ACCESS_COPY) if size else b"")
    return pickle.loads(head, buffers=[whole[start:stop] for start, stop in places])


class SharedFolds:
    """Train and test rows by key; each is made when first asked for, and freed after its last use.

    Parameters
    ----------
    make : callable
        From a key to train and test rows.
    uses : mapping of key to int
        How often each will be asked for.
    """

    def __init__(self, make: Callable[[Any], tuple[Any, Any]], uses: Mapping[Any, int]) -> None:
        self._make, self._uses = make, Counter(uses)
        self._made: dict[Hashable, SharedRows] = {}
        self._lock = threading.Lock()
        self._locks: dict[Hashable, threading.Lock] = defaultdict(threading.Lock)

    def of(self, key: Hashable) -> SharedRows:
        """The rows of a key."""
        with self._lock:
            lock = self._locks[key]
        with lock:
            found = self._made.get(key) or SharedRows(self._make(key))
            self._uses[key] -= 1
            if self._uses[key] > 0:
                self._made[key] = found
            else:
                self._made.pop(key, None)
        return found


# -- in the process of the caller -------------------------------------------------------------------------------------


def can_start_processes() -> bool:
    """Whether this system and this interpreter can start processes that take files from us."""
    name = os.path.basename(sys.executable or "").lower()
    known = "python" in name or "pypy" in name  # a program that embeds Python would start itself
    return os.name == "posix" and hasattr(socket, "send_fds") and known and not getattr(sys, "frozen", False)


class WorkerProcesses:
    """Processes that do parts for the threads of the caller; a context manager, which ends them all.

    Parameters
    ----------
    count : int
        So many are started now, while the caller prepares its data: importing the library takes a second or two.

    Attributes
    ----------
    unsent : dict of str to str
        Parts that were not sent, by the name of their kind, and why.
    """

    def __init__(self, count: int) -> None:
        self.unsent: dict[str, str] = {}
        # Models without a seed draw from NumPy's global generator. In a process it starts from what the caller's is at,
        # so that the load of the machine plays no role.
        self._seed = zlib.crc32(np.random.get_state(legacy=False)["state"]["key"].tobytes())
        self._lock = threading.Lock()
        self._closed = False
        self._all: set[_Worker] = set()
        self._idle: list[_Worker] = []
        with suppress(OSError):  # said when a part finds none
            for _ in range(count):
                self._idle.append(self._start())

    def __enter__(self) -> WorkerProcesses:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End all processes, whatever they do. Threads that wait for one get an error."""
        with self._lock:
            self._closed = True
            ended, idle = tuple(self._all), tuple(self._idle)
            self._idle.clear()
        for worker in ended:
            worker.end()
        for worker in idle:  # those at work are dropped by the thread that waits
            self._drop(worker)

    def call(self, name: str, function: Callable[..., Any], rows: SharedRows, *args: Any) -> Any:
        """``function(train, test, *args)`` in a process, or here if it cannot be sent.

        Parameters
        ----------
        name : str
            What is noted in :attr:`unsent`; nothing of this name is sent again.
        function : callable
            Of a module.
        rows : SharedRows
        *args : object

        Raises
        ------
        PartFailed
            The function raised an error, or the process ended.
        """
        if name not in self.unsent:
            try:
                return self._call(name, function, rows, args)
            except Unsendable as why:
                self.unsent[name] = str(why)
        return function(*rows.load(), *args)

    def _call(self, name: str, function: Callable[..., Any], rows: SharedRows, args: tuple[Any, ...]) -> Any:
        seed = zlib.crc32(name.encode(), self._seed)
        try:
            part = _dump((rows.head, rows.places, get_config(), seed, function, args))
        except Exception as error:
            raise Unsendable(sentence(error)) from None
        worker = self._take()
        try:
            kind, content, warned = worker.ask(part, rows.fd)
        except BaseException as error:
            started = worker.is_ready
            how = self._drop(worker)
            if not isinstance(error, EOFError | OSError):
                raise
            if self._closed:
                raise PartFailed(_ENDED) from None
            if not started:
                raise Unsendable(f"no process could be started: it {how}") from None
            raise PartFailed(f"its process {how}") from None
        with self._lock:
            self._idle.append(worker)
            closed = self._closed
        if closed:
            self._drop(worker)
        for category, text, file, line in warned:
            warnings.warn_explicit(text, category, file, line, registry=_shown)
        if kind == _DONE:
            return content
        if kind == _INTERRUPTED:
            raise KeyboardInterrupt
        raise (Unsendable if kind == _UNSENDABLE else PartFailed)(content)

    def _take(self) -> _Worker:
        with self._lock:
            if self._closed:
                raise PartFailed(_ENDED)
            if self._idle:
                return self._idle.pop()
            try:
                return self._start()
            except OSError as error:
                raise Unsendable(f"no process could be started: {error}") from None

    def _start(self) -> _Worker:
        worker = _Worker()
        self._all.add(worker)
        return worker

    def _drop(self, worker: _Worker) -> str:
        with self._lock:
            self._all.discard(worker)
        how = worker.end()
        worker.hang_up()
        return how


class _Worker:
    """A process, as the caller sees it."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        command = [sys.executable, "-P", "-c", _START, str(theirs.fileno()), json.dumps(list(map(str, sys.path)))]
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, pass_fds=(theirs.fileno(),), start_new_session=True
            )
        except BaseException:
            self._socket.close()
            raise
        finally:
            theirs.close()
        self._ending = threading.Lock()
        self.is_ready = False

    def ask(self, part: bytes, fd: int) -> tuple[str, Any, list[Any]]:
        """Have a part done: what became of it, its result or a sentence, and the warnings."""
        if not self.is_ready:
            _receive(self._socket)
            self.is_ready = True
        _send(self._socket, part, fd)
        answer, _ = _receive(self._socket)
        try:
            return pickle.loads(answer)  # of our own process
        except Exception as error:
            raise Unsendable(sentence(error)) from None

    def end(self) -> str:
        """End the process and all that it has started; how it ended, in words."""
        with self._ending:
            if self._process.returncode is None:  # until it is waited for, no other group can have its number
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
        return _in_words(self._process.returncode)

    def hang_up(self) -> None:
        """Close the socket: nobody waits for an answer."""
        self._socket.close()


def _in_words(code: int) -> str:
    if code == -signal.SIGKILL:
        return "was ended by the system (SIGKILL), which happens when memory runs out"
    if code < 0:
        return f"was ended by the system ({signal.Signals(-code).name})"
    return f"ended by itself with exit code {code}"


# -- in the process that works ----------------------------------------------------------------------------------------


def serve(fd: int) -> None:
    """Do parts until the caller hangs up."""
    channel, parts = socket.socket(fileno=fd), SimpleQueue[tuple[bytes, int]]()
    threading.Thread(target=_listen, args=(channel, os.getppid(), parts), daemon=True).start()
    _send(channel, b"")
    while True:
        with suppress(BrokenPipeError):  # the other thread ends this process
            _send(channel, _answer(*parts.get()))


def _listen(channel: socket.socket, caller: int, parts: SimpleQueue[tuple[bytes, int]]) -> None:
    """Take parts while the other thread works; end the group of this process when the caller is gone."""
    looking = selectors.DefaultSelector()
    looking.register(channel, selectors.EVENT_READ)
    try:
        while os.getppid() == caller:
            if looking.select(_LOOK):
                parts.put(_receive(channel))
    finally:
        os.killpg(os.getpid(), signal.SIGKILL)


def _answer(part: bytes, fd: int) -> bytes:
    """What became of a part, its result or a sentence, and the warnings."""
    try:
        head, places, config, seed, function, args = pickle.loads(part)  # of the caller
        rows = _load_rows(fd, head, places)
    except Exception as error:
        return _dump((_UNSENDABLE, sentence(error), []))
    finally:
        os.close(fd)
    background.use_one_thread()
    np.random.seed(seed)
    with warnings.catch_warnings(record=True) as warned, single_threaded_blas(), config_context(**config):
        warnings.simplefilter("always")  # the caller's filters choose
        try:
            kind, content = _DONE, function(*rows, *args)
        except KeyboardInterrupt:
            kind, content = _INTERRUPTED, None
        except BaseException as error:
            kind, content = _FAILED, sentence(error)
    notes = [(one.category, str(one.message), one.filename, one.lineno) for one in warned]
    try:
        return _dump((kind, content, notes))
    except Exception as error:
        return _dump((_UNSENDABLE, sentence(error), []))


# -- between the two --------------------------------------------------------------------------------------------------


def _dump(value: Any, buffer_callback: Callable[[pickle.PickleBuffer], Any] | None = None) -> bytes:
    """A value as bytes; classes and functions of a script or notebook by value."""
    return cloudpickle.dumps(value, protocol=5, buffer_callback=buffer_callback)


def _send(channel: socket.socket, content: bytes, fd: int | None = None) -> None:
    header = _HEADER.pack(len(content), fd is not None)
    if fd is None:
        channel.sendall(header)
    else:
        socket.send_fds(channel, [header], [fd])
    channel.sendall(content)


def _receive(channel: socket.socket) -> tuple[bytes, int]:
    """What was sent, and the file that came with it, or -1."""
    header, fds, _, _ = socket.recv_fds(channel, _HEADER.size, 1)
    header += _receive_exactly(channel, _HEADER.size - len(header)) if header else b""
    if not header:
        raise EOFError
    length, _ = _HEADER.unpack(header)
    return _receive_exactly(channel, length), (fds[0] if fds else -1)


def _receive_exactly(channel: socket.socket, length: int) -> bytes:
    content = bytearray(length)
    rest = memoryview(content)
    while rest:
        count = channel.recv_into(rest, min(len(rest), 1 << 24))
        if not count:
            raise EOFError
        rest = rest[count:]
    return content  # type: ignore[return-value]  # pickle takes it as it is
