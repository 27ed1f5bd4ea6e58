"""scikit-learn estimators, imported on first use."""

from typing import TYPE_CHECKING

from uneven._lazy import on_first_use

if TYPE_CHECKING:
    from uneven.learners.boosting import UnevenAdaBoostClassifier as UnevenAdaBoostClassifier
    from uneven.learners.cascade import UnevenCascadeClassifier as UnevenCascadeClassifier
    from uneven.learners.cv import UnevenClassifierCV as UnevenClassifierCV
    from uneven.learners.ensemble.classifier import UnevenEnsembleClassifier as UnevenEnsembleClassifier
    from uneven.learners.linear import UnevenLinearClassifier as UnevenLinearClassifier
    from uneven.learners.perceptron import UnevenPerceptron as UnevenPerceptron
    from uneven.learners.streaming.rows import StreamedRows as StreamedRows
    from uneven.learners.svc import UnevenSVC as UnevenSVC
    from uneven.learners.threshold import UnevenThresholdClassifierCV as UnevenThresholdClassifierCV

#: Every public name of this package and its module: a new estimator is named here and nowhere else.
HOME = {
    "StreamedRows": "uneven.learners.streaming.rows",
    "UnevenAdaBoostClassifier": "uneven.learners.boosting",
    "UnevenCascadeClassifier": "uneven.learners.cascade",
    "UnevenClassifierCV": "uneven.learners.cv",
    "UnevenEnsembleClassifier": "uneven.learners.ensemble.classifier",
    "UnevenLinearClassifier": "uneven.learners.linear",
    "UnevenPerceptron": "uneven.learners.perceptron",
    "UnevenSVC": "uneven.learners.svc",
    "UnevenThresholdClassifierCV": "uneven.learners.threshold",
}

__all__ = sorted(HOME)  # noqa: PLE0605 - a list of strings
__getattr__, __dir__ = on_first_use(__name__, HOME)
