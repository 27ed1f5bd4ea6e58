"""How every figure looks: colours that colour-blind readers and printers keep apart, one font size, one width."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from uneven.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette without its yellow, and a dash pattern for each, so that grey prints stay readable.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (5, 1.2, 1.2, 1.2)), (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)), "-")
GREY = "#666666"
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
    """Draw inside this block; a :class:`MissingExtraError` names the extra if Matplotlib is not there."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise MissingExtraError("figures", "plot") from None
    with mpl.rc_context(_SETTINGS):
        yield


def panels(rows: int, columns: int, *, width: float = 7.2, height: float | None = None, **options: Any) -> Any:
    """A figure outside pyplot's registry (so that none leaks), and its axes as an array."""
    from matplotlib.figure import Figure as NewFigure

    tall = height if height is not None else 2.3 * rows + 0.9
    figure = NewFigure(figsize=(width, tall), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def captioned(figure: Figure, caption: str) -> Figure:
    """The figure with its caption below; the text is also kept as the figure's label."""
    width = int(figure.get_figwidth() * 15.5)
    figure.supxlabel(textwrap.fill(caption, width), fontsize=8, color=GREY, x=0.01, ha="left")
    figure.set_label(caption)
    return figure


def curve_style(k: int) -> dict[str, Any]:
    """Colour and dashes of the k-th curve."""
    return {"color": COLOURS[k % len(COLOURS)], "linestyle": DASHES[k % len(DASHES)]}


def jump(axes: Axes, x: float, closed: float, opened: float, colour: str) -> None:
    """The two ends of a curve at a jump: a full disc where its value is, a ring where it is not."""
    axes.plot([x], [closed], "o", color=colour, markersize=4, zorder=4)
    axes.plot([x], [opened], "o", color=colour, markerfacecolor="white", markersize=4, zorder=4)
