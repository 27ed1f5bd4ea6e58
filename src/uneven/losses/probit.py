r"""Probit: the normal tail :math:`\varphi(t) = \Phi(-t)`."""

import math

from uneven.losses._closed_forms import only_even_margins, symmetric_sides
from uneven.losses._family import ClosedForm, Family

family = Family(
    sentence="erfc(t/sqrt(2))/2",
    convex=False,
    limits=("1", "0"),
    minimiser=math.inf,
    minimum="0",
    closed_form=ClosedForm("phi(t) + phi(-t) = 1, gamma = 1", symmetric_sides, only_even_margins),
)
