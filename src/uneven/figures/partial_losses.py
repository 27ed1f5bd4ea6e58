"""What each label pays: the partial losses of the uneven margin loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from uneven.figures.style import GalleryFigure, captioned, curve_style, panels, sampled, styled
from uneven.inputs import Exact
from uneven.losses import Phi, UnevenMarginLoss, phi

if TYPE_CHECKING:
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


GALLERY = (GalleryFigure("partial-losses", "Partial losses", partial_losses, paper_figure=1),)
