"""Are the probabilities right where they decide? Reliability near alpha, on the scale of log-odds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from uneven import inputs
from uneven.costs import GivenCosts
from uneven.errors import CostError, ParameterError
from uneven.figures.displays.display import PredictionsDisplay, add_legend, is_drawn, require_matplotlib
from uneven.figures.style import COLOURS, GREY
from uneven.inputs import brief
from uneven.metrics.cost_curve import ScaledCosts
from uneven.metrics.mean_interval import share_interval
from uneven.metrics.rows import read_scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

#: Probabilities that can be ticks of an axis.
_TICKS = np.array([1, 2, 5, 10, 20, 50]) * 1.0
#: Rows in a group on average: the observed share of fewer says little.
_FEWEST = 20


class CalibrationNearAlphaDisplay(PredictionsDisplay):
    """Observed frequency against predicted probability near alpha, with 95 % intervals.

    Only whether a probability lies above or below alpha matters for the decision, so the picture shows the
    probabilities near it. The groups of rows end at alpha. For a group in a shaded corner the other decision would have
    been cheaper: its observed frequency lies on the other side of alpha. The interval says whether that may be chance.

    Make it with :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    bins : ReliabilityBins
        The groups of rows, with the fields ``predicted``, ``observed``, ``low``, ``high``, ``count``, ``below``,
        ``above``.
    alpha : float
        The alpha of the average costs: positives are predicted above it.
    reach : float
        How many times larger or smaller than those of alpha the odds may be.
    name : str, optional
        Name of the model in the legend.

    Attributes
    ----------
    ax_ : matplotlib axes
    figure_ : matplotlib figure

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.figures import CalibrationNearAlphaDisplay
    >>> p = np.repeat([0.05, 0.15, 0.4], 20)
    >>> y = np.tile([1] + 19 * [0], 3)
    >>> display = CalibrationNearAlphaDisplay.from_predictions(y, p, fp_cost=1, fn_cost=9)
    >>> display.bins.predicted, display.bins.observed
    (array([0.05, 0.15, 0.4 ]), array([0.05, 0.05, 0.05]))
    """

    _size = (5.2, 4.8)
    _response = "predict_proba"

    def __init__(self, bins: ReliabilityBins, *, alpha: float, reach: float = 10.0, name: str | None = None) -> None:
        self.bins = bins
        self.alpha = alpha
        self.reach = reach
        self.name = name

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
        reach: float = 10.0,
        n_bins: int = 10,
        name: str | None = None,
        ax: Axes | None = None,
        curve_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the reliability of probabilities.

        Parameters
        ----------
        y_true, y_prob, fp_cost, fn_cost, tp_cost, tn_cost, pos_label, sample_weight
            As in :func:`uneven.metrics.net_benefit`. With costs for each row, alpha is that of the average costs.
        reach : float
            Shows probabilities whose odds are up to so many times larger or smaller than those of alpha.
        n_bins : int
            Largest number of groups, half of them on each side of alpha. There are fewer if a group would have less
            than 20 rows. Rows with one probability are never split.
        name : str, optional
            Name of the model in the legend.
        ax : matplotlib axes, optional
            By default those of a new figure.
        curve_kwargs : dict, optional
            Options of Matplotlib's ``plot`` for the groups.
        """
        require_matplotlib()
        if not isinstance(reach, int | float) or not 1 < reach < np.inf:
            raise ParameterError(f"reach must be a number greater than 1, got {brief(reach)}")
        if isinstance(n_bins, bool) or not isinstance(n_bins, int) or n_bins < 2:
            raise ParameterError(f"n_bins must be a whole number of at least 2, got {brief(n_bins)}")
        given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        known = inputs.probabilities("y_prob", y_prob, CostError)[0]
        rows, probability = read_scores(
            y_true, known, pos_label=pos_label, sample_weight=sample_weight, name="y_prob", **given
        )
        alpha = ScaledCosts.of(rows).own_alpha
        if not 0 < alpha < 1:
            raise CostError(f"both kinds of mistake must cost something, so that alpha is not 0 or 1, got {alpha!r}")
        bins = reliability_bins(probability, rows.is_positive, rows.weight, alpha, reach=reach, most_bins=n_bins // 2)
        if not bins.count.size:
            raise ParameterError(
                f"no probability lies within {reach:g} times the odds of alpha = {alpha:.4g}; a larger reach shows more"
            )
        return cls(bins, alpha=alpha, reach=reach, name=name).plot(ax, curve_kwargs=curve_kwargs)

    def _draw(self, axes: Axes, name: str | None, *, curve_kwargs: dict[str, Any]) -> None:
        bins, alpha = self.bins, self.alpha
        label = name or "model"
        centre, half = _log_odds(alpha), float(np.log(self.reach))
        low, high = centre - 1.08 * half, centre + 1.08 * half
        x = _log_odds(bins.predicted)
        y, lower, upper = (np.clip(_log_odds(values), low, high) for values in (bins.observed, bins.low, bins.high))
        if not is_drawn(axes, right := "observed = predicted"):
            axes.plot([low, high], [low, high], color=GREY, linewidth=0.9, label=right)
            corners: dict[str, Any] = {"color": COLOURS[5], "alpha": 0.12, "linewidth": 0}
            axes.fill_between([low, centre], centre, high, label="wrong side of alpha", **corners)
            axes.fill_between([centre, high], low, centre, **corners)
            axes.axvline(centre, color=GREY, linewidth=0.9, linestyle=":", label=f"alpha = {alpha:.4g}")
            axes.axhline(centre, color=GREY, linewidth=0.9, linestyle=":")
        style: dict[str, Any] = {"marker": "o", "markersize": 6, "linestyle": "none", "label": self._label(label)}
        (line,) = axes.plot(x, y, **{**style, **curve_kwargs})
        for marker, beyond in (("v", y == low), ("^", y == high)):
            edge: dict[str, Any] = {
                "color": line.get_color(),
                "markersize": 8,
                "clip_on": False,
                "label": "_edge",
                "zorder": 4,
            }
            if beyond.any():  # an empty line that is not clipped would count as being at the figure's corner
                axes.plot(x[beyond], y[beyond], linestyle="none", marker=marker, **edge)
        axes.vlines(x, lower, upper, color=line.get_color(), linewidth=1.2, alpha=0.8)
        self._counts(axes, x, upper, (low, high), line)
        for axis in (axes.xaxis, axes.yaxis):
            ticks = _ticks(low, high)
            axis.set_ticks(_log_odds(ticks), [f"{tick:g}" for tick in ticks])
        axes.set(xlim=(low, high), ylim=(low, high), xlabel="predicted probability", ylabel="observed frequency")
        add_legend(axes)

    def _label(self, label: str) -> str:
        outside = [
            f"{count:,} {side}" for count, side in ((self.bins.below, "below"), (self.bins.above, "above")) if count
        ]
        return f"{label}\nnot shown: {', '.join(outside)}" if outside else label

    def _counts(
        self, axes: Axes, x: np.ndarray, upper: np.ndarray, limits: tuple[float, float], points: Line2D
    ) -> None:
        """The number of rows above each interval, or below the top if it ends there; that of a second model higher."""
        shift = 8 * sum(line.get_marker() == points.get_marker() for line in axes.lines if line is not points)
        for at, top, count in zip(x, upper, self.bins.count, strict=True):
            inside = top < limits[1] - 0.08 * (limits[1] - limits[0])
            place: dict[str, Any] = {"va": "bottom", "ha": "center", "xytext": (0, 2 + shift)}
            if not inside:
                place = {"va": "top", "ha": "left", "xytext": (3, -2 - shift)}
            style: dict[str, Any] = {"textcoords": "offset points", "fontsize": 7, "color": points.get_color()}
            axes.annotate(f"{count:,}", (at, top), **style, **place)


def _log_odds(probability: Any) -> Any:
    with np.errstate(divide="ignore"):
        return np.log(probability) - np.log1p(-np.asarray(probability, dtype=float))


def _ticks(low: float, high: float) -> np.ndarray:
    """Round probabilities between two log-odds: 0.01, 0.02, 0.05, ..., 0.5, ..., 0.95, 0.98, 0.99."""
    small = np.unique(np.concatenate([_TICKS / 10.0**k for k in range(2, 12)] + [[0.3, 0.4]]))
    small = small[small <= 0.5]
    every = np.unique(np.concatenate([small, np.round(1 - small, 12)]))
    inside = every[(_log_odds(every) >= low) & (_log_odds(every) <= high)]
    return inside if inside.size <= 9 else inside[:: -(-inside.size // 9)]


@dataclass(frozen=True)
class ReliabilityBins:
    """Groups of rows with probabilities near alpha; each group lies on one side of alpha.

    Attributes
    ----------
    predicted : ndarray
        Mean predicted probability of each group, rising.
    observed : ndarray
        Share of positives.
    low, high : ndarray
        Ends of the interval of Clopper and Pearson of the share.
    count : ndarray of int
        Number of rows.
    below, above : int
        Number of rows outside the range, with smaller and with larger probabilities.
    """

    predicted: np.ndarray
    observed: np.ndarray
    low: np.ndarray
    high: np.ndarray
    count: np.ndarray
    below: int
    above: int


def reliability_bins(
    probability: np.ndarray,
    is_positive: np.ndarray,
    weight: np.ndarray,
    alpha: float,
    *,
    reach: float,
    most_bins: int,
    confidence: float = 0.95,
) -> ReliabilityBins:
    """Groups of equal numbers of rows, on both sides of alpha, whose odds are at most ``reach`` times away.

    There are at most ``most_bins`` groups on each side, and fewer if they would have less than 20 rows on average.
    Rows with one probability are never split. With weights, the interval is that of the effective number of rows,
    (sum of weights)^2 / sum of squared weights.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.figures.displays.calibration_near_alpha import reliability_bins
    >>> p = np.array([0.01, 0.15, 0.15, 0.3, 0.3])
    >>> found = reliability_bins(p, np.array([0, 0, 1, 0, 1]) == 1, np.ones(5), 0.2, reach=10, most_bins=4)
    >>> found.predicted, found.observed, found.below
    (array([0.15, 0.3 ]), array([0.5, 0.5]), 1)
    """
    odds = alpha / (1 - alpha)
    lowest, highest = (odds / reach) / (1 + odds / reach), (odds * reach) / (1 + odds * reach)
    inside = (probability >= lowest) & (probability <= highest) & (weight > 0)
    counted = weight > 0
    groups: list[np.ndarray] = []
    for side in (inside & (probability <= alpha), inside & (probability > alpha)):
        groups += _equal_groups(probability, np.flatnonzero(side), most_bins)
    shares = [float(np.average(is_positive[rows], weights=weight[rows])) for rows in groups]
    sizes = [float(weight[rows].sum() ** 2 / (weight[rows] ** 2).sum()) for rows in groups]
    intervals = np.array([share_interval(share, size, confidence) for share, size in zip(shares, sizes, strict=True)])
    low, high = intervals.reshape(-1, 2).T
    return ReliabilityBins(
        predicted=np.array([np.average(probability[rows], weights=weight[rows]) for rows in groups]),
        observed=np.array(shares),
        low=low,
        high=high,
        count=np.array([rows.size for rows in groups], dtype=int),
        below=int((counted & (probability < lowest)).sum()),
        above=int((counted & (probability > highest)).sum()),
    )


def _equal_groups(probability: np.ndarray, rows: np.ndarray, most: int) -> list[np.ndarray]:
    """At most so many groups of about equal size, in rising order; equal probabilities stay together."""
    rows = rows[np.argsort(probability[rows], kind="stable")]
    if rows.size == 0:
        return []
    most = min(most, max(rows.size // _FEWEST, 1))
    starts = np.flatnonzero(np.append(True, np.diff(probability[rows]) > 0))
    wanted = np.arange(1, most) * rows.size / most
    cuts = np.unique(starts[np.searchsorted(starts, wanted).clip(max=starts.size - 1)])
    return [group for group in np.split(rows, cuts[cuts > 0]) if group.size]
