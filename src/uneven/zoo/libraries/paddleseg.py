"""PaddleSeg."""

from uneven.zoo.zoo_loss import Library, Outside

LIBRARY = Library(
    "paddleseg",
    "2.8.0",
    losses=(),
    outside=(
        Outside(
            "paddleseg.models.losses.FocalLoss",
            "it depends on both logits, not only on their difference; as swapping the logits swaps the classes, alpha "
            "sets no cost ratio, and the decision by the larger logit treats both mistakes alike",
        ),
    ),
)
