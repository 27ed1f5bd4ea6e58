"""Optimal risk, wrong-side risk and their difference H."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from uneven.calibration import analyze, implied_alpha
from uneven.errors import LossError
from uneven.figures.style import GREY, GalleryFigure, captioned, curve_style, panels, sampled, styled
from uneven.inputs import Exact
from uneven.losses import Phi, UnevenMarginLoss

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def sides(function: str | Phi = "sigmoid", *, gamma: Exact = 2, alpha: Exact | None = None) -> Figure:
    """C^-, C* and H at one alpha.

    Parameters
    ----------
    function : name, expression or phi
    gamma : positive number
        Margin asymmetry.
    alpha : number in (0, 1), optional
        By default the alpha for which the loss is calibrated.

    Examples
    --------
    >>> from uneven import figures
    >>> len(figures.sides("logistic", gamma=3).axes)
    2
    """
    loss = UnevenMarginLoss(function, gamma=gamma)
    name = loss.phi.name or loss.phi.text
    chosen = implied_alpha(loss).alpha if alpha is None else alpha
    if chosen is None:
        raise LossError(f"{loss!r} has no alpha of its own; give one, such as alpha=0.25")
    analysis = analyze(loss, chosen)
    panes = (
        [("$C^-_{L,\\alpha}$", analysis.wrong_side_risk), ("$C^*_L$", analysis.optimal_risk)],
        [("$H_{L,\\alpha}$", analysis.H)],
    )
    with styled():
        figure, axes = panels(1, 2, height=3.2)
        for axis, curves in zip(axes[0], panes, strict=True):
            for k, (label, curve) in enumerate(curves):
                pieces = [sampled(curve, 0.0, analysis.alpha), sampled(curve, analysis.alpha, 1.0)]
                x, y = (np.append(pieces[0][i], pieces[1][i]) for i in (0, 1))
                axis.plot(x, y, **curve_style(k), label=label)
            axis.axvline(analysis.alpha, color=GREY, linewidth=0.8)
            axis.set(xlabel=r"$\eta$", xlim=(0, 1), ylim=(0, None))
            axis.legend()
        return captioned(
            figure,
            f"Uneven {name} loss, gamma = {loss.gamma:g}: optimal and wrong-side risk (left) and their difference H "
            f"(right) at alpha = {analysis.alpha:.6g} (grey line). The loss is calibrated for alpha if and only if H "
            "vanishes at alpha only (section 4.4).",
        )


GALLERY = (GalleryFigure("sigmoid-sides", "The two sides of the uneven sigmoid", sides, paper_figure=6),)
