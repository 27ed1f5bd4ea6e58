"""Every registered phi at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uneven.calibration import analyze, calibrated_loss
from uneven.errors import LossError
from uneven.figures.style import COLOURS, GREY, GalleryFigure, captioned, panels, sampled, styled
from uneven.inputs import Exact
from uneven.losses import names, phi

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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


GALLERY = (GalleryFigure("all-losses", "Every registered phi", all_losses),)
