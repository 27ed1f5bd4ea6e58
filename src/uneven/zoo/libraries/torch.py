"""PyTorch."""

from collections.abc import Mapping
from fractions import Fraction

from uneven.zoo.shared_formulas import LOGISTIC, POS_WEIGHT, WEIGHT
from uneven.zoo.zoo_loss import Case, Formula, Knob, Library, Number, Outside, PerClass, Read, ZooLoss

_SCORE = "the difference z1 - z0 of the two logits"


def _smoothed_weight(alpha: Fraction, values: Mapping[str, Read]) -> Fraction:
    """From alpha = [1 - e/2 - w e/2] / [(1 - e)(1 + w)], the ratio of the slopes at t = 0."""
    e = values["label_smoothing"]
    assert isinstance(e, Fraction)
    return ((1 - e / 2) - alpha * (1 - e)) / (alpha * (1 - e) + e / 2)


LIBRARY = Library(
    "torch",
    "2.13.0",
    losses=(
        ZooLoss(
            "torch.nn.BCEWithLogitsLoss",
            (Formula("pos_weight*softplus(-t)", "softplus(t)"),),
            (Number("pos_weight", 1, above=0),),
            POS_WEIGHT,
            (Case(), Case({"pos_weight": 10}, 10)),
            also_called=("torch.nn.functional.binary_cross_entropy_with_logits",),
        ),
        ZooLoss(
            "torch.nn.CrossEntropyLoss",
            (
                Formula(
                    "(1 - label_smoothing/2)*weight_1*softplus(-t) + label_smoothing/2*weight_0*softplus(t)",
                    "(1 - label_smoothing/2)*weight_0*softplus(t) + label_smoothing/2*weight_1*softplus(-t)",
                ),
            ),
            (PerClass("weight"), Number("label_smoothing", 0, at_least=0, below=1)),
            Knob("weight", WEIGHT.value, weight=_smoothed_weight),
            (
                Case(),
                Case({"label_smoothing": "0.1"}),
                Case({"weight": (1, 10)}, 10),
                Case({"weight": (1, 10), "label_smoothing": "0.1"}, 10),
                Case({"weight": (1, 18), "label_smoothing": "0.1"}, 18),
                Case({"weight": (1, 19), "label_smoothing": "0.1"}, 19),
                Case({"weight": (1, 10), "label_smoothing": "0.2"}, 10),
            ),
            (
                "Label smoothing also moves weight from the light class to the heavy one, so the two multiply "
                "the costs.",
                "With smoothing e it is calibrated for no costs once one weight is at least 2/e - 1 times the other "
                "(19 times at e = 0.1): then predicting the heavy class for everyone minimises it.",
            ),
            score=_SCORE,
            also_called=("torch.nn.functional.cross_entropy",),
        ),
        ZooLoss("torch.nn.SoftMarginLoss", (LOGISTIC,), also_called=("torch.nn.functional.soft_margin_loss",)),
        ZooLoss(
            "torch.nn.MultiLabelSoftMarginLoss",
            (LOGISTIC,),
            remarks=("Its weight is one number per column, not per label value, so it sets no costs.",),
            score="the logit of one column",
        ),
        ZooLoss(
            "torch.nn.MultiMarginLoss",
            (Formula("weight_1*relu(margin - t)**p/2", "weight_0*relu(margin + t)**p/2"),),
            (Number("p", 1, at_least=1, at_most=2), Number("margin", 1, above=0), PerClass("weight")),
            WEIGHT,
            (Case(), Case({"p": 2}), Case({"weight": (1, 10)}, 10)),
            score=_SCORE,
        ),
        ZooLoss(
            "torch.nn.MSELoss",
            (Formula("expit(-t)**2", "expit(t)**2"),),
            remarks=("This is the loss of a probability made by a sigmoid (Brier score).",),
            also_called=("torch.nn.functional.mse_loss",),
        ),
        ZooLoss(
            "torch.nn.L1Loss",
            (Formula("expit(-t)", "expit(t)"),),
            remarks=("This is the loss of a probability made by a sigmoid.",),
            also_called=("torch.nn.functional.l1_loss",),
        ),
    ),
    outside=(
        Outside(
            "torch.nn.HingeEmbeddingLoss",
            "it takes a distance x, small for positives, and its loss x of a positive has no lower bound over "
            "all real x; "
            "which distance counts as a positive decision is left to the user",
        ),
    ),
)
