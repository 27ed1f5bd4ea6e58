"""Pictures of losses and their guarantees; each function returns a Matplotlib figure (extra ``plot``)."""

from uneven.figures._gallery import FIGURES, FORMATS, draw, write_gallery
from uneven.figures.costs import costs_compared
from uneven.figures.guarantees import all_losses, implied_costs, psi_enclosed, regret_bound
from uneven.figures.partial_losses import partial_losses
from uneven.figures.regret import h_and_nu
from uneven.figures.sigmoid import alpha_of_gamma, conditional_risk, sides

__all__ = [
    "FIGURES",
    "FORMATS",
    "all_losses",
    "alpha_of_gamma",
    "conditional_risk",
    "costs_compared",
    "draw",
    "h_and_nu",
    "implied_costs",
    "partial_losses",
    "psi_enclosed",
    "regret_bound",
    "sides",
    "write_gallery",
]
