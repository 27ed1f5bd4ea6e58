"""PyTorch losses beyond their values: autograd, precisions, costs, compilers, pickle, and messages."""

from __future__ import annotations

import copy
import gc
import io
import pickle
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from registered import CASES

import uneven
from uneven.adapters import torch_kernels
from uneven.adapters.torch import InverseLink, UnevenLoss
from uneven.errors import LossError, ParameterError

SMOOTH = ["logistic", "exponential", "squared", "focal", "beta", "tangent", "probit"]


def batch(size: int = 24, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    t = 3 * torch.randn(size, dtype=torch.float64, generator=generator)
    return t.to(dtype).requires_grad_(), torch.randint(0, 2, (size,), generator=generator)


def expected(loss: uneven.Loss, t: torch.Tensor, y: torch.Tensor) -> np.ndarray:
    return loss(np.where(y.numpy() > 0, 1, -1), t.detach().double().numpy())


@pytest.mark.slow
@pytest.mark.parametrize("name", SMOOTH)
def test_autograd_agrees_with_differences(name: str) -> None:
    t, y = batch(6)
    criterion = UnevenLoss(uneven.UnevenMarginLoss(name, gamma=2, alpha=0.2), reduction="sum")
    assert torch.autograd.gradcheck(criterion, (t, y), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(criterion, (t, y))


def test_labels_of_both_kinds_and_every_type() -> None:
    t, y = batch()
    criterion = UnevenLoss(uneven.UnevenMarginLoss("hinge", gamma=3))
    value = criterion(t, y)
    for labels in (y.bool(), y.to(torch.uint8), y.float(), y.double(), 2 * y - 1, (2 * y - 1).float()):
        assert criterion(t, labels) == value


def test_reductions_and_weights() -> None:
    t, y = batch()
    weight = torch.arange(24, dtype=torch.float64)
    loss = uneven.UnevenMarginLoss("logistic", alpha=0.1)
    each = UnevenLoss(loss, reduction="none")(t, y)
    assert np.allclose(each.detach(), expected(loss, t, y), rtol=1e-13)
    assert torch.isclose(UnevenLoss(loss)(t, y), each.mean())
    assert torch.isclose(UnevenLoss(loss, reduction="sum")(t, y), each.sum())
    assert torch.isclose(UnevenLoss(loss, weight=weight)(t, y), (weight * each).mean())
    assert torch.isclose(UnevenLoss(loss, weight=weight)(t, y, weight=weight), (weight**2 * each).mean())
    assert "weight" in UnevenLoss(loss, weight=weight).state_dict()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", uneven.losses.names())
def test_half_precision_is_computed_in_single(name: str, dtype: torch.dtype) -> None:
    """The result is that of float32, rounded once; no NaN at logits of 1e4 either."""
    t = torch.tensor([-1e4, -30.0, -0.7, 0.0, 0.4, 30.0, 1e4], dtype=dtype).repeat(2).requires_grad_()
    y = torch.tensor([0, 1]).repeat_interleave(7)
    criterion = UnevenLoss(uneven.UnevenMarginLoss(name, gamma=2), reduction="none")
    values = criterion(t, y)
    (slopes,) = torch.autograd.grad(values.sum(), t)
    single = t.detach().float().requires_grad_()
    truth = criterion(single, y)
    (true_slopes,) = torch.autograd.grad(truth.sum(), single)
    assert values.dtype == slopes.dtype == dtype
    assert torch.equal(values, truth.to(dtype))
    assert torch.equal(slopes, true_slopes.to(dtype))
    assert not values.isnan().any()
    assert not slopes.isnan().any()


def test_nan_stays_nan() -> None:
    t, y = torch.tensor([float("nan"), 0.0]), torch.tensor([1, 1])
    for name in uneven.losses.names():
        assert UnevenLoss(name, reduction="none")(t, y).isnan().tolist() == [True, False]


def test_an_example_of_weight_0_counts_0_even_if_its_loss_overflows() -> None:
    t = torch.tensor([-1e4, 0.0], requires_grad=True)
    value = UnevenLoss("exponential")(t, torch.tensor([1, 1]), weight=torch.tensor([0.0, 1.0]))
    value.backward()
    assert value == 0.5
    assert t.grad is not None
    assert t.grad.tolist() == [0.0, -0.5]


def test_costs_of_each_example_mean_what_they_mean_to_a_learner() -> None:
    """The gradient of a linear model at the learner's solution is that of its penalty."""
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3))
    y = (random.random(300) < 1 / (1 + np.exp(1 - X[:, 0]))).astype(int)
    costs = {"fp_cost": random.uniform(0.5, 2, 300), "fn_cost": random.uniform(-0.2, 8, 300), "tp_cost": 0.1}
    for loss in ("logistic", uneven.UnevenMarginLoss("logistic", alpha=0.2)):
        with pytest.warns(UserWarning, match="learnt with the other label"):
            learner = uneven.UnevenLinearClassifier(loss, tol=1e-12).fit(X, y, **costs)
        w = torch.tensor(learner.coef_[0], requires_grad=True)
        logits = torch.tensor(X) @ w + float(learner.intercept_[0])
        given = {name: torch.tensor(value) for name, value in costs.items()}
        total = UnevenLoss(loss, reduction="sum")(logits, torch.tensor(y), **given)
        total.backward()
        assert w.grad is not None
        scale = 2 * float(learner.cost_scale_) if isinstance(loss, uneven.Loss) else float(learner.cost_scale_)
        assert np.allclose(w.detach() + scale * w.grad, 0, atol=1e-5)


