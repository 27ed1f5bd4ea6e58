"""The README's table of money is that of the committed results, and those are what its picture shows."""

import json
import re

from places import ROOT

NAMES = {"this model": "`UnevenEnsembleClassifier`", "flag everyone": "call everyone", "flag no one": "call no one"}


def results():
    return json.loads((ROOT / "benchmarks" / "whom_to_call.json").read_text(encoding="utf-8"))


def test_the_table_of_the_readme_holds_the_committed_results():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for row in results()["costs"]:
        cost, low, high = (f"{1000 * row[name]:,.0f}" for name in ("cost", "low", "high"))
        assert f"| {NAMES.get(row['name'], row['name'])} | {cost} | {low} to {high} |" in readme


def test_the_readme_names_every_rule_once_and_nothing_is_promised():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = readme.partition("On the example table")[2].partition("On 44 real tables")[0]
    assert len(re.findall(r"^\| .* \| [\d,]+ \| ", table, re.MULTILINE)) == len(results()["costs"])
    assert "the cheapest classifier" not in readme
    assert "cheapest of those compared" in readme


def test_the_first_screen_has_sentence_picture_commands_and_lines_that_run():
    first = (ROOT / "README.md").read_text(encoding="utf-8").partition("## What it saves")[0]
    assert all(part in first for part in ("![", "pip install", "make demo", ">>> uneven.report("))
    assert len(first.splitlines()) < 60
