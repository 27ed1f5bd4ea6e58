"""Parameters of a library that one of our estimators passes through by name.

scikit-learn reads the parameters of an estimator from the signature of its ``__init__``. Ours takes ``**library``, and
gets a signature that also lists the parameters of the installed library with their defaults.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from uneven._suggestions import did_you_mean
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
    more : callable
        Names that the library knows and that are not listed; None if it does not tell, so that all are taken.
    own : frozenset
        Our own parameters, for suggestions.
    """

    name: str
    defaults: Mapping[str, Any]
    refused: Mapping[str, str]
    more: Callable[[], Collection[str] | None] = tuple
    own: frozenset[str] = frozenset()

    def check(self, given: Iterable[str]) -> None:
        """Raise for names that are refused or unknown."""
        for name in given:
            if name in self.refused:
                raise ParameterError(f"{name} of {self.name} cannot be set here: {self.refused[name]}")
            more = () if name in self.defaults else self.more()
            if name not in self.defaults and more is not None and name not in more:
                known = dict.fromkeys([*self.own, *self.defaults, *more], ())
                hint = did_you_mean(name, known, f"see the parameters of {self.name}")
                raise ParameterError(f"{self.name} has no parameter {name!r}; {hint}")


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
        estimator._library = replace(parameters, own=frozenset(names - {"self"}))  # type: ignore[attr-defined]
        return estimator

    return listed
