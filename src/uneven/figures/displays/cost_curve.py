"""Expected cost against the cost parameter alpha."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from uneven._money import money
from uneven.figures.displays._axes import (
    MARK,
    add_legend,
    curve_options,
    drawing,
    is_drawn,
    require_matplotlib,
    set_limits,
)
from uneven.figures.displays._response import costs_of, default_threshold, name_of, positive_of, scores_of
from uneven.figures.style import DASHES, GREY
from uneven.metrics import CostCurve, cost_curve
from uneven.metrics.rows import read_scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


class CostCurveDisplay:
    """Expected cost for every alpha: at the threshold in use, at the best one, and of the better constant decision.

    Make it with :meth:`from_estimator`, :meth:`from_predictions` or :meth:`uneven.metrics.CostCurve.plot`.

    Parameters
    ----------
    curve : CostCurve
        From :func:`uneven.metrics.cost_curve`.
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
    >>> from uneven.figures import CostCurveDisplay
    >>> display = CostCurveDisplay.from_predictions([0, 0, 1, 1], [-1.0, 0.5, -0.2, 2.0], fp_cost=1, fn_cost=9)
    >>> display.curve.own_alpha
    0.1
    >>> display.ax_.lines[0].get_label()
    'model\\nmistakes: 2.5 per row at your costs'
    """

    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(self, curve: CostCurve, *, name: str | None = None, unit: str | None = None) -> None:
        self.curve = curve
        self.name = name
        self.unit = unit

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        fp_cost: Any = None,
        fn_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
        pos_label: Any = None,
        sample_weight: Any = None,
        response_method: str = "auto",
        threshold: float | None = None,
        name: str | None = None,
        unit: str | None = None,
        ax: Axes | None = None,
        curve_kwargs: dict[str, Any] | None = None,
    ) -> CostCurveDisplay:
        """Draw the cost curve of a fitted classifier on some rows.

        Parameters
        ----------
        estimator, X, y, fp_cost, fn_cost, tp_cost, tn_cost, pos_label, sample_weight, response_method
            As in :meth:`ThresholdCostDisplay.from_estimator`.
        threshold, name, unit, ax, curve_kwargs
            As in :meth:`from_predictions`; the name is by default that of the estimator's class.
        """
        require_matplotlib()
        positive = positive_of(estimator, pos_label)
        costs = costs_of(estimator, fp_cost=fp_cost, fn_cost=fn_cost, tp_cost=tp_cost, tn_cost=tn_cost)
        return cls.from_predictions(
            y,
            scores_of(estimator, X, positive, response_method, costs),
            **costs,
            pos_label=positive,
            sample_weight=sample_weight,
            threshold=threshold,
            name=name_of(estimator, name),
            unit=unit,
            ax=ax,
            curve_kwargs=curve_kwargs,
        )

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
    ) -> CostCurveDisplay:
        """Draw the cost curve of scores.

        Parameters
        ----------
        y_true, y_score, fp_cost, fn_cost, tp_cost, tn_cost, pos_label, sample_weight
            As in :func:`uneven.metrics.cost_curve`. The alpha of the costs is marked.
        threshold, name, unit, ax, curve_kwargs
            As in :meth:`ThresholdCostDisplay.from_predictions`.
        """
        require_matplotlib()
        options: dict[str, Any] = {"pos_label": pos_label, "sample_weight": sample_weight}
        options |= {"fp_cost": fp_cost, "fn_cost": fn_cost, "tp_cost": tp_cost, "tn_cost": tn_cost}
        if threshold is None:
            threshold = default_threshold(*read_scores(y_true, y_score, **options))
        curve = cost_curve(y_true, y_score, threshold=threshold, **options)
        return cls(curve, name=name, unit=unit).plot(ax, curve_kwargs=curve_kwargs)

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, curve_kwargs: dict[str, Any] | None = None
    ) -> CostCurveDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            By default those of a new figure.
        name : str, optional
            Name of the model in the legend.
        curve_kwargs : dict, optional
            Options of Matplotlib's ``plot`` for the curve of the threshold in use.
        """
        label = (self.name if name is None else name) or "model"
        curve = self.curve
        with drawing(ax) as axes:
            fresh = not axes.lines
            at_your_costs = f"{label}\nmistakes: {money(self._paid(), self.unit)} per row at your costs"
            (line,) = axes.plot(curve.alpha, curve.cost, **curve_options(curve_kwargs, label=at_your_costs))
            axes.plot([curve.own_alpha], [self._paid() / curve.unit], "s", color=line.get_color(), **MARK)
            style: dict[str, Any] = {"color": line.get_color(), "linestyle": DASHES[1], "linewidth": 1.2}
            axes.plot(curve.alpha, curve.best_cost, **style, label=f"{label}, best threshold")
            if not is_drawn(axes, constant := "same decision for everyone"):
                axes.plot(curve.alpha, curve.constant_cost, color=GREY, linewidth=0.9, label=constant)
            own = f"your costs, {_in_words(curve.own_alpha)}"
            if not is_drawn(axes, own):
                axes.axvline(curve.own_alpha, color=GREY, linewidth=0.9, linestyle=":", label=own)
            axes.set_xlabel(r"$\alpha$ = cost of a false positive / (false positive + false negative)")
            axes.set_ylabel("expected cost per row (costs sum to 1)")
            set_limits(axes, (0, 1), (0, self._top()), fresh=fresh)
            add_legend(axes)
            self.ax_, self.figure_ = axes, axes.figure
        return self

    def _paid(self) -> float:
        """What mistakes cost per row at the given costs; the cost at a fixed threshold is linear in alpha."""
        order = np.argsort(self.curve.alpha)
        return self.curve.unit * float(np.interp(self.curve.own_alpha, self.curve.alpha[order], self.curve.cost[order]))

    def _top(self) -> float:
        """A little above what the model costs where it is of use; the constant decision may leave the picture."""
        curve = self.curve
        useful = curve.cost < curve.constant_cost
        costs = np.concatenate([curve.cost[useful], curve.best_cost])
        highest, constant = float(costs.max(initial=0.0)), float(curve.constant_cost.max(initial=0.0))
        return 1.05 * min(constant, 3 * highest) if highest > 0 else 1.05 * constant or 1.0


def _in_words(alpha: float) -> str:
    if alpha in (0, 1):
        return "only one kind of mistake"
    ratio = (1 - alpha) / alpha
    return f"{money(ratio)} : 1" if ratio >= 1 else f"1 : {money(1 / ratio)}"
