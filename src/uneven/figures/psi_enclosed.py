"""psi, the function that turns a cost regret into the surrogate regret it needs, with its proved enclosure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from uneven.calibration import analyze
from uneven.figures.style import COLOURS, GalleryFigure, captioned, curve_style, panels, sampled, styled
from uneven.inputs import Exact
from uneven.losses import Loss, Phi, UnevenMarginLoss

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def psi_enclosed(loss: Loss | Phi | str | None = None, *, alpha: Exact | None = None) -> Figure:
    """nu, its convex hull psi, and the proved enclosure of psi; below, the width of that enclosure.

    Parameters
    ----------
    loss : Loss, phi, name or expression, optional
        By default an uneven squared loss whose nu is not convex.
    alpha : number in (0, 1), optional
        By default the loss's own alpha, or 1/2.

    Examples
    --------
    >>> from uneven import figures
    >>> len(figures.psi_enclosed("hinge").axes)
    2
    """
    analysis = analyze(UnevenMarginLoss("squared", gamma=10, alpha="1/4") if loss is None else loss, alpha)
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
            f"{analysis.loss!r}, alpha = {analysis.alpha:.6g}: psi is the largest convex function below nu (theorem "
            "1). The band is a proved enclosure of psi, rounded outwards; its width is shown below.",
        )


GALLERY = (GalleryFigure("psi", "psi and its proved enclosure", psi_enclosed),)
