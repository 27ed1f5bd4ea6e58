r"""Squared difference of t from 1: :math:`\varphi(t) = (1 - t)^2`."""

from uneven.losses.declaration import ClosedForm, Declaration, from_risk_and_gap, squared_gap, squared_risk

declaration = Declaration(
    sentence="(1 - t)**2",
    convex=True,
    limits=("inf", "inf"),
    minimiser=1.0,
    minimum="0",
    closed_form=ClosedForm("Scott, section 4.2", from_risk_and_gap(squared_risk, squared_gap)),
    also_called=("square", "squared_error", "least_squares", "mse", "l2"),
)
