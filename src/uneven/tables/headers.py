"""Names of columns: without spaces around them, one for each column, no two alike."""

from __future__ import annotations

from collections.abc import Sequence

from uneven._inputs import brief
from uneven.errors import UnevenError


def read_names(path: str, cells: Sequence[object], line: int) -> list[str]:
    """Names from the cells of a header. A column without a name is called after its position."""
    names = ["" if cell is None else str(cell).strip().strip("\ufeff") for cell in cells]
    if not any(names):
        raise UnevenError(f"{path}, line {line}: the header has no names of columns")
    names = [name or f"column {position}" for position, name in enumerate(names, start=1)]
    first: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if name in first:
            raise UnevenError(
                f"{path}, line {line}: columns {first[name]} and {position} are both named {brief(name)}; rename one"
            )
        first[name] = position
    return names
