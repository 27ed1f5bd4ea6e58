"""What a classifier costs: expected cost, a scikit-learn scorer, cost curves, comparisons with intervals."""

from uneven.metrics.capacity_costs import CapacityCosts, cost_at_capacity, cost_by_capacity, lift, recall_at
from uneven.metrics.comparison import compare, compare_predictions, make_cost_scorer
from uneven.metrics.cost_curve import CostCurve, NetBenefit, cost_curve, net_benefit
from uneven.metrics.cost_sequence import CostSequence
from uneven.metrics.expected_cost import expected_cost, savings_score, total_cost
from uneven.metrics.intervals import CostEstimate
from uneven.metrics.matrix_estimates import MatrixCostEstimate
from uneven.metrics.mean_cost import make_mean_cost_scorer, mean_cost
from uneven.metrics.metric_interval import Interval, metric_interval
from uneven.metrics.restricted_scores import restricted_brier_score, restricted_log_loss
from uneven.metrics.threshold_costs import ThresholdCosts, cost_by_threshold, regret_against_best_threshold

__all__ = [
    "CapacityCosts",
    "CostCurve",
    "CostEstimate",
    "CostSequence",
    "Interval",
    "MatrixCostEstimate",
    "NetBenefit",
    "ThresholdCosts",
    "compare",
    "compare_predictions",
    "cost_at_capacity",
    "cost_by_capacity",
    "cost_by_threshold",
    "cost_curve",
    "expected_cost",
    "lift",
    "make_cost_scorer",
    "make_mean_cost_scorer",
    "mean_cost",
    "metric_interval",
    "net_benefit",
    "recall_at",
    "regret_against_best_threshold",
    "restricted_brier_score",
    "restricted_log_loss",
    "savings_score",
    "total_cost",
]
