"""scikit-learn estimators."""

from uneven.learners.linear import UnevenLinearClassifier

__all__ = ["UnevenLinearClassifier"]
