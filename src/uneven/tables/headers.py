"""Names of columns: without spaces around them, one for each column, no two alike."""

from __future__ import annotations

from collections.abc import Sequence

from uneven._inputs import brief
from uneven.errors import UnevenError

#: Columns that are read at most. Each takes some milliseconds until it is understood, so more would take minutes.
MOST_COLUMNS = 20_000


def require_width(path: str, count: int) -> None:
    """Refuse a table with too many columns, before the work begins."""
    if count > MOST_COLUMNS:
        raise UnevenError(
            f"{path} has {count:,} columns, and at most {MOST_COLUMNS:,} are read; leave columns out, or give the "
            "numbers to a learner in Python, such as uneven.UnevenLinearClassifier"
        )


def read_names(path: str, cells: Sequence[object], line: int) -> list[str]:
    """Names from the cells of a header. A column without a name is called after its position."""
    require_width(path, len(cells))
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
