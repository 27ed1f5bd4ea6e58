"""What threads share: locks that survive a fork, and results that are kept for the next call.

A result that the clock cut short is not kept: with more time, or on a machine that is less busy, the next call may find
a better one. Whoever stops a search by the clock says so with :func:`cut_short`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import cached_property, lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")


def shared_lock() -> threading.RLock:
    """A lock that its owner may take again. Also a child process that is forked meanwhile starts with it free."""
    lock = threading.RLock()
    if hasattr(os, "register_at_fork"):
        # The fork waits until the lock is free: what it protects is then in order in the child, too.
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


class _Stops(threading.local):
    """How often the clock cut a result short in this thread."""

    count = 0


_STOPS = _Stops()


def cut_short() -> None:
    """Say that the result that this thread computes was cut short by the clock."""
    _STOPS.count += 1


class _CutShort(Exception):
    """Carries a result past a cache that would keep it."""

    def __init__(self, result: Any) -> None:
        self.result = result


def kept(maxsize: int, *, typed: bool = False) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """Like :func:`functools.lru_cache`, but what was cut short is not kept.

    Examples
    --------
    >>> from uneven._shared import cut_short, kept
    >>> seconds = [0, 10]
    >>> @kept(maxsize=8)
    ... def proved(name: str) -> bool:
    ...     if not seconds.pop(0):
    ...         cut_short()
    ...         return False
    ...     return True
    >>> proved("hinge"), proved("hinge"), proved("hinge")
    (False, True, True)
    """

    def decorate(function: Callable[Given, Result]) -> Callable[Given, Result]:
        @lru_cache(maxsize=maxsize, typed=typed)
        def stored(*args: Given.args, **kwargs: Given.kwargs) -> Result:
            before = _STOPS.count
            result = function(*args, **kwargs)
            if _STOPS.count > before:
                raise _CutShort(result)  # no cache keeps an exception
            return result

        @wraps(function)
        def call(*args: Given.args, **kwargs: Given.kwargs) -> Result:
            try:
                return stored(*args, **kwargs)  # type: ignore[arg-type]  # lru_cache raises if one has no hash
            except _CutShort as carrier:
                result: Result = carrier.result
                return result

        return call

    return decorate


class kept_property(cached_property[Result]):  # noqa: N801 - used as a decorator, like cached_property
    """Like :class:`functools.cached_property`, but what was cut short is not kept."""

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> Result:  # type: ignore[override]
        if instance is None:
            return self  # type: ignore[return-value]  # the documentation reads it from the class
        before = _STOPS.count
        result = self.func(instance)
        if _STOPS.count == before:
            instance.__dict__[self.attrname] = result
        return result
