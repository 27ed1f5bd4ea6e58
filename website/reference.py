"""The API reference: a page for each public module and each public name, as reStructuredText."""

from __future__ import annotations

import inspect
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from public_names import ROOT, Missing, PublicName, members, missing_names, names_of, public_modules

ESTIMATOR = "Like every estimator of scikit-learn it also has ``get_params``, ``set_params`` and metadata routing."


def heading(title: str, line: str = "=") -> list[str]:
    return [title, line * len(title), ""]


def write_reference(folder: Path) -> list[str]:
    """Write the pages; returns the paths of the names that have one."""
    folder.mkdir(parents=True, exist_ok=True)
    modules, missing = public_modules()
    home: dict[int, PublicName] = {}
    for module in modules:
        for one in names_of(module):
            home.setdefault(id(one.thing), one)
    pages = {one.path: one for one in home.values()}
    for one in pages.values():
        (folder / f"{one.path}.rst").write_text("\n".join(_page_of_name(one)), encoding="utf-8")
    for module in modules:
        text = _page_of_module(module, modules, home)
        (folder / f"module-{module.__name__}.rst").write_text("\n".join(text), encoding="utf-8")
    (folder / "index.rst").write_text("\n".join(_first_page(modules, missing)), encoding="utf-8")
    return sorted(pages)


def _first_page(modules: list[ModuleType], missing: list[Missing]) -> list[str]:
    lines = heading("Reference")
    lines += ["Every public name, with its parameters and an example that runs in the tests.", ""]
    lines += [".. list-table::", "   :widths: 30 70", ""]
    for module in modules:
        lines += [f"   * - :doc:`{module.__name__} <module-{module.__name__}>`", f"     - {_summary(module)}"]
    for one in [*missing, *(one for module in modules for one in missing_names(module))]:
        lines += [f"   * - ``{one.path}``", f"     - Not described on this copy of the site: {one.reason}"]
    lines += ["", ".. toctree::", "   :hidden:", ""]
    return lines + [f"   {module.__name__} <module-{module.__name__}>" for module in modules] + [""]


def _summary(module: ModuleType) -> str:
    return " ".join((inspect.getdoc(module) or "").split("\n\n")[0].split())


def _page_of_module(module: ModuleType, modules: list[ModuleType], home: dict[int, PublicName]) -> list[str]:
    lines = [*heading(module.__name__), f".. module:: {module.__name__}", "", inspect.getdoc(module) or "", ""]
    here, rows = [], []
    if module.__name__ != ROOT:  # the first page of the reference lists the modules of the package
        for one in (m for m in modules if m.__name__.rpartition(".")[0] == module.__name__):
            rows += [f"   * - :doc:`{one.__name__} <module-{one.__name__}>`", f"     - {_summary(one)}"]
    for one in names_of(module):
        page = home[id(one.thing)]
        if page.module == module.__name__ and page not in here:  # a thing with two names has one page
            here.append(page)
        rows += [f"   * - :doc:`{one.name} <{page.path}>`", f"     - {one.summary}"]
    if rows:  # Sphinx refuses an empty table: all that a module offers may need extras that are not installed
        lines += [".. list-table::", "   :widths: 40 60", "   :class: names", "", *rows]
    if here:
        lines += ["", ".. toctree::", "   :hidden:", "", *(f"   {page.name} <{page.path}>" for page in here)]
    return [*lines, ""]


def _page_of_name(one: PublicName) -> list[str]:
    lines = [*heading(one.path), f".. currentmodule:: {one.module}", ""]
    if one.is_data:
        return [*lines, f".. py:data:: {one.name}", "", f"   {one.description}", ""]
    if not inspect.isclass(one.thing):
        return [*lines, f".. autofunction:: {one.name}", ""]
    lines += [f".. autoclass:: {one.name}", ""]
    for name in members(one.thing):
        is_property = isinstance(inspect.getattr_static(one.thing, name), (property, cached_property))
        lines += [f"   .. {'autoproperty' if is_property else 'automethod'}:: {name}", ""]
    return [*lines, *([ESTIMATOR, ""] if _is_estimator(one.thing) else [])]


def _is_estimator(thing: Any) -> bool:
    return any(base.__name__ == "BaseEstimator" for base in thing.__mro__)
