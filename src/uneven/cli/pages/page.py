"""How every page looks, and its parts: tables that scroll on a phone, and figures inside the file."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterable, Sequence
from typing import Any


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


def bullets(sentences: Iterable[str]) -> str:
    """A list of sentences."""
    return "<ul>" + "".join(f"<li>{text(sentence)}</li>" for sentence in sentences) + "</ul>"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, strong: str | None = None) -> str:
    """A table, its first column of words and the others of numbers; the row named ``strong`` is emphasised."""
    head = "".join(f"<th>{text(name)}</th>" for name in header)
    body = "".join(
        f"<tr{' class=ours' if row[0] == strong else ''}>{''.join(f'<td>{text(cell)}</td>' for cell in row)}</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def picture(figure: Any, words: str = "") -> str:
    """A figure as an image inside the page; ``words`` describe it to those who cannot see it."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=170)
    data = base64.b64encode(buffer.getvalue()).decode()
    return f'<img src="data:image/png;base64,{data}" alt="{text(words or str(figure.get_label()))}">'


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
body { font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; max-width: 50rem; margin: 0 auto;
  padding: 1.5rem 1rem 3rem; color: var(--ink); background: var(--back); overflow-wrap: break-word; }
h1 { font-size: 1.55rem; line-height: 1.25; margin: .5rem 0 1rem; }
h2 { font-size: 1.15rem; margin: 2.4rem 0 .6rem; }
p { margin: .6rem 0; } ul { padding-left: 1.2rem; } li { margin: .3rem 0; }
.lead { font-size: 1.15rem; } .soft { color: var(--soft); font-size: .92rem; }
.warning { font-size: 1.1rem; color: var(--bad); background: var(--bad-back); padding: .7rem .9rem;
  border-radius: .4rem; }
img { width: 100%; max-width: 38rem; height: auto; display: block; margin: 1rem 0; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th { font-weight: 600; color: var(--soft); vertical-align: bottom; }
td, th { padding: .35rem .5rem; text-align: right; border-bottom: 1px solid var(--line); }
td { white-space: nowrap; }
td:first-child, th:first-child { text-align: left; padding-left: .4rem; white-space: normal; min-width: 6.5rem; }
tr.ours td { background: var(--ours); font-weight: 600; }
pre { background: var(--panel); padding: .8rem; overflow: auto; font-size: .78rem; max-height: 24rem; }
code { overflow-wrap: anywhere; font-size: .9em; }
</style></head><body>
{body}
</body></html>
"""
