"""Losses for PyTorch, made from any :class:`uneven.Loss`; needs the extra ``torch``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from uneven.costs import COSTS
from uneven.errors import LossError, ParameterError, UnevenError, needs_extra
from uneven.inputs import brief

with needs_extra("PyTorch losses", "torch"):
    import torch

from uneven.adapters.array_losses import (
    class_factors,
    inverse_links,
    may_overflow,
    mix,
    of_order,
    read_loss,
    require_hard,
    turn_labels,
)
from uneven.adapters.torch_kernels import Function, OnePass, differentiable, odd_one, product
from uneven.losses import Loss, Phi
from uneven.ops.array_programs import Library, Program

__all__ = ["InverseLink", "UnevenLoss"]

Tensor: TypeAlias = torch.Tensor
Made = TypeVar("Made")
_REDUCTIONS = ("mean", "sum", "none")


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


class UnevenLoss(torch.nn.Module):
    r"""Any loss of this library as a PyTorch module, in the manner of ``BCEWithLogitsLoss``.

    A logit t is a decision value: predict positive where t > 0. That is the right threshold for the costs for which the
    loss is calibrated; no other threshold, ``pos_weight`` or label smoothing is needed.

    Parameters
    ----------
    loss : Loss, str or Phi
        Usually ``uneven.calibrated_loss("logistic", alpha=1/21)``. A name, an expression or a phi alone treats both
        classes alike. Both parts must be expressions, not Python functions.
    reduction : {"mean", "sum", "none"}
        "mean" divides by the number of examples, not by the sum of weights or costs, so that batches add up.
    weight : Tensor, optional
        Weights of the elements, broadcast to the logits; kept in ``state_dict``.
    validate : bool
        Check labels and costs in each call. On a GPU this waits for the device. Compiled and exported modules never
        check.

    Notes
    -----
    Gradients are the slopes of :meth:`uneven.Loss.slope`, found by exact differentiation; at a kink a fixed value
    between the one-sided slopes. Derivatives of every order, ``torch.compile`` without graph breaks, ``torch.export``,
    ``torch.func`` and pickle work. float16 and bfloat16 are computed in float32.

    On the CPU, without ``torch.compile``, a loss goes over to our compiled kernels at its 16th call, or at its first
    call with 131,072 logits. They are faster, and may differ in the last digit. Loading or compiling them takes a few
    seconds.

    Examples
    --------
    >>> import torch
    >>> import uneven
    >>> from uneven.adapters.torch import UnevenLoss
    >>> criterion = UnevenLoss(uneven.calibrated_loss("logistic", alpha="1/21"))     # a miss costs 20 false alarms
    >>> logits = torch.tensor([-1e4, -1.0, 2.0], requires_grad=True)
    >>> value = criterion(logits, torch.tensor([1, 0, 0]))
    >>> value.backward()
    >>> logits.grad
    tensor([-0.3175,  0.0043,  0.0140])
    >>> criterion.predict_proba(torch.tensor([0.0]))                                 # the threshold is 0
    tensor([0.0476])
    """

    weight: Tensor | None

    def __init__(
        self,
        loss: Loss | str | Phi,
        *,
        reduction: str = "mean",
        weight: Tensor | None = None,
        validate: bool = True,
    ) -> None:
        super().__init__()
        if reduction not in _REDUCTIONS:
            raise ParameterError(f"reduction must be one of {', '.join(_REDUCTIONS)}, got {brief(reduction)}")
        if weight is not None and not torch.is_tensor(weight):
            raise ParameterError(f"weight must be a tensor or None, got {brief(weight)}")
        self.loss = read_loss(loss, "PyTorch")
        self.reduction = reduction
        self.validate = bool(validate)
        self.register_buffer("weight", weight)
        self._prepare()

    def _prepare(self) -> None:
        """Make the functions, which a pickle does not hold."""
        self._guarded = may_overflow(self.loss)
        self._values = differentiable(lambda order: of_order(self.loss, order, TORCH), guarded=self._guarded)
        self._in_one_pass = OnePass(self.loss, self._values, self.validate, self._guarded)
        self._class_factors, self._no_costs = _or_reason(lambda: class_factors(self.loss))
        self._probability, self._no_probability = _or_reason(lambda: _inverse_link(self.loss))

    def __getstate__(self) -> dict[str, Any]:
        made = ("_guarded", "_values", "_in_one_pass", "_class_factors", "_no_costs", "_probability", "_no_probability")
        return {name: value for name, value in self.__dict__.items() if name not in made}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._prepare()

    def extra_repr(self) -> str:
        return f"{self.loss!r}, reduction={self.reduction!r}"

    def forward(
        self,
        input: Tensor,  # noqa: A002 - the name in PyTorch's losses
        target: Tensor,
        *,
        weight: Tensor | None = None,
        fp_cost: Any = None,
        fn_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
    ) -> Tensor:
        """The loss of logits.

        Parameters
        ----------
        input : Tensor of floats
            Logits.
        target : Tensor of the same shape
            0 and 1, or -1 and 1, of any dtype: what is above 0 is positive. Soft labels are refused.
        weight : Tensor, optional
            Weights of these elements, beside the module's.
        fp_cost, fn_cost, tp_cost, tn_cost : number or Tensor, optional
            Costs of these examples, as in ``fit`` of the learners: if one is given, the others are 1 for mistakes and 0
            for right decisions. Each example counts with what its mistake costs more than the right decision. Where the
            mistake costs less, the example is learnt with the other label. A loss that contains costs itself is divided
            by them.

        Returns
        -------
        Tensor
            A scalar, or one number for each logit with ``reduction="none"``.
        """
        _require_matching(input, target)
        label, factor = self._with_costs(input, target, (fp_cost, fn_cost, tp_cost, tn_cost))
        for other in (self.weight, weight):
            if other is not None:
                factor = other if factor is None else factor * other
        if not torch.compiler.is_compiling() and self._in_one_pass.suits(input, label, factor):
            return self._in_one_pass(input, label, factor, self.reduction)
        self._check_targets(target)
        values = self._values(label, input)
        values = values if factor is None else product(factor, values, self._guarded)
        if self.reduction == "none":
            return values
        return values.mean() if self.reduction == "mean" else values.sum()

    def _with_costs(self, like: Tensor, target: Tensor, costs: tuple[Any, ...]) -> tuple[Tensor, Tensor | None]:
        """The label that each example is learnt with, and how much it counts."""
        if all(cost is None for cost in costs):
            return target, None
        if self._class_factors is None:
            raise LossError(self._no_costs)
        fp, fn, tp, tn = (_cost(name, cost, like) for name, cost in zip(COSTS, costs, strict=True))
        share = target.to(like.dtype).clamp(0, 1)
        regret = mix(share, fn if tp is None else fn - tp, fp if tn is None else fp - tn)
        turned = True
        if self._checks() and regret.numel():
            least, largest = (float(end) for end in torch.aminmax(regret))
            if not math.isfinite(least) or not math.isfinite(largest):
                raise ParameterError("costs must be finite numbers, got infinite or missing ones")
            turned = least < 0
        label = target
        if turned:
            self._check_targets(target)
            label, regret = turn_labels(share, regret, TORCH)
            share = label.clamp(0, 1)
        if self._class_factors != (1.0, 1.0):
            negative, positive = self._class_factors
            regret = regret * mix(share, positive, negative)
        return label, regret

    def _checks(self) -> bool:
        """Whether values can be looked at: not while a compiler traces, nor inside vmap."""
        inside = torch.compiler.is_compiling() or torch._C._functorch.peek_interpreter_stack() is not None
        return self.validate and not inside

    def _check_targets(self, target: Tensor) -> None:
        if not self._checks():
            return
        zero, minus_one = target == 0, target == -1
        known = zero | minus_one | (target == 1)
        zeros, minus_ones, others = torch.stack([zero.any(), minus_one.any(), ~known.all()]).tolist()
        require_hard(zero=zeros, minus_one=minus_ones, other=others, example=lambda: odd_one(target))

    def predict_proba(self, input: Tensor) -> Tensor:  # noqa: A002 - the name in PyTorch
        """The probability of the positive class that each logit stands for; only if the loss identifies it.

        After training with costs of each example, it is the probability that those costs have tilted.
        """
        if self._probability is None:
            raise LossError(self._no_probability)
        _require_floats(input)
        return self._probability(input)


class InverseLink(torch.nn.Module):
    """From logits to probabilities of the positive class: the inverse link of a loss, as a last layer.

    Parameters
    ----------
    loss : Loss, str or Phi
        A loss that identifies probabilities; others are refused with the reason.

    Examples
    --------
    >>> import torch
    >>> import uneven
    >>> from uneven.adapters.torch import InverseLink
    >>> link = InverseLink(uneven.UnevenMarginLoss("squared_hinge"))
    >>> link(torch.tensor([-2.0, 0.0, 0.5]))
    tensor([0.0000, 0.5000, 0.7500])
    """

    def __init__(self, loss: Loss | str | Phi) -> None:
        super().__init__()
        self.loss = read_loss(loss, "PyTorch")
        self._prepare()

    def _prepare(self) -> None:
        self._values = _inverse_link(self.loss)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_values"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._prepare()

    def extra_repr(self) -> str:
        return repr(self.loss)

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002 - the name in PyTorch
        """Probabilities of the positive class."""
        _require_floats(input)
        return self._values(input)


def _inverse_link(loss: Loss) -> Function:
    return differentiable(lambda order: inverse_links(loss, order, TORCH), guarded=False)


def _or_reason(make: Callable[[], Made]) -> tuple[Made | None, str]:
    """What can be made; else None, and why not."""
    try:
        return make(), ""
    except UnevenError as error:
        return None, str(error)


def _require_floats(input: Any) -> None:  # noqa: A002
    if not torch.is_tensor(input) or not input.is_floating_point():
        raise ParameterError(f"logits must be a tensor of floats, got {brief(input)}")


def _require_matching(input: Any, target: Any) -> None:  # noqa: A002
    _require_floats(input)
    if not torch.is_tensor(target):
        raise ParameterError(f"targets must be a tensor, got {brief(target)}")
    if input.shape != target.shape:
        raise ParameterError(
            f"logits and targets must have the same shape, got {tuple(input.shape)} and {tuple(target.shape)}"
        )


def _cost(name: str, cost: Any, like: Tensor) -> Any:
    """A cost in the precision of the logits; 1 for a mistake and nothing for a right decision if it is not given."""
    if cost is None:
        return like.new_ones(()) if name in ("fp_cost", "fn_cost") else None
    try:
        return torch.as_tensor(cost, dtype=like.dtype, device=like.device)
    except (TypeError, ValueError, RuntimeError):
        raise ParameterError(f"{name} must be a number or a tensor, got {brief(cost)}") from None
