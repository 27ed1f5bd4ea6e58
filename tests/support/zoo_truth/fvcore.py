"""fvcore's own functions, in single precision."""

from zoo_truth.bare import bare
from zoo_truth.focal import kept_rows

TOLERANCE = 1e-5
LOSSES = {
    f"fvcore.nn.{name}": kept_rows(lambda name=name: getattr(bare("fvcore.nn.focal_loss"), name), reduction="none")
    for name in ("sigmoid_focal_loss", "sigmoid_focal_loss_star")
}
PARAMETERS = {name: [{"alpha": 0.9, "gamma": 3.0}] for name in LOSSES}
