"""costcla."""

from uneven.zoo.zoo_loss import Case, Formula, Library, Number, ZooLoss

LIBRARY = Library(
    "costcla",
    "0.6",
    losses=(
        ZooLoss(
            "costcla.models.CostSensitiveLogisticRegression",
            (Formula("fn_cost", "tn_cost"),),
            tuple(Number(f"{name}_cost", 0, at_least=0) for name in ("fp", "fn", "tp", "tn")),
            None,
            (Case({"fp_cost": 1, "fn_cost": 10}, 10),),
            (
                "The cost compares the probability with exactly 1, so the objective is constant until p rounds to 1: "
                "there is nothing to minimise.",
            ),
        ),
    ),
)
