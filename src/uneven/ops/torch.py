"""PyTorch arithmetic: a tree as a function of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import torch

from uneven.ops.array_programs import Library, Program

Tensor: TypeAlias = torch.Tensor


def _scalar(value: float, like: Tensor) -> Tensor:
    return like.new_full((), value)


def _in_double(function: Program, t: Tensor) -> Tensor:
    return function(t.to(torch.float64)).to(t.dtype)


_OWN: dict[str, Callable[..., Any]] = {"scalar": _scalar}

#: For example ``TORCH.function(parse("softplus(-t)"))(torch.tensor([-1e4, 0.0]))``.
TORCH = Library(
    name="torch",
    lookup=lambda name: _OWN.get(name) or getattr(torch, name),
    single=torch.float32,
    double=torch.float64,
    cast=Tensor.to,
    in_double=_in_double,
)
