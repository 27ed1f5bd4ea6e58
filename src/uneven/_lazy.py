"""Names of a package that are imported on first use, so that importing the package stays light."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

#: What each package said to :func:`on_first_use`.
HOMES: dict[str, Mapping[str, str]] = {}


def on_first_use(
    package: str, home: Mapping[str, str], modules: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package: ``home`` says which module each name comes from.

    ``modules`` are submodules of the package that can be reached as its attributes.
    """
    submodules = tuple(modules)
    HOMES[package] = home

    def find(name: str) -> Any:
        if name in submodules:
            return import_module(f"{package}.{name}")
        if name in home:
            value = getattr(import_module(home[name]), name)
            setattr(sys.modules[package], name, value)
            return value
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def names() -> list[str]:
        special = (name for name in vars(sys.modules[package]) if name.startswith("__"))
        return sorted({*home, *submodules, *special})

    return find, names
