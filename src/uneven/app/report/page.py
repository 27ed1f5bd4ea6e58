"""How every page looks, and its parts: tables that become lists on a phone, and figures inside the file."""

from __future__ import annotations

import base64
import html
import io
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from uneven.app.models.written_costs import costs_by_name
from uneven.app.report.sentences import (
    PER,
    WhatIf,
    better_constant,
    cost_interval_in_words,
    difference_in_words,
    is_ensemble,
    knows_classes,
    members_of,
    mistake_cells,
    mistake_names,
    per_thousand,
    rough_in_words,
)
from uneven.costs import RowCosts, money
from uneven.metrics import CostEstimate

#: Inches: small, so that the words of a figure can be read on a phone.
_WIDTH = 4.9


def page(title: str, *parts: str) -> str:
    """A whole page; the parts are HTML."""
    return _PAGE.replace("{title}", text(title)).replace("{body}", "\n".join(part for part in parts if part))


def text(words: str) -> str:
    """Words as HTML."""
    return html.escape(words)


def paragraph(words: str, kind: str = "") -> str:
    """A paragraph of plain words; ``kind`` is a class of the style, such as "lead" or "warning"."""
    return f'<p class="{kind}">{text(words)}</p>' if kind else f"<p>{text(words)}</p>"


def heading(words: str) -> str:
    """The heading of a section."""
    return f"<h2>{text(words)}</h2>"


def section(title: str, *parts: str) -> str:
    """A heading and what stands below it, kept together; nothing without parts."""
    body = "".join(part for part in parts if part)
    return f"<section>{heading(title)}{body}</section>" if body else ""


def label_per_thousand(display: Any, what: str = "expected cost") -> None:
    """Say at the axis of money that a figure shows 1,000 rows, as the tables do; its costs must be such."""
    from uneven.figures.style import money_axis

    money_axis(display.ax_.yaxis, f"{what} per 1,000 rows", display.unit)


def title_per_thousand(display: Any) -> None:
    """Give a figure of outcomes a title with all costs, and those of 1,000 rows."""
    total = float(display.costs.sum())
    each = per_thousand(total / float(display.counts.sum()), display.unit)
    display.ax_.set_title(textwrap.fill(f"total cost {money(total, display.unit)}, {each} per 1,000 rows", 48))


def grid(*sections: str, kind: str = "") -> str:
    """Sections side by side where there is room; ``kind`` is a class of the style, such as "compared"."""
    return f'<div class="{f"grid {kind}".strip()}">{"".join(sections)}</div>' if any(sections) else ""


def stack(*parts: str) -> str:
    """Parts below each other, as one cell of a grid."""
    return f"<div>{''.join(parts)}</div>" if any(parts) else ""


def appendix(title: str, *parts: str) -> str:
    """What only some readers want: folded, and not printed unless it is open."""
    return f"<details><summary>{text(title)}</summary>{''.join(parts)}</details>"


def bars(rows: Iterable[tuple[str, str, float]]) -> str:
    """For each row a name, a bar of so much of the width, and an amount in words."""
    shown = "".join(
        f'<div class="name">{text(name)}</div><div class="bar"><i style="width:{100 * max(0.0, share):.1f}%"></i></div>'
        f'<div class="amount">{text(amount)}</div>'
        for name, amount, share in rows
    )
    return f'<div class="bars">{shown}</div>'


def bullets(sentences: Iterable[str]) -> str:
    """A list of sentences."""
    return "<ul>" + "".join(f"<li>{text(sentence)}</li>" for sentence in sentences) + "</ul>"


