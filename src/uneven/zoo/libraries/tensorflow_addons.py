"""TensorFlow Addons."""

from uneven.zoo.shared_formulas import ALPHA, FOCAL, unweighted_focal
from uneven.zoo.zoo_loss import Case, Library, Number, ZooLoss

LIBRARY = Library(
    "tensorflow_addons",
    "0.23.0",
    losses=(
        ZooLoss(
            "tensorflow_addons.losses.SigmoidFocalCrossEntropy",
            (unweighted_focal(alpha=0), FOCAL),
            (Number("alpha", "0.25", at_least=0, at_most=1), Number("gamma", 2, at_least=0)),
            ALPHA,
            (Case(), Case({"alpha": 0})),
            ("alpha weights the positives and 1 - alpha the negatives; alpha = 0 switches the weights off.",),
        ),
    ),
)
