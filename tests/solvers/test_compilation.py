"""The first time on a machine loops are compiled, which takes seconds: that is said, once."""

from __future__ import annotations

import pytest
from numba.core import event

from uneven.solvers.loops import compile_options, kernel_loops


class _Foreign:
    __module__ = "someone.elses"


def compilation(dispatcher: object) -> None:
    with event.trigger_event("numba:compile", data={"dispatcher": dispatcher}):
        pass


def test_a_long_compilation_is_said_once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    ours = next(one for one in vars(kernel_loops).values() if hasattr(one, "py_func"))
    monkeypatch.setattr(compile_options.announcement, "said", False)
    monkeypatch.setattr(compile_options.announcement, "spent", 0.0)
    compilation(ours)
    assert capsys.readouterr().err == ""  # so far nobody waited
    monkeypatch.setattr(compile_options.announcement, "spent", compile_options.announcement.SHORT)
    compilation(_Foreign())
    assert capsys.readouterr().err == ""
    compilation(ours)
    said = capsys.readouterr().err
    assert said.startswith("[uneven] compiling loops for this machine")
    assert len(said.splitlines()) == 1
    compilation(ours)
    assert capsys.readouterr().err == ""
