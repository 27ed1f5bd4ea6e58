"""Boosting of stumps and small trees: binned columns, histograms, splits, steps."""
