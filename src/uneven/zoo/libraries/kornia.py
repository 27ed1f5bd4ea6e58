"""kornia."""

from fractions import Fraction

from uneven.zoo.shared_formulas import ALPHA, POS_WEIGHT
from uneven.zoo.zoo_loss import Case, Formula, Library, Number, PerClass, ZooLoss

_GAMMA = Number("gamma", 2, at_least=0)
_ALPHA_REMARK = "alpha weights the positives and 1 - alpha the negatives."

LIBRARY = Library(
    "kornia",
    "0.9.0",
    losses=(
        ZooLoss(
            "kornia.losses.binary_focal_loss_with_logits",
            (
                Formula(
                    "pos_weight*expit(-t)**gamma*softplus(-t)", "expit(t)**gamma*softplus(t)", when={"alpha": None}
                ),
                Formula("alpha*pos_weight*expit(-t)**gamma*softplus(-t)", "(1 - alpha)*expit(t)**gamma*softplus(t)"),
            ),
            (Number("alpha", "0.25", at_least=0, at_most=1, others=(None,)), _GAMMA, Number("pos_weight", 1, above=0)),
            POS_WEIGHT,
            (Case(), Case({"pos_weight": 3}, 3), Case({"alpha": None})),
            (
                "pos_weight multiplies alpha: pos_weight=3 at the default alpha = 0.25 treats both mistakes alike.",
                "The class BinaryFocalLossWithLogits has no default for alpha.",
            ),
        ),
        ZooLoss(
            "kornia.losses.focal_loss",
            (
                Formula(
                    "weight_1*expit(-t)**gamma*softplus(-t)",
                    "weight_0*expit(t)**gamma*softplus(t)",
                    when={"alpha": None},
                ),
                Formula(
                    "weight_1*alpha*expit(-t)**gamma*softplus(-t)", "weight_0*(1 - alpha)*expit(t)**gamma*softplus(t)"
                ),
            ),
            (Number("alpha", at_least=0, at_most=1, others=(None,)), _GAMMA, PerClass("weight")),
            ALPHA,
            (Case({"alpha": "0.25"}, Fraction(1, 3)), Case({"alpha": None})),
            (_ALPHA_REMARK,),
            score="the difference z1 - z0 of the two logits",
        ),
    ),
)
