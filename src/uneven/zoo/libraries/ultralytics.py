"""ultralytics (YOLO)."""

from uneven.zoo.shared_formulas import ALPHA, FOCAL, unweighted_focal
from uneven.zoo.zoo_loss import Case, Formula, Knob, Library, Number, ZooLoss

LIBRARY = Library(
    "ultralytics",
    "8.4.190",
    losses=(
        ZooLoss(
            "ultralytics.utils.loss.FocalLoss",
            (unweighted_focal(alpha=0), FOCAL),
            (Number("alpha", "0.25", at_least=0, at_most=1, others=(0,)), Number("gamma", "1.5", at_least=0)),
            ALPHA,
            (Case(), Case({"alpha": 0})),
            (
                "alpha weights the positives and 1 - alpha the negatives; alpha = 0 switches the weights off.",
                "The default gamma is 1.5, not 2.",
            ),
        ),
        ZooLoss(
            "ultralytics.utils.loss.VarifocalLoss",
            (Formula("softplus(-t)", "alpha*expit(t)**gamma*softplus(t)"),),
            (Number("alpha", "0.75", above=0), Number("gamma", 2, at_least=0)),
            Knob("alpha", lambda w: 1 / w),
            remarks=(
                "alpha multiplies the negatives, not the positives.",
                "This is the loss for a target of exactly 1 or 0.",
            ),
        ),
    ),
)
