"""What is added in one place is everywhere: a phi registered at run time, and a phi, figure and command in one file."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from doors import visit_every_door
from laws import LAWS, Law
from places import ROOT, SUPPORT

import uneven
from uneven.losses import Parameter


@pytest.fixture
def throw_away() -> Iterator[str]:
    uneven.losses.register(
        "throw_away",
        "softplus(-t)**2 + pull*relu(-t)",
        parameters=(Parameter("pull", default=0, at_least=0),),
        limits=("inf", "0"),
        minimiser=float("inf"),
        minimum="0",
    )
    yield "throw_away"
    if "throw_away" in uneven.losses.names():
        uneven.losses.unregister("throw_away")


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("pull", [0, 1])
def test_law(throw_away: str, law: Law, pull: int) -> None:
    law(uneven.phi(throw_away, pull=pull))


@pytest.mark.slow
def test_every_door(throw_away: str, tmp_path: Path) -> None:
    visit_every_door(throw_away, tmp_path)


def test_a_kink_at_zero_is_found_in_it_too(throw_away: str) -> None:
    with pytest.raises(uneven.errors.LossError, match="calibrated for no alpha"):
        uneven.calibrated_loss(uneven.phi(throw_away, pull=1), alpha=0.2)


def documented_extensions() -> dict[str, tuple[int, Path, str]]:
    """From CONTRIBUTING.md: for each kind of extension the number of files it says, the path and the code it shows."""
    found = {}
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for kind, count, text in re.findall(r"^## Add a (\w+) \((\d+) files?\)\n(.*?)(?=^## )", page, re.M | re.S):
        path, code = re.search(r"`(src/uneven/\S+\.py)`", text), re.search(r"```python\n(.*?)```", text, re.S)
        if path and code:
            found[kind] = (int(count), Path(path.group(1)), code.group(1))
    return found


@pytest.mark.slow
def test_one_file_is_enough(tmp_path: Path) -> None:
    """The files shown in CONTRIBUTING.md, dropped into a copy of the package, are found; nothing else is touched."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    documented = documented_extensions()
    assert {"phi", "figure", "command"} <= set(documented)
    for kind in ("phi", "figure", "command"):
        count, path, code = documented[kind]
        assert count == 1
        assert not (tmp_path / path).exists()
        (tmp_path / path).write_text(code)
    name = documented["phi"][1].stem
    command = documented["command"][1].stem.replace("_", "-")
    figure = f"uneven.figures.{documented['figure'][1].stem}"
    work = tmp_path / "work"
    work.mkdir()
    program = f"""
from pathlib import Path
import uneven
from doors import run, visit_calibration, visit_losses
assert Path(uneven.__file__).is_relative_to({str(tmp_path)!r})
visit_losses({name!r})
visit_calibration({name!r})
assert {name!r} in run("losses").output
(figure,) = [record for record in uneven.figures.FIGURES.values() if record.draw.__module__ == {figure!r}]
assert figure.name in run("figures", "--list").output
assert uneven.figures.draw(figure.name).get_label()
run("figures", figure.name, "--out", {str(work)!r})
assert (Path({str(work)!r}) / f"{{figure.name}}.png").stat().st_size > 2000
assert {command!r} in run("--help").output
print(run({command!r}, "hinge").output)
"""
    support = str(SUPPORT)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "src"), support])}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, cwd=work, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "relu(1 - t)" in done.stdout


def test_an_estimator_says_how_it_learns_and_how_it_scores() -> None:
    """The estimator shown in CONTRIBUTING.md reads, predicts for given costs and scores in money."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    text = re.search(r"^## Add an estimator \(2 files\)\n(.*?)(?=^## )", page, re.M | re.S)
    assert text is not None
    code = re.search(r"```python\n(.*?)```", text[1], re.S)
    assert code is not None
    names: dict[str, Any] = {"__name__": "shown"}
    exec(code[1], names)
    random = np.random.default_rng(0)
    y = np.where(random.random(4000) < 0.3, "fraud", "ok")
    X = random.normal(size=(4000, 2)) + (y == "fraud")[:, None]
    plain = names["UnevenMeansClassifier"](pos_label="fraud").fit(X, y)
    truth = 1 / (1 + 7 / 3 * np.exp(1 - X.sum(axis=1)))
    assert np.abs(plain.predict_proba(X)[:, 0] - truth).mean() < 0.05
    costly = names["UnevenMeansClassifier"](fn_cost=9, pos_label="fraud").fit(X, y)
    assert (costly.predict(X) == plain.predict(X, fn_cost=9)).mean() > 0.97
    assert costly.score(X, y) > max(-one.cost for one in costly.constant_costs_.values())
    with pytest.raises(uneven.errors.CostError, match="must come from two classes"):
        plain.fit(X, np.full(4000, "ok"))


@pytest.mark.parametrize(
    ("facts", "complaint"),
    [
        ({"convex": True}, "above its chord"),
        ({"limits": ("2", "0")}, "declared to tend to 2"),
        ({"limits": ("1", "inf")}, "declared to tend to inf"),
        ({"minimiser": 0.0}, "declared to fall up to t = 0"),
        ({"minimum": "0.1"}, "declared to be at least 0.1"),
    ],
)
def test_a_false_declaration_is_refused(facts: dict[str, object], complaint: str) -> None:
    with pytest.raises((uneven.errors.LossError, uneven.errors.ParameterError), match=complaint):
        uneven.losses.register("false_facts", "expit(-t)", **facts)
    assert "false_facts" not in uneven.losses.names()


@pytest.mark.parametrize("name", ["hinge", "t", "exp", "Two Words", "", "Upper", "phi²"])
def test_a_taken_or_odd_name_is_refused(name: str) -> None:
    with pytest.raises(uneven.errors.ParameterError, match="name"):
        uneven.losses.register(name, "exp(-t)")


def test_a_registered_phi_survives_in_another_process(throw_away: str) -> None:
    """Its pickle carries the declaration, so that workers that never registered it can load it."""
    data = pickle.dumps(uneven.UnevenMarginLoss(throw_away, gamma=3))
    uneven.losses.unregister(throw_away)
    assert pickle.loads(data).negative(1.0) > 0
