"""The tables of docs/study.md are those that the committed results give."""

from __future__ import annotations

import sys

import pytest
from places import DOCS, ROOT


@pytest.mark.slow
def test_the_page_shows_the_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "benchmarks"), *sys.path])
    from decisions_table import all_tables, filled

    page = (DOCS / "study.md").read_text()
    tables = all_tables(ROOT / "benchmarks" / "decisions.jsonl", bayes=False)
    for name, lines in tables.items():
        assert f"<!-- {name} -->" in page
        assert filled(page, name, lines) == page, name
