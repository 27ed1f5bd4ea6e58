"""Reports: the answer comes from rows that no fit has seen; their pages can be read, however large the amounts are."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from browsing import has_browser
from click.testing import CliRunner
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from places import DOCS

from uneven.app.cli.main import main
from uneven.app.files.table import read_table
from uneven.app.files.table_columns import LIKE_AN_ID
from uneven.app.models.model_files import read_model
from uneven.app.report.table_report import make_report
from uneven.costs import money
from uneven.metrics import CostEstimate

TARGET = "did the customer default within twelve months"
POSITIVE = "defaulted on the whole of the loan"
UNIT = "Indonesian rupiah of the year 2026"
#: What a report says of rows of the training table.
KNOWN = "rows of the training table, where the model looks better than it is"


def run(*arguments: object) -> str:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def customers(count: int, seed: int) -> pd.DataFrame:
    """Rows with long names; many columns of noise, so that a model is far better on the rows that it has seen."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(random.normal(size=(count, 30)), columns=[f"column number {k}" for k in range(30)])
    positive = frame["column number 0"] + 1.5 * random.normal(size=count) > 1.5
    frame["customer_reference_number"] = [f"Customer-{seed}-{k:05d}-with-a-rather-long-name" for k in range(count)]
    frame[TARGET] = np.where(positive, POSITIVE, "paid back in time, with all of the interest")
    return frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("reports")
    train, new = customers(300, 1), customers(400, 2)
    train.to_csv(place / "train.csv", index=False)
    new.to_csv(place / "new.csv", index=False)
    pd.concat([train, new]).to_csv(place / "mixed.csv", index=False)
    pd.concat([train, new.iloc[:30]]).to_csv(place / "few.csv", index=False)
    options = ["--target", TARGET, "--positive", POSITIVE, "--unit", UNIT, "--id", "customer_reference_number"]
    options += ["--fp-cost", "31234567", "--fn-cost", "1e9", "--learner", "linear", "--save-anyway"]
    run("fit", place / "train.csv", *options, "-o", place / "model.skops")
    run("fit", place / "train.csv", *options, "--quick", "-o", place / "quick.skops")
    return place


def headline(report: str) -> str:
    return report.splitlines()[0]


@pytest.mark.slow
@pytest.mark.parametrize("table", ["train", "few"])
def test_without_new_rows_the_answer_is_that_of_the_folds(folder: Path, table: str) -> None:
    report = run("report", folder / "model.skops", folder / f"{table}.csv", "--html", folder / "r.html")
    rows = [CostEstimate(**row) for row in read_model(str(folder / "model.skops"))["about"]["comparison"]]
    rule = min((row for row in rows if row.name.startswith("flag ")), key=lambda row: row.cost)
    assert rule.difference is not None
    amount = money(1000 * abs(rule.difference))
    assert amount in headline(report)
    assert ("saves" in headline(report)) == (rule.difference > 0)
    assert "the answer is that of the comparison at the fit" in report.splitlines()[1]
    assert ("the 30 others are too few to judge by" in report) == (table == "few")
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert headline(report) in page
    for text in (report, page):
        honest, _, known = text.partition(f"on the 300 {KNOWN}")
        assert "cross-validated, 5 folds twice, at the fit" in honest
        assert known
        assert amount not in known.partition("Appendix")[0].partition("When it was fitted")[0] or table == "few"


@pytest.mark.slow
def test_with_new_rows_the_answer_is_theirs(folder: Path) -> None:
    alone = run("report", folder / "model.skops", folder / "new.csv")
    mixed = run("report", folder / "model.skops", folder / "mixed.csv", "--html", folder / "r.html")
    assert "training table" not in alone
    assert headline(mixed) == headline(alone)
    words = (
        "300 of 700 rows were in the training table (same values in all columns): the answer is that of the 400 others."
    )
    assert mixed.splitlines()[1] == words
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert headline(alone) in page
    for text in (mixed, page):
        honest, _, known = text.partition(f"on the 300 {KNOWN}")
        assert "on the 400 rows that were not in the training table" in honest
        assert known


