"""Texts that mean "missing" where numbers are written as texts."""

from __future__ import annotations

#: In any case of letters.
MARKS = (
    *("", "na", "n/a", "n.a.", "nan", "-nan", "null", "<na>", "-", "--", "?", "."),
    *("#n/a", "#na", "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!"),
)
#: Exactly as written here.
EXACT_MARKS = ("None", "NaT")


def is_mark(text: str) -> bool:
    """Whether a text without spaces around it means "missing"."""
    return text.lower() in MARKS or text in EXACT_MARKS
