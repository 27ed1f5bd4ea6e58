"""Damaged and forged files: every command that reads a file ends with one sentence, and nothing is half written."""

from __future__ import annotations

import copy
import gzip
import json
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

from uneven.app.cli.main import main
from uneven.app.explorer import table_questions as explored
from uneven.app.explorer.questions import Refusal
from uneven.app.files import table, table_formats
from uneven.app.models import model_files
from uneven.errors import UnevenError

#: Damaged files of each kind for each command that reads this kind; each command gets files of its own.
COUNT = 500
COSTS = ["--target", "y", "--positive", "yes", "--fp-cost", "1", "--fn-cost", "5"]
FIT = [*COSTS, "--learner", "linear", "--quick", "--save-anyway"]
IN_PARTS = [*COSTS, "--quick", "--memory-limit", "1GB"]
TABLES = {"t.csv": BYTES, "t.csv.gz": PACKED, "t.xlsx": ARCHIVE, "t.parquet": BYTES, "parts/t.parquet": BYTES}
PROGRAM = """from sklearn.linear_model import LogisticRegression as L
m = L(class_weight={0: 1, 1: 2.5}).fit(X, y)
flag = m.predict_proba(X)[:, 1] > 1 / 11
"""
#: What the arguments of commands are: files of these kinds, or no files.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "data": TABLES,
    "model": {"m.skops": ARCHIVE},
    "file": {"c.json": BYTES},
    "files": {"m.skops": ARCHIVE, "p.py": BYTES},
    "folder": {},  # of decisions: its files are broken in test_watch_command.py
    "shell": {},
    "loss": {},
    "names": {},
    "words": {},
}


def reading_commands() -> Iterator[tuple[str, str, str]]:
    """Every command that reads a file, the argument that is the file, and a kind of file for it."""
    context = click.Context(main)
    for name in main.list_commands(context):
        if name == "explore":  # it reads a table as fit does, and then serves it: test_explore_command.py
            continue
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
    (place / "p.py").write_text(PROGRAM)
    for data, model, more in (("t.csv", "m.skops", FIT), ("parts", "parts.skops", IN_PARTS)):
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
        "fit": ["fit", data, *(IN_PARTS if hostile.parent.name == "parts" else FIT), "-o", str(out / "o.skops")],
        "predict": ["predict", str(given["model"]), data, "-o", str(out / "o.csv")],
        "card": ["card", str(hostile), "-o", str(out / "o.html")],
        "watch": ["watch", str(hostile), str(out), "--state", str(out / "s.json"), "-o", str(out / "o.html")],
        "export": ["export", str(hostile), "--to", "sql", "-o", str(out / "o.sql")],
        "lint": ["lint", str(hostile), "--fp-cost", "1", "--fn-cost", "5"],
        "report": ["report", str(given["model"]), data],
        "verify": ["verify", str(hostile)],
    }[command]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("command", "argument", "kind"), list(reading_commands()))
