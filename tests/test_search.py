"""What people type into a search box leads to the page that answers it.

The search of the site (Sphinx) lists pages that hold every word, those with words in their title first; so does this.
"""

from __future__ import annotations

import re
from functools import cache

import pytest
from places import DOCS

#: Where words of a phrase are found, and what that counts, as in the search of Sphinx.
IN_TITLE, IN_TEXT = 15, 5
#: The page must be among so many.
FIRST = 3
PHRASES = {
    "scale_pos_weight probabilities": "how-scale-pos-weight",
    "scale_pos_weight threshold": "how-scale-pos-weight",
    "cost matrix xgboost": "how-cost-matrix-xgboost",
    "xgboost cost": "how-cost-matrix-xgboost",
    "review capacity": "how-review-capacity",
    "cases a day": "how-review-capacity",
    "unsure cases": "how-unsure-cases",
    "reject option": "how-unsure-cases",
    "refer to a person": "how-unsure-cases",
    "threshold moving": "how-threshold-or-weights",
    "class weights or threshold": "how-threshold-or-weights",
    "probabilities after smote": "how-smote-probabilities",
    "smote": "how-smote-probabilities",
    "undersampling probabilities": "resampling",
    "class_weight balanced": "resampling",
    "costs of each row": "row-costs",
    "label smoothing": "lint",
    "noqa": "lint",
    "more rows than memory": "scale",
    "churn calls": "case-churn",
    "decide within limits": "decide",
    "cost matrices": "cost-matrix",
    "boosted trees": "trees",
}


@cache
def pages() -> dict[str, tuple[str, str]]:
    """Titles and texts of the pages, in small letters."""
    found = {}
    for path in DOCS.glob("*.md"):
        text = path.read_text(encoding="utf-8").lower()
        title = re.search(r"^# (.*)$", text, flags=re.M)
        found[path.stem] = (title[1] if title else "", text)
    return found


def search(phrase: str) -> list[str]:
    """The pages that hold every word of a phrase, the best first."""
    points = {}
    for name, (title, text) in pages().items():
        of_words = [IN_TITLE if word in title else IN_TEXT if word in text else 0 for word in phrase.split()]
        if all(of_words):
            points[name] = sum(of_words)
    return sorted(points, key=lambda name: (-points[name], name))


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_phrase_finds_its_page(phrase: str) -> None:
    found = search(phrase)[:FIRST]
    assert PHRASES[phrase] in found, found


def test_there_are_twenty_phrases() -> None:
    assert len(PHRASES) >= 20
