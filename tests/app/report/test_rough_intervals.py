"""No interval that one dear row decides is printed without the word "rough": a law over everything that prints one."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from uneven.app.cli import terminal
from uneven.app.explorer import data_fits
from uneven.app.report import page as pages
from uneven.app.report.sentences import Choice, WhatIf, cheapest_in_words, first_line, stability_in_words
from uneven.metrics import CostEstimate, compare_predictions, expected_cost, metric_interval

SOURCE = Path(data_fits.__file__).parents[2]
NUMBER = r"-?\d(?:[\d,.]*\d)?(?:e[-+]?\d+)?"


@dataclass(frozen=True)
class Sample:
    """The truth about rows, what a model says, and what a miss costs."""

    truth: np.ndarray
    said: np.ndarray
    fn_cost: Any

    @property
    def costs(self) -> dict[str, Any]:
        return {"fp_cost": np.where(self.truth == 1, 1.0, self.fn_cost / 20), "fn_cost": self.fn_cost}


def decisions(of_each: int, misses: int, alarms: int, dearest: float) -> Sample:
    """Amounts are near 20, but for the dearest of each class."""
    truth = np.repeat([1, 0], of_each)
    said = truth.copy()
    said[:misses], said[of_each : of_each + alarms] = 0, 1
    amounts = 20 + np.arange(2 * of_each) % 7
    amounts[[of_each - 1, 2 * of_each - 1]] = dearest
    return Sample(truth, said, amounts)


#: One row of each class that dwarfs the others, so that all intervals are rough; and none, so that none is.
FEW, MANY = decisions(50, 9, 12, 1e5), decisions(50, 9, 12, 27)


def rows_of(sample: Sample) -> list[CostEstimate]:
    rules = {"flag everyone": np.ones_like(sample.truth), "flag no one": np.zeros_like(sample.truth)}
    return compare_predictions(sample.truth, {"this model": sample.said, **rules}, **sample.costs)


def what_ifs_of(sample: Sample) -> list[WhatIf]:
    return [WhatIf(label, "20 : 1", False, rows_of(sample)) for label in ("half", "as given", "double")]


def printed(sample: Sample, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]) -> str:
    """Tables of the command, through a pipe."""
    terminal.print_choice(Choice(rows_of(sample), free=True), what_ifs_of(sample), "cross-validated")
    return capture.readouterr().out


def sentences(sample: Sample, *_: Any) -> str:
    """Sentences of the command, for a model that is cheaper and for one that is dearer."""
    rows = rows_of(sample)
    first, *others = rows
    turned = [CostEstimate(**{**row.to_dict(), "difference": -(row.difference or 0)}) for row in others]
    found = [first_line(rows, "EUR"), first_line([first, *turned], "EUR"), cheapest_in_words(rows)]
    found.append(stability_in_words(what_ifs_of(sample)))
    for free in (True, False):
        for ours in (rows, [CostEstimate(**{**first.to_dict(), "cost": 9.0}), *others]):
            models = [CostEstimate(**{**row.to_dict(), "name": f"model {k}"}) for k, row in enumerate(others)]
            choice = Choice([*ours, *models], free)
            found += [choice.in_words(), choice.warning()]
    return "\n".join(found)


def page(sample: Sample, *_: Any) -> str:
    """Tables of a page, without tags."""
    html = pages.cost_table(rows_of(sample), "EUR") + pages.what_if_table(what_ifs_of(sample), "EUR")
    return re.sub(r"<[^>]*>", "", html.replace("</td>", "\n"))


def page_figure(sample: Sample, patch: pytest.MonkeyPatch, *_: Any) -> str:
    """The words in the figure of a page; an interval is a line there, and its word stands beside the cost."""
    patch.setattr(pages, "picture", lambda figure, *_: "\n".join(text.get_text() for text in figure.axes[0].texts))
    return re.sub(rf"^({NUMBER})", r"\1 to \1", pages.cost_figure(rows_of(sample), "EUR"), flags=re.MULTILINE)


def explorer(sample: Sample, *_: Any) -> str:
    """The sentence on top of the explorer."""
    ours, everyone, no_one = rows_of(sample)
    return data_fits._in_words(0.05, ours, everyone.cost, no_one.cost, "EUR")


def texts(sample: Sample, *_: Any) -> str:
    """What an estimate and an interval look like in Python."""
    found = metric_interval(expected_cost, sample.truth, sample.said, **sample.costs)
    lines = map(repr, (*rows_of(sample), found))
    return "\n".join(f"1 to 2{', rough' if 'rough=True' in line else ''} {line}" for line in lines)


OUTPUTS: tuple[Callable[..., str], ...] = (printed, sentences, page, page_figure, explorer, texts)


@pytest.mark.parametrize("output", OUTPUTS, ids=lambda output: output.__name__)
def test_one_row_that_dwarfs_the_others_is_told_wherever_intervals_are_printed(
    output: Callable[..., str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for sample, rough in ((FEW, True), (MANY, False)):
        shown = output(sample, monkeypatch, capsys)
        found = re.findall(rf"{NUMBER} to {NUMBER}(, rough)?", shown)
        assert found, shown
        assert all(bool(word) == rough for word in found), shown


def test_a_narrow_terminal_does_not_cut_the_word_off(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(terminal, "console", lambda: Console(width=80, markup=False, highlight=False))
    rules = {"plain logistic regression": 1 - FEW.said, "flag no one": np.zeros_like(FEW.truth)}
    costs = {name: 10 * cost for name, cost in FEW.costs.items()}
    large = compare_predictions(FEW.truth, {"this model": FEW.said, **rules}, **costs)
    terminal.print_costs(large, "here")
    shown = capsys.readouterr().out
    assert "…" not in shown
    assert shown.count("rough") == 2  # one for each difference; the note below is capitalised


def test_every_text_of_an_interval_is_made_in_one_place() -> None:
    """So that a new one cannot forget the word; the pages of the explorer get the sentence from the server."""
    for path in SOURCE.rglob("*.py"):
        for line in path.read_text(encoding="utf-8").splitlines():
            example = line.lstrip().startswith((">>>", "..."))
            assert example or not re.search(r"\{[^{}]*\.(difference_)?(low|high)\b[^{}]*\} to \{", line), path.name
    for path in SOURCE.rglob("*.js"):
        assert "interval" not in path.read_text(encoding="utf-8"), path.name
