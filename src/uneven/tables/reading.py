"""How a table is to be read; what is not said is detected."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reading:
    """How to read a table; None: detect it."""

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    day_first: bool | None = None


#: Nothing was asked for.
DETECT = Reading()