def table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, strong: str | None = None, words: Sequence[int] = (0,)
) -> str:
    """A table; columns not in ``words`` hold numbers. The row whose first cell is ``strong`` is emphasised.

    What stands in parentheses gets a line of its own in a cell of numbers. On a phone each row is a list of its cells,
    with the names of their columns, so that nothing is cut off however long the numbers are.
    """
    kinds = [' class="words"' if k in words else "" for k in range(len(header))]
    head = "".join(f"<th{kind}>{text(name)}</th>" for kind, name in zip(kinds, header, strict=True))
    body = ""
    for row in rows:
        cells = "".join(
            f'<td{kind} data-name="{text(name)}">{_words(cell) if kind else _numbers(cell)}</td>'
            for kind, name, cell in zip(kinds, header, row, strict=True)
        )
        body += f'<tr class="ours">{cells}</tr>' if row[0] == strong else f"<tr>{cells}</tr>"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _words(cell: str) -> str:
    """A cell of words; a ratio such as 20 : 1 is not broken into lines."""
    return text(cell).replace(" : ", "&nbsp;:&nbsp;")


def _numbers(cell: str) -> str:
    """A cell of numbers; the interval in parentheses is in a line of its own, broken only before "to" if at all."""
    number, _, rest = cell.partition(" (")
    if not cell:
        return ""
    if not rest.endswith(")"):
        return f"<span>{text(cell)}</span>"
    ends = " to ".join(f"<span>{text(end)}</span>" for end in rest[:-1].split(" to "))
    return f"<span>{text(number)}</span> <small>{ends}</small>"


def picture(figure: Any, words: str = "", *, narrow: bool = False, wide: bool = False) -> str:
    """A figure as an image inside the page; ``words`` describe it to those who cannot see it.

    A wide one keeps its size, for as much of the page as it needs.
    """
    width, height = figure.get_size_inches()
    if not wide:
        figure.set_size_inches(_WIDTH, max(height * _WIDTH / width, min(height, 0.8 * _WIDTH)))
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=170)
    data = base64.b64encode(buffer.getvalue()).decode()
    kind = ' class="narrow"' if narrow else f' style="max-width:{7.2 * width:.0f}rem"' if wide else ""
    shown = f'<img{kind} src="data:image/png;base64,{data}" alt="{text(words or str(figure.get_label()))}">'
    return f'<div class="scroll">{shown}</div>' if wide else shown


@contextmanager
def figure_of(display: Any) -> Iterator[Any]:
    """The figure of a display; closed afterwards."""
    import matplotlib.pyplot as plt

    try:
        yield display.figure_
    finally:
        plt.close(display.figure_)


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
:root { --ink: #1d2329; --soft: #5a6570; --line: #dde1e5; --back: #ffffff; --panel: #f5f6f8; --ours: #eef4fb;
  --bad: #a33000; --bad-back: #fdf1ea; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e7ea; --soft: #a3adb6; --line: #353c44; --back: #14181c; --panel: #1e242a; --ours: #1c2a3a;
    --bad: #ffb48f; --bad-back: #37211a; }
  img { filter: invert(.92) hue-rotate(180deg); }
}
* { box-sizing: border-box; }
body { font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; max-width: 74rem; margin: 0 auto;
  padding: 1.5rem 1rem 3rem; color: var(--ink); background: var(--back); overflow-wrap: break-word; }
h1 { font-size: 1.55rem; line-height: 1.25; margin: .5rem 0 1rem; }
h2 { font-size: 1.15rem; margin: 2.4rem 0 .6rem; }
p, ul, h1 { max-width: 50rem; } p { margin: .6rem 0; } ul { padding-left: 1.2rem; } li { margin: .3rem 0; }
.lead { font-size: 1.15rem; } .soft { color: var(--soft); font-size: .92rem; }
.note { border-left: .25rem solid var(--soft); padding: .1rem .8rem; }
.grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 28rem), 1fr)); gap: 0 2.5rem; }
section, .grid > div { min-width: 0; }
.grid.compared { grid-template-columns: minmax(0, 1fr); }
.bars { display: grid; grid-template-columns: minmax(4rem, max-content) minmax(3rem, 1fr) max-content;
  gap: .3rem .8rem; align-items: center; font-size: .9rem; max-width: 38rem; margin: 1rem 0; }
