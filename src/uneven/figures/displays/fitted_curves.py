"""What a fitted model knows about itself: the cost along gamma, and along the shift of the log-odds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from uneven.errors import ParameterError
from uneven.figures.displays.display import Display, add_legend, is_drawn, require_matplotlib, set_limits
from uneven.figures.style import GREY, money_axis
from uneven.inputs import brief

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uneven.decisions.out_of_fold_rows import ShiftCurve
    from uneven.learners.tuning.gamma_rules import GammaPath

#: Share of the height that the posterior takes.
_HEIGHT = 0.3
#: Room above and below the costs, as a share of their range.
_ROOM = 0.15


class GammaPathDisplay(Display):
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
    ) -> Self:
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

    def _draw(self, axes: Axes, name: str | None, *, curve_kwargs: dict[str, Any]) -> None:
        path = self.path
        label = name or "mean over splits"
        options = {"marker": "o", "markersize": 4, "label": f"{label}, chosen {path.chosen:.3g}", **curve_kwargs}
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


class ThresholdShiftDisplay(Display):
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
    ) -> Self:
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

    def _draw(self, axes: Axes, name: str | None, *, curve_kwargs: dict[str, Any]) -> None:
        curve = self.curve
        fresh = not axes.has_data()
        told = f"{name}: realised cost" if name else "realised cost"
        options = {"linewidth": 1.2, "drawstyle": "steps-post", "label": told, **curve_kwargs}
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
