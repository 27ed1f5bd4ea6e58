"""Conditional risks of a loss: against the decision value, and with H and nu against the probability."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from uneven.calibration import Analysis, analyze, calibrated_loss, implied_alpha
from uneven.calibration.half_lines import HalfLineSolver
from uneven.errors import LossError
from uneven.figures.style import GREY, GalleryFigure, captioned, curve_style, panels, sampled, styled
from uneven.inputs import Exact
from uneven.losses import Phi, UnevenMarginLoss, phi

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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
            "above the infimum over t > 0 (section 4.4; in the formula printed there the signs of both exponents are "
            "exchanged).",
        )


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
                axis.plot(*_from_0_to_1(curve, analysis.alpha), **curve_style(k), label=label)
            axis.axvline(analysis.alpha, color=GREY, linewidth=0.8)
            axis.set(xlabel=r"$\eta$", xlim=(0, 1), ylim=(0, None))
            axis.legend()
        return captioned(
            figure,
            f"Uneven {name} loss, gamma = {loss.gamma:g}: optimal and wrong-side risk (left) and their difference H "
            f"(right) at alpha = {analysis.alpha:.6g} (grey line). The loss is calibrated for alpha if and only if H "
            "vanishes at alpha only (section 4.4).",
        )


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
                h = _from_0_to_1(analysis.H, analysis.alpha)
                row[0].plot(*h, **curve_style(k), label=rf"$\gamma = {loss.gamma:g}$")
                _draw_nu(row[1], analysis, k)
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


def _from_0_to_1(curve: Callable[[np.ndarray], np.ndarray], alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Points of a curve over eta, sampled on each side of alpha, where it can have a kink."""
    left, right = sampled(curve, 0.0, alpha), sampled(curve, alpha, 1.0)
    return np.append(left[0], right[0]), np.append(left[1], right[1])


def _draw_nu(axes: Axes, analysis: Analysis, k: int) -> None:
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
    GalleryFigure("sigmoid-risk", "Conditional risk of the uneven sigmoid", conditional_risk, paper_figure=5),
    GalleryFigure("sigmoid-sides", "The two sides of the uneven sigmoid", sides, paper_figure=6),
    GalleryFigure("hinge", "Uneven hinge loss", partial(h_and_nu, "hinge"), paper_figure=2),
    GalleryFigure("squared", "Uneven squared error loss", partial(h_and_nu, "squared"), paper_figure=3),
    GalleryFigure("exponential", "Uneven exponential loss", partial(h_and_nu, "exponential"), paper_figure=4),
)
