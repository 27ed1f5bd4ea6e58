"""Functions whose derivatives are other functions, for PyTorch's autograd: exact slopes, of every order."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any, TypeAlias

import torch

from uneven.errors import UnevenError

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
