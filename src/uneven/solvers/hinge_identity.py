r"""The uneven hinge is the ordinary hinge in other coordinates, if the intercept is free.

With :math:`a = (1 + 1/\gamma)/2` and :math:`c = (1 - 1/\gamma)/2`, a score :math:`f = a h + c` has

.. math:: (1 - f)_+ = a (1 - h)_+, \qquad \tfrac{1}{\gamma} (1 + \gamma f)_+ = a (1 + h)_+ .

So the minimiser for :math:`(\gamma, C)` is :math:`a h + c`, where h is the ordinary minimiser with the *effective*
:math:`C/a`; its objective is :math:`a^2` times as large. All :math:`\gamma` with the same effective C share one fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from uneven import inputs
from uneven.errors import UnevenError
from uneven.inputs import Exact
from uneven.losses import Phi, phi
from uneven.shape.kinks import Polygon, polygon

_HINGE = Polygon(kinks=(1.0,), slopes=(-1.0, 0.0), value=0.0)


@dataclass(frozen=True)
class HingeIdentity:
    """f = a h + c for one gamma.

    Examples
    --------
    >>> from uneven.solvers.hinge_identity import HingeIdentity
    >>> identity = HingeIdentity.of(margin_gamma=2)
    >>> identity
    HingeIdentity(a=0.75, c=0.25)
    >>> identity.score(-1.0), identity.own_c(4)
    (-0.5, 3.0)
    """

    a: float
    c: float

    @classmethod
    def of(cls, margin_gamma: Exact) -> HingeIdentity:
        """The identity for a gamma."""
        inverse = 1 / inputs.positive("margin_gamma", margin_gamma)
        return cls(inputs.to_float((1 + inverse) / 2), inputs.to_float((1 - inverse) / 2))

    def score(self, h: Any) -> Any:
        """The score f of the uneven hinge, from the score h of the ordinary one."""
        return self.a * h + self.c

    def own_c(self, effective: Exact) -> float:
        """C of the uneven hinge, from the C of the ordinary one."""
        return inputs.to_float(inputs.positive("C", effective) * inputs.exact("", self.a))


def is_hinge(loss: Any) -> bool:
    """Whether a loss is a name, an expression or a phi that means the hinge, however it is written.

    Examples
    --------
    >>> import uneven
    >>> from uneven.solvers.hinge_identity import is_hinge
    >>> is_hinge("hinge"), is_hinge("max(0, 1 - t)"), is_hinge(uneven.phi("hinge")), is_hinge("2*relu(1 - t)")
    (True, True, True, False)
    """
    if not isinstance(loss, str | Phi):
        return False
    try:
        return polygon(phi(loss).tree) == _HINGE
    except UnevenError:  # it is no loss at all; its fit will say why
        return False
