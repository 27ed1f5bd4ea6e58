"""What a classifier costs: expected cost, a scikit-learn scorer, cost curves, comparisons with intervals."""

from uneven.metrics.comparison import compare, compare_predictions
from uneven.metrics.cost_curve import CostCurve, cost_curve
from uneven.metrics.cost_estimate import CostEstimate
from uneven.metrics.expected_cost import expected_cost
from uneven.metrics.metric_interval import Interval, metric_interval
from uneven.metrics.net_benefit import NetBenefit, net_benefit
from uneven.metrics.restricted_scores import restricted_brier_score, restricted_log_loss
from uneven.metrics.savings import savings_score
from uneven.metrics.scorer import make_cost_scorer
from uneven.metrics.threshold_costs import ThresholdCosts, cost_by_threshold
from uneven.metrics.threshold_regret import regret_against_best_threshold
from uneven.metrics.total_cost import total_cost

__all__ = [
    "CostCurve",
    "CostEstimate",
    "Interval",
    "NetBenefit",
    "ThresholdCosts",
    "compare",
    "compare_predictions",
    "cost_by_threshold",
    "cost_curve",
    "expected_cost",
    "make_cost_scorer",
    "metric_interval",
    "net_benefit",
    "regret_against_best_threshold",
    "restricted_brier_score",
    "restricted_log_loss",
    "savings_score",
    "total_cost",
]
