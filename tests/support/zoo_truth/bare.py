"""Import one module of a package without the rest of the package, which may need much that is not installed."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


def bare(name: str, **stubs: dict[str, object]) -> ModuleType:
    """The module; its packages are entered without running their ``__init__``. ``stubs`` are modules to pretend.

    Names of stubs are written with two underscores for a dot.
    """
    package = name.partition(".")[0]
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        pytest.skip(f"{package} is not installed; make test-zoo installs what it can")
    before = dict(sys.modules)
    parts = name.split(".")
    folder = Path(spec.submodule_search_locations[0])
    try:
        for k in range(1, len(parts)):
            parent = ModuleType(".".join(parts[:k]))
            parent.__path__ = [str(folder.joinpath(*parts[1:k]))]
            sys.modules[parent.__name__] = parent
        for written, names in stubs.items():
            stub = ModuleType(written.replace("__", "."))
            vars(stub).update(names)
            sys.modules[stub.__name__] = stub
        return importlib.import_module(name)
    finally:  # the next import of the package is a real one
        for added in set(sys.modules) - set(before):
            if added.partition(".")[0] in (package, *(stub.partition("__")[0] for stub in stubs)):
                del sys.modules[added]
        sys.modules.update({key: value for key, value in before.items() if key.partition(".")[0] == package})
