"""What an ensemble is made of, for pages."""

from __future__ import annotations

from typing import Any

from uneven.cli.decisions.answers import per_thousand
from uneven.cli.decisions.ensembles import is_ensemble, members_of
from uneven.cli.pages.page import closed, paragraph, picture, table


def ensemble_parts(classifier: Any, unit: str | None) -> list[str]:
    """Members with weights and costs, and the shift of the threshold; nothing for other classifiers."""
    if not is_ensemble(classifier):
        return []
    header = ["member", "weight", f"alone it costs{f' ({unit})' if unit else ''}"]
    cells = [[member.name, f"{member.weight:.2f}", per_thousand(member.cost)] for member in members_of(classifier)]
    return [
        table(header, cells),
        paragraph("Costs per 1,000 rows, out of fold: of models that did not learn from the row.", "soft"),
        _shift_figure(classifier, unit),
    ]


def _shift_figure(classifier: Any, unit: str | None) -> str:
    from uneven.figures import ThresholdShiftDisplay

    with closed(ThresholdShiftDisplay.from_estimator(classifier, unit=unit)) as figure:
        return picture(figure, "Cost at every shift of the log-odds, and how well each shift is supported") + paragraph(
            "The cost of out-of-fold decisions if the log-odds of the average were shifted by as much. The shift in "
            "use is the mean of the posterior, which a smooth loss near the threshold makes.",
            "soft",
        )
