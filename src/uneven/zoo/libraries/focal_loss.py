"""focal-loss (for TensorFlow)."""

from uneven.zoo.shared_formulas import POS_WEIGHT
from uneven.zoo.zoo_loss import Case, Formula, Library, Number, ZooLoss

LIBRARY = Library(
    "focal_loss",
    "0.0.7",
    losses=(
        ZooLoss(
            "focal_loss.BinaryFocalLoss",
            (Formula("pos_weight*expit(-t)**gamma*softplus(-t)", "expit(t)**gamma*softplus(t)"),),
            (Number("gamma", at_least=0), Number("pos_weight", 1, above=0)),
            POS_WEIGHT,
            (Case({"gamma": 2}), Case({"gamma": 2, "pos_weight": 4}, 4)),
        ),
    ),
)
