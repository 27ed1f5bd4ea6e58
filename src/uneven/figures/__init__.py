"""Pictures of losses and their guarantees, and displays of classifiers; all need the extra ``plot``.

A function returns a Matplotlib figure. A display follows scikit-learn's convention.
"""

from uneven.figures._gallery import FIGURES, FORMATS, draw, write_gallery
from uneven.figures.all_losses import all_losses
from uneven.figures.alpha_of_gamma import alpha_of_gamma
from uneven.figures.conditional_risk import conditional_risk
from uneven.figures.costs_compared import costs_compared
from uneven.figures.displays.alpha_curves import CostCurveDisplay, DecisionCurveDisplay
from uneven.figures.displays.calibration_near_alpha import CalibrationNearAlphaDisplay
from uneven.figures.displays.cost_confusion import CostConfusionDisplay
from uneven.figures.displays.fitted_curves import GammaPathDisplay, ThresholdShiftDisplay
from uneven.figures.displays.threshold_cost import ThresholdCostDisplay
from uneven.figures.h_and_nu import h_and_nu
from uneven.figures.implied_costs import implied_costs, one_name
from uneven.figures.partial_losses import partial_losses
from uneven.figures.psi_enclosed import psi_enclosed
from uneven.figures.regret_bound import regret_bound
from uneven.figures.smoothing_and_weight import smoothing_and_weight
from uneven.figures.style import GalleryFigure
from uneven.figures.window_orders import window_orders
from uneven.figures.wrong_side_risk import sides

__all__ = [
    "FIGURES",
    "FORMATS",
    "CalibrationNearAlphaDisplay",
    "CostConfusionDisplay",
    "CostCurveDisplay",
    "DecisionCurveDisplay",
    "GalleryFigure",
    "GammaPathDisplay",
    "ThresholdCostDisplay",
    "ThresholdShiftDisplay",
    "all_losses",
    "alpha_of_gamma",
    "conditional_risk",
    "costs_compared",
    "draw",
    "h_and_nu",
    "implied_costs",
    "one_name",
    "partial_losses",
    "psi_enclosed",
    "regret_bound",
    "sides",
    "smoothing_and_weight",
    "window_orders",
    "write_gallery",
]
