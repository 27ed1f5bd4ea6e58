"""Where a command writes: a console that respects pipes and NO_COLOR, and files that are complete or absent."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def console(*, stderr: bool = False) -> Console:
    """A console: colours on a terminal unless NO_COLOR is set; plain text without line breaks through a pipe.

    Texts such as [bold] or :smile: are shown as they are: names and values of a user's table may hold them.
    """
    from rich.console import Console as NewConsole

    stream = sys.stderr if stderr else sys.stdout
    if stream.isatty():
        return NewConsole(file=stream, highlight=False, markup=False, emoji=False)
    return NewConsole(file=stream, highlight=False, markup=False, emoji=False, width=200, soft_wrap=True)


def write_whole(path: str | Path, data: str | bytes) -> None:
    """Write to a temporary file in the same folder, then move it into place, so that no file is half written."""
    with whole_file(path) as partial:
        partial.write_bytes(data.encode() if isinstance(data, str) else data)


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """A temporary file in the same folder, which is moved into place at the end, or removed after an error."""
    target = Path(path)
    handle, name = tempfile.mkstemp(dir=target.parent or ".", prefix=f".{target.name}.")
    os.close(handle)
    partial = Path(name)
    try:
        yield partial
        partial.chmod(0o666 & ~_umask())
        partial.replace(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
