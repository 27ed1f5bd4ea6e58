"""River."""

from uneven.zoo.zoo_loss import Case, Formula, Knob, Library, Number, ZooLoss

LIBRARY = Library(
    "river",
    "0.26.1",
    losses=(
        ZooLoss(
            "river.optim.losses.BinaryFocalLoss",
            (Formula("softplus(-gamma*t - beta)/gamma", "softplus(gamma*t - beta)/gamma"),),
            (Number("gamma", 2, above=0), Number("beta", 1)),
            remarks=("A convex relative of the focal loss; gamma is a temperature.",),
        ),
        ZooLoss(
            "river.optim.losses.Hinge",
            (Formula("relu(threshold - t)", "relu(threshold + t)"),),
            (Number("threshold", 1, at_least=0),),
            None,
            (Case(), Case({"threshold": 0})),
            ("threshold=0 is the perceptron, which is calibrated for no costs.",),
            score="the score",
        ),
        ZooLoss(
            "river.optim.losses.Log",
            (Formula("weight_pos*softplus(-t)", "weight_neg*softplus(t)"),),
            (Number("weight_pos", 1, above=0), Number("weight_neg", 1, above=0)),
            Knob("weight_pos", lambda w: w, also={"weight_neg": 1}),
            (Case(), Case({"weight_pos": 10}, 10)),
        ),
    ),
)
