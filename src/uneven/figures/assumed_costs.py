"""The costs that losses assume: their alphas as ratios, against gamma, and of weights with label smoothing."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from uneven.calibration import implied_alpha
from uneven.calibration.calibrated_losses import numeric_odds
from uneven.errors import LossError
from uneven.figures.style import COLOURS, GREY, GalleryFigure, captioned, curve_style, panels, styled
from uneven.losses import Loss, Phi, UnevenMarginLoss, phi
from uneven.zoo import loss
from uneven.zoo.zoo_loss import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKS = (1, 3, 10, 30, 100, 300, 1000)
_CAPTION = (
    "The costs each loss assumes, whether its author knew or not: the one alpha for which it is calibrated, as "
    "a ratio (1 - alpha) : alpha (theorem D: there is at most one)."
)
#: Focal losses with alpha = 0.25 in several libraries.
_FOCAL_LOSSES: dict[str, dict[str, Any]] = {
    "monai.losses.FocalLoss": {"alpha": ("0.25",)},
    "torchvision.ops.sigmoid_focal_loss": {"alpha": "0.25"},
    "optax.losses.sigmoid_focal_loss": {"alpha": "0.25"},
    "keras.losses.BinaryFocalCrossentropy": {"alpha": "0.25"},
    "pytorch_widedeep.losses.FocalLoss": {"alpha": "0.25"},
    "libauc.losses.FocalLoss": {"alpha": "0.25"},
}


def implied_costs(losses: Mapping[str, Loss | Phi | str] | None = None, *, caption: str = _CAPTION) -> Figure:
    """The cost ratio that each loss silently assumes.

    Parameters
    ----------
    losses : mapping of str to Loss, phi, name or expression, optional
        By default six losses in common use.
    caption : str
        The text below.

    Examples
    --------
    >>> import uneven
    >>> figure = uneven.figures.implied_costs({"weighted": uneven.Loss("10*softplus(-t)", "softplus(t)")})
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['weighted']
    """
    p = "relu(expit(t) - 0.05)"
    given = losses or {
        "logistic": "logistic",
        "logistic, positives weighted 10": Loss("10*softplus(-t)", "softplus(t)"),
        "focal, weight 0.25 on positives": Loss("0.25*expit(-t)**2*softplus(-t)", "0.75*expit(t)**2*softplus(t)"),
        "asymmetric (1, 4, clip 0.05)": Loss("expit(-t)*softplus(-t)", f"-log(1 - {p})*{p}**4"),
        "sigmoid, gamma = 4": UnevenMarginLoss("sigmoid", gamma=4),
        "hinge, gamma = 2, beta = 3": UnevenMarginLoss("hinge", gamma=2, beta=3),
    }
    ratios = {name: implied_alpha(loss).cost_ratio for name, loss in given.items()}
    with styled():
        figure, ((axes,),) = panels(1, 1, width=6.4, height=0.42 * len(given) + 1.6)
        for k, ratio in enumerate(ratios.values()):
            if ratio is None:
                axes.annotate("none", (1, k), (4, 0), textcoords="offset points", va="center", color=GREY)
                continue
            axes.plot([1, ratio], [k, k], color=COLOURS[0], linewidth=3, solid_capstyle="butt")
            axes.plot([ratio], [k], "o", color=COLOURS[0], markersize=7)
            text = f"{ratio:.3g} : 1" if ratio >= 1 else f"1 : {1 / ratio:.3g}"
            side = 1 if ratio >= 1 else -1
            axes.annotate(
                text,
                (ratio, k),
                (8 * side, 0),
                textcoords="offset points",
                va="center",
                ha="left" if side > 0 else "right",
            )
        axes.axvline(1, color=GREY, linewidth=0.8)
        axes.set_xscale("log")
        axes.margins(x=0.25, y=0.12)
        _label_ratios(axes)
        axes.set_yticks(range(len(ratios)), list(ratios))
        axes.invert_yaxis()
        axes.set_xlabel("cost of a false negative : cost of a false positive")
        axes.grid(axis="y", visible=False)
        return captioned(figure, caption)


def _label_ratios(axes: Axes) -> None:
    """Ratios such as 1 : 3 and 10 : 1 along the axis."""
    from matplotlib.ticker import NullLocator

    low, high = axes.get_xlim()
    marks = {1 / mark: f"1 : {mark}" for mark in _MARKS} | {mark: f"{mark} : 1" for mark in _MARKS}
    inside = {place: text for place, text in marks.items() if low <= place <= high}
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(list(inside), list(inside.values()))
    axes.set_xlim(low, high)


def one_name(losses: Mapping[str, Mapping[str, Any]] | None = None) -> Figure:
    """The costs that losses of other libraries assume.

    Parameters
    ----------
    losses : mapping of str to mappings, optional
        Names of :func:`uneven.zoo.names` with their parameters. By default focal losses with alpha = 0.25.

    Examples
    --------
    >>> import uneven
    >>> figure = uneven.figures.one_name({"optax.losses.sigmoid_focal_loss": {"alpha": 0.5}})
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['optax.losses.sigmoid_focal_loss(alpha=0.5)']
    """
    chosen = _FOCAL_LOSSES if losses is None else losses
    titles = {
        f"{name}({', '.join(f'{key}={shown(value)}' for key, value in given.items())})": loss(name, **given)
        for name, given in chosen.items()
    }
    return implied_costs(
        titles,
        caption='"Focal loss, alpha = 0.25" in six libraries: the cost of a false negative to that of a false '
        "positive that each assumes (theorem T). alpha weights the positives, the negatives, both or nothing.",
    )


def alpha_of_gamma(
    functions: tuple[str | Phi, ...] = ("sigmoid",), *, low: float = 1e-3, high: float = 1e3, points: int = 61
) -> Figure:
    """The one alpha for which (phi(t), phi(-gamma t)/gamma) is calibrated, against gamma on a log axis.

    Parameters
    ----------
    functions : names, expressions or phis
    low, high : float
        Smallest and largest gamma.
    points : int
        Number of gammas.

    Examples
    --------
    >>> from uneven import figures
    >>> figure = figures.alpha_of_gamma(("ramp",), points=5)
    >>> figure.axes[0].get_xscale()
    'log'
    """
    gammas = np.geomspace(low, high, points)
    with styled():
        figure, ((axes,),) = panels(1, 1, width=5.6, height=3.7)
        for k, function in enumerate(map(phi, functions)):
            alphas = [_own_alpha(function, float(gamma)) for gamma in gammas]
            axes.plot(gammas, alphas, **curve_style(k), label=function.name or function.text)
        axes.axhline(0.5, color=GREY, linewidth=0.8)
        axes.annotate("every convex loss", (low, 0.5), (2, 3), textcoords="offset points", color=GREY, fontsize=8)
        axes.set(xscale="log", xlabel=r"$\gamma$", ylabel=r"$\alpha(\gamma)$", ylim=(0, 1), xlim=(low, high))
        axes.legend(loc="upper right")
        return captioned(
            figure,
            "The one alpha for which the loss (phi(t), phi(-gamma t)/gamma) is calibrated (section 4.4). Convex "
            "losses keep alpha = 1/2 for every gamma (corollary 2); alpha(1/gamma) = 1 - alpha(gamma).",
        )


def _own_alpha(function: Phi, gamma: float) -> float:
    """alpha of (phi(t), phi(-gamma t)/gamma), in floats: a picture needs no proof."""
    odds = numeric_odds(function, Fraction(gamma))
    if odds is None:
        raise LossError(f"{function!r} with gamma = {gamma:g} has no alpha of its own to draw")
    return odds / (1 + odds)


def smoothing_and_weight(smoothings: tuple[float, ...] = (0.0, 0.05, 0.1, 0.2)) -> Figure:
    """The cost ratio that weighted cross entropy with label smoothing assumes, and the region where it has none.

    With weights (1, w) and smoothing e, the alpha is [1 - e/2 - w e/2] / [(1 - e)(1 + w)]: the slopes at t = 0 (theorem
    4). It is positive if w < 2/e - 1.

    Examples
    --------
    >>> import uneven
    >>> len(uneven.figures.smoothing_and_weight().axes)
    2
    """
    weights = np.geomspace(1, 100, 2001)
    with styled():
        from matplotlib.ticker import NullLocator

        figure, ((left, right),) = panels(1, 2, width=8.4, height=3.7)
        for k, e in enumerate(smoothings):
            allowed = weights[weights * e / 2 < 1 - e / 2]
            alpha = (1 - e / 2 - allowed * e / 2) / ((1 - e) * (1 + allowed))
            ratio = (1 - alpha) / alpha
            left.plot(allowed, ratio, **curve_style(k), label=f"label_smoothing = {e:g}" if e else "no smoothing")
            if e:
                left.axvline(2 / e - 1, color=COLOURS[k % len(COLOURS)], linewidth=0.8, linestyle=":")
        left.plot([10], [21], "o", color="black", markersize=5, zorder=5)
        left.annotate(
            "weight=(1, 10),\nlabel_smoothing=0.1:\n21 : 1, not 10 : 1",
            (10, 21),
            (1.15, 300),
            arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.8},
            va="center",
        )
        left.set(xscale="log", yscale="log", xlim=(1, 100), ylim=(1, 2000))
        left.set(xlabel="weight of the positives, w", ylabel="FN : FP cost that the loss assumes")
        left.legend(loc="lower right", frameon=True, facecolor="white", framealpha=1.0, edgecolor="none")
        grid = np.linspace(0.001, 0.5, 500)
        edge = 2 / grid - 1
        right.fill_between(grid, edge, 100, color=COLOURS[1], alpha=0.25, linewidth=0)
        right.plot(grid, edge, color=COLOURS[1])
        right.plot([0.1], [10], "o", color="black", markersize=5)
        right.plot([0.1, 0.2], [19, 10], "x", color="black", markersize=6)
        right.annotate("21 : 1", (0.1, 10), (-7, -3), textcoords="offset points", ha="right")
        right.annotate("(1, 19), 0.1", (0.1, 19), (7, 2), textcoords="offset points")
        right.annotate("(1, 10), 0.2", (0.2, 10), (7, 2), textcoords="offset points")
        right.annotate("calibrated for no costs:\neveryone is predicted positive", (0.32, 40), ha="center", va="center")
        right.annotate("some costs", (0.03, 3), color=GREY)
        right.set(yscale="log", xlim=(0, 0.5), ylim=(1, 100))
        left.set_xticks([1, 3, 10, 30, 100], ["1", "3", "10", "30", "100"])
        left.set_yticks([1, 10, 100, 1000], ["1 : 1", "10 : 1", "100 : 1", "1000 : 1"])
        right.set_yticks([1, 3, 10, 30, 100], ["1", "3", "10", "30", "100"])
        for axis in (left.xaxis, left.yaxis, right.yaxis):
            axis.set_minor_locator(NullLocator())
        right.set(xlabel="label_smoothing, e", ylabel="weight of the positives, w")
        return captioned(
            figure,
            "torch.nn.CrossEntropyLoss(weight=(1, w), label_smoothing=e) on two classes. Left: the costs that "
            "it assumes grow much faster than the weight. Right: from w = 2/e - 1 on it is calibrated for no costs "
            "(theorem 4).",
        )


GALLERY = (
    GalleryFigure("implied-costs", "The costs a loss assumes", implied_costs),
    GalleryFigure("one-name", "One name, four cost ratios", one_name),
    GalleryFigure("alpha-of-gamma", "The alpha of the uneven sigmoid", alpha_of_gamma, paper_figure=7),
    GalleryFigure("smoothing-and-weight", "Label smoothing and a class weight", smoothing_and_weight),
)
