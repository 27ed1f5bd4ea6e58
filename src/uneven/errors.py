"""Every error a user can cause: one sentence that says what was wrong, what was given, what would work."""

from __future__ import annotations

__all__ = ["CertificateError", "CostError", "ExpressionError", "LossError", "UnevenError"]


class UnevenError(ValueError):
    """Base class of all errors raised for bad input."""


class ExpressionError(UnevenError):
    """A text is not a sentence of the little language, or not a loss.

    Attributes
    ----------
    text : str or None
        What was given.
    column : int or None
        Where in it, counted from 1.
    """

    def __init__(self, message: str, *, text: str | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.text = text
        self.column = column

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild_expression_error, (self.args[0], self.text, self.column))


def _rebuild_expression_error(message: str, text: str | None, column: int | None) -> ExpressionError:
    return ExpressionError(message, text=text, column=column)


class LossError(UnevenError):
    """A loss cannot be built, or cannot answer what was asked of it."""


class CostError(UnevenError):
    """Costs, labels or weights do not describe a classification problem with two kinds of mistake."""


class CertificateError(UnevenError):
    """A certificate is not readable, or one of its steps does not hold.

    Attributes
    ----------
    step : int or None
        The first step that fails, counted from 1.
    """

    def __init__(self, message: str, step: int | None = None) -> None:
        super().__init__(message)
        self.step = step

    def __reduce__(self) -> tuple[object, ...]:
        return (CertificateError, (self.args[0], self.step))
