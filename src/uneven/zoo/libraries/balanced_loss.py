"""balanced-loss."""

from fractions import Fraction

from uneven.zoo.shared_formulas import LOGISTIC
from uneven.zoo.zoo_loss import Case, Flag, Formula, Library, Number, PerClass, ZooLoss

_WEIGHTS = tuple(f"(1 - beta)/(1 - beta**samples_per_class_{label})" for label in (0, 1))

LIBRARY = Library(
    "balanced_loss",
    "0.1.1",
    losses=(
        ZooLoss(
            "balanced_loss.Loss",
            (
                Formula(LOGISTIC.positive, LOGISTIC.negative, when={"class_balanced": False}),
                Formula(
                    f"2*{_WEIGHTS[1]}/({_WEIGHTS[0]} + {_WEIGHTS[1]})*softplus(-t)",
                    f"2*{_WEIGHTS[0]}/({_WEIGHTS[0]} + {_WEIGHTS[1]})*softplus(t)",
                ),
            ),
            (
                Flag("class_balanced"),
                Number("beta", "0.999", above=0, below=1),
                PerClass("samples_per_class", facts=True),
            ),
            None,
            (Case(), Case({"class_balanced": True, "samples_per_class": (970, 30)}, Fraction(97, 3))),
            ("The loss type is cross_entropy. The costs follow from the counts, never from what mistakes cost.",),
            score="the difference z1 - z0 of the two logits",
        ),
    ),
)
