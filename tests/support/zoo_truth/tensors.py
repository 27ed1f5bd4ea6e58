"""Logits and labels as tensors of PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def logits(t: np.ndarray, *, gradient: bool = False) -> Any:
    import torch

    return torch.tensor(t, dtype=torch.float64, requires_grad=gradient)


def constant(t: np.ndarray, label: int) -> Any:
    """The label for every row, as floats."""
    import torch

    return torch.full((t.size,), float(label), dtype=torch.float64)


def two_columns(t: np.ndarray) -> Any:
    """Two logits whose difference is t; the first is not 0, so that a function of more than the difference is seen."""
    import torch

    z = torch.tensor(t, dtype=torch.float64)
    return torch.stack([0.3 - z / 2, 0.3 + z / 2], dim=1)


def classes(t: np.ndarray, label: int) -> Any:
    import torch

    return torch.full((t.size,), label, dtype=torch.long)


def one_by_one(
    function: Callable[[Any, Any], Any], t: np.ndarray, label: int, shape: tuple[int, ...] = (1, 1)
) -> np.ndarray:
    """A loss that returns one number for a batch, called with batches of one."""
    import torch

    rows = [
        function(torch.full(shape, float(x), dtype=torch.float64), torch.full(shape, float(label), dtype=torch.float64))
        for x in t
    ]
    return np.array([float(row) for row in rows])


def gradient_of_sum(function: Callable[[Any, Any], Any], t: np.ndarray, label: int) -> np.ndarray:
    """The gradient that training would follow, of a loss that sums over rows of one column."""
    z = logits(t, gradient=True)
    total = function(z[:, None], constant(t, label)[:, None])
    total.backward()
    return z.grad.numpy()
