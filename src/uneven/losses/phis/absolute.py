r"""Absolute difference of t from 1: :math:`\varphi(t) = |1 - t|`. A, B and H are the same as for the hinge."""

from uneven.losses.declaration import ClosedForm, Declaration, from_risk_and_gap, hinge_gap, hinge_risk

declaration = Declaration(
    sentence="abs(1 - t)",
    convex=True,
    limits=("inf", "inf"),
    minimiser=1.0,
    minimum="0",
    closed_form=ClosedForm(
        "Scott, section 4.1: minimisers lie in [-1/gamma, 1], where it equals the hinge",
        from_risk_and_gap(hinge_risk, hinge_gap),
    ),
    also_called=("absolute_error", "mae", "l1"),
)
