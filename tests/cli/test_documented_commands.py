"""Every command in the documentation runs, through a pipe, and says what the page says."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from places import DOCS
from sklearn.datasets import load_breast_cancer
from terminal import in_terminal

PAGES = [DOCS / "command.md"]


def sessions(page: Path) -> list[tuple[str, str]]:
    """Commands and the output shown for them, in order."""
    found: list[tuple[str, str]] = []
    for block in re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("documented")
    data = load_breast_cancer(as_frame=True)
    frame: pd.DataFrame = data.data.iloc[:, :10].copy()
    frame["patient"] = [f"P{k:03d}" for k in range(len(frame))]
    frame["late treatment"] = (2000 + 100 * frame["mean radius"]).round()
    frame["diagnosis"] = ["malignant" if label == 0 else "benign" for label in data.target]
    frame.iloc[:400].to_csv(place / "patients.csv", index=False)
    frame.iloc[400:].to_csv(place / "new.csv", index=False)
    return place


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_page(page: Path, folder: Path) -> None:
    checker = doctest.OutputChecker()
    commands = sessions(page)
    assert len(commands) >= 10
    for command, shown in commands:
        words = shlex.split(command)
        assert words[0] == "uneven"
        done = subprocess.run(
            [sys.executable, "-m", "uneven", *words[1:]],
            cwd=folder,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONWARNINGS": "error"},
            check=False,
        )
        assert done.returncode == 0, (command, done.stderr)
        if shown.strip() and shown.strip() != "...":
            flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            assert checker.check_output(shown, done.stdout, flags), (command, done.stdout)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_page_in_a_terminal(page: Path, folder: Path) -> None:
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    for command, _ in sessions(page):
        status, shown = in_terminal([sys.executable, "-m", "uneven", *shlex.split(command)[1:]], environment, folder)
        assert status == 0, (command, shown)
        assert "Traceback" not in shown
