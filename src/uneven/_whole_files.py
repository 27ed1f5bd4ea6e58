"""Files that are written whole or not at all, whatever happens in the middle."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
