"""KerasCV."""

from fractions import Fraction

from uneven.zoo.shared_formulas import ALPHA, FOCAL
from uneven.zoo.zoo_loss import Case, Formula, Library, Number, ZooLoss

_POSITIVE = (
    "(1 - alpha)*((1 - label_smoothing/2)*expit(-t) + label_smoothing/2*expit(t))**gamma"
    "*((1 - label_smoothing/2)*softplus(-t) + label_smoothing/2*softplus(t))"
)
_NEGATIVE = (
    "(1 - alpha)*((1 - label_smoothing/2)*expit(t) + label_smoothing/2*expit(-t))**gamma"
    "*((1 - label_smoothing/2)*softplus(t) + label_smoothing/2*softplus(-t))"
)

LIBRARY = Library(
    "keras_cv",
    "0.9.0",
    losses=(
        ZooLoss(
            "keras_cv.losses.FocalLoss",
            (Formula(FOCAL.positive, FOCAL.negative, when={"label_smoothing": 0}), Formula(_POSITIVE, _NEGATIVE)),
            (
                Number("alpha", "0.25", at_least=0, at_most=1),
                Number("gamma", 2, at_least=0),
                Number("label_smoothing", 0, at_least=0, at_most=1),
            ),
            ALPHA,
            (Case(), Case({"label_smoothing": "0.1"}, Fraction(1, 3))),
            (
                "With label_smoothing above 0 alpha does nothing: the code looks for targets equal to 1 after "
                "smoothing, "
                "and every example gets the weight 1 - alpha.",
            ),
        ),
    ),
)
