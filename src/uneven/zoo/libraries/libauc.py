"""LibAUC."""

from uneven.zoo.zoo_loss import Formula, Knob, Library, Number, Outside, ZooLoss

_PAIRS = "it compares the scores of positives with those of negatives, so it has no threshold"

LIBRARY = Library(
    "libauc",
    "2.0.1",
    losses=(
        ZooLoss(
            "libauc.losses.FocalLoss",
            (Formula("(1 - alpha)*expit(-t)**gamma*softplus(-t)", "alpha*expit(t)**gamma*softplus(t)"),),
            (Number("alpha", "0.25", at_least=0, at_most=1), Number("gamma", 2, at_least=0)),
            Knob("alpha", lambda w: 1 / (1 + w)),
            remarks=("alpha weights the negatives: the opposite of torchvision's convention, under the same name.",),
        ),
    ),
    outside=tuple(
        Outside(f"libauc.losses.{name}", _PAIRS) for name in ("AUCMLoss", "APLoss", "pAUCLoss", "CompositionalAUCLoss")
    ),
)
