"""Empulse: costs as a loss of probabilities made by a sigmoid."""

from fractions import Fraction

from uneven.zoo.zoo_loss import Case, Formula, Knob, Library, Number, ZooLoss

_COSTS = tuple(Number(f"{name}_cost", 0, at_least=0) for name in ("tp", "tn", "fn", "fp"))
_NEGATIVE_COSTS = tuple(Number(f"{name}_cost", 0, at_most=0) for name in ("tp", "tn", "fn", "fp"))

LIBRARY = Library(
    "empulse",
    "0.13.1",
    losses=(
        ZooLoss(
            "empulse.metrics.expected_cost_loss",
            (Formula("tp_cost*expit(t) + fn_cost*expit(-t)", "fp_cost*expit(t) + tn_cost*expit(-t)"),),
            _COSTS,
            Knob("fn_cost", lambda w: w, also={"fp_cost": Fraction(1)}),
            (
                Case({"fp_cost": 1, "fn_cost": 10}, 10),
                Case({"tp_cost": 1, "fn_cost": 10, "tn_cost": 2, "fp_cost": 5}, 3),
            ),
            (
                "The loss of CSLogit and CSBoost. It is the costs times probabilities: the sigmoid loss.",
                "Up to version 0.11.1 the boosting hessian was 0 at t = 0; now it is the absolute gradient.",
            ),
        ),
        ZooLoss(
            "empulse.metrics.expected_log_cost_loss",
            (
                Formula(
                    "-tp_cost*softplus(-t) - fn_cost*softplus(t)",
                    "-fp_cost*softplus(-t) - tn_cost*softplus(t)",
                ),
            ),
            _NEGATIVE_COSTS,
            Knob("tp_cost", lambda w: -w, also={"tn_cost": Fraction(-1)}),
            (Case({"tp_cost": -1, "tn_cost": -1}), Case({"tp_cost": -10, "tn_cost": -1}, 10)),
            (
                "With a positive cost it has no lower bound: as p tends to 1, fn_cost log(1 - p) tends to "
                "minus infinity. "
                "Only costs of at most 0 (benefits) give a loss.",
            ),
        ),
    ),
)
