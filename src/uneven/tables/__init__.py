"""From tables as people have them (texts, categories, dates, missing values) to the matrices that classifiers take."""

from typing import TYPE_CHECKING

from uneven._lazy import on_first_use

if TYPE_CHECKING:
    from uneven.tables.frame_encoder import FrameEncoder as FrameEncoder

_HOME = {"FrameEncoder": "uneven.tables.frame_encoder"}

__all__ = sorted(_HOME)  # noqa: PLE0605 - a list of strings
__getattr__, __dir__ = on_first_use(__name__, _HOME)
