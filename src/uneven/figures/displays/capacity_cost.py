"""Expected cost against the number of rows that may be flagged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from uneven.costs import GivenCosts, money
from uneven.errors import ParameterError
from uneven.figures.displays.display import (
    MARK,
    PredictionsDisplay,
    add_legend,
    is_drawn,
    require_matplotlib,
    set_limits,
)
from uneven.figures.style import GREY, money_axis
from uneven.inputs import brief
from uneven.metrics import CapacityCosts, cost_by_capacity

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class CapacityCostDisplay(PredictionsDisplay):
    """Expected cost at every limit on flagged rows, with your limit and the cheapest one marked.

    Make it with :meth:`from_estimator`, :meth:`from_predictions` or :meth:`uneven.metrics.CapacityCosts.plot`.

    Parameters
    ----------
    costs : CapacityCosts
        From :func:`uneven.metrics.cost_by_capacity`.
    at_most : number, optional
        Your limit.
    period : str, optional
        What a group is, such as ``"day"``; for the label of the axis.
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
    >>> from uneven.figures import CapacityCostDisplay
    >>> y, p = [1, 0, 1, 0, 0], [0.9, 0.8, 0.6, 0.2, 0.05]
    >>> display = CapacityCostDisplay.from_predictions(y, p, at_most=1, fp_cost=1, fn_cost=9, unit="EUR")
    >>> display.costs.best_capacity
    3.0
    >>> display.ax_.get_xlabel()
    'rows that may be flagged'
    """

    _response: ClassVar[str] = "predict_proba"

    def __init__(
        self,
        costs: CapacityCosts,
        *,
        at_most: float | None = None,
        period: str | None = None,
        name: str | None = None,
        unit: str | None = None,
    ) -> None:
        self.costs = costs
        self.at_most = at_most
        self.period = period
        self.name = name
        self.unit = unit

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        by: str = "saving",
        per: Any = None,
        at_most: float | None = None,
        fp_cost: Any = 1.0,
        fn_cost: Any = 1.0,
        tp_cost: Any = 0.0,
        tn_cost: Any = 0.0,
        pos_label: Any = None,
        sample_weight: Any = None,
        period: str | None = None,
        name: str | None = None,
        unit: str | None = None,
        ax: Axes | None = None,
        curve_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw what limits cost.

        Parameters
        ----------
        y_true, y_score, by, per, fp_cost, fn_cost, tp_cost, tn_cost, pos_label, sample_weight
            As in :func:`uneven.metrics.cost_by_capacity`.
        at_most : number, optional
            Your limit; it is marked.
        period : str, optional
            What a group of ``per`` is, such as ``"day"``; for the label of the axis.
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
        if period is not None and per is None:
            raise ParameterError(f"period names the groups of per, got period={brief(period)} without per")
        costs = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        found = cost_by_capacity(
            y_true, y_score, by=by, per=per, pos_label=pos_label, sample_weight=sample_weight, **costs
        )
        if at_most is not None:
            found.at(at_most)  # an error if it is no number
        period = "group" if per is not None and period is None else period
        display = cls(found, at_most=at_most, period=period, name=name, unit=unit)
        return display.plot(ax, curve_kwargs=curve_kwargs)

    def _draw(self, axes: Axes, name: str | None, *, curve_kwargs: dict[str, Any]) -> None:
        costs, fresh = self.costs, not axes.lines
        in_use = costs.capacity[-1] if self.at_most is None else min(self.at_most, costs.capacity[-1])
        (line,) = axes.plot(costs.capacity, costs.cost, **{"label": self._told(name or "model"), **curve_kwargs})
        if not is_drawn(axes, none := "flag no one"):
            axes.axhline(costs.cost[0], color=GREY, linewidth=0.9, label=none)
        if self.at_most is not None:
            if not is_drawn(axes, yours := f"your limit: {self.at_most:,.6g}"):
                dotted: dict[str, Any] = {"color": GREY, "linewidth": 0.9, "linestyle": ":", "markevery": []}
                axes.axvline(self.at_most, marker="s", markerfacecolor="white", label=yours, **dotted)
            axes.plot([in_use], [costs.at(in_use)], "s", color=line.get_color(), **MARK)
        axes.plot([costs.best_capacity], [costs.best_cost], "o", color=line.get_color(), **MARK)
        if not is_drawn(axes, best := "cheapest limit, in hindsight"):
            axes.plot([], [], "o", **{**MARK, "color": GREY, "label": best})
        period = "" if self.period is None else f" in a {self.period}"
        axes.set_xlabel(f"rows that may be flagged{period}")
        set_limits(axes, *self._limits(in_use), fresh=fresh)
        money_axis(axes.yaxis, "expected cost per row", self.unit)
        add_legend(axes)

    def _told(self, label: str) -> str:
        """The model and what it costs: at your limit, or at the cheapest one."""
        costs = self.costs
        if self.at_most is None:
            return f"{label}\n{money(costs.best_cost, self.unit)} at {costs.best_capacity:,.6g}"
        at, best = money(costs.at(self.at_most), self.unit), money(costs.best_cost, self.unit)
        return f"{label}\n{at}, cheapest {best} at {costs.best_capacity:,.6g}"

    def _limits(self, in_use: float) -> tuple[tuple[float, float], tuple[float, float]]:
        """Show limits up to well beyond yours and the cheapest one, and no costs far above that of flagging no one."""
        costs = self.costs
        shown = max(costs.best_capacity, in_use if self.at_most is not None else 0.0)
        right = min(float(costs.capacity[-1]), 1.6 * shown or float(costs.capacity[-1]))
        within = costs.cost[costs.capacity <= right]
        floor = min(costs.best_cost, 0.0)
        top = max(float(costs.cost[0]), min(float(np.max(within)), 1.5 * float(costs.cost[0])))
        top = floor + 1.06 * (top - floor) or floor + 1.0
        return (-0.02 * right, right or 1.0), (floor - 0.04 * (top - floor), top)
