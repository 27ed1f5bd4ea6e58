"""The page of ``uneven demo``."""

from __future__ import annotations

import json
from typing import Any

from uneven.cli._fitted import model_in_words
from uneven.cli.decisions.answers import first_line, question, stability_in_words
from uneven.cli.decisions.choice import Choice
from uneven.cli.decisions.contest import AS_GIVEN, Outcome
from uneven.cli.pages.costs import confusion_figure, cost_figure, cost_table, what_if_table
from uneven.cli.pages.ensemble import ensemble_parts
from uneven.cli.pages.page import heading, page, paragraph, text

_TITLE = "A missed malignancy costs twenty false alarms"


def demo_page(result: str, choice: Choice, outcome: Outcome, pipeline: Any, certificate: Any) -> str:
    """The report as HTML."""
    rows = choice.rows
    name, what_ifs = rows[0].name, outcome.what_ifs(rows[0].name)
    given = next(what for what in what_ifs if what.label == AS_GIVEN)
    said, costs = outcome.decisions[AS_GIVEN][name][0], outcome.costs[AS_GIVEN]
    document = text(json.dumps(certificate.document, indent=1))
    return page(
        "uneven: report",
        f"<h1>{_TITLE}</h1>",
        paragraph(result, "lead"),
        paragraph(choice.warning(), "warning") if choice.warning() else paragraph(first_line(rows, None)),
        paragraph(choice.in_words()),
        paragraph(
            "Wisconsin breast cancer data: 569 patients, 212 of them with a malignant tumour, 30 measurements each. "
            "Every classifier is fitted and tested on the same five folds. A missed malignancy costs 20, a false alarm "
            "costs 1.",
            "soft",
        ),
        heading("Who is the cheapest?"),
        cost_figure(rows, None),
        cost_table(rows, None),
        paragraph(
            "Costs per 1,000 patients, with 95 % intervals. Differences are paired: all models are seen on the same "
            "patients. The cost of the cheapest is a little too low, because it was chosen by it.",
            "soft",
        ),
        heading("What was decided, and what it cost"),
        confusion_figure(outcome.is_positive, said, ("benign", "malignant"), costs, None),
        heading(question(given)),
        paragraph(stability_in_words(what_ifs)),
        what_if_table(what_ifs, None),
        heading("The model"),
        paragraph(f"It is the model {name}, fitted to all 569 patients."),
        *(paragraph(words) for words in model_in_words(pipeline)),
        *ensemble_parts(pipeline[-1], None),
        heading("The certificate"),
        paragraph(
            "The ensemble corrects its threshold by a smooth loss that looks only near the probability at which the "
            "decision changes. It is calibrated for these costs: whoever makes it small makes cheap decisions. "
            "This is proved, not tested."
        ),
        f"<p>{text(certificate.statement)} <code>uneven.verify</code> checks the proof from this text alone:</p>",
        f"<details><summary>show it</summary><pre>{document}</pre></details>",
    )
