"""bokbokbok: objectives for XGBoost and LightGBM, given by gradient and hessian."""

from uneven.zoo.zoo_loss import Case, Formula, Knob, Library, Number, ZooLoss

_ALPHA = Knob("alpha", lambda w: w)

LIBRARY = Library(
    "bokbokbok",
    "1.0.5",
    losses=(
        ZooLoss(
            "bokbokbok.loss_functions.classification.WeightedCrossEntropyLoss",
            (Formula("alpha*softplus(-t)", "softplus(t)"),),
            (Number("alpha", "0.5", above=0),),
            _ALPHA,
            (Case(), Case({"alpha": 10}, 10)),
            (
                "The default alpha = 0.5 halves the weight of the positives.",
                "Before version 1.0 the gradient was p - alpha y: at alpha = 0.5 it never predicts positive.",
            ),
            score="the raw score",
        ),
        ZooLoss(
            "bokbokbok.loss_functions.classification.WeightedFocalLoss",
            (Formula("alpha*expit(-t)**gamma*softplus(-t)", "expit(t)**gamma*softplus(t)"),),
            (Number("alpha", 1, above=0), Number("gamma", 2, at_least=0)),
            _ALPHA,
            (Case(), Case({"alpha": 10}, 10)),
            (
                "The gradient is right, but the hessian of every positive is exactly 0 (it uses the label "
                "where it needs "
                "the probability), so boosting divides by the regularisation only.",
            ),
            score="the raw score",
        ),
    ),
)
