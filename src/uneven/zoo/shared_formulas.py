"""Formulas and knobs that many libraries share. p is the probability expit(t); -log p is softplus(-t)."""

from __future__ import annotations

from typing import Any

from uneven.zoo.zoo_loss import Formula, Knob, Number

LOGISTIC = Formula("softplus(-t)", "softplus(t)")
HINGE = Formula("relu(1 - t)", "relu(1 + t)")
SQUARED_HINGE = Formula("relu(1 - t)**2", "relu(1 + t)**2")
PERCEPTRON = Formula("relu(-t)", "relu(t)")

#: Cross entropy that is small where the model is sure: (1 - p)**gamma (-log p). alpha weights the positives.
FOCAL = Formula("alpha*expit(-t)**gamma*softplus(-t)", "(1 - alpha)*expit(t)**gamma*softplus(t)")


def unweighted_focal(**when: Any) -> Formula:
    """The focal loss without alpha."""
    return Formula("expit(-t)**gamma*softplus(-t)", "expit(t)**gamma*softplus(t)", when=when)


def reduced_focal(divisor: str) -> tuple[Formula, ...]:
    """The focal loss whose weight is 1 below a threshold on p, ((1 - p)/divisor)**gamma above it; alpha may be None."""
    weight = "where(expit({0}t) < reduced_threshold, 1, (expit({1}t)/({2}))**gamma)*softplus({1}t)"
    positive, negative = weight.format("", "-", divisor), weight.format("-", "", divisor)
    return (
        unweighted_focal(alpha=None, reduced_threshold=None),
        Formula(FOCAL.positive, FOCAL.negative, when={"reduced_threshold": None}),
        Formula(positive, negative, when={"alpha": None}),
        Formula(f"alpha*{positive}", f"(1 - alpha)*{negative}"),
    )


#: A weight of the positives.
POS_WEIGHT = Knob("pos_weight", lambda w: w)
SCALE_POS_WEIGHT = Knob("scale_pos_weight", lambda w: w)
#: Weights of both classes, the negative class first.
WEIGHT = Knob("weight", lambda w: (1, w))
CLASS_WEIGHT = Knob("class_weight", lambda w: (1, w))
#: alpha weights the positives, 1 - alpha the negatives.
ALPHA = Knob("alpha", lambda w: w / (1 + w))


# The asymmetric loss, as several libraries have it: exponents of both classes, and a clip that forgives negatives.
#
# q = min(1 - p + clip, 1) replaces the probability 1 - p of a negative, so 1 - q = relu(p - clip).

_EXCESS = "relu(expit(t) - clip)"

ASYMMETRIC = Formula(
    "-expit(-t)**gamma_pos*log(max(expit(t), eps))",
    f"-{_EXCESS}**gamma_neg*log(max(1 - {_EXCESS}, eps))",
)

#: The weight has no gradient: dL/dt is weight times the derivative of the logarithm.
DETACHED = Formula(
    "-expit(-t)**(gamma_pos + 1)",
    "where(expit(t) > clip, (expit(t) - clip)**gamma_neg/(1 + clip - expit(t)), 0)*expit(t)*expit(-t)",
    when={"disable_torch_grad_focal_loss": True},
    slopes=True,
)


def asymmetric_parameters(gamma_pos: int) -> tuple[Number, ...]:
    """Its parameters; libraries differ in the default of gamma_pos."""
    return (
        Number("gamma_neg", 4, at_least=0),
        Number("gamma_pos", gamma_pos, at_least=0),
        Number("clip", "0.05", at_least=0, below=1),
        Number("eps", "1e-8", above=0, below="0.5"),
    )
