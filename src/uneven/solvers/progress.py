"""How a solver reports progress."""

from __future__ import annotations

from collections.abc import Callable

#: Called once per iteration with a line of text.
Progress = Callable[[str], None]


def silent(line: str) -> None:
    """Progress that is not shown."""