def test_a_damaged_file_ends_in_one_sentence(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, argument: str, kind: str
) -> None:
    if argument == "data":  # the model is always the same
        monkeypatch.setattr(
            f"uneven.app.cli.commands.{command}.read_model", _once(model_files.read_model), raising=False
        )
    hostile = tmp_path / kind
    hostile.parent.mkdir(exist_ok=True)
    out = tmp_path / "out"
    out.mkdir()
    call = arguments(command, argument, folder, hostile, out)
    allowed = {0, 2, *((1,) if command in ("fit", "lint", "verify") else ())}
    readers = [name for name, *read in reading_commands() if read == [argument, kind]]
    damaged = mutants((folder / kind).read_bytes(), ARGUMENTS[argument][kind], COUNT, seed=readers.index(command))
    for number, content in enumerate(damaged):
        hostile.write_bytes(content)
        done = CliRunner().invoke(main, call)
        trouble = f"mutant {number}: {done.output} {done.exception!r}"
        assert done.exception is None or isinstance(done.exception, SystemExit), trouble
        assert done.exit_code in allowed, trouble
        if done.exit_code == 2:
            *progress, sentence = done.stderr.splitlines()
            assert sentence.startswith("Error: "), trouble
            assert not any(line.startswith("Error: ") for line in progress), trouble
        written = {path.name for path in out.iterdir()}
        assert written == ({Path(call[-1]).name} if done.exit_code == 0 and "-o" in call else set()), trouble
        for path in out.iterdir():
            path.unlink()


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are listed on Linux only")
def test_a_damaged_workbook_is_closed(folder: Path, tmp_path: Path) -> None:
    """Also while its error is kept, which holds the frames of openpyxl."""
    path = tmp_path / "t.xlsx"
    with zipfile.ZipFile(folder / "t.xlsx") as whole, zipfile.ZipFile(path, "w") as stored:
        for name in whole.namelist():
            stored.writestr(name, whole.read(name))
    path.write_bytes(path.read_bytes().replace(b"</sheetData>", b"</sheetdata>"))  # not what its checksum says
    with pytest.raises(UnevenError, match="Bad CRC-32") as kept:
        table.read_table(str(path))
    assert kept.value.__context__ is not None
    links = [Path("/proc/self/fd") / number for number in os.listdir("/proc/self/fd")]
    assert path.resolve() not in [link.resolve() for link in links]


def _once(read: Callable[[str], dict[str, Any]]) -> Callable[[str], dict[str, Any]]:
    kept: dict[str, dict[str, Any]] = {}

    def again(path: str) -> dict[str, Any]:
        if path not in kept:
            kept[path] = read(path)
        return {**kept[path], "about": copy.deepcopy(kept[path]["about"])}

    return again


@pytest.mark.filterwarnings("ignore")
def test_a_damaged_upload_of_the_explorer_is_answered_or_refused(folder: Path) -> None:
    answered = 0
    for content in mutants((folder / "t.csv").read_bytes(), BYTES, COUNT, seed=1):
        try:
            answered += "targets" in explored.table({"name": "t.csv", "content": content})
        except Refusal:
            continue
    assert 0 < answered < COUNT


ENTITIES = {
    "lol": "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">' for k in range(1, 10)),
    "xxe": '<!ENTITY l9 SYSTEM "file:///etc/passwd">',
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ENTITIES)
def test_entities_of_a_workbook(folder: Path, tmp_path: Path, kind: str) -> None:
    """The parser stops entity bombs and external entities; what a user sees is one sentence."""
    hostile, refused = tmp_path / "t.xlsx", 0
    with zipfile.ZipFile(folder / "t.xlsx") as archive:
        members = {name: archive.read(name).decode() for name in archive.namelist()}
    for name, text in members.items():
        start = text.index("?>") + 2 if text.startswith("<?xml") else 0
        doctype = f'<!DOCTYPE x [<!ENTITY l0 "lol">{ENTITIES[kind]}]>'
        begun = text.replace("<t>x</t>", "<t>&l9;</t>").replace("<v>", "<v>&l9;", 1)
        inside = begun if begun != text else text[: text.rindex("</")] + "&l9;" + text[text.rindex("</") :]
        with zipfile.ZipFile(hostile, "w") as archive:
            for other, content in members.items():
                archive.writestr(other, inside[:start] + doctype + inside[start:] if other == name else content)
        (tmp_path / "o.skops").unlink(missing_ok=True)
        done = CliRunner().invoke(main, ["fit", str(hostile), *FIT, "-o", str(tmp_path / "o.skops")])
        assert "passwd" not in done.output
        assert done.exception is None or isinstance(done.exception, SystemExit), (name, done.exception)
        if done.exit_code == 2:
            refused += 1
            assert len(done.stderr.splitlines()) == 1
            assert not (tmp_path / "o.skops").exists()
    assert refused >= 3


