"""Every command in the documentation runs, through a pipe, and says what the page says."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from places import DOCS
from sklearn.datasets import load_breast_cancer, load_wine
from terminal import in_terminal

PAGES = [DOCS / "start.md", DOCS / "command.md", DOCS / "log.md"]


ONE_AFTER_THE_OTHER = """
import runpy, shlex, sys
for command in sys.argv[1:]:
    sys.argv = shlex.split(command)
    try:
        runpy.run_module("uneven", run_name="__main__")
    except SystemExit as end:
        print(command, "ended with", end.code or 0)
"""


def sessions(page: Path) -> list[tuple[str, str]]:
    """Commands and the output shown for them, in order."""
    found: list[tuple[str, str]] = []
    for block in re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


def write_tables(place: Path, every: int = 1) -> None:
    """The tables of the page; or every so many-th patient."""
    data = load_breast_cancer(as_frame=True)
    frame: pd.DataFrame = data.data.iloc[:, :10].copy()
    frame["patient"] = [f"P{k:03d}" for k in range(len(frame))]
    frame["late treatment"] = (2000 + 100 * frame["mean radius"]).round()
    frame["diagnosis"] = ["malignant" if label == 0 else "benign" for label in data.target]
    frame.iloc[:400:every].to_csv(place / "patients.csv", index=False)
    frame.iloc[400::every].to_csv(place / "new.csv", index=False)
    wines = load_wine(as_frame=True)
    bottles = wines.data.iloc[:, [0, 1, 6, 9]].assign(quality=wines.target.map({0: "table", 1: "fine", 2: "grand"}))
    bottles.iloc[::2].to_csv(place / "wines.csv", index=False)
    bottles.iloc[1::2].to_csv(place / "new_wines.csv", index=False)
    lines = [",table,fine,grand,taste", "table,0,1,4,1.5", "fine,3,0,1,1.5", "grand,20,5,0,1.5"]
    (place / "costs.csv").write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_page(page: Path, tmp_path: Path) -> None:
    """In one process for all commands: each would import the same for seconds."""
    write_tables(tmp_path)
    checker = doctest.OutputChecker()
    commands = sessions(page)
    assert len(commands) >= (10 if page.name == "command.md" else 3)
    assert all(command.startswith("uneven ") for command, _ in commands)
    done = subprocess.run(
        [sys.executable, "-c", ONE_AFTER_THE_OTHER, *(command for command, _ in commands)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "error"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rest = done.stdout
    for command, shown in commands:
        said, end, rest = rest.partition(f"{command} ended with 0\n")
        assert end, (command, said, done.stderr)
        if shown.strip() and shown.strip() != "...":
            flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            assert checker.check_output(shown, said, flags), (command, said)
    assert not rest, rest


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_page_in_a_terminal(page: Path, tmp_path: Path) -> None:
    """No numbers are compared, so a quarter of the patients will do, and one process for all commands."""
    write_tables(tmp_path, every=4)
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    commands = [command for command, _ in sessions(page)]
    status, shown = in_terminal([sys.executable, "-c", ONE_AFTER_THE_OTHER, *commands], environment, tmp_path)
    assert status == 0, shown
    assert shown.count("ended with 0") == len(commands), shown
    assert "Traceback" not in shown
