"""Expected cost and net benefit against alpha, and over a range: what if the costs are not what we think?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from uneven.costs import GivenCosts, money
from uneven.errors import CostError
from uneven.figures.displays.display import (
    MARK,
    PredictionsDisplay,
    add_legend,
    default_threshold,
    is_drawn,
    own_parameter,
    require_matplotlib,
    set_limits,
)
from uneven.figures.style import DASHES, GREY
from uneven.inputs import brief
from uneven.learners.cost_range import ends_of, read_prior
from uneven.losses import CostPrior
from uneven.metrics import CostCurve, NetBenefit, cost_curve, mean_cost, net_benefit
from uneven.metrics.rows import read_scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Number of ratios at which costs over a prior are drawn.
_RATIOS = 401


class CostCurveDisplay(PredictionsDisplay):
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

    def __init__(self, curve: CostCurve, *, name: str | None = None, unit: str | None = None) -> None:
        self.curve = curve
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
        options |= GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        if threshold is None:
            threshold = default_threshold(*read_scores(y_true, y_score, **options))
        curve = cost_curve(y_true, y_score, threshold=threshold, **options)
        return cls(curve, name=name, unit=unit).plot(ax, curve_kwargs=curve_kwargs)

    def _draw(self, axes: Axes, name: str | None, *, curve_kwargs: dict[str, Any]) -> None:
        label = name or "model"
        curve = self.curve
        fresh = not axes.lines
        at_your_costs = f"{label}\nmistakes: {money(self._paid(), self.unit)} per row at your costs"
        (line,) = axes.plot(curve.alpha, curve.cost, **{"label": at_your_costs, **curve_kwargs})
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


class DecisionCurveDisplay(PredictionsDisplay):
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

    _response = "predict_proba"

    def __init__(self, benefit: NetBenefit, *, name: str | None = None, unit: str | None = None) -> None:
        self.benefit = benefit
        self.name = name
        self.unit = unit

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
    ) -> Self:
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
        options |= GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        found = net_benefit(y_true, y_prob, thresholds=thresholds, **options)
        if thresholds is None and 0 < found.own_threshold < 1:  # so that the value at the marked threshold is known
            found = net_benefit(
                y_true, y_prob, thresholds=np.union1d(found.threshold, [found.own_threshold]), **options
            )
        return cls(found, name=name, unit=unit).plot(ax, curve_kwargs=curve_kwargs)

    def _draw(self, axes: Axes, name: str | None, *, curve_kwargs: dict[str, Any]) -> None:
        found = self.benefit
        label = name or "model"
        at = np.flatnonzero(found.threshold == found.own_threshold)
        if at.size:
            saved = money(float(found.net_benefit[at[0]]) * found.unit, self.unit)
            label = f"{label}\nsaves {saved} per row over nobody"
        fresh = not axes.lines
        (line,) = axes.plot(found.threshold, found.net_benefit, **{"label": label, **curve_kwargs})
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


class MeanCostDisplay(PredictionsDisplay):
    """What decisions cost at every cost ratio that is possible, and on average over them.

    At each ratio fn_cost/fp_cost, positive is predicted where the probability is above the alpha of that ratio. Make it
    with :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    curve : CostCurve
        From :func:`uneven.metrics.cost_curve` with ``threshold="alpha"``.
    prior : CostPrior
        How likely which ratios are; its ``weight`` is the unit of the picture.
    mean : float
        From :func:`uneven.metrics.mean_cost`.
    name : str, optional
        Name of the model in the legend.
    unit : str, optional
        Unit of the costs, such as ``"EUR"``, for a prior in money.

    Attributes
    ----------
    ax_ : matplotlib axes
    figure_ : matplotlib figure

    Examples
    --------
    >>> from uneven.figures import MeanCostDisplay
    >>> display = MeanCostDisplay.from_predictions([0, 0, 1, 1], [0.01, 0.1, 0.1, 0.9], (5, 50))
    >>> display.ax_.lines[0].get_label()
    'model\\n0.06475 per row on average'
    """

    _response = "predict_proba"

    def __init__(
        self, curve: CostCurve, prior: CostPrior, mean: float, *, name: str | None = None, unit: str | None = None
    ) -> None:
        self.curve = curve
        self.prior = prior
        self.mean = mean
        self.name = name
        self.unit = unit

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        prior: Any = None,
        *,
        pos_label: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        unit: str | None = None,
        ax: Axes | None = None,
        curve_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the costs of probabilities over a range of cost ratios.

        Parameters
        ----------
        y_true, y_prob, pos_label, sample_weight
            As in :func:`uneven.metrics.mean_cost`.
        prior : pair of numbers or CostPrior
            The least and the largest ratio fn_cost/fp_cost, or how likely which ones are. ``from_estimator`` takes the
            ``cost_range`` of the estimator if it is not given.
        name, unit, ax, curve_kwargs
            As in :meth:`ThresholdCostDisplay.from_predictions`.
        """
        require_matplotlib()
        known = read_prior(prior)
        if known is None:
            raise CostError(f"a display of mean costs needs a prior, such as prior=(5, 50), got {brief(prior)}")
        given: dict[str, Any] = {"pos_label": pos_label, "sample_weight": sample_weight}
        low, high = ends_of(known)
        if low == high:
            low, high = low / 2, 2 * high
        alphas = 1 / (1 + np.geomspace(low, high, _RATIOS))
        curve = cost_curve(y_true, y_prob, threshold="alpha", alphas=alphas, **given)
        mean = mean_cost(y_true, y_prob, known, **given)
        return cls(curve, known, mean, name=name, unit=unit).plot(ax, curve_kwargs=curve_kwargs)

    @classmethod
    def _ask(
        cls, estimator: Any, X: Any, y: Any, pos_label: Any, given: GivenCosts, options: dict[str, Any]
    ) -> tuple[np.ndarray, Any, Any]:
        if given.known:
            raise CostError(f"a display of mean costs has a prior in place of costs, got {brief(given.known)}")
        options.setdefault("prior", own_parameter(estimator, "cost_range"))
        answers, positive, _ = super()._ask(estimator, X, y, pos_label, given, options)
        return answers, positive, {}

    def _draw(self, axes: Axes, name: str | None, *, curve_kwargs: dict[str, Any]) -> None:
        from matplotlib.ticker import LogLocator

        label, curve = name or "model", self.curve
        fresh = not axes.lines
        ratio = (1 - curve.alpha) / curve.alpha
        scale = 1 / curve.alpha if self.prior.weight == "money" else np.ones(ratio.size)
        averaged = f"{label}\n{money(self.mean, self.unit)} per row on average"
        (line,) = axes.plot(ratio, scale * curve.cost, **{"label": averaged, **curve_kwargs})
        style: dict[str, Any] = {"color": line.get_color(), "linestyle": DASHES[1], "linewidth": 1.2}
        axes.plot(ratio, scale * curve.best_cost, **style, label=f"{label}, best thresholds")
        if not is_drawn(axes, constant := "same decision for everyone"):
            axes.plot(ratio, scale * curve.constant_cost, color=GREY, linewidth=0.9, label=constant)
        top = 1.05 * float((scale * np.maximum(curve.cost, curve.best_cost)).max()) or 1.0
        weight = np.abs(np.diff(self.prior.cdf(ratio)))
        if weight.max() > 1.02 * weight.min() and not is_drawn(axes, how := "how likely the ratio is"):
            middle = np.sqrt(ratio[1:] * ratio[:-1])
            axes.fill_between(middle, 0.2 * top * weight / weight.max(), color=GREY, alpha=0.25, linewidth=0, label=how)
        unit = "costs sum to 1" if self.prior.weight == "unit" else self.unit or "a false positive costs 1"
        axes.set(xscale="log", xlabel="cost of a false negative / cost of a false positive")
        axes.set_ylabel(f"expected cost per row ({unit})")
        set_limits(axes, (float(ratio.min()), float(ratio.max())), (0, top), fresh=fresh)
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter("")
        add_legend(axes)
