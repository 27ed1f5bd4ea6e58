"""mmdet (MMDetection)."""

from uneven.zoo.shared_formulas import ALPHA, FOCAL
from uneven.zoo.zoo_loss import Formula, Knob, Library, Number, Outside, ZooLoss

_GAMMA = Number("gamma", 2, at_least=0)

LIBRARY = Library(
    "mmdet",
    "3.3.0",
    losses=(
        ZooLoss(
            "mmdet.models.losses.FocalLoss",
            (FOCAL,),
            (Number("alpha", "0.25", at_least=0, at_most=1), _GAMMA),
            ALPHA,
            remarks=(
                "alpha weights the positives and 1 - alpha the negatives: at the default 0.25, a false positive costs "
                "as much as three false negatives.",
            ),
        ),
        ZooLoss(
            "mmdet.models.losses.VarifocalLoss",
            (Formula("softplus(-t)", "alpha*expit(t)**gamma*softplus(t)"),),
            (Number("alpha", "0.75", above=0), _GAMMA),
            Knob("alpha", lambda w: 1 / w),
            remarks=(
                "alpha multiplies the negatives, not the positives.",
                "This is the loss for a target of exactly 1 or 0.",
            ),
        ),
        ZooLoss(
            "mmdet.models.losses.QualityFocalLoss",
            (Formula("expit(-t)**beta*softplus(-t)", "expit(t)**beta*softplus(t)"),),
            (Number("beta", 2, at_least=0),),
            remarks=("This is the loss for a quality of exactly 1 or 0.",),
        ),
    ),
    outside=(
        Outside(
            "mmdet.models.losses.GHMC",
            "it weights each example by how many of the batch have a similar gradient, so the loss of one "
            "example depends "
            "on the others",
        ),
    ),
)
