"""How a solver reports progress."""

from __future__ import annotations

import sys
from collections.abc import Callable

#: Called once per iteration with a line of text.
Progress = Callable[[str], None]


def silent(line: str) -> None:
    """Progress that is not shown."""


def say(name: str, line: str) -> None:
    """One line on stderr; ``name`` says who works."""
    sys.stderr.write(f"[{name}] {line}\n")
