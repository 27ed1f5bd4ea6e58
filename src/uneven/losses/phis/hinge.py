r"""Hinge loss, as in the support vector machine: :math:`\varphi(t) = (1 - t)_+`."""

import math

from uneven.losses.declaration import ClosedForm, Declaration, from_risk_and_gap, hinge_gap, hinge_risk

declaration = Declaration(
    sentence="relu(1 - t)",
    convex=True,
    limits=("inf", "0"),
    minimiser=math.inf,
    minimum="0",
    closed_form=ClosedForm("Scott, section 4.1", from_risk_and_gap(hinge_risk, hinge_gap)),
    also_called=("svm", "svc"),
)
