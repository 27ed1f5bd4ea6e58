"""The cross-validated cost along gamma."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from uneven._inputs import brief
from uneven.errors import ParameterError
from uneven.figures.displays._axes import add_legend, curve_options, drawing, is_drawn, require_matplotlib
from uneven.figures.style import GREY, money_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from uneven.learners.tuning.gamma_path import GammaPath


class GammaPathDisplay:
    """Mean cost over the splits and its standard error against gamma, with the chosen gamma marked.

    Make it with :meth:`from_estimator`.

    Parameters
    ----------
    path : GammaPath
        ``gamma_path_`` of a fitted :class:`uneven.UnevenClassifierCV`.
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
    >>> X, y = load_iris(return_X_y=True)
    >>> search = uneven.UnevenClassifierCV(uneven.UnevenLinearClassifier("logistic"), fn_cost=5, margin_gammas=[1, 2])
    >>> display = uneven.figures.GammaPathDisplay.from_estimator(search.fit(X[50:], y[50:] == 2))
    >>> display.path.margin_gamma.tolist(), display.ax_.get_xscale()
    ([1.0, 2.0], 'log')
    """

    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(self, path: GammaPath, *, name: str | None = None, unit: str | None = None) -> None:
        self.path = path
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
    ) -> GammaPathDisplay:
        """Draw the gamma path of a fitted :class:`uneven.UnevenClassifierCV`.

        Parameters
        ----------
        estimator : fitted UnevenClassifierCV
        name, unit, ax, curve_kwargs
            As in :meth:`ThresholdCostDisplay.from_predictions`.
        """
        require_matplotlib()
        path = getattr(estimator, "gamma_path_", None)
        if path is None:
            raise ParameterError(f"a gamma path belongs to a fitted UnevenClassifierCV, got {brief(estimator)}")
        return cls(path, name=name, unit=unit).plot(ax, curve_kwargs=curve_kwargs)

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, curve_kwargs: dict[str, Any] | None = None
    ) -> GammaPathDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            By default those of a new figure.
        name : str, optional
            Name of the model in the legend.
        curve_kwargs : dict, optional
            Options of Matplotlib's ``plot`` for the mean cost.
        """
        path = self.path
        label = (self.name if name is None else name) or "mean over splits"
        with drawing(ax) as axes:
            options = curve_options(curve_kwargs, marker="o", markersize=4, label=f"{label}, chosen {path.chosen:.3g}")
            (line,) = axes.plot(path.margin_gamma, path.mean_cost, **options)
            colour = line.get_color()
            low, high = path.mean_cost - path.standard_error, path.mean_cost + path.standard_error
            once = "_" if is_drawn(axes, band := "one standard error") else ""
            axes.fill_between(path.margin_gamma, low, high, color=colour, alpha=0.18, linewidth=0, label=once + band)
            at = int(np.argmin(np.abs(path.margin_gamma - path.chosen)))
            ring: dict[str, Any] = {
                "markersize": 11,
                "markerfacecolor": "none",
                "markeredgewidth": 1.8,
                "label": "_chosen",
            }
            axes.plot([path.chosen], [path.mean_cost[at]], "o", color=colour, **ring)
            if not is_drawn(axes, even := "even margins"):
                axes.axvline(1.0, color=GREY, linewidth=0.8, linestyle=":", label=even)
            self._scale(axes)
            axes.set_xlabel("margin_gamma")
            money_axis(axes.yaxis, "cross-validated cost", self.unit)
            add_legend(axes)
            self.ax_, self.figure_ = axes, axes.figure
        return self

    def _scale(self, axes: Axes) -> None:
        """A log axis with ticks at powers of 2, written as 1/4, 1/2, 1, 2, 4, or at gammas of the path."""
        from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

        axes.set_xscale("log", base=2)
        axes.xaxis.set_minor_formatter(NullFormatter())
        if np.floor(np.log2(self.path.margin_gamma[-1])) - np.ceil(np.log2(self.path.margin_gamma[0])) >= 1:
            axes.xaxis.set_major_locator(LogLocator(base=2.0, numticks=12))
            axes.xaxis.set_major_formatter(FuncFormatter(_as_ratio))
        else:  # too few powers of 2
            ticks = self.path.margin_gamma[:: -(-self.path.margin_gamma.size // 6)]
            axes.set_xticks(ticks, [f"{gamma:.3g}" for gamma in ticks])


def _as_ratio(gamma: float, _: int | None = None) -> str:
    return f"{gamma:g}" if gamma >= 1 else f"1/{1 / gamma:g}"
