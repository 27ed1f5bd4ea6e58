"""The out-of-fold cost and the posterior of the shift."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from uneven._inputs import brief
from uneven.errors import ParameterError
from uneven.figures.displays._axes import (
    add_legend,
    curve_options,
    drawing,
    is_drawn,
    require_matplotlib,
    set_limits,
)
from uneven.figures.style import GREY, money_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from uneven.decisions.out_of_fold_rows import ShiftCurve

#: Share of the height that the posterior takes.
_HEIGHT = 0.3
#: Room above and below the costs, as a share of their range.
_ROOM = 0.15


class ThresholdShiftDisplay:
    """Cost of out-of-fold decisions against the shift of the log-odds, with the shift in use and its posterior.

    Make it with :meth:`from_estimator`.

    Parameters
    ----------
    curve : ShiftCurve
        ``curve_`` of a fitted :class:`uneven.UnevenThresholdClassifierCV`.
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
    >>> import uneven
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> model = uneven.UnevenThresholdClassifierCV(GaussianNB(), fn_cost=5).fit(X[50:, :2], y[50:] == 2)
    >>> display = uneven.figures.ThresholdShiftDisplay.from_estimator(model)
    >>> display.curve.chosen == model.shift_, display.ax_.get_xlabel()
    (True, 'shift of the log-odds')
    """

    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(self, curve: ShiftCurve, *, name: str | None = None, unit: str | None = None) -> None:
        self.curve = curve
        self.name = name
        self.unit = unit

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        name: str | None = None,
        unit: str | None = None,
        ax: Axes | None = None,
        curve_kwargs: dict[str, Any] | None = None,
    ) -> ThresholdShiftDisplay:
        """Draw the costs of a fitted :class:`uneven.UnevenThresholdClassifierCV`.

        Parameters
        ----------
        estimator : fitted UnevenThresholdClassifierCV
        name, unit, ax, curve_kwargs
            As in :meth:`ThresholdCostDisplay.from_predictions`.
        """
        require_matplotlib()
        fitted = hasattr(estimator, "correction_") and hasattr(type(estimator), "curve_")
        if not fitted:
            raise ParameterError(
                f"costs by shift belong to a fitted UnevenThresholdClassifierCV, got {brief(estimator)}"
            )
        return cls(estimator.curve_, name=name, unit=unit).plot(ax, curve_kwargs=curve_kwargs)

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, curve_kwargs: dict[str, Any] | None = None
    ) -> ThresholdShiftDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            By default those of a new figure.
        name : str, optional
            Name of the model in the legend.
        curve_kwargs : dict, optional
            Options of Matplotlib's ``plot`` for the realised cost.
        """
        curve = self.curve
        label = self.name if name is None else name
        with drawing(ax) as axes:
            fresh = not axes.has_data()
            told = f"{label}: realised cost" if label else "realised cost"
            options = curve_options(curve_kwargs, linewidth=1.2, drawstyle="steps-post", label=told)
            (line,) = axes.plot(curve.shift, curve.cost, **options)
            colour = line.get_color()
            smooth: dict[str, Any] = {"color": colour, "linewidth": 2.2, "alpha": 0.45}
            axes.plot(curve.shift, curve.window_cost, label="smooth loss in its place", **smooth)
            if not is_drawn(axes, none := "no correction: cut at alpha"):
                axes.axvline(0.0, color=GREY, linewidth=0.8, linestyle=":", label=none)
            if np.isfinite(curve.chosen):
                axes.axvline(
                    curve.chosen, color=colour, linewidth=1.2, linestyle="--", label=f"shift in use: {curve.chosen:.2f}"
                )
            self._draw_posterior(axes, colour)
            set_limits(axes, *self._limits(), fresh=fresh)
            axes.set_xlabel("shift of the log-odds")
            money_axis(axes.yaxis, "out-of-fold cost per row", self.unit)
            add_legend(axes)
            self.ax_, self.figure_ = axes, axes.figure
        return self

    def _limits(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Costs up to a little above the better constant decision, and the shifts that lead there, but at least 2."""
        curve = self.curve
        least, constant = float(curve.cost.min()), float(min(curve.cost[0], curve.cost[-1]))
        room = _ROOM * (constant - least) if constant > least else 0.1 * abs(least) + 1e-9
        cheap = curve.shift[curve.cost <= constant + room]
        centre = [0.0, curve.chosen] if np.isfinite(curve.chosen) else [0.0]
        low, high = min(cheap[0], min(centre) - 2), max(cheap[-1], max(centre) + 2)
        return (max(low, curve.shift[0]), min(high, curve.shift[-1])), (least - 2 * room, constant + room)

    def _draw_posterior(self, axes: Axes, colour: Any) -> None:
        """The density at the foot of the picture; its height has no unit."""
        posterior = self.curve.posterior
        if posterior is None:
            return
        height = _HEIGHT * posterior.density / posterior.density.max()
        told = f"posterior of the shift, sd {posterior.standard_deviation:.2f}"
        foot: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "linewidth": 0}
        axes.fill_between(posterior.shifts, 0.0, height, color=colour, alpha=0.2, label=told, **foot)
