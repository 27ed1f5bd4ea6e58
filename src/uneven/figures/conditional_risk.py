"""The conditional risk of a loss that need not be convex, as a function of the decision value."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from uneven.calibration.half_lines import HalfLineSolver
from uneven.figures.style import GalleryFigure, captioned, curve_style, panels, sampled, styled
from uneven.inputs import Exact
from uneven.losses import Phi, UnevenMarginLoss

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def conditional_risk(
    function: str | Phi = "sigmoid",
    *,
    gamma: Exact = 2,
    etas: tuple[float, ...] = (0.1, 0.2, 0.3, 0.376385, 0.45, 0.6),
    reach: float = 6.0,
) -> Figure:
    """C(eta, t) as a function of t for several eta; a disc marks the minimum over t <= 0 if it is attained there.

    Parameters
    ----------
    function : name, expression or phi
    gamma : positive number
        Margin asymmetry.
    etas : probabilities
        One curve for each.
    reach : float
        t runs from -reach to reach.

    Examples
    --------
    >>> from uneven import figures
    >>> len(figures.conditional_risk(etas=(0.2, 0.4)).axes[0].lines) >= 2
    True
    """
    loss = UnevenMarginLoss(function, gamma=gamma)
    name = loss.phi.name or loss.phi.text
    solver = HalfLineSolver(loss)
    with styled():
        figure, ((axes,),) = panels(1, 1, width=6.0, height=4.2)
        for k, eta in enumerate(etas):
            style = curve_style(k)
            t, risk = sampled(partial(loss.conditional_risk, eta), -reach, reach)
            axes.plot(t, risk, **style, label=rf"$\eta = {eta:g}$")
            lowest = solver.minimum(-1, np.array([eta]), np.array([1 - eta]))
            at = float(lowest.at[0])
            if -reach < at < 0:
                axes.plot([at], [lowest.value[0]], "o", color=style["color"], markeredgecolor="white", markersize=6)
        axes.set(xlabel="$t$", ylabel=r"$C_L(\eta, t)$", xlim=(-reach, reach))
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        return captioned(
            figure,
            f"Uneven {name} loss, gamma = {loss.gamma:g}: the conditional risk for {len(etas)} values of eta. Discs "
            "mark the minimum over t <= 0. It is better to predict positive for every eta at which this minimum lies "
            "above the infimum over t >= 0 (section 4.4; in the formula printed there the signs of both exponents are "
            "exchanged).",
        )


GALLERY = (GalleryFigure("sigmoid-risk", "Conditional risk of the uneven sigmoid", conditional_risk, paper_figure=5),)
