"""What a loss is: registered phis (one file each), uneven margin losses, any two partial losses."""

from uneven.losses._family import Family, Parameter
from uneven.losses._loss import Loss, cost_loss
from uneven.losses._phi import Phi, phi
from uneven.losses._registry import family, names, register, unregister
from uneven.losses._uneven_margin import UnevenMarginLoss

__all__ = [
    "Family",
    "Loss",
    "Parameter",
    "Phi",
    "UnevenMarginLoss",
    "cost_loss",
    "family",
    "names",
    "phi",
    "register",
    "unregister",
]
