"""Pictures of losses and their guarantees; each function returns a Matplotlib figure (extra ``plot``)."""

from uneven.figures._gallery import FIGURES, FORMATS, draw, write_gallery
from uneven.figures._record import GalleryFigure
from uneven.figures.all_losses import all_losses
from uneven.figures.alpha_of_gamma import alpha_of_gamma
from uneven.figures.conditional_risk import conditional_risk
from uneven.figures.costs_compared import costs_compared
from uneven.figures.displays.threshold_cost import ThresholdCostDisplay
from uneven.figures.h_and_nu import h_and_nu
from uneven.figures.implied_costs import implied_costs
from uneven.figures.partial_losses import partial_losses
from uneven.figures.psi_enclosed import psi_enclosed
from uneven.figures.regret_bound import regret_bound
from uneven.figures.sides import sides

__all__ = [
    "FIGURES",
    "FORMATS",
    "GalleryFigure",
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
