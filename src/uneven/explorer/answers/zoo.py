"""Losses of other libraries, if this version of the package has them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from uneven.errors import LossError
from uneven.losses import Loss


def _zoo() -> Any:
    try:
        return import_module("uneven.zoo")
    except ModuleNotFoundError:
        return None


def zoo_names() -> tuple[str, ...]:
    """Names of the losses; none if there is no zoo."""
    found = _zoo()
    return () if found is None else tuple(found.names())


def zoo_loss(name: str) -> Loss:
    """The loss of a name, with its library's defaults."""
    found = _zoo()
    if found is None:
        raise LossError("this version has no losses of other libraries")
    made: Loss = found.loss(name)
    return made
