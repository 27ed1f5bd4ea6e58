"""The asymmetric loss, as several libraries have it: exponents of both classes, and a clip that forgives negatives.

q = min(1 - p + clip, 1) replaces the probability 1 - p of a negative, so 1 - q = relu(p - clip).
"""

from __future__ import annotations

from uneven.zoo.declaration import Formula
from uneven.zoo.parameters import Number

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
