"""The public names of the package, found from its ``__all__``, and those that lack a description.

The reference is made from this list, the build of the site fails if :func:`undescribed` finds something, and so does a
test.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = "uneven"
#: Public modules that ``import uneven`` does not offer: those of other libraries, and two that the guide describes.
FURTHER_MODULES = (
    "uneven.costs",
    "uneven.tables",
    *(f"uneven.adapters.{name}" for name in ("catboost", "dask", "jax", "lightgbm", "onnx", "torch", "xgboost")),
)


@dataclass(frozen=True)
class Missing:
    """A public module or name that cannot be imported here, and the reason."""

    path: str
    reason: str


@dataclass(frozen=True)
class PublicName:
    """A public name: the module that exports it, and what it is."""

    module: str
    name: str
    thing: Any

    @property
    def path(self) -> str:
        return f"{self.module}.{self.name}"

    @property
    def is_data(self) -> bool:
        return not (inspect.isclass(self.thing) or callable(self.thing))

    @property
    def description(self) -> str:
        """Its own description, or an empty text."""
        text = described_data(self.name, self.module) if self.is_data else described(self.thing)
        return inspect.cleandoc(text or "")

    @property
    def summary(self) -> str:
        """The first paragraph of its description, in one line."""
        return " ".join(self.description.split("\n\n")[0].split())


def described(thing: Any) -> str | None:
    """The description of a thing itself: not that of its type, nor one that a class inherits."""
    if inspect.isclass(thing):
        text = thing.__dict__.get("__doc__") or ""
        return None if text.startswith(f"{thing.__name__}(") else text  # a dataclass without one gets its signature
    return inspect.getdoc(thing) if callable(thing) or isinstance(thing, (ModuleType, property)) else None


def described_data(name: str, module: str) -> str:
    """The comment ``#:`` above the assignment of a constant, in any module of the same folder."""
    pattern = re.compile(rf"((?:^#:.*\n)+){name}\b[^\n]*=", re.MULTILINE)
    for path in sorted(Path(importlib.import_module(module).__file__ or "").parent.glob("*.py")):
        found = pattern.search(path.read_text(encoding="utf-8"))
        if found:
            return " ".join(line.removeprefix("#:").strip() for line in found[1].splitlines())
    return ""


def public_modules() -> tuple[list[ModuleType], list[Missing]]:
    """The package, the modules that it exports, and those of :data:`FURTHER_MODULES` that exist."""
    package = importlib.import_module(ROOT)
    found, missing = [package], []
    wanted = [f"{ROOT}.{name}" for name in package.__all__ if importlib.util.find_spec(f"{ROOT}.{name}") is not None]
    wanted += [name for name in FURTHER_MODULES if _exists(name)]
    for name in dict.fromkeys(wanted):
        try:
            found.append(importlib.import_module(name))
        except (ImportError, ValueError) as error:  # an extra that is not installed
            missing.append(Missing(name, str(error)))
    return found, missing


def _exists(module: str) -> bool:
    folder = module.rpartition(".")[0]
    return importlib.util.find_spec(folder) is not None and importlib.util.find_spec(module) is not None


def names_of(module: ModuleType) -> list[PublicName]:
    """The names that a module exports; those that it defines, if it has no ``__all__``."""
    listed = getattr(module, "__all__", None)
    if listed is None:
        listed = [
            name
            for name, thing in vars(module).items()
            if not name.startswith("_") and getattr(thing, "__module__", None) == module.__name__
        ]
    things = []
    for name in sorted(listed):
        try:
            things.append(PublicName(module.__name__, name, getattr(module, name)))
        except (ImportError, ValueError):  # an extra that is not installed
            continue
    return [one for one in things if not isinstance(one.thing, ModuleType)]


def missing_names(module: ModuleType) -> list[Missing]:
    """The names of a module that cannot be imported here."""
    found = []
    for name in getattr(module, "__all__", ()):
        try:
            getattr(module, name)
        except (ImportError, ValueError) as error:
            found.append(Missing(f"{module.__name__}.{name}", str(error)))
    return found


def members(thing: type) -> list[str]:
    """The public attributes of a class that this package defines, in the order of their definition."""
    found: dict[str, None] = {}
    for base in reversed(thing.__mro__):
        if base.__module__.split(".")[0] == ROOT:
            found.update(dict.fromkeys(name for name in base.__dict__ if not name.startswith("_")))
    return [name for name in found if _function(inspect.getattr_static(thing, name)) is not None]


def _function(attribute: Any) -> Any:
    """The function of this package behind a method or property; None for data and for what scikit-learn adds."""
    if isinstance(attribute, property):
        return attribute.fget
    for inner in ("__func__", "func", "fn"):  # class methods, cached properties, methods that some estimators have
        attribute = getattr(attribute, inner, attribute)
    ours = getattr(attribute, "__module__", "").split(".")[0] == ROOT
    return attribute if ours and hasattr(attribute, "__code__") else None


def undescribed() -> Iterator[str]:
    """Public names, methods and properties without a description of their own."""
    for module in public_modules()[0]:
        if not inspect.getdoc(module):
            yield module.__name__
        for one in names_of(module):
            if not one.description:
                yield one.path
            if inspect.isclass(one.thing):
                yield from (
                    f"{one.path}.{name}" for name in members(one.thing) if not inspect.getdoc(getattr(one.thing, name))
                )


def misread() -> Iterator[str]:
    """Public names whose description Sphinx would misread: a star begins an emphasis that never ends."""
    for module in public_modules()[0]:
        for one in names_of(module):
            things = {one.path: one.description}
            if inspect.isclass(one.thing):
                things |= {
                    f"{one.path}.{name}": inspect.getdoc(getattr(one.thing, name)) for name in members(one.thing)
                }
            yield from (path for path, text in things.items() if has_open_emphasis(text))


def has_open_emphasis(text: str) -> bool:
    """Whether a paragraph begins an emphasis that it does not end.

    Examples
    --------
    >>> has_open_emphasis('files such as "data/*.parquet"'), has_open_emphasis("``data/*.parquet`` is *many* files")
    (True, False)
    """
    for paragraph in re.split(r"\n\s*\n", re.sub(r"^\s*(>>>|\.\.).*$", "", text, flags=re.MULTILINE)):
        prose = re.sub(r"``.*?``|:\w+:`.*?`|`.*?`", "code", paragraph, flags=re.DOTALL)
        prose = re.sub(r"^\s*\*{1,2}\w+\s*(?::.*)?$", "", prose, flags=re.MULTILINE)  # numpydoc's **parameters
        closed = re.sub(r"(\*{1,2})(?=\S)(?:[^*]*?\S)?\1(?!\w)", "", prose)
        if re.search(r"""(?:^|[\s'"([{<\-/:])\*{1,2}(?=[^\s*])""", closed, flags=re.MULTILINE):
            return True
    return False
