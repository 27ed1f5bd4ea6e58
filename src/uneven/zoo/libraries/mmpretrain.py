"""mmpretrain."""

from uneven.zoo.shared_formulas import ALPHA, ASYMMETRIC, FOCAL, asymmetric_parameters
from uneven.zoo.zoo_loss import Library, Number, ZooLoss

LIBRARY = Library(
    "mmpretrain",
    "1.2.0",
    losses=(
        ZooLoss(
            "mmpretrain.models.losses.FocalLoss",
            (FOCAL,),
            (Number("alpha", "0.25", at_least=0, at_most=1), Number("gamma", 2, at_least=0)),
            ALPHA,
            remarks=(
                "alpha weights the positives and 1 - alpha the negatives: at the default 0.25, a false positive costs "
                "as much as three false negatives.",
            ),
        ),
        ZooLoss(
            "mmpretrain.models.losses.AsymmetricLoss",
            (ASYMMETRIC,),
            asymmetric_parameters(gamma_pos=0),
            remarks=("The class has gamma_pos = 0 by default, the function that it calls has 1.",),
        ),
        ZooLoss(
            "mmpretrain.models.losses.asymmetric_loss.asymmetric_loss",
            (ASYMMETRIC,),
            asymmetric_parameters(gamma_pos=1),
            remarks=("gamma_pos is 1 by default, though the docstring says 0; the class passes 0.",),
        ),
    ),
)
