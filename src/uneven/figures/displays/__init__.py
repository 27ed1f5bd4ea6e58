"""Displays in scikit-learn's convention: ``from_estimator``, ``from_predictions``, ``plot``, ``ax_``, ``figure_``."""
