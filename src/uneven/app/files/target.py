"""The column to predict: which rows have a label, and which label is the positive one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uneven.app.files import table as texts
from uneven.app.files.table import Table
from uneven.errors import UnevenError
from uneven.inputs import brief

_SHOWN = 6


@dataclass(frozen=True)
class Target:
    """Labels.

    Attributes
    ----------
    known : ndarray of bool
        Which rows have a label.
    is_positive : ndarray of bool
        For each row with a label, whether it is the positive one.
    positive : str
        The positive label as the file writes it.
    negatives : list of str
        The other labels, the most frequent first.
    """

    known: np.ndarray
    is_positive: np.ndarray
    positive: str
    negatives: list[str]


def read_target(table: Table, name: str, positive: str, *, others_negative: bool = False) -> Target:
    """Read the labels; more than two different ones are an error unless all but the positive one are negative."""
    table.require([name], ", which is to be predicted")
    written = table.written(name)
    codes, labels = texts.distinct_texts(texts.present(written))
    if labels.size < 2:  # a mark such as "-" or "None" is then a label
        codes, labels = texts.distinct_texts(written)
    counts = np.bincount(codes[codes >= 0], minlength=labels.size)
    order = np.argsort(-counts, kind="stable")
    shown = ", ".join(f"{labels[k]!r} ({counts[k]:,})" for k in order[:_SHOWN])
    shown += ", ..." if labels.size > _SHOWN else ""
    if not labels.size:
        raise UnevenError(f"{table.path}: column {name!r} has no labels, only empty cells")
    chosen = _chosen(list(labels), positive)
    if chosen is None:
        raise UnevenError(f"no row of column {name!r} has the positive value {brief(positive)}; it has {shown}")
    negatives = [str(labels[k]) for k in order if k != chosen]
    if not negatives:
        raise UnevenError(f"every row of column {name!r} is positive ({labels[chosen]!r}); two classes are needed")
    if len(negatives) > 1 and not others_negative:
        raise UnevenError(
            f"column {name!r} has {labels.size:,} different values, {shown}; two are needed, or --others-negative, "
            f"which takes all but {labels[chosen]!r} as negative"
        )
    known = codes >= 0
    return Target(known, codes[known] == chosen, str(labels[chosen]), negatives)


def _chosen(labels: list[str], positive: str) -> int | None:
    """The label that was asked for: exactly, else as the same number (1 and 1.0), else in other case of letters."""
    wanted = positive.strip()
    number = _number(wanted)
    for same in (
        lambda label: label == wanted,
        lambda label: number is not None and _number(label) == number,
        lambda label: label.casefold() == wanted.casefold(),
    ):
        found = [k for k, label in enumerate(labels) if same(label)]
        if len(found) == 1:
            return found[0]
    return None


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None
