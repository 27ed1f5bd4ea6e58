"""The one place from which a learner tells how far it is."""

from __future__ import annotations

import sys
from collections.abc import Callable


def progress(verbose: object, name: str) -> Callable[[str], None]:
    """A function that writes lines to stderr, or drops them."""

    def write(line: str) -> None:
        sys.stderr.write(f"[{name}] {line}\n")

    return write if verbose else _drop


def _drop(line: str) -> None:
    pass
