"""Errors for bad input. Each message says what was wrong, what was given, and what would work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

__all__ = [
    "CertificateError",
    "ClusterError",
    "CostError",
    "ExpressionError",
    "LossError",
    "MissingExtraError",
    "ParameterError",
    "SolverError",
    "UnevenError",
    "needs_extra",
    "sentence",
]


class UnevenError(ValueError):
    """Base class of all errors raised for bad input."""


class ExpressionError(UnevenError):
    """A text is not an expression of the little language, or the expression is not a loss.

    Attributes
    ----------
    text : str or None
        The text.
    column : int or None
        Position of the error in the text, counted from 1.
    """

    def __init__(self, message: str, *, text: str | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.text = text
        self.column = column

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild_expression_error, (self.args[0], self.text, self.column))


def _rebuild_expression_error(message: str, text: str | None, column: int | None) -> ExpressionError:
    return ExpressionError(message, text=text, column=column)


class ParameterError(UnevenError):
    """The value of a parameter is not allowed; the message says which values are."""


class LossError(UnevenError):
    """A loss cannot be built, or a question about it has no answer."""


class CostError(UnevenError):
    """Costs, labels or weights do not describe a classification problem with two kinds of mistake."""


class ClusterError(UnevenError, RuntimeError):
    """The machines that share the work are gone or cannot do it; the message says what would work."""


class SolverError(UnevenError, ArithmeticError):
    """A solver's result contradicts itself, so no model is returned."""


class CertificateError(UnevenError):
    """A certificate is not readable, or one of its steps does not hold.

    Attributes
    ----------
    step : int or None
        The first step that fails, counted from 1.
    unreadable : bool
        Whether the text is not a certificate at all.
    """

    def __init__(self, message: str, step: int | None = None, *, unreadable: bool = False) -> None:
        super().__init__(message)
        self.step = step
        self.unreadable = unreadable

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild_certificate_error, (self.args[0], self.step, self.unreadable))


def _rebuild_certificate_error(message: str, step: int | None, unreadable: bool) -> CertificateError:
    return CertificateError(message, step, unreadable=unreadable)


class MissingExtraError(UnevenError, ImportError):
    """A feature needs a package of an extra that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(
            f"{feature} need the extra {extra!r}, which is not installed; to install it: pip install 'uneven[{extra}]'"
        )
        self.feature, self.extra = feature, extra

    def __reduce__(self) -> tuple[object, ...]:
        return (MissingExtraError, (self.feature, self.extra))


@contextmanager
def needs_extra(feature: str, extra: str) -> Iterator[None]:
    """Imports of optional packages stand in such a block: if one fails, the error says which extra to install.

    Examples
    --------
    >>> from uneven.errors import needs_extra
    >>> with needs_extra("tables", "data"):
    ...     import pandas
    """
    try:
        yield
    except MissingExtraError:
        raise
    except ImportError:
        raise MissingExtraError(feature, extra) from None


# Did you mean ...? For an unknown name, the known one that was probably meant.


def suggestion(name: str, known: Mapping[str, Iterable[str]]) -> str | None:
    """The known name that is most like ``name``; None if none is.

    Parameters
    ----------
    name : str
        What a user wrote.
    known : mapping of str to strings
        For each known name, other names of the same thing.

    Examples
    --------
    >>> from uneven.errors import suggestion
    >>> known = {"log": ("ln",), "softplus": ()}
    >>> suggestion("ln", known), suggestion("SoftPlus_loss", known), suggestion("sin", known)
    ('log', 'softplus', None)
    """
    from difflib import get_close_matches

    written = {spelled: one for one, others in known.items() for spelled in (*others, one)}
    sought = name.lower()
    for spelled in (sought, sought.removesuffix("_loss").removesuffix("loss"), f"{sought}_loss"):
        if spelled in written:
            return written[spelled]
    close = get_close_matches(sought, list(written), n=1, cutoff=0.7)
    return written[close[0]] if close else None


def did_you_mean(name: str, known: Mapping[str, Iterable[str]], otherwise: str) -> str:
    """``did you mean ...?``, or another hint if no known name is alike."""
    found = suggestion(name, known)
    return otherwise if found is None else f"did you mean {found!r}?"


def sentence(error: BaseException) -> str:
    """An error of any library in one line, with its type."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
