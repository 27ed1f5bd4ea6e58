"""The report of the demo: one HTML file that loads nothing from elsewhere."""

from __future__ import annotations

import base64
import html
import io
import json
from typing import Any

from uneven.cli._cost_table import cheapest_in_words
from uneven.cli._fitted import fitted_learner


def _picture(figure: Any) -> str:
    """A figure as an image inside the page."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=150)
    data = base64.b64encode(buffer.getvalue()).decode()
    return f'<img src="data:image/png;base64,{data}" alt="{html.escape(str(figure.get_label()))}">'


def report_page(rows: list[Any], model: Any, certificate: Any, best: str, bound: float) -> str:
    """The report as HTML; ``bound`` is the guaranteed cost regret at a surrogate regret of 0.01."""
    from uneven import figures

    fitted = fitted_learner(model)
    analysis, loss = fitted.analysis_, fitted.loss_
    near = 4 * rows[0].cost  # much dearer rules are in the table only: they would squeeze the others together
    order = [(row.name, row.cost, row.low, row.high) for row in rows if row.cost <= near]
    cells = "".join(
        f"<tr><td>{html.escape(row.name)}</td><td>{row.cost:.4g}</td><td>{row.low:.4g} to {row.high:.4g}</td>"
        f"<td>{row.false_positives:g}</td><td>{row.false_negatives:g}</td></tr>"
        for row in rows
    )
    return _PAGE.format(
        cheapest=html.escape(cheapest_in_words(rows)),
        costs=_picture(figures.costs_compared(order, highlight=rows[0].name)),
        cells=cells,
        best=html.escape(best),
        path=_picture(model[-1].plot().figure),
        loss=html.escape(repr(loss)),
        verdict=html.escape(str(analysis.verdict)),
        implied=html.escape(analysis.implied_alpha.in_words()),
        bound=f"{bound:.3g}",
        psi=_picture(figures.psi_enclosed(loss)),
        partial=_picture(figures.partial_losses((loss.phi,), gammas=tuple(dict.fromkeys((1.0, loss.gamma))))),
        statement=html.escape(certificate.statement),
        certificate=html.escape(json.dumps(certificate.document, indent=1)),
    )


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>uneven: report</title>
<style>
body {{ font: 16px/1.55 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; color: #222; }}
h1 {{ font-size: 1.6rem; }} h2 {{ font-size: 1.2rem; margin-top: 2.2rem; }}
img {{ max-width: 100%; height: auto; display: block; margin: 1rem 0; }}
.scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: .92rem; min-width: 34rem; }}
td, th {{ padding: .3rem .8rem .3rem 0; text-align: right; border-bottom: 1px solid #ddd; }}
td:first-child, th:first-child {{ text-align: left; }}
pre {{ background: #f6f6f6; padding: .8rem; overflow-x: auto; font-size: .78rem; max-height: 24rem; }}
code {{ overflow-wrap: anywhere; }} .lead {{ font-size: 1.1rem; }}
</style></head><body>
<h1>A missed malignancy costs twenty false alarms</h1>
<p class="lead">{cheapest}</p>
<p>Wisconsin breast cancer data: 569 patients, 212 of them with a malignant tumour. Every classifier is fitted and
tested on the same ten folds. A missed malignancy costs 20, a false alarm costs 1.</p>
{costs}
<div class="scroll"><table><tr><th>classifier</th><th>cost per patient</th><th>95 % interval</th><th>false alarms</th>
<th>misses</th></tr>{cells}</table></div>
<h2>Tuning the margin</h2>
<p>Tuned on all patients: {best}. The loss is calibrated for the same costs at every gamma of this path; gamma only
changes which linear classifier a finite sample leads to.</p>
{path}
<h2>The loss</h2>
<p><code>{loss}</code></p><p>Verdict: {verdict}.</p><p>{implied}</p>
{partial}
<h2>What a small training loss guarantees</h2>
<p>A classifier whose surrogate risk is within 0.01 of the best possible has an expected cost per patient within
{bound} of the best possible. A linear classifier may not get that close; the table above shows what was measured.</p>
{psi}
<h2>The certificate</h2>
<p>{statement} <code>uneven.verify</code> checks the proof from this text alone:</p>
<details><summary>show it</summary><pre>{certificate}</pre></details>
</body></html>
"""
