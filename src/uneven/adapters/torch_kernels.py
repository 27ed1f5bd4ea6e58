"""Large tensors on the CPU, without torch.compile: losses and slopes in one pass of compiled code.

PyTorch runs one operation after the other over the whole tensor. Our compiled kernels read each logit once and write
its loss and its slope, which backward only multiplies.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import torch

from uneven.adapters.hard_labels import require_hard
from uneven.adapters.torch_autograd import product
from uneven.losses import Loss

Tensor: TypeAlias = torch.Tensor
#: Numbers in a tensor from which on a pass is worth the time to load or compile its code.
LEAST = 1 << 17
_TARGETS = (torch.float32, torch.float64, torch.int64, torch.uint8)


def suits(t: Tensor, target: Tensor, factor: Tensor | None) -> bool:
    """Whether the compiled pass can be used: plain floats on the CPU, and no transformation that replaces tensors."""
    return (
        t.numel() >= LEAST
        and t.dtype in (torch.float32, torch.float64)
        and all(_is_plain(tensor) for tensor in (t, target, factor) if tensor is not None)
        and (factor is None or (factor.dtype == t.dtype and not factor.requires_grad))
        and torch._C._functorch.peek_interpreter_stack() is None  # vmap, grad and so on of torch.func
    )


def _is_plain(tensor: Tensor) -> bool:
    return tensor.device.type == "cpu" and type(tensor) in (Tensor, torch.nn.Parameter, torch.nn.Buffer)


def in_one_pass(loss: Loss, otherwise: Callable[..., Tensor], validate: bool, guarded: bool) -> Callable[..., Tensor]:
    """A function of (logits, targets, factor or None, reduced) for which :func:`suits` holds.

    It returns losses times the factor, or their sum if ``reduced``. ``otherwise`` has the derivatives of backward.
    """

    class OnePass(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, t: Tensor, target: Tensor, factor: Tensor | None, reduced: bool) -> Tensor:
            values, slopes, (zero, minus_one, other) = _pass(loss, t, target, factor, reduced)
            if validate:
                require_hard(zero=zero > 0, minus_one=minus_one > 0, other=other > 0, example=lambda: odd_one(target))
            ctx.save_for_backward(t, target, slopes, factor)
            ctx.save_for_forward(slopes)
            ctx.reduced = reduced
            return values

        @staticmethod
        def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
            t, target, slopes, factor = ctx.saved_tensors
            if torch.is_grad_enabled():  # backward is differentiated, too
                slopes = torch.autograd.grad(otherwise(target, t).sum(), t, create_graph=True)[0]
                slopes = slopes if factor is None else product(factor, slopes, guarded)
            return product(grad, slopes, guarded), None, None, None

        @staticmethod
        def jvp(ctx: Any, tangent: Tensor, *_: Any) -> Tensor:
            change = product(tangent, ctx.saved_tensors[0], guarded)
            return change.sum() if ctx.reduced else change

    function: Callable[..., Tensor] = OnePass.apply
    return function


@lru_cache(maxsize=64)
def _pair(loss: Loss) -> Any:
    from uneven.solvers.linear.pair_of_losses import PairOfLosses

    return PairOfLosses.of(loss)


def _pass(
    loss: Loss, t: Tensor, target: Tensor, factor: Tensor | None, reduced: bool
) -> tuple[Tensor, Tensor, tuple[int, ...]]:
    """Losses or their sum, slopes, and how many labels are 0, -1, and none of 0, 1 and -1."""
    from uneven.solvers.compiled.loss_passes import losses_and_slopes
    from uneven.solvers.threads import in_threads, row_ranges

    pair = _pair(loss)
    addresses = np.array([kernel.first_address for kernel in pair.kernels])
    plain = target if target.dtype in _TARGETS else target.to(torch.uint8 if target.dtype == torch.bool else t.dtype)
    factors = t.new_empty(0) if factor is None else factor.expand(t.shape)
    inputs = [tensor.detach().contiguous().view(-1).numpy() for tensor in (t, plain, factors)]
    slopes = torch.empty(t.shape, dtype=t.dtype)
    values = t.new_empty(0) if reduced else torch.empty_like(slopes)
    filled = [tensor.detach().view(-1).numpy() for tensor in (values, slopes)]
    ranges = row_ranges(t.numel(), t.numel()) if torch.get_num_threads() > 1 else [(0, t.numel())]
    found = in_threads(
        lambda _, lo, hi: losses_and_slopes(addresses, pair.weights, pair.scales, *inputs, lo, hi, *filled), ranges
    )
    total, *counts = map(sum, zip(*found, strict=True))
    return t.new_tensor(total) if reduced else values, slopes, tuple(counts)


def odd_one(target: Tensor) -> float:
    """The first label that is none of 0, 1 and -1."""
    known = (target == 0) | (target == 1) | (target == -1)
    return float(target[~known][0])
