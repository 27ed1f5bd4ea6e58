"""What a classifier costs: expected cost, a scikit-learn scorer, cost curves, comparisons with intervals."""

from uneven.metrics.comparison import CostEstimate, compare
from uneven.metrics.cost_curve import CostCurve, cost_curve
from uneven.metrics.expected_cost import expected_cost
from uneven.metrics.scorer import make_cost_scorer

__all__ = ["CostCurve", "CostEstimate", "compare", "cost_curve", "expected_cost", "make_cost_scorer"]
