r"""Squared hinge: :math:`\varphi(t) = (1 - t)_+^2`. A, B and H are the same as for the squared loss."""

import math

from uneven.losses.declaration import ClosedForm, Declaration, from_risk_and_gap, squared_gap, squared_risk

declaration = Declaration(
    sentence="relu(1 - t)**2",
    convex=True,
    limits=("inf", "0"),
    minimiser=math.inf,
    minimum="0",
    closed_form=ClosedForm(
        "Scott, section 4.2: minimisers lie in [-1/gamma, 1], where it equals the squared error",
        from_risk_and_gap(squared_risk, squared_gap),
    ),
)
