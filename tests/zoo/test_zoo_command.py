"""Losses of other libraries at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from uneven import zoo
from uneven.app.cli.main import main


def run(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, words)
    assert result.exit_code == code, result.output
    return result.output


def test_the_list_holds_everything() -> None:
    listed = run("zoo")
    assert all(name in listed for name in (*zoo.names(), *zoo.outside()))
    found = json.loads(run("zoo", "focal", "sigmoid", "--json"))
    assert {"torchvision.ops.sigmoid_focal_loss()", "optax.losses.sigmoid_focal_loss()"} <= {
        row["loss"] for row in found["losses"]
    }


@pytest.mark.parametrize("name", zoo.names())
def test_one_loss_is_described(name: str) -> None:
    one = zoo.declared(name)
    shown = run("zoo", name)
    assert all(remark in " ".join(shown.split()) for remark in one.remarks)
    described = json.loads(run("zoo", name, "--json"))
    assert described["name"] == name
    assert len(described["certified"]) == len(one.cases)


def test_implied_cost_answers_in_a_sentence() -> None:
    settings = ("--set", "weight=1,10", "--set", "label_smoothing=0.1")
    answer = run("implied-cost", "torch.nn.CrossEntropyLoss", *settings)
    assert answer.startswith("This loss treats a false negative as 21 times a false positive.\nalpha = 1/22")
    costs = ("--fp-cost", "1", "--fn-cost", "10")
    assert "weight=(1, 191/29)" in run("implied-cost", "torch.nn.CrossEntropyLoss", *settings, *costs, code=1)


def test_a_certificate_of_a_loss_of_the_zoo(tmp_path: Path) -> None:
    file = str(tmp_path / "certificate.json")
    settings = ("--set", "weight=1,19", "--set", "label_smoothing=0.1")
    assert "no alpha" in run("certify", "torch.nn.CrossEntropyLoss", *settings, "-o", file)
    assert run("verify", file).startswith("valid")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("zoo", "nosuchthing"), "lists them all"),
        (("zoo", "a", "b", "--fp-cost", "1", "--fn-cost", "2"), "give the name of one loss"),
        (("zoo", "torch.nn.L1Loss", "--fp-cost", "1"), "belong together"),
        (("implied-cost", "torch.nn.CrossEntropyLos"), "did you mean 'torch.nn.CrossEntropyLoss'"),
        (("implied-cost", "keras.losses.Dice"), "has no alpha"),
        (("implied-cost", "hinge", "--set", "a=1"), "--set belongs to a loss of another library"),
        (("implied-cost", "torch.nn.CrossEntropyLoss", "--set", "weight"), "--set takes NAME=VALUE"),
        (("implied-cost", "torch.nn.CrossEntropyLoss", "--set", "weight=1,2", "--set", "weight=1,3"), "given twice"),
        (("implied-cost", "torch.nn.CrossEntropyLoss", "--gamma", "2"), "--gamma and --beta belong to a phi"),
    ],
)
def test_bad_words(words: tuple[str, ...], message: str) -> None:
    assert message in run(*words, code=2)
