"""H and nu of an uneven margin loss, as in the paper's figures for hinge, squared and exponential loss."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from uneven.calibration import Analysis, analyze, calibrated_loss
from uneven.figures.style import GalleryFigure, captioned, curve_style, panels, sampled, styled
from uneven.inputs import Exact
from uneven.losses import Phi, phi

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def h_and_nu(
    function: str | Phi = "hinge",
    *,
    alphas: tuple[Exact, ...] = ("1/4", "1/2", "3/4"),
    gammas: tuple[Exact, ...] = ("1/4", 1, 2, 4),
) -> Figure:
    r"""H (left) and nu (right) of the calibrated loss :math:`L_\alpha`, one row per alpha, one curve per gamma.

    nu can jump only at min(alpha, 1 - alpha); there a disc marks its value and a ring its limit from the right.

    Parameters
    ----------
    function : name, expression or phi
    alphas : numbers in (0, 1)
    gammas : positive numbers
        Margin asymmetries.

    Examples
    --------
    >>> from uneven import figures
    >>> len(figures.h_and_nu("squared", alphas=("1/4",), gammas=(1, 2)).axes)
    2
    """
    chosen = phi(function)
    with styled():
        figure, axes = panels(len(alphas), 2, height=2.0 * len(alphas) + 1.0)
        for row, alpha in zip(axes, alphas, strict=True):
            for k, gamma in enumerate(gammas):
                loss = calibrated_loss(chosen, alpha=alpha, gamma=gamma)
                analysis = analyze(loss)
                _h(row[0], analysis, k, rf"$\gamma = {loss.gamma:g}$")
                _nu(row[1], analysis, k)
            row[0].set(xlim=(0, 1), ylabel=rf"$\alpha = {analysis.alpha:g}$", ylim=(0, None))
            row[1].set(xlim=(0, analysis.largest_regret), ylim=(0, None))
        axes[0][0].set_title(r"$H_{L_\alpha,\alpha}(\eta)$")
        axes[0][1].set_title(r"$\nu_{L_\alpha,\alpha}(\epsilon)$")
        axes[-1][0].set_xlabel(r"$\eta$")
        axes[-1][1].set_xlabel(r"$\epsilon$")
        figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside upper center", ncols=len(gammas))
        return captioned(
            figure,
            f"Uneven {chosen.name or chosen.text} loss: H and nu (section 2, theorem 2) for alpha = "
            f"{', '.join(map(str, alphas))}. Where nu jumps, at min(alpha, 1 - alpha), a disc marks its value and a "
            "ring the limit from the right; the regret bound psi is the convex hull of nu (theorem 1).",
        )


def _h(axes: Axes, analysis: Analysis, k: int, label: str) -> None:
    left, right = sampled(analysis.H, 0.0, analysis.alpha), sampled(analysis.H, analysis.alpha, 1.0)
    eta, height = np.append(left[0], right[0]), np.append(left[1], right[1])
    axes.plot(eta, height, **curve_style(k), label=label)


def _nu(axes: Axes, analysis: Analysis, k: int) -> None:
    near, end = min(analysis.alpha, 1 - analysis.alpha), analysis.largest_regret
    style = curve_style(k)
    axes.plot(*sampled(analysis.nu, 0.0, near), **style)
    if near == end:
        return
    beyond = float(np.nextafter(near, 1)) + 1e-12 * end
    x, y = sampled(analysis.nu, beyond, end)
    axes.plot(x, y, **style)
    closed, opened = analysis.nu(near), float(y[0])
    if opened > closed + 1e-6 * float(y.max()):
        _mark_jump(axes, near, closed, opened, style["color"])


def _mark_jump(axes: Axes, x: float, closed: float, opened: float, colour: str) -> None:
    """Mark a jump: a disc at the value of the curve, a ring at its limit from the other side."""
    axes.plot([x], [closed], "o", color=colour, markersize=4, zorder=4)
    axes.plot([x], [opened], "o", color=colour, markerfacecolor="white", markersize=4, zorder=4)


GALLERY = (
    GalleryFigure("hinge", "Uneven hinge loss", partial(h_and_nu, "hinge"), paper_figure=2),
    GalleryFigure("squared", "Uneven squared error loss", partial(h_and_nu, "squared"), paper_figure=3),
    GalleryFigure("exponential", "Uneven exponential loss", partial(h_and_nu, "exponential"), paper_figure=4),
)