def test_costs_need_a_loss_that_is_calibrated_for_some() -> None:
    t, y = batch()
    criterion = UnevenLoss("perceptron")
    assert criterion(t, y) > 0
    with pytest.raises(LossError, match="calibrated for no costs"):
        criterion(t, y, fn_cost=3.0)
    with pytest.raises(ParameterError, match="costs must be finite"):
        UnevenLoss("logistic")(t, y, fn_cost=float("nan"))
    with pytest.raises(ParameterError, match="fp_cost must be a number or a tensor"):
        UnevenLoss("logistic")(t, y, fp_cost="much")


@pytest.mark.parametrize("name", ["logistic", "hinge", "exponential"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_one_compiled_pass_gives_the_same(monkeypatch: pytest.MonkeyPatch, name: str, dtype: torch.dtype) -> None:
    loss = uneven.UnevenMarginLoss(name, gamma=2, alpha=0.3)
    t, y = batch(3000, dtype)
    costs = {"fn_cost": torch.rand(3000) - 0.1, "weight": torch.rand(3000)}
    found = {}
    for least in (1, 10**9):
        monkeypatch.setattr(torch_kernels, "LEAST", least)
        assert UnevenLoss(loss)._in_one_pass.suits(t, y, None) == (least == 1)
        for given in ({}, costs):
            for reduction in ("none", "mean"):
                value = UnevenLoss(loss, reduction=reduction)(t, y, **given)
                (slope,) = torch.autograd.grad(value.sum(), t, create_graph=True)
                (curvature,) = torch.autograd.grad(slope.sum(), t)
                (plain,) = torch.autograd.grad(UnevenLoss(loss, reduction=reduction)(t, y, **given).sum(), t)
                key = (reduction, bool(given))
                found.setdefault(key, []).append([value.detach(), slope.detach(), curvature, plain])
    tolerance = 100 * torch.finfo(dtype).eps
    for first, second in found.values():
        for one, other in zip(first, second, strict=True):
            assert torch.allclose(one, other, rtol=tolerance, atol=tolerance * float(other.abs().max()))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_one_compiled_pass_is_right_for_every_phi(
    monkeypatch: pytest.MonkeyPatch, name: str, parameters: dict[str, Fraction], dtype: type
) -> None:
    monkeypatch.setattr(torch_kernels, "LEAST", 1)
    loss = uneven.UnevenMarginLoss(uneven.phi(name, **parameters), gamma=2, alpha="1/4")
    t = np.tile(np.array([-1e4, -31.7, -7.0, -1.0, -0.003, 0.0, 0.4, 1.0, 6.9, 29.3, 1e4], dtype), 2)
    y = np.repeat([1, -1], t.size // 2)
    logits, labels = torch.from_numpy(t).requires_grad_(), torch.from_numpy(y)
    values = UnevenLoss(loss, reduction="none")(logits, labels)
    (slopes,) = torch.autograd.grad(UnevenLoss(loss)(logits, labels), logits)
    wide, limits = t.astype(np.float64), np.finfo(dtype)
    for found, truth in ((values, loss(y, wide)), (t.size * slopes, loss.slope(y, wide))):
        in_range = np.abs(truth) < limits.max / t.size
        close = {"rtol": 4 * float(limits.eps) + 1e-12, "atol": 40 * float(limits.tiny)}  # kernels compute in doubles
        assert np.allclose(found.detach().numpy()[in_range], truth[in_range], **close)


def test_a_loss_goes_over_to_the_compiled_pass_after_some_calls() -> None:
    """Labels are checked, and values and slopes stay the same, before and after."""
    t, y = batch(8)
    criterion = UnevenLoss(uneven.UnevenMarginLoss("logistic", gamma=2))
    first = value_and_slopes(criterion, t, y)
    for _ in range(20):
        again = value_and_slopes(criterion, t, y)
    assert criterion._in_one_pass.suits(t, y, None)
    for one, other in zip(first, again, strict=True):
        assert torch.allclose(one, other, rtol=1e-13)
    with pytest.raises(ParameterError, match="got both 0 and -1"):
        criterion(t, torch.tensor([0, -1, 1, 1, 1, 1, 1, 1]))


def test_one_compiled_pass_checks_labels_and_keeps_nan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_kernels, "LEAST", 1)
    t = torch.tensor([float("nan"), 0.5, -0.5])
    assert UnevenLoss("hinge", reduction="none")(t, torch.tensor([1, 0, 1])).isnan().tolist() == [True, False, False]
    with pytest.raises(ParameterError, match=r"got 0\.9"):
        UnevenLoss("hinge")(t, torch.tensor([1, 0.9, 0], dtype=torch.float64))
    assert UnevenLoss("hinge", validate=False)(t[1:], torch.tensor([0.9, 0.0])) > 0


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["logistic", "hinge", "beta", "where(t < 0, 1 - t, exp(-t))"])
def test_a_compiler_sees_one_graph(loss: str) -> None:
    t, y = batch(16, torch.float32)
    criterion = UnevenLoss(uneven.UnevenMarginLoss(loss, gamma=2, alpha=0.3))
    compiled = torch.compile(criterion, fullgraph=True, backend="aot_eager")
    given = {} if loss != "logistic" else {"fn_cost": torch.rand(16), "tp_cost": torch.rand(16)}
    (slope,) = torch.autograd.grad(criterion(t, y, **given), t)
    (found,) = torch.autograd.grad(compiled(t, y, **given), t)
    assert torch.allclose(slope, found, rtol=1e-6)
    torch.compiler.reset()


@pytest.fixture(scope="module")
def other_graphs() -> Iterator[None]:
    """A process in which another loss and another link were compiled before; PyTorch may keep as many as it likes."""
    with torch._dynamo.config.patch(recompile_limit=10_000, accumulated_recompile_limit=10_000):
        t, y = batch(16)
        loss = uneven.Loss("3*softplus(-t)", "relu(1 + t)**2 + softplus(t)", alpha=0.3)
        torch.compile(UnevenLoss(loss, reduction="sum"), fullgraph=True, backend="eager")(t, y)
        torch.compile(InverseLink("logistic"), fullgraph=True, backend="eager")(t)
        yield
    torch.compiler.reset()


def value_and_slopes(function: Any, *inputs: torch.Tensor) -> list[torch.Tensor]:
    value = function(*inputs)
    return [value.detach(), *torch.autograd.grad(value.sum(), inputs[0])]


def assert_compiled_is_the_same(function: torch.nn.Module, *inputs: torch.Tensor, backend: str = "eager") -> None:
    compiled = torch.compile(function, fullgraph=True, backend=backend)
    truth, found = (value_and_slopes(each, *inputs) for each in (function, compiled))
    for one, other in zip(truth, found, strict=True):
        assert torch.allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_a_compiled_loss_is_its_own(name: str, parameters: dict[str, Fraction], other_graphs: None) -> None:
    """Dynamo once took the graph of the loss that was compiled first for all losses of a process."""
    t, y = batch(16)
    loss = uneven.UnevenMarginLoss(uneven.phi(name, **parameters), gamma=2, alpha="1/4")
    assert_compiled_is_the_same(UnevenLoss(loss, reduction="sum"), t, y)
    try:
        link = InverseLink(loss)
    except LossError:
        return
    assert_compiled_is_the_same(link, t)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_losses_that_are_compiled_one_after_the_other(backend: str) -> None:
    """Also if a loss is gone when the next one is made."""
    t, y = batch(16)
    for gamma in (1, 2):
        assert_compiled_is_the_same(UnevenLoss(uneven.UnevenMarginLoss("logistic", gamma=gamma)), t, y, backend=backend)
        gc.collect()
    torch.compiler.reset()


@pytest.mark.slow
def test_one_step_of_training_with_several_losses() -> None:
    """The loss is an argument of the compiled function; equal code of the losses must not be taken for equal losses."""
    t, y = batch(16)

    @torch.compile(fullgraph=True, backend="eager")
    def step(criterion: UnevenLoss) -> torch.Tensor:
        return criterion(2 * t, y) + criterion.predict_proba(t).sum()

    for name in ("logistic", "exponential", "squared"):
        criterion = UnevenLoss(name)
        truth = criterion(2 * t, y) + criterion.predict_proba(t).sum()
        assert torch.isclose(step(criterion), truth, rtol=1e-12)
    torch.compiler.reset()


def test_it_can_be_exported() -> None:
    t, y = batch(16)
    criterion = UnevenLoss(uneven.UnevenMarginLoss("logistic", gamma=2))
    program = torch.export.export(criterion, (t.detach(), y))
    assert torch.isclose(program.module()(t, y), criterion(t, y))
    buffer = io.BytesIO()
    torch.export.save(program, buffer)
    assert buffer.getvalue()


def test_transformations() -> None:
    t, y = batch(8)
    criterion = UnevenLoss("logistic", reduction="sum")
    slope = torch.func.vmap(torch.func.grad(criterion))(t.detach(), y)
    assert np.allclose(slope, criterion.loss.slope(2 * y.numpy() - 1, t.detach().numpy()))
    curvature = torch.func.hessian(lambda x: criterion(x, y))(t.detach()).diagonal()
    assert np.allclose(curvature, criterion.loss.curvature(2 * y.numpy() - 1, t.detach().numpy()))


def test_copies() -> None:
    t, y = batch()
    criterion = UnevenLoss(uneven.calibrated_loss("savage", alpha=0.1, gamma=2), weight=torch.rand(24))
    link = InverseLink("logistic")
    for made in (copy.deepcopy, lambda module: pickle.loads(pickle.dumps(module))):
        assert made(criterion)(t, y) == criterion(t, y)
        assert torch.equal(made(link)(t), link(t))
    assert "savage" in repr(criterion)
    assert "logistic" in repr(link)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", uneven.losses.names())
def test_probabilities(name: str, dtype: torch.dtype) -> None:
    loss = uneven.UnevenMarginLoss(name, gamma=2, alpha=0.1)
    t = torch.tensor([-1e4, -30.0, -3.0, -0.3, 0.0, 0.2, 0.9, 4.0, 30.0, 1e4], dtype=dtype)
    criterion = UnevenLoss(loss)
    try:
        truth = loss.inverse_link(t.numpy())
    except LossError as error:
        with pytest.raises(LossError) as raised:
            criterion.predict_proba(t)
        assert str(raised.value) == str(error)
        with pytest.raises(LossError):
            InverseLink(loss)
        return
    found = criterion.predict_proba(t)
    assert found.dtype == dtype
    assert np.allclose(found, truth, rtol=300 * torch.finfo(dtype).eps, atol=1e-30)
    inside = t[2:8].double().requires_grad_()
    assert torch.autograd.gradcheck(InverseLink(loss), (inside[[0, 1, 3, 5]],))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((torch.zeros(3), torch.zeros(3, 1)), r"same shape, got \(3,\) and \(3, 1\)"),
        ((torch.zeros(3, dtype=torch.int64), torch.zeros(3)), "logits must be a tensor of floats"),
        (([0.0], torch.zeros(1)), "logits must be a tensor of floats"),
        ((torch.zeros(1), [0.0]), "targets must be a tensor"),
    ],
)
def test_bad_input(arguments: tuple[object, object], complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        UnevenLoss("logistic")(*arguments)


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [({"reduction": "median"}, "reduction must be one of"), ({"weight": [1.0]}, "weight must be a tensor")],
)
def test_bad_parameters(parameters: dict[str, object], complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        UnevenLoss("logistic", **parameters)