_LIMITED = """
import json, pathlib, resource, sys, time
from click.testing import CliRunner
from uneven.app.cli.main import main
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
for call in json.loads(sys.argv[1]):
    started = time.process_time()
    done = CliRunner().invoke(main, call)
    # ru_maxrss would count the memory of the process that started this one
    status = pathlib.Path("/proc/self/status").read_text()
    most = int(status.partition("VmHWM:")[2].split()[0])
    print(json.dumps([done.exit_code, f"{done.stderr} {done.exception!r}", most, time.process_time() - started]))
"""


@pytest.mark.slow
def test_bombs_are_not_unpacked(folder: Path, tmp_path: Path) -> None:
    """Files that declare or hold far more than their size: refused within 1 GB and 10 s of one process."""
    spaces = 1 << 30
    with gzip.open(tmp_path / "bomb.csv.gz", "wb", compresslevel=1) as packed:
        packed.write(b"x,y\n")
        for _ in range(spaces >> 24):
            packed.write(b" " * (1 << 24))
    for target, source, name in (
        ("bomb.xlsx", "t.xlsx", "xl/worksheets/sheet1.xml"),
        ("bomb.skops", "m.skops", "schema.json"),
    ):
        with (
            zipfile.ZipFile(folder / source) as old,
            zipfile.ZipFile(tmp_path / target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new,
        ):
            for member in old.namelist():
                with new.open(member, "w") as opened:
                    for _ in range(spaces >> 24 if member == name else 0):
                        opened.write(b" " * (1 << 24))
                    opened.write(old.read(member))
    with zipfile.ZipFile(folder / "t.xlsx") as old, zipfile.ZipFile(tmp_path / "rows.xlsx", "w") as new:
        for member in old.namelist():
            text = old.read(member).decode()
            new.writestr(member, text.replace('<row r="5"', '<row r="999999999"').replace("A1:C21", "A1:XFD1048576"))
    out = str(tmp_path / "out.csv")
    fits = [["fit", str(tmp_path / name), *FIT, "-o", out] for name in ("bomb.csv.gz", "bomb.xlsx", "rows.xlsx")]
    calls = [*fits, ["predict", str(tmp_path / "bomb.skops"), str(folder / "t.csv"), "-o", out]]
    command = [sys.executable, "-W", "ignore", "-c", _LIMITED, json.dumps(calls)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for call, line in zip(calls, done.stdout.splitlines(), strict=True):
        code, said, most, _ = json.loads(line)
        assert code == 2 or "rows.xlsx" in call[1], (call, said)
        assert most < 1 << 20, (call, most)  # kilobytes
    assert "is not opened: unpacked it has more than 100 times its size" in done.stdout


def test_a_parquet_file_that_would_fill_the_memory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_formats, "usable_memory", lambda: 500)
    done = CliRunner().invoke(main, ["fit", str(folder / "t.parquet"), *FIT, "-o", str(folder / "o.skops")])
    assert done.exit_code == 2
    assert "has 20 rows and 3 columns, too many for the memory of this machine" in done.stderr


@pytest.mark.slow
def test_more_columns_than_can_be_understood_in_time(tmp_path: Path) -> None:
    names = [f"g{k}" for k in range(20_000)]
    for path in (tmp_path / "w.csv", tmp_path / "w.parquet"):
        frame = pd.DataFrame(np.zeros((2, len(names)), dtype=np.int8), columns=names).assign(y=["yes", "no"])
        frame.to_csv(path, index=False) if path.suffix == ".csv" else frame.to_parquet(path)
        done = CliRunner().invoke(main, ["fit", str(path), *FIT, "-o", str(tmp_path / "o.skops")])
        assert done.exit_code == 2
        assert "has 20,001 columns, and at most 20,000 are read; leave columns out" in done.stderr


def test_too_little_memory_is_one_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_text(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(table, "read_text", read_text)
    done = CliRunner().invoke(main, ["fit", str(folder / "t.csv"), *FIT, "-o", str(folder / "o.skops")])
    assert done.exit_code == 2
    assert done.stderr == "Error: there is not enough memory for this; use fewer rows or columns\n"
