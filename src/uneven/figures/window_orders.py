"""The window loss between the logistic and the zero-one loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from uneven.calibration import analyze
from uneven.errors import ParameterError
from uneven.figures.style import GREY, GalleryFigure, captioned, curve_style, panels, sampled, styled
from uneven.inputs import Exact
from uneven.losses import UnevenMarginLoss, phi

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ORDERS = (1, 2, 4, 8, 16, 64)


def window_orders(orders: tuple[int, ...] = _ORDERS, *, alpha: Exact = "1/11") -> Figure:
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


GALLERY = (GalleryFigure("window-orders", "The window loss, from logistic to zero-one", window_orders),)
