"""LightGBM. is_unbalance needs the counts of both classes in the training rows."""

from uneven.zoo.zoo_loss import Case, Flag, Formula, Knob, Library, Number, PerClass, ZooLoss

LIBRARY = Library(
    "lightgbm",
    "4.7.0",
    losses=(
        ZooLoss(
            "lightgbm.LGBMClassifier",
            (
                # The rarer class gets the ratio of the counts as its weight: the weights have the ratio n0/n1.
                Formula(
                    "max(counts_0/counts_1, 1)*softplus(-sigmoid*t)",
                    "max(counts_1/counts_0, 1)*softplus(sigmoid*t)",
                    when={"is_unbalance": True},
                ),
                Formula("scale_pos_weight*softplus(-sigmoid*t)", "softplus(sigmoid*t)"),
            ),
            (
                Number("scale_pos_weight", 1, above=0),
                Number("sigmoid", 1, above=0),
                Flag("is_unbalance"),
                PerClass("counts", facts=True),
            ),
            Knob("scale_pos_weight", lambda w: w, also={"is_unbalance": False}),
            (
                Case(),
                Case({"scale_pos_weight": 5, "sigmoid": 2}, 5),
                Case({"is_unbalance": True, "counts": (900, 100)}, 9),
            ),
            ("is_unbalance=True weights the rarer class by the ratio of the counts.",),
            score="the raw score",
        ),
    ),
)
