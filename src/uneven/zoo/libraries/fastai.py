"""fastai."""

from uneven.zoo.zoo_loss import Case, Formula, Library, Number, Outside, PerClass, ZooLoss

LIBRARY = Library(
    "fastai",
    "2.8.12",
    losses=(
        ZooLoss(
            "fastai.losses.FocalLoss",
            (
                Formula(
                    "(1 - exp(-weight_1*softplus(-t)))**gamma*weight_1*softplus(-t)",
                    "(1 - exp(-weight_0*softplus(t)))**gamma*weight_0*softplus(t)",
                ),
            ),
            (Number("gamma", 2, at_least=0), PerClass("weight")),
            None,
            (Case(), Case({"weight": (1, 10)}, 10)),
            (
                "The focal weight is computed from the weighted cross entropy, so weight=[1, 10] assumes 17 : "
                "1, not 10 : 1.",
            ),
            score="the difference z1 - z0 of the two logits",
        ),
    ),
    outside=(
        Outside(
            "fastai.losses.DiceLoss",
            "it is a ratio of sums over a batch or an image, so the loss of one example depends on the others",
        ),
    ),
)
