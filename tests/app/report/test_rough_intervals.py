"""No interval that rests on few mistakes is printed without the word "rough": a law over everything that prints one."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from rich.console import Console

from uneven import figures
from uneven.app.cli import terminal
from uneven.app.explorer import data_fits
from uneven.app.report import page as pages
from uneven.app.report.sentences import Choice, WhatIf, cheapest_in_words, first_line, stability_in_words
from uneven.costs import RowCosts
from uneven.metrics import CostEstimate, compare_predictions, expected_cost, metric_interval
from uneven.metrics.intervals import mistakes_behind

SOURCE = Path(data_fits.__file__).parents[2]
COSTS = {"fp_cost": 1, "fn_cost": 20}
NUMBER = r"-?\d(?:[\d,.]*\d)?(?:e[-+]?\d+)?"


def decisions(of_each: int, misses: int, alarms: int) -> tuple[np.ndarray, np.ndarray]:
    """The truth about rows, and what a model says."""
    truth = np.repeat([1, 0], of_each)
    said = truth.copy()
    said[:misses], said[of_each : of_each + alarms] = 0, 1
    return truth, said


#: Few of everything, so that all intervals are rough; and enough of everything, so that none is.
FEW, MANY = decisions(9, 2, 3), decisions(200, 30, 40)
Sample = tuple[np.ndarray, np.ndarray]


def rows_of(sample: Sample) -> list[CostEstimate]:
    truth, said = sample
    rules = {"flag everyone": np.ones_like(truth), "flag no one": np.zeros_like(truth)}
    return compare_predictions(truth, {"this model": said, **rules}, **COSTS)


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
    return data_fits._in_words(0.05, ours, everyone.cost, no_one.cost)


def texts(sample: Sample, *_: Any) -> str:
    """What an estimate and an interval look like in Python."""
    truth, said = sample
    found = metric_interval(expected_cost, truth, said, draws=20, **COSTS)
    of_scores = metric_interval(lambda y, p: float(np.mean((y - p) ** 2)), truth, said + 0.25, draws=20)
    lines = map(repr, (*rows_of(sample), found, of_scores))
    return "\n".join(f"1 to 2{', rough' if 'rough=True' in line else ''} {line}" for line in lines)


def display(sample: Sample, *_: Any) -> str:
    """The groups of a calibration display; those whose interval is rough are hollow, and the legend says so."""
    truth, said = sample
    shown = figures.CalibrationNearAlphaDisplay.from_predictions(truth, np.where(said, 0.06, 0.04), **COSTS)
    legend = " ".join(text.get_text() for text in shown.ax_.get_legend().get_texts())
    plt.close(shown.figure_)
    assert ("rough interval" in legend) == bool(shown.bins.rough.any())
    return "\n".join(f"1 to 2{', rough' if rough else ''}" for rough in shown.bins.rough)


OUTPUTS: tuple[Callable[..., str], ...] = (printed, sentences, page, page_figure, explorer, texts, display)


@pytest.mark.parametrize("output", OUTPUTS, ids=lambda output: output.__name__)
def test_few_mistakes_are_rough_wherever_they_are_printed(
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
    truth, said = FEW
    rules = {"plain logistic regression": 1 - said, "flag no one": np.zeros_like(truth)}
    large = compare_predictions(truth, {"this model": said, **rules}, fp_cost=1e5, fn_cost=2e6)
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


def test_which_mistakes_count() -> None:
    truth, said = decisions(50, 4, 30)
    is_positive, decided = truth == 1, said[None] == 1

    def behind(fp_cost: float, fn_cost: float, *more: np.ndarray) -> float:
        return mistakes_behind(RowCosts.read(100, fp_cost=fp_cost, fn_cost=fn_cost), is_positive, decided, *more)

    assert behind(1, 20) == 4
    assert behind(20, 1) == 30
    assert behind(1, 1) == 34
    everyone = np.ones((1, 100), dtype=bool)
    assert behind(1, 20, everyone) == 4  # everyone is found there, so only our misses make the difference
    assert behind(1, 20, ~everyone) == 46
    assert behind(1, 20, decided) == 0
    twice = np.concatenate([decided, everyone])
    assert mistakes_behind(RowCosts.read(100, fp_cost=1, fn_cost=20), is_positive, twice) == 2
