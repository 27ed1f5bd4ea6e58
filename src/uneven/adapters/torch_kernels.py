"""Compiled losses for PyTorch on the CPU, and their gradients."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from itertools import count
from typing import Any, TypeAlias

import numpy as np
import torch

from uneven.adapters.array_losses import require_hard
from uneven.errors import UnevenError
from uneven.losses import Loss

Tensor: TypeAlias = torch.Tensor
Function = Callable[..., Tensor]
_NUMBERS = count()


def differentiable(of_order: Callable[[int], Function], *, guarded: bool) -> Function:
    """The function of order 0, whose derivative in its last argument is that of order 1, and so on.

    Parameters
    ----------
    of_order : callable
        From an order to a function of tensors of one shape.
    guarded : bool
        Whether a derivative can be infinite: then 0 times it is taken for 0.
    """
    plain: list[Function] = []
    chain: list[Function] = []

    def at(order: int) -> Function:
        while len(chain) <= order:
            plain.append(of_order(len(plain)))
            chain.append(_with_derivative(plain[-1], slope_of_order(len(plain)), guarded))
        return chain[order]

    def slope_of_order(order: int) -> Function:
        def slope(*inputs: Tensor) -> Tensor:
            # A compiled backward is never differentiated, and compilers know no function of autograd in another.
            return plain[order](*inputs) if torch.compiler.is_compiling() else at(order)(*inputs)

        return slope

    at(0)
    # A compiler that traces backward must find the slope. One too long to be written down raises when it is used.
    with suppress(UnevenError):
        at(2)
    return chain[0]


def _with_derivative(values: Function, slope: Function, guarded: bool) -> Function:
    class Derivative(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(*inputs: Tensor) -> Tensor:
            return values(*inputs)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
            inputs = ctx.saved_tensors
            return (*[None] * (len(inputs) - 1), product(grad, slope(*inputs), guarded))

    class WithTangent(Derivative):
        """Forward mode, too, which compilers do not accept."""

        @staticmethod
        def jvp(ctx: Any, *tangents: Tensor | None) -> Tensor:
            return product(tangents[-1], slope(*ctx.saved_tensors), guarded)

    compiled, eager = Derivative.apply, WithTangent.apply

    def function(*inputs: Tensor) -> Tensor:
        result: Tensor = compiled(*inputs) if torch.compiler.is_compiling() else eager(*inputs)
        return result

    return _with_own_code(function)


def _with_own_code(function: Any) -> Function:
    """The same function with a code object that no other has.

    torch.compile tells functions apart by their code, and does not look at the class behind ``Derivative.apply``. If
    all losses shared one code object, it would run the graph of the first one for all of them.
    """
    function.__code__ = function.__code__.replace(co_name=f"{function.__name__}_{next(_NUMBERS)}")
    own: Function = function
    return own


def product(factor: Any, values: Tensor, guarded: bool) -> Tensor:
    """factor * values; with ``guarded``, 0 where the factor is 0, also if the value is infinite."""
    result = factor * values
    return torch.where(factor == 0, torch.zeros_like(result), result) if guarded else result


# -- tensors on the CPU, without torch.compile: losses and slopes in one pass of compiled code ------------------------
#
# PyTorch runs one operation after the other over the whole tensor, and each takes a few microseconds however short the
# tensor is. Our compiled kernels read each logit once and write its loss and its slope, which backward only multiplies.

#: Numbers that a loss must have seen, in all its calls, before the pass is used: loading or compiling its code takes
#: seconds, which a few small batches do not pay back. A call counts as at least ``_CALL`` numbers: however short the
#: tensor is, it saves the time of several operations of PyTorch.
LEAST = 1 << 17
_CALL = 1 << 13
#: A logit takes as long as so many numbers of X in the passes of the linear solvers, which set the work of a thread.
_WORK = 8
_NOTHING = {torch.float32: np.empty(0, np.float32), torch.float64: np.empty(0, np.float64)}
_TARGETS = {torch.float32, torch.float64, torch.int64, torch.uint8}
_PLAIN = {Tensor, torch.nn.Parameter, torch.nn.Buffer}


class OnePass:
    """Losses of tensors in one pass.

    Parameters
    ----------
    loss : Loss
    otherwise : callable
        From targets and logits to losses, with the derivatives of backward.
    validate : bool
        Whether to check labels.
    guarded : bool
        Whether a slope can be infinite: then 0 times it is taken for 0.
    """

    def __init__(self, loss: Loss, otherwise: Callable[..., Tensor], validate: bool, guarded: bool) -> None:
        self._loss, self._otherwise, self._validate, self._guarded = loss, otherwise, validate, guarded
        self._seen = 0
        self._apply: Callable[..., Tensor] = _with_slopes(self).apply

    def suits(self, t: Tensor, target: Tensor, factor: Tensor | None) -> bool:
        """Whether to use it: many numbers so far, plain floats on the CPU, no transformation that replaces tensors."""
        if self._seen < LEAST:
            self._seen += max(t.numel(), _CALL)
        return (
            self._seen >= LEAST
            and t.dtype in _NOTHING
            and _is_plain(t)
            and _is_plain(target)
            and (factor is None or (factor.dtype == t.dtype and not factor.requires_grad and _is_plain(factor)))
            and torch._C._functorch.peek_interpreter_stack() is None  # vmap, grad and so on of torch.func
        )

    def __call__(self, t: Tensor, target: Tensor, factor: Tensor | None, reduction: str) -> Tensor:
        """Losses times the factor, or their sum or mean, if they suit."""
        divisor = None if reduction == "none" else 1 if reduction == "sum" else t.numel()
        return self._apply(t, target, factor, divisor)

    def values_and_slopes(
        self, t: Tensor, target: Tensor, factor: Tensor | None, divisor: int | None
    ) -> tuple[Tensor, Tensor]:
        """Losses, or their sum over the divisor, and the slopes over the divisor."""
        if target.dtype not in _TARGETS:
            target = target.to(torch.uint8 if target.dtype == torch.bool else t.dtype)
        slopes = torch.empty_like(t, memory_format=torch.contiguous_format)
        values = None if divisor is not None else torch.empty_like(slopes)
        nothing = _NOTHING[t.dtype]
        given = _flat(t), _flat(target), nothing if factor is None else _flat(factor.expand(t.shape))
        filled = nothing if values is None else _flat(values), _flat(slopes)
        total, zero, minus_one, other = self._kernel(1 / (divisor or 1), t.numel(), given, filled)
        if self._validate and (other or (zero and minus_one)):
            require_hard(zero=zero > 0, minus_one=minus_one > 0, other=other > 0, example=lambda: odd_one(target))
        if values is None:
            values = torch.scalar_tensor(total if divisor else np.nan, dtype=t.dtype)
        return values, slopes

    @cached_property
    def _kernel(self) -> Callable[..., tuple[float, int, int, int]]:
        """Fills arrays; returns the sum of losses, and how many labels are 0, -1, and none of 0, 1 and -1."""
        from uneven.solvers.linear.pair_of_losses import PairOfLosses
        from uneven.solvers.loops.score_passes import losses_and_slopes
        from uneven.solvers.running import in_threads, row_ranges

        pair = PairOfLosses.of(self._loss)

        def kernel(share: float, count: int, given: tuple[np.ndarray, ...], filled: tuple[np.ndarray, ...]) -> Any:
            functions = pair.addresses, share * pair.weights, pair.scales
            ranges = row_ranges(count, _WORK * count)
            if len(ranges) == 1 or torch.get_num_threads() == 1:
                return losses_and_slopes(*functions, *given, 0, count, *filled)
            found = in_threads(lambda _, lo, hi: losses_and_slopes(*functions, *given, lo, hi, *filled), ranges)
            return map(sum, zip(*found, strict=True))

        return kernel


def _with_slopes(one_pass: OnePass) -> Any:
    """A function of autograd: backward multiplies the slopes that forward found."""

    class WithSlopes(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, t: Tensor, target: Tensor, factor: Tensor | None, divisor: int | None) -> Tensor:
            values, slopes = one_pass.values_and_slopes(t, target, factor, divisor)
            ctx.save_for_backward(t, target, slopes, factor)
            ctx.save_for_forward(slopes)
            ctx.divisor = divisor
            return values

        @staticmethod
        def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
            t, target, slopes, factor = ctx.saved_tensors
            guarded, divisor = one_pass._guarded, ctx.divisor
            if torch.is_grad_enabled():  # backward is differentiated, too
                slopes = torch.autograd.grad(one_pass._otherwise(target, t).sum(), t, create_graph=True)[0]
                slopes = slopes if factor is None else product(factor, slopes, guarded)
                slopes = slopes if divisor is None else slopes / divisor
            return product(grad, slopes, guarded), None, None, None

        @staticmethod
        def jvp(ctx: Any, tangent: Tensor, *_: Any) -> Tensor:
            change = product(tangent, ctx.saved_tensors[0], one_pass._guarded)
            return change if ctx.divisor is None else change.sum()

    return WithSlopes


def _is_plain(tensor: Tensor) -> bool:
    return tensor.is_cpu and type(tensor) in _PLAIN


def _flat(tensor: Tensor) -> np.ndarray:
    """The numbers of a tensor in one dimension; those of a contiguous tensor are not copied."""
    array: np.ndarray = (tensor.detach() if tensor.requires_grad else tensor).numpy()
    return array if array.ndim == 1 and array.flags.c_contiguous else array.reshape(-1)


def odd_one(target: Tensor) -> float:
    """The first label that is none of 0, 1 and -1."""
    known = (target == 0) | (target == 1) | (target == -1)
    return float(target[~known][0])