@pytest.mark.parametrize(
    ("model", "options", "why"),
    [
        ("quick", [], "it was fitted with --quick, without a comparison"),
        ("model", ["--fn-cost", "5e8"], "the comparison of the fit was at other costs"),
    ],
)
def test_without_anything_honest_nothing_is_promised(folder: Path, model: str, options: list[str], why: str) -> None:
    report = run("report", folder / f"{model}.skops", folder / "train.csv", *options, "--html", folder / "r.html")
    first = headline(report)
    assert first.startswith("WARNING: it is not known what this model saves on new rows.")
    assert why in first
    assert first in (folder / "r.html").read_text(encoding="utf-8")
    assert report.index(KNOWN) < report.index("Cost per 1,000 rows") + 200
    assert report.count("Cost per 1,000 rows") == 1
    for text in (report, (folder / "r.html").read_text(encoding="utf-8")):
        assert "Whether a miss costs half or double" not in text  # rows of the fit cannot tell
        assert "At your costs of a miss" not in text


def test_a_column_that_looks_like_an_id_names_the_rows(folder: Path) -> None:
    content, table = read_model(str(folder / "quick.skops")), read_table(str(folder / "new.csv"))
    skipped = {"customer_reference_number": f"{LIKE_AN_ID} (300 different values)"}
    content = {**content, "about": {**content["about"], "id": None, "skipped": skipped}}
    made = make_report(content, table)
    assert made.used.names[0] == "customer_reference_number"
    assert made.first[0].name.startswith("Customer-2-")
    table.frame["customer_reference_number"] = "the same"
    assert make_report(content, table).used.names is None


def test_the_documentation_does_not_report_on_the_table_of_the_fit() -> None:
    for page in DOCS.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        fitted = set(re.findall(r"^\$ uneven fit (\S+) .*-o (\S+)$", text, flags=re.MULTILINE))
        for model, table in re.findall(r"^\$ uneven report (\S+) (\S+)", text, flags=re.MULTILINE):
            assert (table, model) not in fitted, f"{page.name}: uneven report {model} {table}"


# -- pages ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(folder: Path) -> tuple[Path, list[list[tuple[str, Any]]]]:
    """A page with all of its parts, and where the words of each of its figures are."""
    figures: list[list[tuple[str, Any]]] = []
    save = Figure.savefig

    def saved(figure: Figure, *arguments: Any, **options: Any) -> None:
        save(figure, *arguments, **options)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        renderer = canvas.get_renderer()
        words = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
        drawn = [(text.get_text(), text.get_window_extent(renderer)) for text in words if is_drawn(text, figure)]
        figures.append([("", figure.bbox), *drawn])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", saved)
        run("report", folder / "model.skops", folder / "mixed.csv", "--html", folder / "large.html")
    return folder / "large.html", figures


def is_drawn(text: Text, figure: Figure) -> bool:
    """Not a label of a tick outside the limits of its axis, which Matplotlib keeps but does not draw."""
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        if any(text in (tick.label1, tick.label2) for tick in (*axis.majorTicks, *axis.minorTicks)):
            return any(text in (tick.label1, tick.label2) for tick in axis._update_ticks())
    return True


@pytest.mark.slow
def test_words_of_figures_do_not_overlap(page: tuple[Path, list[list[tuple[str, Any]]]]) -> None:
    _, figures = page
    assert len(figures) == 4
    for (_, whole), *texts in figures:
        assert len(texts) > 5
        for words, box in texts:
            assert whole.x0 - 1 <= box.x0, words
            assert box.x1 <= whole.x1 + 1, words
            assert whole.y0 - 1 <= box.y0, words
            assert box.y1 <= whole.y1 + 1, words
        for (one, first), (other, second) in itertools.combinations(texts, 2):
            assert not first.shrunk(0.95, 0.95).overlaps(second.shrunk(0.95, 0.95)), (one, other)


@pytest.mark.skipif(not has_browser(), reason="needs Debian's chromium, which `make test` installs")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 641, 800, 1280, 1920])
def test_nothing_is_cut_off(page: tuple[Path, Any], browser: Any, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    shown = context.new_page()
    shown.goto(page[0].as_uri())
    wide = shown.evaluate(
        """() => [...document.querySelectorAll("html, body, table, tr, td, th, p, li, img, h1, h2")]
          .filter((e) => e.scrollWidth > Math.max(e.clientWidth, e.getBoundingClientRect().width) + 1
            || e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
          .map((e) => `${e.tagName} ${e.textContent.slice(0, 60)}`)"""
    )
    assert wide == []
    last = shown.locator("td[data-name=misses]").first
    assert last.is_visible()
    context.close()
