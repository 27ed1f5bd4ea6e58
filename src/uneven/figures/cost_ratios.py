"""The cost ratios that losses average over, and what gamma does to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from uneven.calibration import implied_prior
from uneven.figures.style import GREY, GalleryFigure, captioned, curve_style, panels, styled
from uneven.inputs import Exact
from uneven.losses import Loss, UnevenMarginLoss, phi, range_loss

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def gamma_and_ratios(gammas: Sequence[Exact] = ("1/4", "1/2", 1, 2, 4)) -> Figure:
    """Which cost ratios a loss cares about: the exponential loss for several gammas, and other losses.

    Parameters
    ----------
    gammas : positive numbers
        Margin asymmetries of the exponential loss.

    Examples
    --------
    >>> from uneven import figures
    >>> len(figures.gamma_and_ratios().axes)
    2
    """
    with styled():
        figure, ((left, right),) = panels(1, 2, width=8.0, height=3.6)
        ratios = np.geomspace(1e-3, 1e3, 121)
        for k, gamma in enumerate(gammas):
            uneven = UnevenMarginLoss("exponential", gamma=gamma)
            left.plot(ratios, _per_factor(uneven, ratios), **curve_style(k), label=rf"$\gamma = {uneven.gamma:g}$")
        left.set(title="Exponential loss", yscale="log", ylabel="weight of a factor of the ratio (1 at ratio 1)")
        named: dict[str, Loss] = {
            "logistic": UnevenMarginLoss("logistic"),
            "modified Huber": UnevenMarginLoss("modified_huber"),
            "window of order 8": UnevenMarginLoss(phi("beta", order=8)),
            "range from 1/5 to 5": range_loss(("1/5", 5)),
        }
        fine = np.geomspace(1e-3, 1e3, 601)
        for k, (name, loss) in enumerate(named.items()):
            right.plot(fine, _per_factor(loss, fine), **curve_style(k), label=name)
        right.axvline(1, color=GREY, linestyle=":", label="hinge: this ratio only")
        right.set(title="Other losses", ylim=(0, 1.75))
        for axes in (left, right):
            _label(axes)
        return captioned(
            figure,
            "The cost ratios that a loss averages over, with weights (theorem P). Left: gamma of the exponential "
            "loss is the asymmetry of a Beta family; above 1 it cares more about expensive false positives.",
        )


def _per_factor(loss: Loss, ratios: np.ndarray) -> np.ndarray:
    """The weight of a factor of the ratio, ratio times density, in units of that at ratio 1."""
    prior = implied_prior(loss)
    weight = ratios * prior.density(ratios)
    return np.asarray(weight / prior.density(1.0))


def _label(axes: Axes) -> None:
    axes.set(xscale="log", xlabel="cost ratio: false negative / false positive")
    axes.legend()


GALLERY = (GalleryFigure("gamma-and-ratios", "What gamma does to the cost ratios of a loss", gamma_and_ratios),)
