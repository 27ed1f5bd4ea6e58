"""ASL, the repository of the authors of the asymmetric loss (Alibaba-MIIL/ASL)."""

from uneven.zoo.shared_formulas import ASYMMETRIC, DETACHED, asymmetric_parameters
from uneven.zoo.zoo_loss import Case, Flag, Library, ZooLoss

LIBRARY = Library(
    "ASL",
    "commit 05b193d",
    losses=(
        ZooLoss(
            "ASL.src.loss_functions.losses.AsymmetricLoss",
            (ASYMMETRIC,),
            (*asymmetric_parameters(gamma_pos=1), Flag("disable_torch_grad_focal_loss")),
            remarks=("disable_torch_grad_focal_loss=True has no effect here: its lines are commented out.",),
        ),
        ZooLoss(
            "ASL.src.loss_functions.losses.AsymmetricLossOptimized",
            (DETACHED, ASYMMETRIC),
            (*asymmetric_parameters(gamma_pos=1), Flag("disable_torch_grad_focal_loss")),
            None,
            (Case(), Case({"disable_torch_grad_focal_loss": True})),
            ("With disable_torch_grad_focal_loss=True the weight has no gradient, and another loss is minimised.",),
        ),
    ),
)
