"""Classification when the two kinds of mistake cost differently.

Names are imported on first use, so that ``import uneven`` stays light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uneven._lazy import on_first_use

if TYPE_CHECKING:
    from uneven import adapters as adapters
    from uneven import calibration as calibration
    from uneven import errors as errors
    from uneven import figures as figures
    from uneven import losses as losses
    from uneven import metrics as metrics
    from uneven import zoo as zoo
    from uneven.adapters.catboost import UnevenCatBoostClassifier as UnevenCatBoostClassifier
    from uneven.adapters.lightgbm import UnevenLGBMClassifier as UnevenLGBMClassifier
    from uneven.adapters.xgboost import UnevenXGBClassifier as UnevenXGBClassifier
    from uneven.app.checks.coded_checks import Finding as Finding
    from uneven.app.checks.fitted_models import lint as lint
    from uneven.app.report.model_report import report as report
    from uneven.calibration import analyze as analyze
    from uneven.calibration import calibrated_loss as calibrated_loss
    from uneven.calibration import certify as certify
    from uneven.calibration import implied_alpha as implied_alpha
    from uneven.calibration import implied_prior as implied_prior
    from uneven.calibration import verify as verify
    from uneven.costs import Cost as Cost
    from uneven.decisions.actions import Actions as Actions
    from uneven.decisions.cost_matrix import CostMatrix as CostMatrix
    from uneven.decisions.decide import decide as decide
    from uneven.decisions.decision_table import Decisions as Decisions
    from uneven.decisions.stream import Stream as Stream
    from uneven.learners.adaboost import UnevenAdaBoostClassifier as UnevenAdaBoostClassifier
    from uneven.learners.cascade import UnevenCascadeClassifier as UnevenCascadeClassifier
    from uneven.learners.classifier_cv import UnevenClassifierCV as UnevenClassifierCV
    from uneven.learners.ensemble.classifier import UnevenEnsembleClassifier as UnevenEnsembleClassifier
    from uneven.learners.explaining.class_explanation import ClassExplanation as ClassExplanation
    from uneven.learners.explaining.explanation import Explanation as Explanation
    from uneven.learners.explaining.explanation import explain as explain
    from uneven.learners.linear import UnevenLinearClassifier as UnevenLinearClassifier
    from uneven.learners.multinomial import UnevenMultinomialClassifier as UnevenMultinomialClassifier
    from uneven.learners.perceptron import UnevenPerceptron as UnevenPerceptron
    from uneven.learners.svc import UnevenSVC as UnevenSVC
    from uneven.learners.threshold_classifier import UnevenThresholdClassifierCV as UnevenThresholdClassifierCV
    from uneven.learners.trusted_types import trusted_types as trusted_types
    from uneven.losses import CostPrior as CostPrior
    from uneven.losses import Loss as Loss
    from uneven.losses import UnevenMarginLoss as UnevenMarginLoss
    from uneven.losses import cost_loss as cost_loss
    from uneven.losses import phi as phi
    from uneven.losses import range_loss as range_loss
    from uneven.observed_costs import ObservedCost as ObservedCost
    from uneven.observed_costs import undo_class_weights as undo_class_weights
    from uneven.observed_costs import undo_resampling as undo_resampling
    from uneven.parts.streamed_rows import StreamedRows as StreamedRows
    from uneven.tables.example_table import load_example as load_example
    from uneven.zoo.softmax_losses import implied_cost_matrix as implied_cost_matrix

__version__ = "0.2.0"

#: The module of every public name; a new estimator is named here, twice, and nowhere else.
_HOME = {
    "Actions": "uneven.decisions.actions",
    "Cost": "uneven.costs",
    "CostPrior": "uneven.losses",
    "CostMatrix": "uneven.decisions.cost_matrix",
    "ClassExplanation": "uneven.learners.explaining.class_explanation",
    "Explanation": "uneven.learners.explaining.explanation",
    "Finding": "uneven.app.checks.coded_checks",
    "Loss": "uneven.losses",
    "ObservedCost": "uneven.observed_costs",
    "Decisions": "uneven.decisions.decision_table",
    "Stream": "uneven.decisions.stream",
    "StreamedRows": "uneven.parts.streamed_rows",
    "UnevenAdaBoostClassifier": "uneven.learners.adaboost",
    "UnevenCascadeClassifier": "uneven.learners.cascade",
    "UnevenCatBoostClassifier": "uneven.adapters.catboost",
    "UnevenClassifierCV": "uneven.learners.classifier_cv",
    "UnevenEnsembleClassifier": "uneven.learners.ensemble.classifier",
    "UnevenLGBMClassifier": "uneven.adapters.lightgbm",
    "UnevenLinearClassifier": "uneven.learners.linear",
    "UnevenMarginLoss": "uneven.losses",
    "UnevenMultinomialClassifier": "uneven.learners.multinomial",
    "UnevenPerceptron": "uneven.learners.perceptron",
    "UnevenSVC": "uneven.learners.svc",
    "UnevenThresholdClassifierCV": "uneven.learners.threshold_classifier",
    "UnevenXGBClassifier": "uneven.adapters.xgboost",
    "analyze": "uneven.calibration",
    "calibrated_loss": "uneven.calibration",
    "certify": "uneven.calibration",
    "cost_loss": "uneven.losses",
    "decide": "uneven.decisions.decide",
    "explain": "uneven.learners.explaining.explanation",
    "implied_alpha": "uneven.calibration",
    "implied_cost_matrix": "uneven.zoo.softmax_losses",
    "implied_prior": "uneven.calibration",
    "lint": "uneven.app.checks.fitted_models",
    "load_example": "uneven.tables.example_table",
    "phi": "uneven.losses",
    "range_loss": "uneven.losses",
    "report": "uneven.app.report.model_report",
    "trusted_types": "uneven.learners.trusted_types",
    "undo_class_weights": "uneven.observed_costs",
    "undo_resampling": "uneven.observed_costs",
    "verify": "uneven.calibration",
}
_MODULES = ("adapters", "calibration", "errors", "figures", "losses", "metrics", "monitor", "zoo")

__all__ = [*sorted(_HOME), *_MODULES]  # noqa: PLE0604 - the names of _HOME and _MODULES are strings
__getattr__, __dir__ = on_first_use(__name__, _HOME, _MODULES)
