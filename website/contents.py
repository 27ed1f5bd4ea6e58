"""The order of the pages, in this one place.

A page of ``docs`` that is not listed here appears under "More", so a new page is on the site as soon as its file is
there. A page that is listed and does not exist is left out.
"""

from __future__ import annotations

from pathlib import Path

SECTIONS: dict[str, tuple[str, ...]] = {
    "Decide about data": (
        "start",
        "example-table",
        "report",
        "when-it-pays",
        "command",
        "estimators",
        "ensemble",
        "thresholds",
        "lint",
        "resampling",
        "row-costs",
        "decide",
        "explain",
        "change",
        "folds",
        "log",
        "year",
        "case-fraud",
        "case-medicine",
        "case-churn",
        "case-credit",
        "cost-range",
        "cost-matrix",
        "linear",
        "scale",
        "boosting",
        "trees",
        "frameworks",
        "production",
        "tuning",
        "metrics",
        "displays",
        "frames",
    ),
    "How do I ...": (
        "how-threshold-or-weights",
        "how-scale-pos-weight",
        "how-smote-probabilities",
        "how-cost-matrix-xgboost",
        "how-review-capacity",
        "how-unsure-cases",
    ),
    "Design a loss": ("losses", "losses-assume", "language", "calibration", "certificates", "explorer"),
    "Read the theory": ("theory", "window", "guarantee", "paper-corrections"),
    "Look at examples": ("gallery/index",),
    "Look things up": ("reference/index",),
    "What was measured": (
        "study",
        "study-classes",
        "benchmarks",
        "benchmarks-linear",
        "constants",
        "benchmarks-tuning",
        "benchmarks-calibration",
        "certificate-table",
        "benchmarks-gamma",
        "benchmarks-row-costs",
    ),
    "The project": ("layout", "contributing", "changelog", "security", "code-of-conduct", "licences"),
}
NOT_IN_A_LIST = {"index"}


def sections(source: Path) -> dict[str, list[str]]:
    """The pages of each section that exist in the folder, and the section "More" if there are others."""
    there = {
        str(path.relative_to(source).with_suffix("").as_posix())
        for path in source.iterdir()
        if path.suffix in {".md", ".rst"}
    }
    there |= {page for pages in SECTIONS.values() for page in pages if "/" in page}
    found = {title: [page for page in pages if page in there] for title, pages in SECTIONS.items()}
    listed = {page for pages in SECTIONS.values() for page in pages} | NOT_IN_A_LIST
    found["More"] = sorted(there - listed)
    return {title: pages for title, pages in found.items() if pages}


def tables_of_contents(source: Path) -> str:
    """Hidden tables of contents, one for each section: they make the list of pages beside every page."""
    blocks = []
    for title, pages in sections(source).items():
        blocks.append("\n".join(["```{toctree}", ":hidden:", f":caption: {title}", "", *pages, "```"]))
    return "\n\n".join(blocks)
