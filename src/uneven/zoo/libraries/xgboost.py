"""XGBoost."""

from uneven.zoo.shared_formulas import SCALE_POS_WEIGHT
from uneven.zoo.zoo_loss import Case, Choice, Formula, Library, Number, ZooLoss

LIBRARY = Library(
    "xgboost",
    "3.2.0",
    losses=(
        ZooLoss(
            "xgboost.XGBClassifier",
            (
                Formula("scale_pos_weight*softplus(-t)", "softplus(t)", when={"objective": "binary:logistic"}),
                Formula("relu(1 - t)", "relu(1 + t)", when={"objective": "binary:hinge"}),
            ),
            (
                Choice("objective", "binary:logistic", ("binary:logistic", "binary:hinge")),
                Number("scale_pos_weight", 1, above=0),
            ),
            SCALE_POS_WEIGHT,
            (
                Case(),
                Case({"scale_pos_weight": 10}, 10),
                Case({"objective": "binary:hinge"}),
                Case({"objective": "binary:hinge", "scale_pos_weight": 10}, 10),
            ),
            ("binary:hinge ignores scale_pos_weight (weights of rows work), and outputs 0 or 1, no score.",),
            score="the raw margin",
        ),
    ),
)
