"""What a loss is: registered phis (one file each), uneven margin losses, any two partial losses."""

from uneven.losses.cost_prior import CostPrior
from uneven.losses.declaration import Declaration, Parameter
from uneven.losses.loss import Loss, UnevenMarginLoss, cost_loss
from uneven.losses.margin_function import Phi, phi
from uneven.losses.mixtures import mixture
from uneven.losses.prior_loss import range_loss
from uneven.losses.registry import declared, names, register, unregister

__all__ = [
    "CostPrior",
    "Declaration",
    "Loss",
    "Parameter",
    "Phi",
    "UnevenMarginLoss",
    "cost_loss",
    "declared",
    "mixture",
    "names",
    "phi",
    "range_loss",
    "register",
    "unregister",
]
