"""``uneven doctor`` and ``uneven completion``."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import uneven
from uneven.app.cli.main import main


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_doctor_tells_what_is_installed() -> None:
    done = _run("doctor")
    assert done.exit_code == 0, done.output
    assert f"uneven {uneven.__version__}" in done.output
    for name in ("numpy", "scikit-learn", "numba"):
        assert f"{name} {metadata.version(name)}" in done.output
    assert done.output.endswith("All is well.\n")


def test_doctor_for_programs_has_every_extra_of_the_package() -> None:
    read = json.loads(_run("doctor", "--json").output)
    declared = set(metadata.metadata("uneven").get_all("Provides-Extra") or ())
    assert set(read["extras"]) == declared - {"bench", "dev", "docs", "release"}
    assert set(read["extras"]["data"]) <= set(read["extras"]["explorer"])  # an extra that holds another
    assert read["threads"] >= 1
    assert read["problems"] == []


@pytest.mark.parametrize("version", [None, "0.0.1"])
def test_what_is_needed_and_missing_or_too_old_is_told(monkeypatch: pytest.MonkeyPatch, version: str | None) -> None:
    known = metadata.version

    def lacking(name: str) -> str:
        if name == "skops":
            if version is None:
                raise metadata.PackageNotFoundError(name)
            return version
        return known(name)

    monkeypatch.setattr(metadata, "version", lacking)
    done = _run("doctor")
    assert done.exit_code == 1
    assert re.search(r"PROBLEM +skops: (missing|too old \(0.0.1, needs)", done.output)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_the_source_for_a_shell(shell: str) -> None:
    done = _run("completion", shell)
    assert done.exit_code == 0, done.output
    assert f"_UNEVEN_COMPLETE={shell}_complete" in done.output


@pytest.mark.slow
def test_the_shell_is_told_the_commands(tmp_path: Path) -> None:
    """What the source asks for when the tab key is pressed."""
    words = {"COMP_WORDS": "uneven do", "COMP_CWORD": "1", "_UNEVEN_COMPLETE": "bash_complete"}
    source = Path(uneven.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-m", "uneven"],
        env={**words, "PYTHONPATH": str(source), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "plain,doctor" in done.stdout, done.stderr
