"""Import a library of an extra, or say in one sentence which extra is missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from uneven.errors import MissingExtraError


def library(module: str, feature: str, extra: str) -> Any:
    """The imported module."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(feature, extra) from None
