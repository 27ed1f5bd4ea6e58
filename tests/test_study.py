"""The tables of docs/study.md and docs/study-classes.md are those that the committed results give."""

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


@pytest.mark.slow
def test_the_page_of_several_classes_shows_the_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "benchmarks"), *sys.path])
    from classes_tables import all_tables
    from decisions_table import filled

    page = (DOCS / "study-classes.md").read_text()
    for name, lines in all_tables(ROOT / "benchmarks" / "classes_study.jsonl").items():
        assert f"<!-- {name} -->" in page
        assert filled(page, name, lines) == page, name
