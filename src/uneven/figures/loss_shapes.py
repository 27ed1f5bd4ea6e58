"""Losses as functions of the decision value: what each label pays, every registered phi, the window loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from uneven.calibration import analyze, calibrated_loss
from uneven.errors import LossError, ParameterError
from uneven.figures.style import COLOURS, GREY, GalleryFigure, captioned, curve_style, panels, sampled, styled
from uneven.inputs import Exact
from uneven.losses import Phi, UnevenMarginLoss, names, phi

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def partial_losses(
    phis: tuple[str | Phi, ...] = ("hinge", "squared", "exponential"),
    *,
    gammas: tuple[Exact, ...] = ("1/2", 1, 2),
    reach: float = 3.0,
) -> Figure:
    r"""L(1, t) and L(-1, t): one panel per phi, one curve per gamma.

    Parameters
    ----------
    phis : names, expressions or phis
    gammas : positive numbers
    reach : float
        t runs from -reach to reach.

    Examples
    --------
    >>> from uneven import figures
    >>> figure = figures.partial_losses(("logistic",), gammas=(1, 3))
    >>> len(figure.axes)
    1
    """
    with styled():
        figure, axes = panels(1, len(phis), width=max(2.6 * len(phis), 3.4), height=3.2)
        for axis, given in zip(axes[0], phis, strict=True):
            function = phi(given)
            first = UnevenMarginLoss(function)
            t, y = sampled(first.positive, -reach, reach)
            axis.plot(t, y, color="black", label="$L_1$")
            top = float(np.min([6.0, np.max(y)]))
            for k, gamma in enumerate(gammas):
                loss = UnevenMarginLoss(function, gamma=gamma)
                t, y = sampled(loss.negative, -reach, reach)
                axis.plot(t, y, **curve_style(k), label=rf"$L_{{-1}}$, $\gamma = {loss.gamma:g}$")
            axis.set(title=function.name or function.text, xlabel="$t$", ylim=(-0.03 * top, 1.05 * top))
        axes[0][0].set_ylabel("loss")
        figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside upper center", ncols=len(gammas) + 1)
        names = ", ".join(function.name or function.text for function in map(phi, phis))
        return captioned(
            figure,
            f"Partial losses of the uneven margin loss for phi = {names} (definition 4): L1(t) = phi(t) does not "
            "depend on gamma, L-1(t) = phi(-gamma t)/gamma does; all slopes at t = 0 have one size (corollary 2).",
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


def window_orders(orders: tuple[int, ...] = (1, 2, 4, 8, 16, 64), *, alpha: Exact = "1/11") -> Figure:
    """The window loss of several orders, and the cost regret that a surrogate regret allows.

    Parameters
    ----------
    orders : tuple of int
        From 1 to 64.
    alpha : number in (0, 1)
        The costs of the right panel.

    Examples
    --------
    >>> import uneven
    >>> loss, bound = uneven.figures.window_orders((1, 8)).axes
    >>> bound.get_legend_handles_labels()[1]
    ['k = 1', 'k = 8', 'k to infinity: 2r']
    """
    if not orders:
        raise ParameterError("orders is empty; give at least one order, such as 8")
    regrets = np.geomspace(1e-4, 1, 121)
    with styled():
        figure, ((left, right),) = panels(1, 2, width=7.6, height=3.6)
        for k, order in enumerate(orders):
            window = phi("beta", order=order)
            left.plot(*sampled(window, -5.0, 5.0), **curve_style(k), label=f"k = {order}")
            analysis = analyze(UnevenMarginLoss(window, alpha=alpha))
            right.loglog(regrets, analysis.regret_bound(regrets), **curve_style(k), label=f"k = {order}")
        _add_neighbours(left)
        limit = np.minimum(2 * regrets, analysis.largest_regret)
        right.loglog(regrets, limit, color=GREY, linewidth=0.8, label="k to infinity: 2r")
        left.set(xlabel="$t$", ylabel=r"$\varphi_k(t)$", xlim=(-5, 5), ylim=(-0.03, 1.13))
        right.set(xlabel="surrogate regret $r$ in", ylabel="cost regret out, at most", xlim=(1e-4, 1))
        right.legend(loc="lower right")
        return captioned(
            figure,
            "The window loss of order k. Left: it is steep only near t = 0, in a window that narrows as k grows. "
            f"Right: the regret bound at alpha = {alpha}, gamma = 1 (theorem 1, proved and rounded to the safe side); "
            "it tightens as k grows, and no order beats 2r (docs/window.md).",
        )


def _add_neighbours(axes: Axes) -> None:
    """The losses at both ends of the family, in grey; the logistic one meets the first order at t = 0."""
    grey: dict[str, Any] = {"color": GREY, "fontsize": 8, "textcoords": "offset points"}
    axes.plot([-5, 0, 0, 5], [1, 1, 0, 0], color=GREY, linewidth=0.8)
    axes.annotate("zero-one", (0, 1), (4, -2), **grey)
    axes.plot(*sampled(lambda t: phi("logistic")(t) / (4 * np.log(2)), -5.0, 5.0), ":", color=GREY, linewidth=1.2)
    axes.annotate("logistic/(4 ln 2)", (-2.9, 1.07), (2, 0), **grey)


GALLERY = (
    GalleryFigure("partial-losses", "Partial losses", partial_losses, paper_figure=1),
    GalleryFigure("all-losses", "Every registered phi", all_losses),
    GalleryFigure("window-orders", "The window loss, from logistic to zero-one", window_orders),
)
