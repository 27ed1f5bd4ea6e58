"""Label smoothing and a class weight together: the costs they make, and where they make none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from uneven.figures.style import COLOURS, GREY, GalleryFigure, captioned, curve_style, panels, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def smoothing_and_weight(smoothings: tuple[float, ...] = (0.0, 0.05, 0.1, 0.2)) -> Figure:
    """The cost ratio that weighted cross entropy with label smoothing assumes, and the region where it has none.

    With weights (1, w) and smoothing e, the alpha is [1 - e/2 - w e/2] / [(1 - e)(1 + w)]: the slopes at t = 0 (theorem
    4). It is positive if w < 2/e - 1.

    Examples
    --------
    >>> import uneven
    >>> len(uneven.figures.smoothing_and_weight().axes)
    2
    """
    weights = np.geomspace(1, 100, 2001)
    with styled():
        from matplotlib.ticker import NullLocator

        figure, ((left, right),) = panels(1, 2, width=8.4, height=3.7)
        for k, e in enumerate(smoothings):
            allowed = weights[weights * e / 2 < 1 - e / 2]
            alpha = (1 - e / 2 - allowed * e / 2) / ((1 - e) * (1 + allowed))
            ratio = (1 - alpha) / alpha
            left.plot(allowed, ratio, **curve_style(k), label=f"label_smoothing = {e:g}" if e else "no smoothing")
            if e:
                left.axvline(2 / e - 1, color=COLOURS[k % len(COLOURS)], linewidth=0.8, linestyle=":")
        left.plot([10], [21], "o", color="black", markersize=5, zorder=5)
        left.annotate(
            "weight=(1, 10),\nlabel_smoothing=0.1:\n21 : 1, not 10 : 1",
            (10, 21),
            (1.15, 300),
            arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.8},
            va="center",
        )
        left.set(xscale="log", yscale="log", xlim=(1, 100), ylim=(1, 2000))
        left.set(xlabel="weight of the positives, w", ylabel="FN : FP cost that the loss assumes")
        left.legend(loc="lower right", frameon=True, facecolor="white", framealpha=1.0, edgecolor="none")
        grid = np.linspace(0.001, 0.5, 500)
        edge = 2 / grid - 1
        right.fill_between(grid, edge, 100, color=COLOURS[1], alpha=0.25, linewidth=0)
        right.plot(grid, edge, color=COLOURS[1])
        right.plot([0.1], [10], "o", color="black", markersize=5)
        right.plot([0.1, 0.2], [19, 10], "x", color="black", markersize=6)
        right.annotate("21 : 1", (0.1, 10), (-7, -3), textcoords="offset points", ha="right")
        right.annotate("(1, 19), 0.1", (0.1, 19), (7, 2), textcoords="offset points")
        right.annotate("(1, 10), 0.2", (0.2, 10), (7, 2), textcoords="offset points")
        right.annotate("calibrated for no costs:\neveryone is predicted positive", (0.32, 40), ha="center", va="center")
        right.annotate("some costs", (0.03, 3), color=GREY)
        right.set(yscale="log", xlim=(0, 0.5), ylim=(1, 100))
        left.set_xticks([1, 3, 10, 30, 100], ["1", "3", "10", "30", "100"])
        left.set_yticks([1, 10, 100, 1000], ["1 : 1", "10 : 1", "100 : 1", "1000 : 1"])
        right.set_yticks([1, 3, 10, 30, 100], ["1", "3", "10", "30", "100"])
        for axis in (left.xaxis, left.yaxis, right.yaxis):
            axis.set_minor_locator(NullLocator())
        right.set(xlabel="label_smoothing, e", ylabel="weight of the positives, w")
        return captioned(
            figure,
            "torch.nn.CrossEntropyLoss(weight=(1, w), label_smoothing=e) on two classes. Left: the costs that "
            "it assumes "
            "grow much faster than the weight. Right: from w = 2/e - 1 on it is calibrated for no costs (theorem 4).",
        )


GALLERY = (GalleryFigure("smoothing-and-weight", "Label smoothing and a class weight", smoothing_and_weight),)
