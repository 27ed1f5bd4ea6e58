"""The page of ``uneven demo``."""

from __future__ import annotations

import json
from typing import Any

from uneven.cli._fitted import fitted_learner
from uneven.cli.decisions.answers import cheapest_in_words, first_line
from uneven.cli.pages.page import heading, page, paragraph, picture, sentence, text
from uneven.cli.pages.report import cost_figure, cost_table
from uneven.metrics import CostEstimate

_TITLE = "A missed malignancy costs twenty false alarms"


def demo_page(rows: list[CostEstimate], model: Any, certificate: Any, best: str, bound: float) -> str:
    """The report as HTML; ``bound`` is the guaranteed cost regret at a surrogate regret of 0.01."""
    from uneven import figures
    from uneven.figures.style import without_caption

    fitted = fitted_learner(model)
    analysis, loss = fitted.analysis_, fitted.loss_
    partial = figures.partial_losses((loss.phi,), gammas=tuple(dict.fromkeys((1.0, loss.gamma))))
    document = text(json.dumps(certificate.document, indent=1))
    return page(
        "uneven: report",
        f"<h1>{_TITLE}</h1>",
        paragraph(first_line(rows, None), "lead"),
        sentence(cheapest_in_words(rows)),
        paragraph(
            "Wisconsin breast cancer data: 569 patients, 212 of them with a malignant tumour. Every classifier is "
            "fitted and tested on the same ten folds. A missed malignancy costs 20, a false alarm costs 1."
        ),
        cost_figure(rows, None),
        cost_table(rows, None),
        heading("Tuning the margin"),
        paragraph(
            f"Tuned on all patients: {best}. The loss is calibrated for the same costs at every gamma of this path; "
            "gamma only changes which linear classifier a finite sample leads to."
        ),
        picture(model[-1].plot().figure, "Cost against gamma"),
        heading("The loss"),
        f"<p><code>{text(repr(loss))}</code></p>",
        paragraph(f"Verdict: {analysis.verdict}."),
        paragraph(analysis.implied_alpha.in_words()),
        picture(without_caption(partial)),
        heading("What a small training loss guarantees"),
        paragraph(
            "A classifier whose surrogate risk is within 0.01 of the best possible has an expected cost per patient "
            f"within {bound:.3g} of the best possible. A linear classifier may not get that close; the table above "
            "shows what was measured."
        ),
        picture(without_caption(figures.psi_enclosed(loss))),
        heading("The certificate"),
        f"<p>{text(certificate.statement)} <code>uneven.verify</code> checks the proof from this text alone:</p>",
        f"<details><summary>show it</summary><pre>{document}</pre></details>",
    )
