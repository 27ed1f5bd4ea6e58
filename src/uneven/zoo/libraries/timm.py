"""timm. q is the probability of the negative class plus clip, at most 1; so 1 - q = relu(p - clip)."""

from collections.abc import Mapping
from fractions import Fraction

from uneven.zoo.shared_formulas import ASYMMETRIC, DETACHED, POS_WEIGHT, asymmetric_parameters
from uneven.zoo.zoo_loss import Case, Flag, Formula, Knob, Library, Number, Read, ZooLoss


def _smoothed_weight(alpha: Fraction, values: Mapping[str, Read]) -> Fraction:
    """From the slopes at 0: alpha (w on - (1 - on)) = (1 - alpha) ((1 - off) - w off)."""
    smoothing, classes = values["smoothing"], values["num_classes"]
    assert isinstance(smoothing, Fraction)
    assert isinstance(classes, Fraction)
    off = smoothing / classes
    on = 1 - smoothing + off
    return (alpha * (1 - on) + (1 - alpha) * (1 - off)) / (alpha * on + (1 - alpha) * off)


LIBRARY = Library(
    "timm",
    "1.0.30",
    losses=(
        ZooLoss(
            "timm.loss.AsymmetricLossMultiLabel",
            (DETACHED, ASYMMETRIC),
            (*asymmetric_parameters(gamma_pos=1), Flag("disable_torch_grad_focal_loss")),
            None,
            (
                Case(),
                Case({"disable_torch_grad_focal_loss": True}),
                Case({"clip": 0}),
                Case({"clip": 0, "gamma_pos": 0}),
            ),
            (
                "The exponents and the clip make a false negative cost 5.8 false positives; nothing in the "
                "names says so.",
                "With disable_torch_grad_focal_loss=True the weight has no gradient, and another loss is minimised.",
            ),
        ),
        ZooLoss(
            "timm.loss.AsymmetricLossSingleLabel",
            (
                Formula(
                    "(1 - eps/2)*expit(-t)**gamma_pos*softplus(-t) + eps/2*expit(-t)**gamma_neg*softplus(t)",
                    "(1 - eps/2)*expit(t)**gamma_pos*softplus(t) + eps/2*expit(t)**gamma_neg*softplus(-t)",
                ),
            ),
            (
                Number("gamma_pos", 1, at_least=0),
                Number("gamma_neg", 4, at_least=0),
                Number("eps", "0.1", at_least=0, below=1),
            ),
            remarks=("With two classes it treats both alike, whatever the exponents.",),
            score="the difference z1 - z0 of the two logits",
        ),
        ZooLoss(
            "timm.loss.BinaryCrossEntropy",
            (
                Formula(
                    "(1 - smoothing + smoothing/num_classes)*pos_weight*softplus(-t)"
                    " + (smoothing - smoothing/num_classes)*softplus(t)",
                    "smoothing/num_classes*pos_weight*softplus(-t) + (1 - smoothing/num_classes)*softplus(t)",
                ),
            ),
            (
                Number("smoothing", "0.1", at_least=0, below=1),
                Number("pos_weight", 1, above=0),
                Number("num_classes", 2, at_least=2),
            ),
            Knob("pos_weight", POS_WEIGHT.value, weight=_smoothed_weight),
            (Case(), Case({"pos_weight": 10}, 10), Case({"num_classes": 1000})),
            (
                "pos_weight and smoothing multiply the costs, as in torch.nn.CrossEntropyLoss.",
                "num_classes is the number of columns of the logits: with many, smoothing alone shifts the "
                "threshold of "
                "each column above 1/2.",
            ),
            score="the logit of one column",
        ),
    ),
)
