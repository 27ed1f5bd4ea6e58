"""pytorch-widedeep."""

from uneven.zoo.zoo_loss import Formula, Library, Number, ZooLoss

LIBRARY = Library(
    "pytorch_widedeep",
    "1.7.0",
    losses=(
        ZooLoss(
            "pytorch_widedeep.losses.FocalLoss",
            # Two columns, p and 1 - p, each with half of the mean: their weights alpha and 1 - alpha add up to 1.
            (Formula("-expit(-t)**(gamma + 1)/2", "expit(t)**(gamma + 1)/2", slopes=True),),
            (Number("alpha", "0.25", at_least=0, at_most=1), Number("gamma", 1, at_least=0)),
            remarks=(
                "For a binary target alpha cancels and does nothing: it weights one of two equal columns by alpha, the "
                "other by 1 - alpha.",
                "The weight has no gradient, so the loss is defined by its slopes.",
            ),
        ),
    ),
)
