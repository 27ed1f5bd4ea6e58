"""A process that answers one question after the other; it can be ended at any time without harm."""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any

from uneven.errors import UnevenError
from uneven.explorer.answers import curves, formula, proved  # noqa: F401 - imported once, before processes are forked
from uneven.explorer.answers.refusal import Refusal

#: Kinds of messages to the server.
READY, TOLD, DONE, REFUSED, FAILED = "ready", "told", "done", "refused", "failed"

#: Where each task is answered: a module and a function. The function takes the data of the page, and a function that
#: tells of its progress if the task reports any.
TASKS = {
    "choices": ("uneven.explorer.answers.choices", "choices"),
    "formula": ("uneven.explorer.answers.formula", "formula"),
    "curves": ("uneven.explorer.answers.curves", "curves"),
    "alpha_of_gamma": ("uneven.explorer.answers.curves", "alpha_of_gamma"),
    "verdict": ("uneven.explorer.answers.proved", "verdict"),
    "enclosure": ("uneven.explorer.answers.proved", "enclosure"),
    "certificate": ("uneven.explorer.answers.proved", "certificate"),
    "table": ("uneven.explorer.answers.data", "table"),
    "fit": ("uneven.explorer.answers.data", "fit"),
    "example": ("uneven.explorer.answers.data", "example"),
}
_TELLING = frozenset(("fit",))
_OUR_FAULT = (
    "the explorer failed on this question, which it should not; please report it, with the address of this page and "
    "the lines on the terminal"
)


def answer(task: str, data: Any, tell: Callable[[bytes], None]) -> tuple[str, Any]:
    """The kind of the last message, and its content: JSON as bytes, or the fields of a refusal."""
    module, name = TASKS[task]
    function = getattr(import_module(module), name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a value too large for a double is a gap in the picture
            found = function(data, lambda part: tell(encoded(part))) if task in _TELLING else function(data)
        return DONE, found if isinstance(found, bytes) else encoded(found)
    except Refusal as refusal:
        return REFUSED, refusal.to_dict()
    except UnevenError as error:
        return REFUSED, Refusal(str(error)).to_dict()
    except Exception:
        traceback.print_exc(file=sys.stderr)
        return FAILED, _OUR_FAULT


def encoded(data: Any) -> bytes:
    """Plain data as JSON; a number that JSON has no word for is an error."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).encode()


def largest_memory() -> int:
    """The most memory in bytes that this process has had so far; 0 where the system does not say."""
    if sys.platform == "win32":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def run(connection: Connection, modesty: int, growth: int) -> None:
    """Answer until the server hangs up. Ctrl-C is for the server, which then ends its processes.

    Every message is a kind, a content, and whether the memory has grown by more than ``growth`` bytes since the start:
    results are remembered for the next question, which is good for a while.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(modesty)
    start = largest_memory()
    try:
        connection.send((READY, None, False))
        while True:
            task, data = connection.recv()
            kind, content = answer(task, data, lambda part: connection.send((TOLD, part, False)))
            connection.send((kind, content, largest_memory() - start > growth))
    except (EOFError, OSError):
        return
