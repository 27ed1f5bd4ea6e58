"""CatBoost. auto_class_weights needs the counts of both classes in the training rows."""

from fractions import Fraction

from uneven.zoo.shared_formulas import FOCAL
from uneven.zoo.zoo_loss import Case, Choice, Formula, Knob, Library, Number, PerClass, ZooLoss

LIBRARY = Library(
    "catboost",
    "1.2.10",
    losses=(
        ZooLoss(
            "catboost.CatBoostClassifier",
            (
                Formula(
                    "max(counts_0/counts_1, 1)*softplus(-t)",
                    "max(counts_1/counts_0, 1)*softplus(t)",
                    when={"auto_class_weights": "Balanced"},
                ),
                Formula(
                    "max(sqrt(counts_0/counts_1), 1)*softplus(-t)",
                    "max(sqrt(counts_1/counts_0), 1)*softplus(t)",
                    when={"auto_class_weights": "SqrtBalanced"},
                ),
                Formula("scale_pos_weight*class_weights_1*softplus(-t)", "class_weights_0*softplus(t)"),
            ),
            (
                PerClass("class_weights"),
                Number("scale_pos_weight", 1, above=0),
                Choice("auto_class_weights", None, ("Balanced", "SqrtBalanced")),
                PerClass("counts", facts=True),
            ),
            Knob("scale_pos_weight", lambda w: w),
            (
                Case(),
                Case({"scale_pos_weight": 10}, 10),
                Case({"auto_class_weights": "Balanced", "counts": (900, 100)}, 9),
                Case({"auto_class_weights": "SqrtBalanced", "counts": (900, 100)}, 3),
            ),
            ("The loss function is Logloss.",),
            score="the raw value",
        ),
        ZooLoss(
            "catboost.CatBoostClassifier(loss_function='Focal')",
            (
                Formula(
                    FOCAL.positive.replace("alpha", "focal_alpha").replace("gamma", "focal_gamma"),
                    FOCAL.negative.replace("alpha", "focal_alpha").replace("gamma", "focal_gamma"),
                ),
            ),
            (Number("focal_alpha", above=0, below=1), Number("focal_gamma", above=0)),
            Knob("focal_alpha", lambda w: w / (1 + w)),
            (Case({"focal_alpha": "0.25", "focal_gamma": 2}, Fraction(1, 3)),),
            ("focal_alpha weights the positives and 1 - focal_alpha the negatives; there are no defaults.",),
            score="the raw value",
        ),
    ),
)
