"""What a loss promises: psi with its enclosure, the regret bound, the costs it assumes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from uneven._inputs import Exact
from uneven.calibration import analyze, implied_alpha
from uneven.calibration.calibrated_losses import calibrated_loss
from uneven.calibration.implied_costs import as_loss
from uneven.errors import LossError
from uneven.figures._sampling import sampled
from uneven.figures._style import COLOURS, GREY, captioned, curve_style, panels, styled
from uneven.losses import Loss, Phi, UnevenMarginLoss, names, phi

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def psi_enclosed(loss: Loss | Phi | str | None = None, *, alpha: Exact | None = None) -> Figure:
    """nu, its convex hull psi, and the rigorous enclosure of psi; below, the width of that enclosure.

    Examples
    --------
    >>> from uneven import figures
    >>> len(figures.psi_enclosed("hinge").axes)
    2
    """
    chosen = UnevenMarginLoss("squared", gamma=10, alpha="1/4") if loss is None else as_loss(loss)
    analysis = analyze(chosen, alpha)
    eps = np.linspace(0, analysis.largest_regret, 161)
    lower, upper = analysis.psi_bounds(eps)
    with styled():
        figure, axes = panels(2, 1, width=5.6, height=4.8, height_ratios=(3, 1), sharex=True)
        top, bottom = axes[0][0], axes[1][0]
        top.fill_between(eps, lower, upper, color=COLOURS[4], alpha=0.5, label=r"proved enclosure of $\psi$")
        top.plot(*sampled(analysis.nu, 0.0, analysis.largest_regret), **curve_style(1), label=r"$\nu$")
        top.plot(*sampled(analysis.psi, 0.0, analysis.largest_regret), **curve_style(0), label=r"$\psi$")
        top.set(ylabel="surrogate regret", ylim=(0, None))
        top.legend(loc="upper left")
        bottom.semilogy(eps[1:], np.maximum(upper - lower, 1e-18)[1:], color=COLOURS[4])
        bottom.set(xlabel=r"cost regret $\epsilon$", ylabel="width", xlim=(0, analysis.largest_regret))
        return captioned(
            figure,
            f"{chosen!r}, alpha = {analysis.alpha:.6g}: psi is the largest convex function below nu (theorem 1). The "
            "band is a proved enclosure of psi, rounded outwards; its width is shown below.",
        )


def regret_bound(
    phis: tuple[str | Phi, ...] = ("hinge", "squared", "logistic", "exponential"),
    *,
    alpha: Exact = "1/10",
    gamma: Exact = 1,
) -> Figure:
    """Surrogate regret in, cost regret out: the inverse of psi.

    Examples
    --------
    >>> from uneven import figures
    >>> len(figures.regret_bound(("hinge",), alpha=0.2).axes[0].lines) >= 1
    True
    """
    regrets = np.geomspace(1e-5, 1, 121)
    with styled():
        figure, ((axes,),) = panels(1, 1, width=5.8, height=4.0)
        for k, given in enumerate(phis):
            function = phi(given)
            analysis = analyze(calibrated_loss(function, alpha=alpha, gamma=gamma))
            axes.loglog(regrets, analysis.regret_bound(regrets), **curve_style(k), label=function.name or function.text)
        axes.axhline(analysis.largest_regret, color=GREY, linewidth=0.8)
        axes.annotate(
            "largest cost regret",
            (1e-5, analysis.largest_regret),
            (2, 3),
            textcoords="offset points",
            color=GREY,
            fontsize=8,
        )
        axes.set(xlabel="surrogate regret in", ylabel="cost regret out, at most", xlim=(1e-5, 1))
        axes.legend(loc="lower right")
        return captioned(
            figure,
            f"Regret bounds at alpha = {alpha}, gamma = {gamma}: if the surrogate risk is within r of its optimum, "
            "the expected cost is within the curve's value of its optimum (theorem 1, proved and rounded to "
            "the safe side). Losses have different units of r.",
        )


def implied_costs(losses: dict[str, Loss | Phi | str] | None = None) -> Figure:
    """The cost ratio that each loss silently assumes.

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
        axes.set_yticks(range(len(ratios)), list(ratios))
        axes.invert_yaxis()
        axes.set_xlabel("cost of a false negative : cost of a false positive")
        axes.grid(axis="y", visible=False)
        return captioned(
            figure,
            "The costs each loss assumes, whether its author knew or not: the one alpha for which it is calibrated, as "
            "a ratio (1 - alpha) : alpha (theorem D: there is at most one).",
        )


def all_losses(*, gamma: Exact = 2, alpha: Exact = "1/4") -> Figure:
    """Every registered phi: its shape, and psi of its calibrated loss, scaled to 1 at the largest regret.

    Examples
    --------
    >>> from uneven import figures
    >>> len(figures.all_losses().axes) >= 16
    True
    """
    with styled():
        columns = 4
        chosen = list(names())
        rows = -(-len(chosen) // columns)
        figure, axes = panels(rows, columns, width=8.0, height=1.75 * rows + 0.9)
        for axis in axes.ravel()[len(chosen) :]:
            axis.set_visible(False)
        for axis, name in zip(axes.ravel(), chosen, strict=False):
            function = phi(name)
            t, y = sampled(function, -2.5, 2.5)
            axis.plot(t, y, color=COLOURS[0])
            axis.set(title=name, xlim=(-2.5, 2.5), ylim=(0, 4), xticks=[-2, 0, 2], yticks=[0, 2, 4])
            inset = axis.inset_axes((0.56, 0.5, 0.42, 0.46))
            inset.set(xticks=[], yticks=[], xlim=(0, 1), ylim=(0, 1.02))
            inset.grid(visible=False)
            try:
                analysis = analyze(calibrated_loss(function, alpha=alpha, gamma=gamma))
            except LossError:
                inset.text(0.5, 0.5, "never\ncalibrated", ha="center", va="center", fontsize=7, color=GREY)
                continue
            x, psi = sampled(analysis.psi, 0.0, analysis.largest_regret)
            inset.plot(x / x[-1], psi / psi[-1], color=COLOURS[1])
        return captioned(
            figure,
            "The registered phi (blue, from t = -2.5 to 2.5), each with psi of the loss calibrated for alpha = "
            f"{alpha} at gamma = {gamma} (orange, both axes scaled to 1): the straighter, the better a small surrogate "
            "regret bounds the cost regret (theorem 1).",
        )
