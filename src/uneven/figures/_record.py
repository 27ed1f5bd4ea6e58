"""What the gallery knows about a figure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class GalleryFigure:
    """A figure of the gallery; a file of this folder lists its own in the tuple ``GALLERY``.

    Parameters
    ----------
    name : str
        What users type, and the name of the file that is written.
    title : str
        A few words above the figure.
    draw : callable
        Returns the figure with its caption; called without arguments it draws the one of the gallery.
    paper_figure : int, optional
        Its number in the paper; the gallery shows these first.
    """

    name: str
    title: str
    draw: Callable[..., Figure]
    paper_figure: int | None = None

    @property
    def heading(self) -> str:
        """The title, with the number in the paper."""
        return self.title if self.paper_figure is None else f"{self.title} (the paper's figure {self.paper_figure})"

    @property
    def place(self) -> tuple[float, str]:
        """Sorts the figures of the paper by number, then the others by name."""
        return (float("inf") if self.paper_figure is None else self.paper_figure), self.name
