"""Optax."""

from fractions import Fraction

from uneven.zoo.shared_formulas import ALPHA, FOCAL, HINGE, LOGISTIC, PERCEPTRON, unweighted_focal
from uneven.zoo.zoo_loss import Case, Formula, Library, Number, ZooLoss

LIBRARY = Library(
    "optax",
    "0.2.8",
    losses=(
        ZooLoss(
            "optax.losses.sigmoid_focal_loss",
            (unweighted_focal(alpha=None), FOCAL),
            (Number("alpha", None, at_least=0, at_most=1), Number("gamma", 2, at_least=0)),
            ALPHA,
            (Case(), Case({"alpha": "0.25"}, Fraction(1, 3))),
            ("Same name as torchvision's, other default: no alpha.",),
            also_called=("optax.sigmoid_focal_loss",),
        ),
        ZooLoss(
            "optax.losses.sigmoid_binary_cross_entropy",
            (LOGISTIC,),
            remarks=("It has no argument for weights.",),
            also_called=("optax.sigmoid_binary_cross_entropy",),
        ),
        ZooLoss("optax.losses.hinge_loss", (HINGE,), score="the score", also_called=("optax.hinge_loss",)),
        ZooLoss(
            "optax.losses.perceptron_loss",
            (PERCEPTRON,),
            remarks=("t = 0 is optimal for every example, so it is calibrated for no costs.",),
            score="the score",
        ),
        ZooLoss(
            "optax.losses.sparsemax_loss",
            (
                Formula(
                    "where(t >= 1, 0, where(t <= -1, -t, (1 - t)**2/4))",
                    "where(t <= -1, 0, where(t >= 1, t, (1 + t)**2/4))",
                ),
            ),
            score="the score",
        ),
        ZooLoss(
            "optax.losses.poly_loss_cross_entropy",
            (Formula("softplus(-t) + epsilon*expit(-t)", "softplus(t) + epsilon*expit(t)"),),
            (Number("epsilon", 2, at_least=-1),),
            None,
            (Case(), Case({"epsilon": -1})),
            ("epsilon = -1 gives the gradient of a focal loss with exponent 1 whose weight is detached.",),
            score="the difference z1 - z0 of the two logits",
        ),
    ),
)
