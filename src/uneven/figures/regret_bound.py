"""What a small surrogate regret guarantees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from uneven._inputs import Exact
from uneven.calibration import analyze, calibrated_loss
from uneven.figures._record import GalleryFigure
from uneven.figures.style import GREY, captioned, curve_style, panels, styled
from uneven.losses import Phi, phi

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def regret_bound(
    phis: tuple[str | Phi, ...] = ("hinge", "squared", "logistic", "exponential"),
    *,
    alpha: Exact = "1/10",
    gamma: Exact = 1,
) -> Figure:
    """The largest cost regret that a surrogate regret allows: the inverse of psi.

    Parameters
    ----------
    phis : names, expressions or phis
        One curve for each; the loss is the one calibrated for alpha.
    alpha : number in (0, 1)
    gamma : positive number
        Margin asymmetry.

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


GALLERY = (GalleryFigure("regret-bound", "Surrogate regret in, cost regret out", regret_bound),)
