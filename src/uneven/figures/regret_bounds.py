"""What a small surrogate regret guarantees: the bound on the cost regret, and psi with its proved enclosure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from uneven.calibration import Analysis, analyze, calibrated_loss
from uneven.errors import ParameterError
from uneven.figures.style import COLOURS, GREY, GalleryFigure, captioned, curve_style, panels, sampled, styled
from uneven.inputs import Exact
from uneven.losses import Loss, Phi, UnevenMarginLoss, phi

if TYPE_CHECKING:
    from matplotlib.figure import Figure


AnyLoss = Loss | Phi | str
_ALPHA = "1/10"


def regret_bound(
    losses: AnyLoss | Sequence[AnyLoss] | Mapping[str, AnyLoss] = ("hinge", "squared", "logistic", "exponential"),
    *,
    alpha: Exact | None = None,
    gamma: Exact = 1,
) -> Figure:
    """The largest cost regret that a surrogate regret allows: the inverse of psi.

    Parameters
    ----------
    losses : loss, sequence of losses, or dict of label to loss
        One curve for each. A :class:`Loss` is drawn as it is, calibrated for alpha or not. A name, an expression or a
        phi stands for its loss that is calibrated for alpha.
    alpha : number in (0, 1), optional
        By default the alpha that the given losses are weighted by, or 1/10.
    gamma : positive number
        Margin asymmetry of a loss given as a name, an expression or a phi.

    Examples
    --------
    >>> import uneven
    >>> mine = uneven.Loss("10*softplus(-t)", "softplus(t)")
    >>> figure = uneven.figures.regret_bound({"mine": mine, "hinge": "hinge"}, alpha="1/11")
    >>> figure.axes[0].get_legend_handles_labels()[1]
    ['mine', 'hinge']
    """
    given = _with_labels(losses)
    costs = _common_alpha(list(given.values())) if alpha is None else alpha
    analyses = {label: _analysis(loss, costs, gamma) for label, loss in given.items()}
    largest = next(iter(analyses.values())).largest_regret
    regrets = np.geomspace(1e-5, 1, 121)
    with styled():
        figure, ((axes,),) = panels(1, 1, width=5.8, height=4.0)
        for k, (label, analysis) in enumerate(analyses.items()):
            bound = analysis.regret_bound if analysis.loss.symbolic else analysis.psi_inverse
            axes.loglog(regrets, bound(regrets), **curve_style(k), label=label)
        axes.axhline(largest, color=GREY, linewidth=0.8)
        axes.annotate(
            "largest cost regret", (1e-5, largest), (2, 3), textcoords="offset points", color=GREY, fontsize=8
        )
        axes.set(xlabel="surrogate regret in", ylabel="cost regret out, at most", xlim=(1e-5, 1))
        axes.legend(loc="lower right")
        margins = "" if all(isinstance(loss, Loss) for loss in given.values()) else f", gamma = {gamma}"
        proved = all(analysis.loss.symbolic for analysis in analyses.values())
        how = "proved and rounded to the safe side" if proved else "computed, not proved, for Python functions"
        return captioned(
            figure,
            f"Regret bounds at alpha = {costs}{margins}: if the surrogate risk is within r of its optimum, the "
            f"expected cost is within the curve's value of its optimum (theorem 1, {how}). Losses have different units "
            "of r.",
        )


def _with_labels(losses: AnyLoss | Sequence[AnyLoss] | Mapping[str, AnyLoss]) -> dict[str, AnyLoss]:
    if isinstance(losses, Mapping):
        found = dict(losses)
    else:
        several = [losses] if isinstance(losses, Loss | Phi | str) else list(losses)
        found = {}
        for loss in several:
            label = _label(loss)
            found[label if label not in found else f"{label} ({len(found) + 1})"] = loss
    if not found:
        raise ParameterError("losses is empty; give at least one loss, such as 'hinge'")
    return found


def _label(loss: AnyLoss) -> str:
    if not isinstance(loss, Loss):
        function = phi(loss)
        return function.name or function.text
    if isinstance(loss, UnevenMarginLoss):
        beta = "" if loss.beta is None else f", beta = {loss.beta:g}"
        return f"{_label(loss.phi)}, gamma = {loss.gamma:g}{beta}"
    return repr(loss).removeprefix("uneven.")


def _common_alpha(losses: list[AnyLoss]) -> Exact:
    found = {loss.exact_alpha for loss in losses if isinstance(loss, Loss) and loss.exact_alpha is not None}
    if len(found) > 1:
        listed = ", ".join(sorted(map(str, found)))
        raise ParameterError(f"the losses are weighted by different alphas ({listed}); give the alpha to draw")
    return found.pop() if found else _ALPHA


def _analysis(loss: AnyLoss, alpha: Exact, gamma: Exact) -> Analysis:
    return analyze(loss if isinstance(loss, Loss) else calibrated_loss(phi(loss), alpha=alpha, gamma=gamma), alpha)


def psi_enclosed(
    loss: Loss | Phi | str | None = None, *, alpha: Exact | None = None, score_bound: Exact | None = None
) -> Figure:
    """nu, its convex hull psi, and the proved enclosure of psi; below, the width of that enclosure.

    Parameters
    ----------
    loss : Loss, phi, name or expression, optional
        By default an uneven squared loss whose nu is not convex.
    alpha : number in (0, 1), optional
        By default the loss's own alpha, or 1/2.
    score_bound : positive number, optional
        Scores lie in [-score_bound, score_bound].

    Examples
    --------
    >>> from uneven import figures
    >>> len(figures.psi_enclosed("hinge").axes)
    2
    """
    chosen = UnevenMarginLoss("squared", gamma=10, alpha="1/4") if loss is None else loss
    analysis = analyze(chosen, alpha, score_bound=score_bound)
    eps = np.linspace(0, analysis.largest_regret, 161)
    lower, upper = analysis.psi_bounds(eps)
    within = "" if score_bound is None else f", scores within {analysis.score_bound:g} of 0"
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
            f"{analysis.loss!r}, alpha = {analysis.alpha:.6g}{within}: psi is the largest convex function below nu "
            "(theorem 1). The band is a proved enclosure of psi, rounded outwards; its width is shown below.",
        )


def bounded_scores(
    loss: AnyLoss = "logistic", *, alpha: Exact = "1/4", bounds: tuple[Exact, ...] = ("1/2", 1, 2)
) -> Figure:
    """H and the bound on the cost regret, for scores within several bounds and for all scores.

    Parameters
    ----------
    loss : Loss, phi, name or expression
        A phi is weighted for alpha.
    alpha : number in (0, 1)
    bounds : numbers
        Scores lie in [-bound, bound].

    Examples
    --------
    >>> from uneven import figures
    >>> len(figures.bounded_scores().axes)
    2
    """
    chosen = loss if isinstance(loss, Loss) else calibrated_loss(phi(loss), alpha=alpha)
    analyses = [analyze(chosen, alpha, score_bound=bound) for bound in (*bounds, None)]
    eta = np.linspace(0, 1, 501)
    regret = np.linspace(0, float(analyses[-1].psi(analyses[-1].largest_regret)), 301)
    with styled():
        figure, ((left, right),) = panels(1, 2, width=7.6, height=3.6)
        for k, one in enumerate(analyses):
            name = "all scores" if one.score_bound is None else f"scores within {one.score_bound:g} of 0"
            left.plot(eta, one.H(eta), **curve_style(k), label=name)
            right.plot(regret, one.psi_inverse(regret), **curve_style(k), label=name)
        left.axvline(analyses[-1].alpha, color=GREY, linewidth=0.8)
        left.set(xlabel=r"$\eta = P(Y = 1)$", ylabel=r"$H_\Lambda(\eta)$", xlim=(0, 1), ylim=(0, None))
        right.set(xlabel="surrogate regret", ylabel="cost regret at most", xlim=(0, regret[-1]), ylim=(0, None))
        left.legend(loc="upper center")
        return captioned(
            figure,
            f"{_label(loss)}, alpha = {analyses[-1].alpha:.6g}. Left: the least surrogate regret of a wrong decision. "
            "It is that of all scores where the best score is within the bound, and a line beyond (theorem L). "
            "Right: what a surrogate regret, against the best score within the bound, allows.",
        )


GALLERY = (
    GalleryFigure("regret-bound", "Surrogate regret in, cost regret out", regret_bound),
    GalleryFigure("psi", "psi and its proved enclosure", psi_enclosed),
    GalleryFigure("bounded-scores", "Scores within a bound", bounded_scores),
)
