"""A triangle of the probabilities of three classes, with the regions in which each action is the cheapest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from uneven.errors import ParameterError
from uneven.figures.displays.display import Display
from uneven.figures.style import GREY, curve_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uneven.decisions.cost_matrix import CostMatrix

#: Corners of the triangle: the first class below on the left, the second on the right, the third above.
_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
#: Regions smaller than this share of the triangle have no room for their name.
_SMALL = 0.02


class MatrixRegionsDisplay(Display):
    """Where each action of a cost matrix of three classes is the cheapest, as regions of a triangle.

    Each point is a set of three probabilities; in a corner the class that is named there is certain.

    Parameters
    ----------
    costs : CostMatrix
        Of three classes, one matrix for all rows.
    name : str, optional
        A title.

    Attributes
    ----------
    ax_ : matplotlib axes
    figure_ : matplotlib figure

    Examples
    --------
    >>> import uneven
    >>> triage = uneven.CostMatrix(
    ...     [[0, 5, 20], [30, 0, 10], [90, 40, 0]],
    ...     classes=["harmless", "infection", "stroke"], actions=["home", "ward", "lab"],
    ... )
    >>> display = uneven.figures.MatrixRegionsDisplay(triage).plot()
    >>> [round(float(area), 2) for area in display.areas.values()]
    [0.01, 0.41, 0.58]
    """

    _size = (5.2, 4.8)

    def __init__(self, costs: CostMatrix, *, name: str | None = None) -> None:
        if len(costs.classes) != 3:
            raise ParameterError(f"the triangle is for three classes, got {len(costs.classes)}")
        self.costs = costs
        self.name = name
        self.areas: dict[Any, float] = {}

    def _draw(self, axes: Axes, name: str | None, *, curve_kwargs: dict[str, Any]) -> None:
        whole = np.sqrt(3) / 4
        for k, (action, corners) in enumerate(self.costs.regions().items()):
            points = _in_order(corners @ _CORNERS)
            area = _area(points) / whole
            self.areas[action] = area
            if not area:
                continue
            colour = curve_style(k)["color"]
            axes.fill(*points.T, facecolor=colour, alpha=0.25, edgecolor=colour, label=f"{action} ({area:.0%})")
            if area >= _SMALL:
                box = {"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 1.5}
                axes.text(
                    float(points[:, 0].mean()),
                    float(points[:, 1].mean()),
                    str(action),
                    ha="center",
                    va="center",
                    bbox=box,
                )
        axes.plot(*np.vstack([_CORNERS, _CORNERS[:1]]).T, color=GREY, linewidth=1.0, **curve_kwargs)
        places = (("center", "top", -0.03), ("center", "top", -0.03), ("center", "bottom", 0.03))
        for label, corner, (across, up, away) in zip(self.costs.classes, _CORNERS, places, strict=True):
            axes.text(corner[0], corner[1] + away, f"{label} is certain", ha=across, va=up)
        axes.set(xlim=(-0.15, 1.15), ylim=(-0.12, 1.0), aspect="equal")
        axes.axis("off")
        axes.legend(loc="upper right", fontsize=8, frameon=False)
        if name:
            axes.set_title(name)


def _in_order(points: np.ndarray) -> np.ndarray:
    """Corners of a convex region, around its middle."""
    if len(points) < 3:
        return points
    middle = points - points.mean(axis=0)
    return points[np.argsort(np.arctan2(middle[:, 1], middle[:, 0]))]


def _area(points: np.ndarray) -> float:
    """The area of a polygon."""
    if len(points) < 3:
        return 0.0
    x, y = points.T
    return abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2
