"""Damaged and forged files: every command that reads a file ends with one sentence, and nothing is half written."""

from __future__ import annotations

import copy
import gzip
import io
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from mutated_files import ARCHIVE, BYTES, PACKED, mutants

from uneven.cli import _models
from uneven.cli.main import main
from uneven.errors import UnevenError

COUNT = 500
COSTS = ["--target", "y", "--positive", "yes", "--fp-cost", "1", "--fn-cost", "5"]
FIT = [*COSTS, "--learner", "linear", "--quick", "--save-anyway"]
TABLES = {"t.csv": BYTES, "t.csv.gz": PACKED, "t.xlsx": ARCHIVE, "t.parquet": BYTES, "parts/t.parquet": BYTES}
#: What the arguments of commands are: files of these kinds, or no files.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "data": TABLES,
    "model": {"m.skops": ARCHIVE},
    "file": {"c.json": BYTES},
    "loss": {},
    "names": {},
    "words": {},
}


def reading_commands() -> Iterator[tuple[str, str, str]]:
    """Every command that reads a file, the argument that is the file, and a kind of file for it."""
    context = click.Context(main)
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        assert command is not None
        for parameter in command.params:
            if isinstance(parameter, click.Argument):
                assert parameter.name is not None
                for kind in ARGUMENTS[parameter.name]:
                    yield name, parameter.name, kind


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One small table in every kind of file, a model, a model fitted in parts, and a certificate."""
    place = tmp_path_factory.mktemp("hostile")
    random = np.random.default_rng(0)
    x = random.normal(size=20).round(2)
    y = np.where(x + random.normal(size=20) > 0, "yes", "no")
    frame = pd.DataFrame({"x": x, "c": random.choice(["a", "b"], 20), "y": y})
    frame.to_csv(place / "t.csv", index=False)
    (place / "t.csv.gz").write_bytes(gzip.compress((place / "t.csv").read_bytes(), mtime=0))
    frame.to_excel(place / "t.xlsx", index=False)
    frame.to_parquet(place / "t.parquet")
    (place / "parts").mkdir()
    frame[["x", "y"]].to_parquet(place / "parts" / "t.parquet")
    for data, model, more in (("t.csv", "m.skops", FIT), ("parts", "parts.skops", COSTS)):
        done = CliRunner().invoke(main, ["fit", str(place / data), *more, "-o", str(place / model)])
        assert done.exit_code == 0, done.output
    assert CliRunner().invoke(main, ["certify", "sigmoid", "--gamma", "2", "-o", str(place / "c.json")]).exit_code == 0
    return place


def arguments(command: str, argument: str, folder: Path, hostile: Path, out: Path) -> list[str]:
    """A call in which one argument is the hostile file and all else is right."""
    model = folder / ("parts.skops" if hostile.parent.name == "parts" else "m.skops")
    given = {"data": folder / "t.csv", "model": model, argument: hostile}
    data = str(given["data"].parent if hostile.parent.name == "parts" else given["data"])
    return {
        "fit": ["fit", data, *(COSTS if hostile.parent.name == "parts" else FIT), "-o", str(out / "o.skops")],
        "predict": ["predict", str(given["model"]), data, "-o", str(out / "o.csv")],
        "report": ["report", str(given["model"]), data],
        "verify": ["verify", str(hostile)],
    }[command]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("command", "argument", "kind"), list(reading_commands()))
def test_a_damaged_file_ends_in_one_sentence(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, argument: str, kind: str
) -> None:
    if argument == "data":  # the model is always the same
        monkeypatch.setattr(f"uneven.cli.commands.{command}.read_model", _once(_models.read_model), raising=False)
    hostile = tmp_path / kind
    hostile.parent.mkdir(exist_ok=True)
    out = tmp_path / "out"
    out.mkdir()
    call = arguments(command, argument, folder, hostile, out)
    allowed = {0, 2, *((1,) if command in ("fit", "verify") else ())}
    for number, content in enumerate(mutants((folder / kind).read_bytes(), ARGUMENTS[argument][kind], COUNT)):
        hostile.write_bytes(content)
        done = CliRunner().invoke(main, call)
        trouble = f"mutant {number}: {done.output} {done.exception!r}"
        assert done.exception is None or isinstance(done.exception, SystemExit), trouble
        assert done.exit_code in allowed, trouble
        if done.exit_code == 2:
            (sentence,) = (line for line in done.stderr.splitlines() if not line.startswith("Warning: "))
            assert sentence.startswith("Error: "), trouble
        written = {path.name for path in out.iterdir()}
        assert written == ({Path(call[-1]).name} if done.exit_code == 0 and "-o" in call else set()), trouble
        for path in out.iterdir():
            path.unlink()


def _once(read: Callable[[str], dict[str, Any]]) -> Callable[[str], dict[str, Any]]:
    kept: dict[str, dict[str, Any]] = {}

    def again(path: str) -> dict[str, Any]:
        if path not in kept:
            kept[path] = read(path)
        return {**kept[path], "about": copy.deepcopy(kept[path]["about"])}

    return again
