"""An error that the page shows beside the field that caused it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from uneven.errors import ExpressionError, UnevenError


class Refusal(Exception):
    """A question that has no answer, with the reason.

    Attributes
    ----------
    message : str
    field : str or None
        The field of the page that is wrong.
    column : int or None
        Where in the text of the field, counted from 1.
    """

    def __init__(self, message: str, field: str | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.message, self.field, self.column = " ".join(message.split()), field, column

    def to_dict(self) -> dict[str, Any]:
        """What the page gets."""
        return {"error": self.message, "field": self.field, "column": self.column}


@contextmanager
def in_field(name: str) -> Iterator[None]:
    """Errors of bad input in this block belong to a field of the page."""
    try:
        yield
    except UnevenError as error:
        column = error.column if isinstance(error, ExpressionError) else None
        raise Refusal(str(error), name, column) from None
