"""imbalance-xgboost: objectives for XGBoost, given by gradient and hessian."""

from uneven.zoo.shared_formulas import unweighted_focal
from uneven.zoo.zoo_loss import Case, Formula, Knob, Library, Number, ZooLoss

LIBRARY = Library(
    "imxgboost",
    "0.8.1",
    losses=(
        ZooLoss(
            "imxgboost.weighted_loss.Weight_Binary_Cross_Entropy",
            (Formula("imbalance_alpha*softplus(-t)", "softplus(t)"),),
            (Number("imbalance_alpha", above=0),),
            Knob("imbalance_alpha", lambda w: w),
            (Case({"imbalance_alpha": 10}, 10),),
            score="the raw score",
        ),
        ZooLoss(
            "imxgboost.focal_loss.Focal_Binary_Loss",
            (
                Formula(
                    unweighted_focal().positive.replace("gamma", "gamma_indct"),
                    unweighted_focal().negative.replace("gamma", "gamma_indct"),
                ),
            ),
            (Number("gamma_indct", at_least=0),),
            None,
            (Case({"gamma_indct": 2}),),
            score="the raw score",
        ),
    ),
)
