"""Pictures of losses and their guarantees, and displays of classifiers; all need the extra ``plot``.

A function returns a Matplotlib figure. A display follows scikit-learn's convention.
"""

from uneven.figures._gallery import FIGURES, FORMATS, draw, write_gallery
from uneven.figures.assumed_costs import alpha_of_gamma, implied_costs, one_name, smoothing_and_weight
from uneven.figures.cost_ratios import gamma_and_ratios
from uneven.figures.costs_compared import costs_compared
from uneven.figures.displays.action_regions import ActionRegionsDisplay
from uneven.figures.displays.alpha_curves import CostCurveDisplay, DecisionCurveDisplay, MeanCostDisplay
from uneven.figures.displays.calibration_near_alpha import CalibrationNearAlphaDisplay
from uneven.figures.displays.capacity_cost import CapacityCostDisplay
from uneven.figures.displays.cost_confusion import CostConfusionDisplay
from uneven.figures.displays.fitted_curves import GammaPathDisplay, ThresholdShiftDisplay
from uneven.figures.displays.matrix_regions import MatrixRegionsDisplay
from uneven.figures.displays.ranked_gains import RankedGainsDisplay
from uneven.figures.displays.threshold_cost import ThresholdCostDisplay
from uneven.figures.loss_shapes import all_losses, partial_losses, window_orders
from uneven.figures.regret_bounds import bounded_scores, psi_enclosed, regret_bound
from uneven.figures.risk_curves import conditional_risk, h_and_nu, sides
from uneven.figures.style import GalleryFigure

__all__ = [
    "FIGURES",
    "FORMATS",
    "ActionRegionsDisplay",
    "CalibrationNearAlphaDisplay",
    "CapacityCostDisplay",
    "CostConfusionDisplay",
    "CostCurveDisplay",
    "DecisionCurveDisplay",
    "GalleryFigure",
    "GammaPathDisplay",
    "MatrixRegionsDisplay",
    "MeanCostDisplay",
    "RankedGainsDisplay",
    "ThresholdCostDisplay",
    "ThresholdShiftDisplay",
    "all_losses",
    "alpha_of_gamma",
    "bounded_scores",
    "conditional_risk",
    "costs_compared",
    "draw",
    "gamma_and_ratios",
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
