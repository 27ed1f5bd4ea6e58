"""How every figure looks: colours that colour-blind readers can tell apart, dashes for grey prints, one font size."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from uneven.costs import money
from uneven.errors import needs_extra

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure


# Okabe and Ito's palette without its yellow. Each colour has its own dashes, so that grey prints stay readable.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (5, 1.2, 1.2, 1.2)), (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)), "-")
GREY = "#666666"
_LABEL = 46  # letters in a line of the label of an axis of money, whose unit may be long
#: Amounts from which an axis counts in a larger unit: longer numbers would run into each other.
LARGE = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))
_SETTINGS: dict[Any, Any] = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.fonttype": "none",
    "svg.hashsalt": "uneven",
}


@contextmanager
def styled() -> Iterator[None]:
    """Use our style inside this block; a :class:`MissingExtraError` names the extra if Matplotlib is missing."""
    with needs_extra("figures", "plot"):
        import matplotlib as mpl
    with mpl.rc_context(_SETTINGS):
        yield


def panels(rows: int, columns: int, *, width: float = 7.2, height: float | None = None, **options: Any) -> Any:
    """A figure and its axes as an array. pyplot does not know the figure, so nobody has to close it."""
    from matplotlib.figure import Figure as NewFigure

    tall = height if height is not None else 2.3 * rows + 0.9
    figure = NewFigure(figsize=(width, tall), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def captioned(figure: Figure, caption: str) -> Figure:
    """The figure with a caption below; ``figure.get_label()`` returns the caption."""
    width = int(figure.get_figwidth() * 15.5)
    figure.supxlabel(textwrap.fill(caption, width), fontsize=8, color=GREY, x=0.01, ha="left")
    figure.set_label(caption)
    return figure


def without_caption(figure: Figure) -> Figure:
    """The figure without the caption below it; ``figure.get_label()`` still returns the caption."""
    figure.supxlabel("")
    return figure


def money_axis(axis: Axis, label: str, unit: str | None) -> float:
    """Label an axis of money; returns how much one of its numbers stands for, such as a million.

    Call it when the limits of the axis are set. Without this, Matplotlib writes a factor such as 1e6 at the end of the
    axis, where it hides the legend.
    """
    largest = max(map(abs, axis.get_view_interval()))
    factor, word = next(((size, name) for size, name in LARGE if largest >= size), (1.0, ""))
    words = " ".join(part for part in (word, unit) if part)
    axis.set_label_text(textwrap.fill(f"{label} ({words})" if words else label, _LABEL))
    if word:
        axis.set_major_formatter(lambda value, _: money(float(value) / factor))
    return factor


def curve_style(k: int) -> dict[str, Any]:
    """Colour and dashes of the k-th curve."""
    return {"color": COLOURS[k % len(COLOURS)], "linestyle": DASHES[k % len(DASHES)]}


#: How often the intervals of a drawn curve are halved at most.
_ROUNDS = 7
#: An interval whose middle lies farther off its chord is halved; as a share of the height of the curve.
_BEND = 1.5e-3


def sampled(
    function: Callable[[np.ndarray], np.ndarray], low: float, high: float, *, start: int = 61
) -> tuple[np.ndarray, np.ndarray]:
    """x and y from low to high: an interval whose middle lies off the chord is halved, up to seven times.

    The points close in geometrically on both ends, where roots and logarithms are steep.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.figures.style import sampled
    >>> x, y = sampled(np.sqrt, 0.0, 1.0)
    >>> middle = (x[1:] + x[:-1]) / 2
    >>> bool(np.max(np.abs(np.sqrt(middle) - (y[1:] + y[:-1]) / 2)) < 2e-3)
    True
    """
    ends = (high - low) * np.geomspace(1e-6, 1e-2, 9)
    x = np.unique(np.concatenate([np.linspace(low, high, start), low + ends, high - ends]))
    y = function(x)
    for _ in range(_ROUNDS):
        height = np.ptp(y[np.isfinite(y)]) or 1.0
        middle = (x[1:] + x[:-1]) / 2
        value = function(middle)
        bent = np.abs(value - (y[1:] + y[:-1]) / 2) > _BEND * height
        near = bent | np.append(bent[1:], False) | np.append(False, bent[:-1])
        if not bent.any():
            break
        order = np.argsort(np.append(x, middle[near]), kind="stable")
        x, y = np.append(x, middle[near])[order], np.append(y, value[near])[order]
    return x, y


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
