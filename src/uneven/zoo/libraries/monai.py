"""MONAI."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from uneven.zoo.shared_formulas import unweighted_focal
from uneven.zoo.zoo_loss import Case, Formula, Knob, Library, Number, Outside, Read, ZooLoss, decimal

_BATCH = "it is a ratio of sums over an image or a batch, so the loss of one example depends on the others"


@dataclass(frozen=True)
class _Alpha(Number):
    """A number weights both classes; a sequence of one number weights the positives only."""

    def read(self, value: Any) -> Read:
        if isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 1:
            return (decimal(self.name, value[0]),)
        return super().read(value)

    def bind(self, value: Read) -> dict[str, Fraction]:
        if isinstance(value, tuple):
            return {"alpha_1": value[0], "alpha_0": Fraction(1)}
        return {"alpha_1": value, "alpha_0": 1 - value} if isinstance(value, Fraction) else {}


LIBRARY = Library(
    "monai",
    "1.6.1",
    losses=(
        ZooLoss(
            "monai.losses.FocalLoss",
            (
                unweighted_focal(alpha=None),
                Formula("alpha_1*expit(-t)**gamma*softplus(-t)", "alpha_0*expit(t)**gamma*softplus(t)"),
            ),
            (_Alpha("alpha", None, at_least=0, at_most=1), Number("gamma", 2, at_least=0)),
            Knob("alpha", lambda w: w / (1 + w)),
            (Case(), Case({"alpha": "0.25"}, Fraction(1, 3)), Case({"alpha": ("0.25",)}, Fraction(1, 3))),
            (
                "A number alpha weights the negatives by 1 - alpha; a sequence (alpha,) leaves their weight at "
                "1. So 0.25 "
                "and [0.25] assume other costs.",
            ),
        ),
        ZooLoss(
            "monai.losses.unified_focal_loss.AsymmetricFocalLoss",
            (
                Formula(
                    "-delta*log(min(max(expit(t), epsilon), 1 - epsilon))",
                    "-(1 - delta)*min(max(expit(t), epsilon), 1 - epsilon)**gamma"
                    "*log(min(max(expit(-t), epsilon), 1 - epsilon))",
                ),
            ),
            (
                Number("delta", "0.7", above=0, below=1),
                Number("gamma", 2, at_least=0),
                Number("epsilon", "1e-7", above=0, below="0.5"),
            ),
            Knob("delta", lambda w: w / (1 + w)),
            remarks=(
                "delta weights the foreground, though the docstring says background; the exponent is on "
                "negatives only.",
            ),
            score="the difference z1 - z0 of the two logits",
        ),
    ),
    outside=(
        *(Outside(f"monai.losses.{name}", _BATCH) for name in ("DiceLoss", "TverskyLoss", "GeneralizedDiceLoss")),
        Outside(
            "monai.losses.AUCMLoss",
            "it compares the scores of positives with those of negatives, so it has no threshold",
        ),
    ),
)
