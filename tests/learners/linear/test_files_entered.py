"""How many source files a reader has to open to follow a fit."""

from __future__ import annotations

from files_entered import entered_by_linear_fit

#: Files that a warm linear fit may enter; when there are fewer, lower it.
MOST = 28


def test_a_warm_linear_fit_enters_few_files() -> None:
    files = entered_by_linear_fit()
    assert "learners/linear.py" in files
    assert len(files) <= MOST, files
