"""pytorch-toolbelt."""

from uneven.zoo.shared_formulas import ALPHA, reduced_focal
from uneven.zoo.zoo_loss import Case, Library, Number, Outside, ZooLoss

_BY_PARAMETERS = reduced_focal("1 - reduced_threshold")
_GAMMA = Number("gamma", 2, at_least=0)
_THRESHOLD = Number("reduced_threshold", None, above=0, below=1)

LIBRARY = Library(
    "pytorch_toolbelt",
    "0.8.0",
    losses=(
        ZooLoss(
            "pytorch_toolbelt.losses.BinaryFocalLoss",
            _BY_PARAMETERS,
            (Number("alpha", None, at_least=0, at_most=1), _GAMMA, _THRESHOLD),
            ALPHA,
            (Case(), Case({"reduced_threshold": "0.5"})),
            ("The class has no alpha by default; the function that it calls has 0.25.",),
        ),
        ZooLoss(
            "pytorch_toolbelt.losses.functional.focal_loss_with_logits",
            _BY_PARAMETERS,
            (Number("alpha", "0.25", at_least=0, at_most=1, others=(None,)), _GAMMA, _THRESHOLD),
            ALPHA,
            remarks=("alpha is 0.25 by default; the class BinaryFocalLoss, which calls it, passes None.",),
        ),
    ),
    outside=(
        Outside(
            "pytorch_toolbelt.losses.BinaryFocalLoss(normalized=True)",
            "the weights are divided by their sum over the batch, so the loss of one example depends on the others",
        ),
    ),
)
