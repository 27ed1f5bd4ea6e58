"""The own functions of pytorch-toolbelt, in single precision."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from zoo_truth.bare import bare
from zoo_truth.focal import kept_rows

TOLERANCE = 1e-5
_CLASS = "pytorch_toolbelt.losses.BinaryFocalLoss"
_FUNCTION = "pytorch_toolbelt.losses.functional.focal_loss_with_logits"


def _module(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it uses torch.cuda.amp.autocast
        return bare(name, pytorch_toolbelt__utils={"pytorch_toolbelt_deprecated": lambda *_: lambda thing: thing})


def _class() -> Callable[..., Any]:
    loss = _module("pytorch_toolbelt.losses.focal").BinaryFocalLoss
    return lambda z, y, **parameters: loss(reduction="none", **parameters)(z, y)


LOSSES = {
    _CLASS: kept_rows(_class),
    _FUNCTION: kept_rows(
        lambda: _module("pytorch_toolbelt.losses.functional").focal_loss_with_logits, reduction="none"
    ),
}
PARAMETERS = {name: [{"alpha": 0.4, "gamma": 1.5, "reduced_threshold": 0.3}] for name in LOSSES}
