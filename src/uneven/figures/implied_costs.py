"""The cost ratio that each of several losses assumes; also of losses of other libraries that share one name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uneven.calibration import implied_alpha
from uneven.figures.style import COLOURS, GREY, GalleryFigure, captioned, panels, styled
from uneven.losses import Loss, Phi, UnevenMarginLoss
from uneven.zoo import loss
from uneven.zoo.zoo_loss import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_MARKS = (1, 3, 10, 30, 100, 300, 1000)
_CAPTION = (
    "The costs each loss assumes, whether its author knew or not: the one alpha for which it is calibrated, as "
    "a ratio (1 - alpha) : alpha (theorem D: there is at most one)."
)
#: Focal losses with alpha = 0.25 in several libraries.
_FOCAL_LOSSES: dict[str, dict[str, Any]] = {
    "monai.losses.FocalLoss": {"alpha": ("0.25",)},
    "torchvision.ops.sigmoid_focal_loss": {"alpha": "0.25"},
    "optax.losses.sigmoid_focal_loss": {"alpha": "0.25"},
    "keras.losses.BinaryFocalCrossentropy": {"alpha": "0.25"},
    "pytorch_widedeep.losses.FocalLoss": {"alpha": "0.25"},
    "libauc.losses.FocalLoss": {"alpha": "0.25"},
}


def implied_costs(losses: Mapping[str, Loss | Phi | str] | None = None, *, caption: str = _CAPTION) -> Figure:
    """The cost ratio that each loss silently assumes.

    Parameters
    ----------
    losses : mapping of str to Loss, phi, name or expression, optional
        By default six losses in common use.
    caption : str
        The text below.

    Examples
    --------
    >>> import uneven
    >>> figure = uneven.figures.implied_costs({"weighted": uneven.Loss("10*softplus(-t)", "softplus(t)")})
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['weighted']
    """
    p = "relu(expit(t) - 0.05)"
    given = losses or {
        "logistic": "logistic",
        "logistic, positives weighted 10": Loss("10*softplus(-t)", "softplus(t)"),
        "focal, weight 0.25 on positives": Loss("0.25*expit(-t)**2*softplus(-t)", "0.75*expit(t)**2*softplus(t)"),
        "asymmetric (1, 4, clip 0.05)": Loss("expit(-t)*softplus(-t)", f"-log(1 - {p})*{p}**4"),
        "sigmoid, gamma = 4": UnevenMarginLoss("sigmoid", gamma=4),
        "hinge, gamma = 2, beta = 3": UnevenMarginLoss("hinge", gamma=2, beta=3),
    }
    ratios = {name: implied_alpha(loss).cost_ratio for name, loss in given.items()}
    with styled():
        figure, ((axes,),) = panels(1, 1, width=6.4, height=0.42 * len(given) + 1.6)
        for k, ratio in enumerate(ratios.values()):
            if ratio is None:
                axes.annotate("none", (1, k), (4, 0), textcoords="offset points", va="center", color=GREY)
                continue
            axes.plot([1, ratio], [k, k], color=COLOURS[0], linewidth=3, solid_capstyle="butt")
            axes.plot([ratio], [k], "o", color=COLOURS[0], markersize=7)
            text = f"{ratio:.3g} : 1" if ratio >= 1 else f"1 : {1 / ratio:.3g}"
            side = 1 if ratio >= 1 else -1
            axes.annotate(
                text,
                (ratio, k),
                (8 * side, 0),
                textcoords="offset points",
                va="center",
                ha="left" if side > 0 else "right",
            )
        axes.axvline(1, color=GREY, linewidth=0.8)
        axes.set_xscale("log")
        axes.margins(x=0.25, y=0.12)
        _label_ratios(axes)
        axes.set_yticks(range(len(ratios)), list(ratios))
        axes.invert_yaxis()
        axes.set_xlabel("cost of a false negative : cost of a false positive")
        axes.grid(axis="y", visible=False)
        return captioned(figure, caption)


def _label_ratios(axes: Axes) -> None:
    """Ratios such as 1 : 3 and 10 : 1 along the axis."""
    from matplotlib.ticker import NullLocator

    low, high = axes.get_xlim()
    marks = {1 / mark: f"1 : {mark}" for mark in _MARKS} | {mark: f"{mark} : 1" for mark in _MARKS}
    inside = {place: text for place, text in marks.items() if low <= place <= high}
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(list(inside), list(inside.values()))
    axes.set_xlim(low, high)


def one_name(losses: Mapping[str, Mapping[str, Any]] | None = None) -> Figure:
    """The costs that losses of other libraries assume.

    Parameters
    ----------
    losses : mapping of str to mappings, optional
        Names of :func:`uneven.zoo.names` with their parameters. By default focal losses with alpha = 0.25.

    Examples
    --------
    >>> import uneven
    >>> figure = uneven.figures.one_name({"optax.losses.sigmoid_focal_loss": {"alpha": 0.5}})
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['optax.losses.sigmoid_focal_loss(alpha=0.5)']
    """
    chosen = _FOCAL_LOSSES if losses is None else losses
    titles = {
        f"{name}({', '.join(f'{key}={shown(value)}' for key, value in given.items())})": loss(name, **given)
        for name, given in chosen.items()
    }
    return implied_costs(
        titles,
        caption='"Focal loss, alpha = 0.25" in six libraries: the cost of a false negative to that of a false '
        "positive that each assumes (theorem T). alpha weights the positives, the negatives, both or nothing.",
    )


GALLERY = (
    GalleryFigure("implied-costs", "The costs a loss assumes", implied_costs),
    GalleryFigure("one-name", "One name, four cost ratios", one_name),
)
