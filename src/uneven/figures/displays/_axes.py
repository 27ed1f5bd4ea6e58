"""The axes that a display draws on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from uneven.errors import MissingExtraError
from uneven.figures.style import COLOURS, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_OURS = "drawn by uneven"
_CHARACTER = 0.057  # inches, on average, in a legend of our style

#: A point that is not in the legend; its line tells which model it belongs to.
MARK: dict[str, Any] = {"markersize": 7, "markerfacecolor": "white", "zorder": 4, "label": "_mark"}


def require_matplotlib() -> None:
    """Raise an error that names the extra ``plot`` if Matplotlib is missing; called before any computation."""
    try:
        import matplotlib.pyplot as plt  # noqa: F401
    except ImportError:
        raise MissingExtraError("figures", "plot") from None


@contextmanager
def drawing(ax: Axes | None, *, width: float = 6.0, height: float = 4.2) -> Iterator[Axes]:
    """The given axes as they are, or those of a new figure, in our style."""
    require_matplotlib()
    if ax is not None and ax.get_label() != _OURS:
        yield ax
        return
    with styled():
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots(figsize=(width, height), layout="constrained")
            ax.set_prop_cycle(color=COLOURS)
            ax.set_label(_OURS)
        yield ax


def add_legend(ax: Axes) -> None:
    """A legend above our own axes, where it hides nothing; the user's axes may have a title there."""
    if ax.get_label() == _OURS:
        lines = [line for label in ax.get_legend_handles_labels()[1] for line in label.split("\n")]
        room = ax.figure.bbox.width / ax.figure.dpi / 2 - 0.65  # inches for the text of a column
        columns = 2 if max(map(len, lines)) * _CHARACTER <= room else 1
        ax.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=columns, borderaxespad=0.2)
    else:
        ax.legend(loc="best", framealpha=0.8)


def set_limits(ax: Axes, x: tuple[float, float], y: tuple[float, float], *, fresh: bool) -> None:
    """The limits of both axes; if something was drawn before, what is seen stays in sight."""
    if not fresh:
        x = min(x[0], ax.get_xlim()[0]), max(x[1], ax.get_xlim()[1])
        y = min(y[0], ax.get_ylim()[0]), max(y[1], ax.get_ylim()[1])
    ax.set(xlim=x, ylim=y)


def is_drawn(ax: Axes, label: str) -> bool:
    """Whether the legend has this label: what two models share is drawn once."""
    return label in ax.get_legend_handles_labels()[1]


def curve_options(given: dict[str, Any] | None, **defaults: Any) -> dict[str, Any]:
    """Options of Matplotlib's ``plot``: ours, replaced by those that the user gives."""
    return {**defaults, **(given or {})}
