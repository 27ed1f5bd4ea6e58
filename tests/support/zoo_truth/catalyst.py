"""Catalyst's own class."""

from zoo_truth.bare import bare
from zoo_truth.focal import kept_rows

LOSSES = {
    "catalyst.contrib.losses.FocalLossBinary": kept_rows(
        lambda: bare("catalyst.metrics.functional._focal").sigmoid_focal_loss, reduction="none"
    )
}
PARAMETERS = {"catalyst.contrib.losses.FocalLossBinary": [{"alpha": 0.4, "gamma": 1.5}]}
