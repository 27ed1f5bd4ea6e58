"""The own class of pytorch-widedeep: its gradient, which does not see the weight."""

from __future__ import annotations

from typing import Any

import numpy as np

from zoo_truth.bare import bare
from zoo_truth.tensors import logits


def slope(t: np.ndarray, label: int, **parameters: Any) -> np.ndarray:
    import typing

    import torch

    types = {name: getattr(typing, name) for name in ("List", "Tuple", "Union", "Literal", "Optional")}
    module = bare("pytorch_widedeep.losses", pytorch_widedeep__wdtypes={**types, "Tensor": torch.Tensor})
    loss = module.FocalLoss(**parameters)
    z = logits(t[:, None], gradient=True)
    loss(z.float(), torch.full((t.size, 1), label)).backward()
    return z.grad.numpy()[:, 0] * t.size  # it is a mean over the rows


TOLERANCE = 1e-4
GRID = np.linspace(-6.0, 6.0, 25)  # beyond, single precision has few digits of 1 - p
SLOPES = {"pytorch_widedeep.losses.FocalLoss": slope}
PARAMETERS = {"pytorch_widedeep.losses.FocalLoss": [{"alpha": 0.9, "gamma": 2.0}]}
