"""The declarations of the zoo: each is complete, and what a user can get wrong says what would work."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from places import ROOT

import uneven
from uneven import zoo
from uneven.errors import LossError, ParameterError
from uneven.zoo.catalogue import chosen, library_of, read
from uneven.zoo.zoo_loss import REQUIRED

ALL = [zoo.declared(name) for name in zoo.names()]


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_a_declaration_is_complete(one: zoo.ZooLoss) -> None:
    library = library_of(one)
    assert one.name.startswith(f"{library.package}.")
    assert library.version
    names = [parameter.name for parameter in one.parameters]
    assert len(set(names)) == len(names)
    required = {parameter.name for parameter in one.parameters if parameter.default == REQUIRED}
    for case in one.cases:
        assert required <= set(case.parameters) <= set(names)
        assert case.believed > 0
    for formula in one.formulas:
        assert set(formula.when) <= set(names)
    assert one.knob is None or {one.knob.parameter, *one.knob.also} <= set(names)
    assert all(remark.endswith(".") for remark in one.remarks)
    used = {id(chosen(one, read(one, case.parameters))) for case in one.cases}
    assert used  # each case has a formula


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_it_is_an_ordinary_loss(one: zoo.ZooLoss) -> None:
    t = np.linspace(-5, 5, 11)
    for case in one.cases:
        loss = zoo.loss(one.name, **case.parameters)
        assert loss.symbolic
        assert pickle.loads(pickle.dumps(loss)) == loss
        assert (loss(1, t) >= 0).all()
        assert (loss(-1, t) >= 0).all()
        for name in one.also_called:
            assert zoo.loss(name, **case.parameters) == loss


def test_names_are_unique_and_sorted() -> None:
    everything = [*zoo.names(), *zoo.outside(), *(other for one in ALL for other in one.also_called)]
    assert len(set(everything)) == len(everything)
    assert list(zoo.names()) == sorted(zoo.names())
    assert len({library.package for library in zoo.all_libraries()}) == len(zoo.all_libraries())


def test_every_way_to_write_a_tenth_is_a_tenth() -> None:
    ways = [0.1, "0.1", "1/10", Fraction(1, 10), Decimal("0.1"), np.float64(0.1), np.float32(0.1)]
    losses = {zoo.loss("torch.nn.CrossEntropyLoss", weight=(1, 10), label_smoothing=way) for way in ways}
    assert len(losses) == 1
    assert uneven.implied_alpha(losses.pop()).exact == Fraction(1, 22)


def test_every_way_to_write_weights() -> None:
    ways = [(1, 10), [1, 10], np.array([1.0, 10.0]), {0: 1, 1: 10}, ("1", "10"), {1: 10}]
    losses = {zoo.loss("sklearn.linear_model.LogisticRegression", class_weight=way) for way in ways}
    assert len(losses) == 1


@pytest.mark.parametrize("name", sorted(zoo.outside()))
def test_a_loss_without_alpha_says_why(name: str) -> None:
    with pytest.raises(LossError, match=f"{re.escape(name)} has no alpha: "):
        zoo.loss(name)
    assert zoo.outside()[name][0].islower()


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("torch.nn.CrossEntropyLos", {}, "did you mean 'torch.nn.CrossEntropyLoss'"),
        ("crossentropyloss", {}, "did you mean 'torch.nn.CrossEntropyLoss'"),
        ("torch.sigmoid_focal_loss", {}, "'torchvision.ops.sigmoid_focal_loss'"),
        ("keras.losses.dice", {}, "did you mean 'keras.losses.Dice'"),
        ("zebra", {}, "uneven zoo"),
        ("", {}, "uneven zoo"),
        (3, {}, "the name of a loss is a text"),
        ("torch.nn.CrossEntropyLoss", {"wieght": (1, 2)}, "did you mean 'weight'"),
        ("torch.nn.CrossEntropyLoss", {"reduction": "mean"}, "it takes weight, label_smoothing"),
        ("torch.nn.SoftMarginLoss", {"weight": 1}, "it takes no parameters"),
        ("torch.nn.CrossEntropyLoss", {"weight": 10}, "two numbers"),
        ("torch.nn.CrossEntropyLoss", {"weight": (1, 2, 3)}, "two numbers"),
        ("torch.nn.CrossEntropyLoss", {"weight": (1, -2)}, "positive numbers"),
        ("torch.nn.CrossEntropyLoss", {"weight": "balanced"}, "two numbers"),
        ("torch.nn.CrossEntropyLoss", {"label_smoothing": 1}, "label_smoothing must be less than 1"),
        ("torch.nn.CrossEntropyLoss", {"label_smoothing": float("nan")}, "finite"),
        ("torch.nn.CrossEntropyLoss", {"label_smoothing": None}, "must be a number, got None"),
        ("torchvision.ops.sigmoid_focal_loss", {"alpha": 2}, "at most 1, or -1"),
        ("torchvision.ops.sigmoid_focal_loss", {"gamma": "two"}, "gamma must be a finite number"),
        ("focal_loss.BinaryFocalLoss", {}, "needs the parameter gamma"),
        ("sklearn.linear_model.SGDClassifier", {"loss": "hinges"}, "did you mean 'hinge'"),
        ("timm.loss.AsymmetricLossMultiLabel", {"disable_torch_grad_focal_loss": 1}, "must be True or False"),
        ("sklearn.linear_model.LogisticRegression", {"class_weight": "balanced"}, "needs counts"),
        ("lightgbm.LGBMClassifier", {"is_unbalance": True}, "such as (900, 100), with is_unbalance=True"),
        ("balanced_loss.Loss", {"class_balanced": True}, "needs samples_per_class"),
        ("empulse.metrics.expected_log_cost_loss", {"fn_cost": 5}, "fn_cost must be at most 0"),
    ],
)
def test_bad_input(name: str, parameters: dict[str, object], message: str) -> None:
    with pytest.raises((LossError, ParameterError), match=re.escape(message)):
        zoo.loss(name, **parameters)


@pytest.mark.slow
def test_one_file_is_enough(tmp_path: Path) -> None:
    """The file shown in CONTRIBUTING.md, dropped into a copy of the package, is found."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = re.search(r"^## Add a loss of a library \(1 file\)\n(.*?)(?=^## )", page, re.M | re.S)
    assert section is not None
    path, code = (
        re.search(r"`(src/uneven/\S+\.py)`", section.group(1)),
        re.search(r"```python\n(.*?)```", section.group(1), re.S),
    )
    assert path is not None
    assert code is not None
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    assert not (tmp_path / path.group(1)).exists()
    (tmp_path / path.group(1)).write_text(code.group(1))
    program = """
import uneven
(library,) = [one for one in uneven.zoo.all_libraries() if one.package == "mylibrary"]
(one,) = library.losses
assert one.name in uneven.zoo.names()
print(uneven.implied_alpha(uneven.zoo.loss(one.name)).exact)
print(uneven.zoo.parameters_for(one.name, fp_cost=1, fn_cost=10).parameters)
"""
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["1/2", "{'pos_weight': Fraction(10, 1)}"]