.bars .name { overflow-wrap: anywhere; max-width: 14rem; }
.bars .amount { font-variant-numeric: tabular-nums; text-align: right; }
.bars .bar i { display: block; height: .85rem; background: #3b75af; border-radius: .15rem; }
details { margin: 2.4rem 0; } summary { cursor: pointer; font-weight: 600; }
.warning { font-size: 1.1rem; color: var(--bad); background: var(--bad-back); padding: .7rem .9rem;
  border-radius: .4rem; }
img { width: 100%; max-width: 38rem; height: auto; display: block; margin: 1rem 0; }
img.narrow { max-width: 27rem; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; margin: 1rem 0; }
th { font-weight: 600; color: var(--soft); vertical-align: bottom; }
td, th { padding: .35rem .5rem; text-align: right; border-bottom: 1px solid var(--line); }
td span { white-space: nowrap; } td small { display: block; font-size: .92em; color: var(--soft); }
td.words, th.words { text-align: left; min-width: 6.6rem; overflow-wrap: anywhere; }
tr.ours td { background: var(--ours); font-weight: 600; }
@media (max-width: 640px) {
  table, tbody, tr { display: block; } thead { display: none; }
  tr { border-bottom: 1px solid var(--line); padding: .45rem .3rem; } tr.ours { background: var(--ours); }
  td, td.words { display: grid; grid-template-columns: minmax(7rem, 1fr) auto; gap: 0 1rem; text-align: right;
    border: 0; padding: .12rem 0; }
  td.words { grid-template-columns: minmax(7rem, 1fr) minmax(0, 1fr); } td small { grid-column: 1 / -1; }
  td::before { content: attr(data-name); color: var(--soft); font-weight: 400; text-align: left;
    overflow-wrap: anywhere; }
  td:first-child { font-weight: 600; } td:empty { display: none; }
  .scroll { overflow-x: auto; }
  .scroll::before { content: "The picture is wider than the screen: move it sideways \\2192"; position: sticky; left: 0;
    display: inline-block; color: var(--soft); font-size: .92rem; }
  .scroll img { width: 40rem; max-width: none !important; }
  td[data-name=""] { display: block; text-align: left; } td[data-name=""]::before { display: none; }
}
@media print {
  @page { size: A4; margin: 11mm; }
  html { font-size: 8pt; } /* all other sizes are in rem */
  body { font-size: 8pt; line-height: 1.35; max-width: none; padding: 0; }
  h1 { font-size: 14pt; margin: 0 0 4pt; } h2 { font-size: 10pt; margin: 8pt 0 3pt; break-after: avoid; }
  p { margin: 2pt 0; max-width: none; } .lead { font-size: 10pt; } table { font-size: 7pt; margin: 3pt 0; }
  td, th { padding: 1pt 4pt; } li { margin: 1pt 0; }
  .grid { grid-template-columns: 1fr 1fr; gap: 0 6mm; } section, table, img, tr, li { break-inside: avoid; }
  .grid.compared { grid-template-columns: 2fr 3fr; }
  img, img.narrow { max-width: 100%; max-height: 48mm; width: auto; margin: 3pt 0; } .scroll img { max-height: 85mm; }
  .bars { font-size: 7.5pt; gap: 1pt 5pt; margin: 3pt 0; }
  .bars .bar i { height: 7pt; print-color-adjust: exact; } tr.ours td { print-color-adjust: exact; }
  details:not([open]), .scroll::before { display: none; }
}
pre { background: var(--panel); padding: .8rem; overflow: auto; font-size: .78rem; max-height: 24rem; }
code { overflow-wrap: anywhere; font-size: .9em; }
</style></head><body>
{body}
</body></html>
"""


# -- costs of classifiers ----------------------------------------------------------------------------------------------


def cost_figure(rows: list[CostEstimate], unit: str | None) -> str:
    """The costs per 1,000 rows with their intervals; much dearer rules are in the table only."""
    from uneven import figures
    from uneven.figures.style import without_caption

    near = 1.6 * max(rows[0].high, better_constant(rows).cost)
    shown = [(row.name, 1000 * row.cost, 1000 * row.low, 1000 * row.high) for row in rows if row.cost <= near]
    rough = {row.name for row in rows if row.rough}
    label = "expected cost per 1,000 rows"
    figure = figures.costs_compared(shown, highlight=rows[0].name, label=label, unit=unit, rough=rough)
    return picture(without_caption(figure), "Costs of the models, with intervals")


def cost_cells(rows: list[CostEstimate], unit: str | None) -> tuple[list[str], list[list[str]]]:
    """Header and cells of a table of what each classifier costs per 1,000 rows; ours is the first."""
    header = ["", f"cost{f' ({unit})' if unit else ''}", f"more than {rows[0].name}", *mistake_names(rows)]
    cells = [
        [
            row.name,
            f"{per_thousand(row.cost)} ({cost_interval_in_words(row)})",
            difference_in_words(row),
            *mistake_cells(row),
        ]
        for row in rows
    ]
    return header, cells


def cost_table(rows: list[CostEstimate], unit: str | None) -> str:
    """What each classifier costs per 1,000 rows; ours is the first."""
    header, cells = cost_cells(rows, unit)
    rough = rough_in_words(rows)
    return table(header, cells, strong=rows[0].name) + (paragraph(rough, "soft") if rough else "")


def what_if_table(what_ifs: list[WhatIf], unit: str | None) -> str:
    """Which classifier is the cheapest if a miss costs half or double, and what ours saves."""
    in_unit = f" ({unit})" if unit else ""
    header = ["a miss costs", "cheapest", f"this model costs{in_unit}", "it saves", "against"]
    cells = []
    for what in what_ifs:
        rule = better_constant(what.rows)
        cells.append([*what.cells, difference_in_words(rule), rule.name])
    return table(header, cells, words=(0, 1, 4))


def confusion_figure(
    is_positive: np.ndarray, said_positive: np.ndarray, words: tuple[str, str], costs: RowCosts, unit: str | None
) -> str:
    """The four outcomes; ``words`` name a negative and a positive row."""
    from uneven.figures import CostConfusionDisplay

    names = np.array(words)
    truth, said = names[is_positive.astype(int)], names[said_positive.astype(int)]
    display = CostConfusionDisplay.from_predictions(truth, said, pos_label=words[1], unit=unit, **costs_by_name(costs))
    with figure_of(display) as figure:
        title_per_thousand(display)
        return picture(figure, "The four outcomes: how many rows, and what they cost", narrow=True)


# -- what an ensemble is made of ---------------------------------------------------------------------------------------


def ensemble_parts(classifier: Any, unit: str | None) -> list[str]:
    """Members with weights and costs, and the shift of the threshold; nothing for other classifiers."""
    if not is_ensemble(classifier):
        return []
    header = ["member", "weight", f"alone it costs{f' ({unit})' if unit else ''}"]
    cells = [[member.name, f"{member.weight:.2f}", per_thousand(member.cost)] for member in members_of(classifier)]
    return [
        table(header, cells),
        paragraph("Costs per 1,000 rows, out of fold: of models that did not learn from the row.", "soft"),
        "" if knows_classes(classifier) else _shift_figure(classifier, unit),
    ]


def _shift_figure(classifier: Any, unit: str | None) -> str:
    from uneven.figures import ThresholdShiftDisplay

    curve = classifier.curve_
    curve = replace(curve, cost=PER * curve.cost, window_cost=PER * curve.window_cost)
    display = ThresholdShiftDisplay(curve, unit=unit).plot()
    with figure_of(display) as figure:
        label_per_thousand(display, "out-of-fold cost")
        return picture(figure, "Cost at every shift of the log-odds, and how well each shift is supported") + paragraph(
            "The cost of out-of-fold decisions if the log-odds of the average were shifted by as much. The shift in "
            "use is the mean of the posterior, which a smooth loss near the threshold makes.",
            "soft",
        )
