"""Catalyst."""

from uneven.zoo.shared_formulas import ALPHA, FOCAL
from uneven.zoo.zoo_loss import Library, Number, ZooLoss

LIBRARY = Library(
    "catalyst",
    "22.4",
    losses=(
        ZooLoss(
            "catalyst.contrib.losses.FocalLossBinary",
            (FOCAL,),
            (Number("alpha", "0.25", at_least=0, at_most=1), Number("gamma", "2", at_least=0)),
            ALPHA,
            remarks=(
                "alpha weights the positives and 1 - alpha the negatives: a false positive costs as much as "
                "three false negatives.",
            ),
        ),
    ),
)
