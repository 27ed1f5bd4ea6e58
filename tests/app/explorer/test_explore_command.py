"""``uneven explore``: what it prints, how it ends, and what it says if it cannot begin."""

from __future__ import annotations

import gzip
import os
import signal
import socket
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from browsing import PATIENCE, running_explorer
from click.testing import CliRunner

from uneven.app.cli.main import main
from uneven.app.explorer import server

STATIC = Path(server.__file__).parent / "static"


def run(*arguments: str) -> Any:
    return CliRunner().invoke(main, ["explore", "--no-browser", *arguments])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent otherwise there")
def test_ctrl_c_ends_it_with_all_its_processes() -> None:
    with running_explorer() as (process, address):
        with urllib.request.urlopen(address, timeout=PATIENCE / 1000) as page:
            assert b"uneven" in page.read()
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        below = children.read_text().split() if children.exists() else []
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        said = process.stderr.read()
        assert process.wait(timeout=PATIENCE / 1000) == 0
    assert said == "Stopped.\n"
    for child in below:
        assert not Path(f"/proc/{child}").exists() or os.stat(f"/proc/{child}").st_uid != os.getuid()


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("uvicorn", "starlette"):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, package, None)
            for name in [name for name in sys.modules if name.startswith(f"{package}.")]:
                patch.setitem(sys.modules, name, None)
            patch.delitem(sys.modules, "uneven.app.explorer.service", raising=False)
            found = run()
        assert found.exit_code == 2
        assert "pip install 'uneven[explorer]'" in found.output
        assert found.output.count("\n") == 1


def test_a_port_that_is_taken() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        found = run("--port", str(port))
        assert found.exit_code == 2
        assert f"port {port}" in found.output
        assert "--port gives another" in found.output
    bad = run("--host", "no such host.invalid")
    assert bad.exit_code == 2
    assert "no address" in bad.output


def test_the_usual_port_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        monkeypatch.setattr(server, "USUAL_PORT", taken.getsockname()[1])
        with server._listener("127.0.0.1", None) as free:
            assert free.getsockname()[1] not in (0, server.USUAL_PORT)


def test_others_are_let_in_only_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr(server, "serve", lambda host, port, *, browser, say, given: asked.append((host, port, browser)))
    assert run().output == ""
    warned = CliRunner().invoke(main, ["explore", "--host", "0.0.0.0", "--port", "9999"]).output
    assert warned.startswith("Warning: at 0.0.0.0 everyone who can reach this machine")
    assert asked == [("127.0.0.1", None, False), ("0.0.0.0", 9999, True)]


def test_a_table_is_read_before_the_page_opens(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tables: list[Any] = []
    monkeypatch.setattr(server, "serve", lambda *_, given, **__: tables.append(given))
    file = tmp_path / "rows.csv.gz"
    file.write_bytes(gzip.compress(b"amount,fraud\n1,no\n2,yes\n"))
    found = run(str(file), "--target", "fraud", "--positive", "yes", "--fp-cost", "5", "--fn-cost", "amount*0.9")
    assert found.exit_code == 0, found.output
    (table,) = tables
    assert (table.name, table.content) == ("rows.csv", b"amount,fraud\n1,no\n2,yes\n")
    assert table.question == {"target": "fraud", "positive": "yes", "fp": "5", "fn": "amount*0.9"}


def test_a_table_of_costs_is_that_of_the_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In the spelling of the data, with the classes in the order of the file, and numbers as they are."""
    tables: list[Any] = []
    monkeypatch.setattr(server, "serve", lambda *_, given, **__: tables.append(given))
    file, costs = tmp_path / "rows.csv", tmp_path / "costs.csv"
    file.write_text("a,b\n1,x\n2,y\n3,z\n")
    costs.write_text("true;X;y;refer\nz;1;2;1/3\nX;0;1;0,1\ny;1;0;-2\n")
    found = run(str(file), "--target", "b", "--costs", str(costs), "--unit", "EUR")
    assert found.exit_code == 0, found.output
    cells = [["1", "2", "1/3"], ["0", "1", "0.1"], ["1", "0", "-2"]]
    wanted = {"classes": ["z", "x", "y"], "actions": ["x", "y", "refer"], "cells": cells}
    assert tables[0].question == {"target": "b", "unit": "EUR", "costs": wanted}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "b"], "give its file too"),
        (["--fp-cost", "1"], "--fp-cost is about a table"),
        (["{folder}/none.csv"], "none.csv"),
        (["{folder}/t.parquet"], "also reads Parquet"),
        (["{file}", "--target", "c"], "no column 'c'"),
        (["{file}", "--positive", "x"], "--positive is a value of --target"),
        (["{file}", "--target", "b", "--positive", "z"], "no row of column"),
        (["{file}", "--fn-cost", "amuont"], "no column 'amuont'"),
        (["{file}", "--fp-cost", "-1"], "--fp-cost must be positive"),
        (["{file}", "--target", "b", "--fn-cost", "b"], "needs the target"),
        (["{file}", "--sheet", "x"], "--sheet is for Excel workbooks"),
        (["{file}", "--host", "0.0.0.0"], "others could read the table"),
        (["--costs", "{costs}"], "--costs is about a table"),
        (["{file}", "--costs", "{costs}"], "--costs is about the classes of --target"),
        (["{file}", "--target", "b", "--costs", "{costs}", "--positive", "x"], "--positive for two; leave one"),
        (["{file}", "--target", "b", "--costs", "{costs}", "--fn-cost", "3"], "--fn-cost for two; leave one"),
        (["{file}", "--target", "b", "--costs", "{costs}"], "column 'b' has only 2 of the classes"),
        (["{file}", "--target", "a", "--costs", "{costs}"], "has no row for it"),
        (["{file}", "--target", "b", "--costs", "{folder}/none.csv"], "none.csv"),
        (["{many}", "--target", "b", "--costs", "{elf}"], "--costs has 11 classes, and the explorer has room for 10"),
    ],
)
def test_what_makes_no_sense_is_said_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str], words: str
) -> None:
    monkeypatch.setattr(server, "serve", lambda *_, **__: pytest.fail("the page was opened"))
    file = tmp_path / "rows.csv"
    file.write_text("a,b\n1,x\n2,y\n")
    (tmp_path / "t.parquet").write_bytes(b"PAR1....PAR1")
    costs, many, elf = (tmp_path / name for name in ("costs.csv", "many.csv", "elf.csv"))
    costs.write_text("true,x,y,z\nx,0,1,2\ny,1,0,2\nz,1,2,0\n")
    many.write_text("\n".join(["a,b", *(f"{k},c{k % 11}" for k in range(33))]))
    elf.write_text("\n".join(["true,stay,go", *(f"c{k},{k},5" for k in range(11))]))
    places = {"file": file, "folder": tmp_path, "costs": costs, "many": many, "elf": elf}
    found = run(*(one.format(**places) for one in arguments))
    assert found.exit_code == 2
    assert words in found.output
    assert found.output.count("\n") == 1


def test_the_page_is_part_of_the_package() -> None:
    """The wheel holds whatever lies in the folder of the package; nothing of the page lies elsewhere."""
    names = {file.name for file in STATIC.iterdir()}
    assert {"index.html", "style.css", "main.js", "losses.js", "data.js"} <= names


def test_answers_are_sent_at_once() -> None:
    """asyncio switches off the delay of small packets only for sockets that name TCP; an answer would wait 40 ms."""
    with server._listener("127.0.0.1", None) as listener:
        assert listener.proto == socket.IPPROTO_TCP
