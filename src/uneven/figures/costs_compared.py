"""Expected costs of several classifiers, with their confidence intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from uneven._money import money
from uneven.figures.style import COLOURS, GREY, captioned, panels, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: name, cost per example, lower and upper end of its interval
Row = tuple[str, float, float, float]


def costs_compared(
    rows: Sequence[Row], *, highlight: str | None = None, label: str = "expected cost per example"
) -> Figure:
    """Costs, smaller is better; one line per classifier. ``label`` is that of the axis.

    Examples
    --------
    >>> from uneven import figures
    >>> figure = figures.costs_compared([("ours", 0.1, 0.05, 0.2), ("theirs", 0.3, 0.2, 0.5)], highlight="ours")
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['ours', 'theirs']
    """
    with styled():
        figure, ((axes,),) = panels(1, 1, width=6.4, height=0.4 * len(rows) + 1.5)
        for k, (name, cost, low, high) in enumerate(rows):
            colour = COLOURS[1] if name == highlight else COLOURS[0]
            axes.plot([low, high], [k, k], color=colour, linewidth=2.5, solid_capstyle="butt")
            axes.plot([cost], [k], "o", color=colour, markersize=7)
            axes.annotate(
                money(float(f"{cost:.3g}")),
                (cost, k),
                (0, 7),
                textcoords="offset points",
                ha="center",
                fontsize=8,
                color=GREY,
            )
        axes.set_yticks(range(len(rows)), [name for name, *_ in rows])
        axes.set_xlim(left=0)
        axes.xaxis.set_major_formatter(lambda value, _: money(float(value)))
        axes.margins(y=0.15)
        axes.invert_yaxis()
        axes.set_xlabel(label)
        axes.grid(axis="y", visible=False)
        return captioned(
            figure, "Cross-validated cost per example, all on the same folds, with 95 % bootstrap intervals."
        )
