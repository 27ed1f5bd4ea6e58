"""segmentation_models_pytorch (smp)."""

from fractions import Fraction

from uneven.zoo.shared_formulas import ALPHA, reduced_focal
from uneven.zoo.zoo_loss import Case, Library, Number, Outside, ZooLoss

_BATCH = "it is a ratio of sums over the batch, so the loss of one example depends on the others"
_BY_PARAMETERS = reduced_focal("reduced_threshold")
_GAMMA = Number("gamma", 2, at_least=0)
_THRESHOLD = Number("reduced_threshold", None, above=0, below=1)
_JUMP = "With reduced_threshold other than 0.5 the loss jumps: it divides by the threshold instead of one minus it."

LIBRARY = Library(
    "segmentation_models_pytorch",
    "0.6.0",
    losses=(
        ZooLoss(
            "segmentation_models_pytorch.losses.FocalLoss",
            _BY_PARAMETERS,
            (Number("alpha", None, at_least=0, at_most=1), _GAMMA, _THRESHOLD),
            ALPHA,
            (Case(), Case({"reduced_threshold": "0.5"}), Case({"alpha": "0.25"}, Fraction(1, 3))),
            ("The class has no alpha by default; the function that it calls has 0.25.", _JUMP),
        ),
        ZooLoss(
            "segmentation_models_pytorch.losses._functional.focal_loss_with_logits",
            _BY_PARAMETERS,
            (Number("alpha", "0.25", at_least=0, at_most=1, others=(None,)), _GAMMA, _THRESHOLD),
            ALPHA,
            (Case(), Case({"alpha": None})),
            ("alpha is 0.25 by default; the class FocalLoss, which calls it, passes None.", _JUMP),
        ),
    ),
    outside=(
        *(
            Outside(f"segmentation_models_pytorch.losses.{name}", _BATCH)
            for name in ("DiceLoss", "JaccardLoss", "TverskyLoss", "MCCLoss")
        ),
        Outside(
            "segmentation_models_pytorch.losses.LovaszLoss",
            "it sorts the errors of an image, so the loss of one pixel depends on the others",
        ),
        Outside(
            "segmentation_models_pytorch.losses.FocalLoss(normalized=True)",
            "the weights are divided by their sum over the batch, so the loss of one example depends on the others",
        ),
    ),
)
