"""Parameters of a library that one of our estimators passes through by name.

scikit-learn reads the parameters of an estimator from the signature of its ``__init__``. Ours takes ``**library``, and
gets a signature that also lists the parameters of the installed library with their defaults.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from uneven.errors import ParameterError

C = TypeVar("C", bound=type)


@dataclass(frozen=True)
class LibraryParameters:
    """What a library calls its parameters.

    Attributes
    ----------
    name : str
        The library, for messages.
    defaults : mapping
        Parameters that are listed, with their defaults.
    refused : mapping
        Parameters that would break our objective, each with a clause that says what to use instead.
    more : callable or None
        Whether the library knows a name that is not listed; None if all are listed.
    """

    name: str
    defaults: Mapping[str, Any]
    refused: Mapping[str, str]
    more: Callable[[str], bool] | None = None

    def check(self, given: Iterable[str]) -> None:
        """Raise for names that are refused or unknown."""
        for name in given:
            if name in self.refused:
                raise ParameterError(f"{name} of {self.name} cannot be set here: {self.refused[name]}")
            if name not in self.defaults and not (self.more is not None and self.more(name)):
                raise ParameterError(f"{self.name} has no parameter {name!r}")


def parameters_of(signatures: Iterable[Callable[..., Any]], without: Iterable[str]) -> dict[str, Any]:
    """Names and defaults of keyword parameters, those of later signatures first."""
    skipped = {"self", *without}
    found: dict[str, Any] = {}
    for function in signatures:
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
                found[parameter.name] = None if parameter.default is parameter.empty else parameter.default
    return {name: default for name, default in found.items() if name not in skipped}


def takes(parameters: LibraryParameters) -> Callable[[C], C]:
    """A class decorator: ``__init__`` lists the parameters of the library after our own."""

    def listed(estimator: C) -> C:
        own = inspect.signature(estimator.__init__)  # type: ignore[misc]
        kept = [p for p in own.parameters.values() if p.kind != p.VAR_KEYWORD]
        names = {p.name for p in kept}
        theirs = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
            for name, default in parameters.defaults.items()
            if name not in names
        ]

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - it becomes the class's own
            estimator._take(self, *args, **kwargs)  # type: ignore[attr-defined]

        __init__.__signature__ = own.replace(parameters=[*kept, *theirs])  # type: ignore[attr-defined]
        __init__.__doc__ = estimator.__init__.__doc__  # type: ignore[misc]
        estimator._take = estimator.__init__  # type: ignore[attr-defined, misc]
        estimator.__init__ = __init__  # type: ignore[misc]
        estimator._library = parameters  # type: ignore[attr-defined]
        return estimator

    return listed
