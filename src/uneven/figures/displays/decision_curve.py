"""Net benefit against the threshold probability."""

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
from uneven.figures.displays._response import costs_of, name_of, positive_of, scores_of
from uneven.figures.style import DASHES, GREY
from uneven.metrics import NetBenefit, net_benefit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


class DecisionCurveDisplay:
    """Net benefit of treating by probability, of treating everyone and of treating nobody.

    Make it with :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    benefit : NetBenefit
        From :func:`uneven.metrics.net_benefit`.
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
    >>> from uneven.figures import DecisionCurveDisplay
    >>> display = DecisionCurveDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], fp_cost=1, fn_cost=9)
    >>> display.benefit.own_threshold
    0.1
    >>> [line.get_label() for line in display.ax_.lines][-3:-1]
    ['treat everyone', 'treat nobody']
    """

    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(self, benefit: NetBenefit, *, name: str | None = None, unit: str | None = None) -> None:
        self.benefit = benefit
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
        thresholds: Any = None,
        name: str | None = None,
        unit: str | None = None,
        ax: Axes | None = None,
        curve_kwargs: dict[str, Any] | None = None,
    ) -> DecisionCurveDisplay:
        """Draw the decision curve of a fitted classifier with ``predict_proba``.

        Parameters
        ----------
        estimator, X, y, fp_cost, fn_cost, tp_cost, tn_cost, pos_label, sample_weight
            As in :meth:`ThresholdCostDisplay.from_estimator`.
        thresholds, name, unit, ax, curve_kwargs
            As in :meth:`from_predictions`; the name is by default that of the estimator's class.
        """
        require_matplotlib()
        positive = positive_of(estimator, pos_label)
        costs = costs_of(estimator, fp_cost=fp_cost, fn_cost=fn_cost, tp_cost=tp_cost, tn_cost=tn_cost)
        return cls.from_predictions(
            y,
            scores_of(estimator, X, positive, "predict_proba", costs),
            **costs,
            pos_label=positive,
            sample_weight=sample_weight,
            thresholds=thresholds,
            name=name_of(estimator, name),
            unit=unit,
            ax=ax,
            curve_kwargs=curve_kwargs,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        fp_cost: Any = 1.0,
        fn_cost: Any = 1.0,
        tp_cost: Any = 0.0,
        tn_cost: Any = 0.0,
        pos_label: Any = None,
        sample_weight: Any = None,
        thresholds: Any = None,
        name: str | None = None,
        unit: str | None = None,
        ax: Axes | None = None,
        curve_kwargs: dict[str, Any] | None = None,
    ) -> DecisionCurveDisplay:
        """Draw the decision curve of probabilities.

        Parameters
        ----------
        y_true, y_prob, fp_cost, fn_cost, tp_cost, tn_cost, pos_label, sample_weight, thresholds
            As in :func:`uneven.metrics.net_benefit`. The threshold of the costs is marked.
        name, unit, ax, curve_kwargs
            As in :meth:`ThresholdCostDisplay.from_predictions`.
        """
        require_matplotlib()
        options: dict[str, Any] = {"pos_label": pos_label, "sample_weight": sample_weight}
        options |= {"fp_cost": fp_cost, "fn_cost": fn_cost, "tp_cost": tp_cost, "tn_cost": tn_cost}
        found = net_benefit(y_true, y_prob, thresholds=thresholds, **options)
        if thresholds is None and 0 < found.own_threshold < 1:  # so that the value at the marked threshold is known
            found = net_benefit(
                y_true, y_prob, thresholds=np.union1d(found.threshold, [found.own_threshold]), **options
            )
        return cls(found, name=name, unit=unit).plot(ax, curve_kwargs=curve_kwargs)

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, curve_kwargs: dict[str, Any] | None = None
    ) -> DecisionCurveDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            By default those of a new figure.
        name : str, optional
            Name of the model in the legend.
        curve_kwargs : dict, optional
            Options of Matplotlib's ``plot`` for the curve.
        """
        found = self.benefit
        label = (self.name if name is None else name) or "model"
        at = np.flatnonzero(found.threshold == found.own_threshold)
        if at.size:
            saved = money(float(found.net_benefit[at[0]]) * found.unit, self.unit)
            label = f"{label}\nsaves {saved} per row over nobody"
        with drawing(ax) as axes:
            fresh = not axes.lines
            (line,) = axes.plot(found.threshold, found.net_benefit, **curve_options(curve_kwargs, label=label))
            if at.size:
                axes.plot(found.threshold[at], found.net_benefit[at], "s", color=line.get_color(), **MARK)
            for what, values, dashes in (
                ("treat everyone", found.treat_all, DASHES[1]),
                ("treat nobody", found.treat_none, DASHES[0]),
            ):
                if not is_drawn(axes, what):
                    axes.plot(found.threshold, values, color=GREY, linewidth=0.9, linestyle=dashes, label=what)
            if not is_drawn(axes, own := f"your costs, threshold {found.own_threshold:.4g}"):
                axes.axvline(found.own_threshold, color=GREY, linewidth=0.9, linestyle=":", label=own)
            axes.set(xlabel="threshold probability", ylabel="net benefit, in true positives per row")
            top = 1.05 * float(max(found.net_benefit.max(), found.treat_all.max(), 0.0)) or 1.0
            lowest = float(min(found.net_benefit.min(), 0.0))
            set_limits(axes, (0, 1), (max(1.1 * lowest, -top / 2) - 0.05 * top, top), fresh=fresh)
            add_legend(axes)
            self.ax_, self.figure_ = axes, axes.figure
        return self
