"""A loss that is not convex: its conditional risk, its two sides, and the alpha that moves with gamma."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from uneven._inputs import Exact
from uneven.calibration import analyze, implied_alpha
from uneven.calibration.calibrated_losses import own_alpha
from uneven.calibration.risk.half_lines import HalfLineSolver
from uneven.errors import LossError
from uneven.figures._sampling import sampled
from uneven.figures._style import GREY, captioned, curve_style, panels, styled
from uneven.losses import Phi, UnevenMarginLoss, phi

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def conditional_risk(
    function: str | Phi = "sigmoid",
    *,
    gamma: Exact = 2,
    etas: tuple[float, ...] = (0.1, 0.2, 0.3, 0.376385, 0.45, 0.6),
    reach: float = 6.0,
) -> Figure:
    """C(eta, t) as a function of t for several eta, the minimum over t <= 0 marked where it is not a limit.

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
            "mark the minimum over t <= 0. The better side changes where it equals the infimum over t >= 0 (section "
            "4.4; the displayed formula of the paper has the signs of both exponents exchanged).",
        )


def sides(function: str | Phi = "sigmoid", *, gamma: Exact = 2, alpha: Exact | None = None) -> Figure:
    """H, C^- and C* at the alpha for which the loss is calibrated (or at another one).

    Examples
    --------
    >>> from uneven import figures
    >>> len(figures.sides("logistic", gamma=3).axes)
    2
    """
    loss = UnevenMarginLoss(function, gamma=gamma)
    name = loss.phi.name or loss.phi.text
    implied = implied_alpha(loss)
    if alpha is None and implied.alpha is None:
        raise LossError(f"{loss!r} has no alpha of its own; give one, such as alpha=0.25")
    analysis = analyze(loss, implied.alpha if alpha is None else alpha)
    with styled():
        figure, axes = panels(1, 2, height=3.2)
        for axis, curves in zip(
            axes[0],
            (
                [("$C^-_{L,\\alpha}$", analysis.wrong_side_risk), ("$C^*_L$", analysis.optimal_risk)],
                [("$H_{L,\\alpha}$", analysis.H)],
            ),
            strict=True,
        ):
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
            f"(right) at alpha = {analysis.alpha:.6g} (grey line). The loss is alpha-CC iff H "
            "vanishes at alpha only (section 4.4).",
        )


def alpha_of_gamma(
    functions: tuple[str | Phi, ...] = ("sigmoid",), *, low: float = 1e-3, high: float = 1e3, points: int = 61
) -> Figure:
    """The one alpha for which (phi(t), phi(-gamma t)/gamma) is calibrated, against gamma on a log axis.

    Examples
    --------
    >>> from uneven import figures
    >>> figure = figures.alpha_of_gamma(("ramp",), points=5)
    >>> figure.axes[0].get_xscale()
    'log'
    """
    gammas = np.geomspace(low, high, points)
    chosen = [phi(function) for function in functions]
    with styled():
        figure, ((axes,),) = panels(1, 1, width=5.6, height=3.7)
        for k, function in enumerate(chosen):
            alphas = [own_alpha(function, Fraction(float(gamma))).alpha for gamma in gammas]
            axes.plot(gammas, alphas, **curve_style(k), label=function.name or function.text)
        axes.axhline(0.5, color=GREY, linewidth=0.8)
        axes.annotate("every convex loss", (low, 0.5), (2, 3), textcoords="offset points", color=GREY, fontsize=8)
        axes.set(xscale="log", xlabel=r"$\gamma$", ylabel=r"$\alpha(\gamma)$", ylim=(0, 1), xlim=(low, high))
        axes.legend(loc="upper right")
        return captioned(
            figure,
            "The unique alpha for which the loss (phi(t), phi(-gamma t)/gamma) is alpha-CC (section 4.4). Convex "
            "losses keep alpha = 1/2 for every gamma (corollary 2); alpha(1/gamma) = 1 - alpha(gamma).",
        )
