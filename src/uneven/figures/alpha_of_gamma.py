"""The alpha for which a loss is calibrated, as gamma changes."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from uneven.calibration.calibrated_losses import numeric_odds
from uneven.errors import LossError
from uneven.figures.style import GREY, GalleryFigure, captioned, curve_style, panels, styled
from uneven.losses import Phi, phi

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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


GALLERY = (GalleryFigure("alpha-of-gamma", "The alpha of the uneven sigmoid", alpha_of_gamma, paper_figure=7),)
