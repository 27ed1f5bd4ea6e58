"""fvcore (detectron2)."""

from fractions import Fraction

from uneven.zoo.shared_formulas import ALPHA, FOCAL, unweighted_focal
from uneven.zoo.zoo_loss import Case, Formula, Library, Number, ZooLoss

_ALPHA = Number("alpha", -1, at_least=0, at_most=1, others=(-1,))

LIBRARY = Library(
    "fvcore",
    "0.1.5.post20221221",
    losses=(
        ZooLoss(
            "fvcore.nn.sigmoid_focal_loss",
            (unweighted_focal(alpha=-1), FOCAL),
            (_ALPHA, Number("gamma", 2, at_least=0)),
            ALPHA,
            (Case(), Case({"alpha": "0.25"}, Fraction(1, 3))),
            ("Same name as torchvision's, other default: alpha = -1 switches the weights off.",),
        ),
        ZooLoss(
            "fvcore.nn.sigmoid_focal_loss_star",
            (
                Formula("softplus(-gamma*t)/gamma", "softplus(gamma*t)/gamma", when={"alpha": -1}),
                Formula("alpha*softplus(-gamma*t)/gamma", "(1 - alpha)*softplus(gamma*t)/gamma"),
            ),
            (_ALPHA, Number("gamma", 1, above=0)),
            ALPHA,
            (Case(), Case({"gamma": 2})),
            ("gamma is a temperature here, not an exponent.",),
        ),
    ),
)
