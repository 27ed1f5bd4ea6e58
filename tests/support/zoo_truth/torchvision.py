"""torchvision's own function; the package itself may not fit the installed torch."""

from zoo_truth.bare import bare
from zoo_truth.focal import kept_rows

LOSSES = {
    "torchvision.ops.sigmoid_focal_loss": kept_rows(
        lambda: bare("torchvision.ops.focal_loss").sigmoid_focal_loss, reduction="none"
    )
}
PARAMETERS = {"torchvision.ops.sigmoid_focal_loss": [{"alpha": 0.9, "gamma": 0.5}]}
