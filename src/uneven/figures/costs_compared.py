"""Expected costs of several classifiers, with their confidence intervals."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from uneven.costs import money
from uneven.figures.style import COLOURS, GREY, captioned, money_axis, panels, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAME = 26  # letters of a name in one line
#: name, cost per example, lower and upper end of its interval
Row = tuple[str, float, float, float]


def costs_compared(
    rows: Sequence[Row],
    *,
    highlight: str | None = None,
    label: str = "expected cost per example",
    unit: str | None = None,
    rough: Collection[str] = (),
) -> Figure:
    """Costs, smaller is better; one line per classifier. ``label`` is that of the axis, ``unit`` that of the costs.

    ``rough`` names the classifiers whose intervals one dear row decides, as
    :class:`uneven.metrics.CostEstimate` says: their lines are thin, and the word is beside the cost.

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
            width = 1.0 if name in rough else 2.5
            axes.plot([low, high], [k, k], color=colour, linewidth=width, solid_capstyle="butt")
            axes.plot([cost], [k], "o", color=colour, markersize=7)
        axes.set_xlim(left=0)
        axes.xaxis.set_major_formatter(lambda value, _: money(float(value)))
        axes.locator_params(axis="x", nbins=4)  # so that long amounts do not run into each other
        factor = money_axis(axes.xaxis, label, unit)
        for k, (name, cost, _, _) in enumerate(rows):
            words = money(float(f"{cost / factor:.3g}")) + (", rough" if name in rough else "")
            style: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "fontsize": 8, "color": GREY}
            axes.annotate(words, (cost, k), (0, 7), **style)
        axes.set_yticks(range(len(rows)), [textwrap.fill(name, _NAME) for name, *_ in rows])
        axes.margins(y=0.15)
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        return captioned(figure, "Cross-validated cost per example, all on the same folds, with 95 % intervals.")
