"""super-gradients."""

from uneven.zoo.shared_formulas import ALPHA, FOCAL
from uneven.zoo.zoo_loss import Library, Number, ZooLoss

LIBRARY = Library(
    "super_gradients",
    "3.7.1",
    losses=(
        ZooLoss(
            "super_gradients.training.losses.FocalLoss",
            (FOCAL,),
            (Number("alpha", "0.25", at_least=0, at_most=1), Number("gamma", "1.5", at_least=0)),
            ALPHA,
            remarks=(
                "alpha weights the positives and 1 - alpha the negatives: a false positive costs as much as "
                "three false negatives.",
            ),
        ),
    ),
)
