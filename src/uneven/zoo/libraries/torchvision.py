"""torchvision."""

from uneven.zoo.shared_formulas import ALPHA, FOCAL, unweighted_focal
from uneven.zoo.zoo_loss import Case, Library, Number, ZooLoss

LIBRARY = Library(
    "torchvision",
    "0.29.2",
    losses=(
        ZooLoss(
            "torchvision.ops.sigmoid_focal_loss",
            (unweighted_focal(alpha=-1), FOCAL),
            (Number("alpha", "0.25", at_least=0, at_most=1, others=(-1,)), Number("gamma", 2, at_least=0)),
            ALPHA,
            (Case(), Case({"alpha": -1}), Case({"alpha": "0.75"}, 3)),
            (
                "alpha weights the positives and 1 - alpha the negatives: at the default 0.25, a false positive costs "
                "as much as three false negatives.",
            ),
        ),
    ),
)
