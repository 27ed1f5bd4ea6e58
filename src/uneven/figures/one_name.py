"""One name, one number, four cost ratios: focal losses with alpha = 0.25 in several libraries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uneven.figures._record import GalleryFigure
from uneven.figures.implied_costs import implied_costs
from uneven.zoo import loss
from uneven.zoo.parameters import shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOSSES: dict[str, dict[str, Any]] = {
    "monai.losses.FocalLoss": {"alpha": ("0.25",)},
    "torchvision.ops.sigmoid_focal_loss": {"alpha": "0.25"},
    "optax.losses.sigmoid_focal_loss": {"alpha": "0.25"},
    "keras.losses.BinaryFocalCrossentropy": {"alpha": "0.25"},
    "pytorch_widedeep.losses.FocalLoss": {"alpha": "0.25"},
    "libauc.losses.FocalLoss": {"alpha": "0.25"},
}


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
    chosen = _LOSSES if losses is None else losses
    titles = {
        f"{name}({', '.join(f'{key}={shown(value)}' for key, value in given.items())})": loss(name, **given)
        for name, given in chosen.items()
    }
    return implied_costs(
        titles,
        caption='"Focal loss, alpha = 0.25" in six libraries: the cost of a false negative to that of a false '
        "positive that "
        "each assumes (theorem T). alpha weights the positives, the negatives, both or nothing.",
    )


GALLERY = (GalleryFigure("one-name", "One name, four cost ratios", one_name),)
