"""Losses of mmdet and mmpretrain, without the packages that they need for the rest."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any

from zoo_truth.bare import bare


class _Registry:
    """Registers nothing."""

    def register_module(self, *_: Any, **__: Any) -> Any:
        return lambda thing: thing


def losses_of(package: str, name: str) -> ModuleType:
    """A module of ``package.models.losses``."""
    stubs: dict[str, dict[str, object]] = {
        f"{package}__registry": {"MODELS": _Registry()},
        "mmcv__ops": {"sigmoid_focal_loss": None},
    }
    if package == "mmdet":
        stubs["mmdet__models__losses__accuracy"] = {"accuracy": SimpleNamespace()}
    return bare(f"{package}.models.losses.{name}", **stubs)
