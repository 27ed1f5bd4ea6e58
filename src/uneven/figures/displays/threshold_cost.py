"""Expected cost against the decision threshold."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from uneven.costs import GivenCosts, money
from uneven.figures.displays.display import (
    MARK,
    PredictionsDisplay,
    add_legend,
    default_threshold,
    is_drawn,
    require_matplotlib,
    set_limits,
)
from uneven.figures.style import DASHES, GREY, money_axis
from uneven.metrics import ThresholdCosts, cost_by_threshold
from uneven.metrics.rows import read_scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Letters in a line of the legend; a unit of money may be long.
_LEGEND = 60


class ThresholdCostDisplay(PredictionsDisplay):
    """Expected cost at every threshold, with the threshold in use and the cheapest one marked.

    Make it with :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    costs : ThresholdCosts
        From :func:`uneven.metrics.cost_by_threshold`.
    threshold : float
        The threshold in use.
    name : str, optional
        Name of the model in the legend.
    unit : str, optional
        Unit of the costs, such as ``"EUR"``.

    Attributes
    ----------
    ax_ : matplotlib axes
    figure_ : matplotlib figure

    Examples
    --------
    >>> from uneven.figures import ThresholdCostDisplay
    >>> display = ThresholdCostDisplay.from_predictions(
    ...     [0, 0, 1, 1], [-1.0, 0.5, -0.2, 2.0], fp_cost=1, fn_cost=9, unit="EUR"
    ... )
    >>> display.costs.best_threshold, display.costs.at(display.threshold)
    (-1.0, 2.5)
    >>> display.ax_.get_ylabel()
    'expected cost per row (EUR)'
    """

    def __init__(
        self, costs: ThresholdCosts, *, threshold: float = 0.0, name: str | None = None, unit: str | None = None
    ) -> None:
        self.costs = costs
        self.threshold = threshold
        self.name = name
        self.unit = unit

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        fp_cost: Any = 1.0,
        fn_cost: Any = 1.0,
        tp_cost: Any = 0.0,
        tn_cost: Any = 0.0,
        pos_label: Any = None,
        sample_weight: Any = None,
        threshold: float | None = None,
        name: str | None = None,
        unit: str | None = None,
        ax: Axes | None = None,
        curve_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the cost of scores.

        Parameters
        ----------
        y_true, y_score, fp_cost, fn_cost, tp_cost, tn_cost, pos_label, sample_weight
            As in :func:`uneven.metrics.cost_by_threshold`.
        threshold : float, optional
            The threshold in use. By default 0; if all scores lie in [0, 1], they are taken for probabilities, and it is
            the alpha of the average costs.
        name : str, optional
            Name of the model in the legend.
        unit : str, optional
            Unit of the costs, such as ``"EUR"``.
        ax : matplotlib axes, optional
            By default those of a new figure.
        curve_kwargs : dict, optional
            Options of Matplotlib's ``plot`` for the curve.
        """
        require_matplotlib()
        options: dict[str, Any] = {"pos_label": pos_label, "sample_weight": sample_weight}
        options |= GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        found = cost_by_threshold(y_true, y_score, **options)
        used = default_threshold(*read_scores(y_true, y_score, **options)) if threshold is None else threshold
        found.at(used)  # an error if it is no number
        return cls(found, threshold=used, name=name, unit=unit).plot(ax, curve_kwargs=curve_kwargs)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        parts: bool | None = None,
        curve_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax, name, curve_kwargs
            As in :meth:`from_predictions`.
        parts : bool, optional
            Whether to draw the parts of the cost that false positives and false negatives cause. By default they are
            drawn unless right decisions earn money: then the parts lie far above the cost.
        """
        return self._plot(ax, name, parts=parts, curve_kwargs=curve_kwargs or {})

    def _draw(self, axes: Axes, name: str | None, *, parts: bool | None, curve_kwargs: dict[str, Any]) -> None:
        label = name or "model"
        costs = self.costs
        used, cheapest = money(self._at, self.unit), money(costs.best_cost, self.unit)
        fresh = not axes.lines
        (left, right), (low, high) = self._limits()
        x = self._far_beyond()
        told = textwrap.fill(f"{used}, cheapest {cheapest}", _LEGEND)
        options = {"drawstyle": "steps-post", "label": f"{label}\n{told}", **curve_kwargs}
        (line,) = axes.plot(x, np.append(costs.cost, costs.cost[-1]), **options)
        if costs.right_cost >= 0 if parts is None else parts:
            self._draw_parts(axes, x, line.get_color())
        if not is_drawn(axes, in_use := f"threshold in use: {self.threshold:.4g}"):
            dotted: dict[str, Any] = {"color": GREY, "linewidth": 0.9, "linestyle": ":", "markevery": []}
            axes.axvline(self.threshold, marker="s", markerfacecolor="white", label=in_use, **dotted)
        for at, marker in ((self.threshold, "s"), (costs.best_threshold, "o")):
            place = min(max(at, left), right)
            axes.plot([place], [costs.at(at)], marker, color=line.get_color(), clip_on=False, **MARK)
        if not is_drawn(axes, "cheapest threshold"):
            axes.plot([], [], "o", **{**MARK, "color": GREY, "label": "cheapest threshold"})
        axes.set_xlabel("decision threshold")
        set_limits(axes, (left, right), (low, high), fresh=fresh)
        money_axis(axes.yaxis, "expected cost per row", self.unit)
        add_legend(axes)

    def _draw_parts(self, axes: Axes, x: np.ndarray, colour: Any) -> None:
        kinds = {"false positives": self.costs.false_positive_cost, "false negatives": self.costs.false_negative_cost}
        for (what, part), dashes in zip(kinds.items(), DASHES[1:], strict=False):
            once = "_" if is_drawn(axes, what) else ""
            style: dict[str, Any] = {"color": colour, "linewidth": 0.9, "alpha": 0.8, "linestyle": dashes}
            axes.plot(x, np.append(part, part[-1]), drawstyle="steps-post", label=once + what, **style)

    @property
    def _at(self) -> float:
        return float(self.costs.at(self.threshold))

    def _far_beyond(self) -> np.ndarray:
        """The thresholds, with ends far outside the picture in place of the infinite ones."""
        inside = self.costs.threshold[1:]
        (left, right), _ = self._limits()
        low, high = min(left, inside.min(initial=left)), max(right, inside.max(initial=right))
        return np.concatenate([[low - 10 * (high - low)], inside, [high + 10 * (high - low)]])

    def _limits(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """What to show: costs up to a little above the better constant decision, and the thresholds with such costs.

        Most thresholds may cost many times as much; drawn to their height, the cheap ones would look all alike.
        """
        costs = self.costs
        floor = min(costs.best_cost, 0.0)
        better_constant = min(costs.cost[0], costs.cost[-1])
        most = max(better_constant, self._at)
        top = floor + 1.3 * (most - floor) or floor + 1.0
        shown = costs.threshold[(costs.cost <= top) & np.isfinite(costs.threshold)]
        ends = costs.threshold[np.isfinite(costs.threshold)]
        shown = np.concatenate([shown, ends[:1] if costs.cost[0] <= top else ends[:0], [self.threshold]])
        shown = shown[np.isfinite(shown)]
        low, high = (float(shown.min()), float(shown.max())) if shown.size else (-1.0, 1.0)
        margin = 0.06 * (high - low) or 0.5
        return (low - margin, high + margin), (floor - 0.04 * (top - floor), top)
