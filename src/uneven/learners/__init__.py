"""scikit-learn estimators."""

from uneven.learners.cv import UnevenClassifierCV
from uneven.learners.linear import UnevenLinearClassifier
from uneven.learners.perceptron import UnevenPerceptron
from uneven.learners.svc import UnevenSVC

__all__ = ["UnevenClassifierCV", "UnevenLinearClassifier", "UnevenPerceptron", "UnevenSVC"]
