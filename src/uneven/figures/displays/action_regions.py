"""Expected costs of several actions against the probability, with the regions in which each is the cheapest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logit

from uneven.figures.displays.display import Display, add_legend
from uneven.figures.style import GREY, curve_style, money_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uneven.decisions.actions import Actions

#: Breaks closer to 0 or 1 than this need log-odds as the scale of the axis.
_CLOSE = 0.02
#: Height of the picture over the height of the envelope: lines that rise far above it are cut off.
_HEIGHT = 2.2
#: Shares of the width below which the name of a region does not fit.
_NARROW = 0.06
_POINTS = 801


class ActionRegionsDisplay(Display):
    """Expected cost of each action against P(Y = 1): the lowest lines, and between which breaks each is the cheapest.

    Parameters
    ----------
    actions : Actions
        With costs that are numbers; ``row(k)`` gives those of one row.
    name : str, optional
        A title.
    unit : str, optional
        Unit of the costs, such as ``"EUR"``.

    Attributes
    ----------
    ax_ : matplotlib axes
    figure_ : matplotlib figure

    Examples
    --------
    >>> import uneven
    >>> actions = uneven.Actions(clear=(100, 0), review=(8, 5), block=(0, 20))
    >>> display = uneven.figures.ActionRegionsDisplay(actions, unit="EUR").plot()
    >>> display.ax_.get_ylabel(), display.ax_.get_xscale()
    ('expected cost (EUR)', 'linear')
    """

    def __init__(self, actions: Actions, *, name: str | None = None, unit: str | None = None) -> None:
        self.actions = actions
        self.name = name
        self.unit = unit

    def _draw(self, axes: Axes, name: str | None, *, curve_kwargs: dict[str, Any]) -> None:
        actions = self.actions
        edges, far = self._edges()
        low, high = logit(edges) if far else edges
        eta = np.linspace(float(low), float(high), _POINTS)
        eta = expit(eta) if far else eta
        eta = np.unique(np.concatenate([eta, actions.breaks]))
        costs = actions.expected_costs(eta)
        lowest = costs.min(axis=1)
        for k, action in enumerate(actions.names):
            never = action in actions.dominated
            label = f"{action} (never pays)" if never else action
            options = {**curve_style(k), "linewidth": 1.0 if never else 1.4, "label": label, **curve_kwargs}
            axes.plot(eta, costs[:, k], **options)
        axes.plot(eta, lowest, color="black", linewidth=3.2, alpha=0.35, label="the cheapest", solid_capstyle="butt")
        low, high = float(lowest.min()), float(lowest.max())
        size = (high - low) or abs(high) or 1.0
        axes.set(xlim=edges, ylim=(low - 0.04 * size, low + _HEIGHT * size))
        if far:
            axes.set_xscale("logit", one_half="0.5")
        axes.set_xlabel("probability of the positive class")
        money_axis(axes.yaxis, "expected cost", self.unit)
        self._draw_regions(axes, edges, far)
        if name:
            axes.set_title(name)
        add_legend(axes)

    def _edges(self) -> tuple[tuple[float, float], bool]:
        """The ends of the axis, and whether its scale is that of log-odds."""
        breaks = self.actions.breaks
        nearest = min((min(at, 1 - at) for at in breaks), default=1.0)
        if nearest >= _CLOSE:
            return (0.0, 1.0), False
        return (max(min(breaks) / 20, 1e-300), min(1 - (1 - max(breaks)) / 20, 1 - 1e-15)), True

    def _draw_regions(self, axes: Axes, edges: tuple[float, float], far: bool) -> None:
        """A band for each action that pays, with its name above, and the breaks with their probabilities."""

        def along(at: float) -> float:
            inside = min(max(at, edges[0]), edges[1])
            low, high, here = (logit(v) if far else v for v in (*edges, inside))
            return float((here - low) / (high - low))

        place = axes.get_xaxis_transform()
        for k, (action, (low, high)) in enumerate(self.actions.regions.items()):
            colour = curve_style(self.actions.names.index(action))["color"]
            ends = max(low, edges[0]), min(high, edges[1])
            axes.axvspan(*ends, color=colour, alpha=0.09, linewidth=0, label=f"_{action}")
            left, right = along(low), along(high)
            if right - left >= _NARROW:
                box = {"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 1.5}
                middle: dict[str, Any] = {"transform": axes.transAxes, "ha": "center", "va": "top", "bbox": box}
                axes.text((left + right) / 2, 0.965, action, **middle)
            if k:
                axes.axvline(low, color=GREY, linewidth=0.8, linestyle=":", label="_break")
                near: dict[str, Any] = {"textcoords": "offset points", "xytext": (3, 4), "fontsize": 8, "color": GREY}
                axes.annotate(f"{low:.3g}", (low, 0.0), xycoords=place, **near)
