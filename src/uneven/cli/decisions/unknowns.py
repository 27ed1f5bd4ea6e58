"""What a model was not able to know, in sentences."""

from __future__ import annotations

from typing import Any

import numpy as np

_FEW = 50  # rows of the rarer class
_SHOWN = 4


def unknowns(about: dict[str, Any], X: Any, is_positive: np.ndarray, unlabelled: int, news: list[str]) -> list[str]:
    """What neither the training nor this table could tell.

    Parameters
    ----------
    about : dict
        What the model file says of the training.
    X : DataFrame
        The typed columns of the labelled rows.
    is_positive : ndarray of bool
    unlabelled : int
        Rows without a label.
    news : list of str
        Sentences about categories that training did not have.
    """
    found = [about["broken_promise"]] if about.get("broken_promise") else []
    fewest = min(about["positives"], about["rows"] - about["positives"])
    if fewest < _FEW:
        kind = "positive" if fewest == about["positives"] else "negative"
        found.append(f"Training had only {fewest} {kind} {_rows(fewest)}: the model and its intervals are rough.")
    here = int(min(is_positive.sum(), (~is_positive).sum()))
    if here < _FEW:
        kind = "positive" if here == is_positive.sum() else "negative"
        found.append(f"This table has only {here} {kind} {_rows(here)}: a few decisions carry the result.")
    if about["dropped"]:
        found.append(f"Left out at your wish: {_listed(about['dropped'])}.")
    for name, why in about["skipped"].items():
        found.append(f"Column {name!r} was not used: {why}.")
    found += news
    missing = {name: int(count) for name, count in X.isna().sum().items() if count}
    if missing:
        shown = _listed([f"{name} ({count:,})" for name, count in sorted(missing.items(), key=lambda item: -item[1])])
        found.append(f"Missing values were guessed: {shown}.")
    if unlabelled:
        found.append(f"{unlabelled:,} {_rows(unlabelled)} without a label: not in the costs.")
    if any(column["role"] == "date" for column in about["columns"]):
        found.append("Cross-validation mixed earlier and later rows: a change over time is not in its costs.")
    else:
        found.append("No column with dates is used: whether things change over time cannot be seen.")
    return found


def _rows(count: int) -> str:
    return "row" if count == 1 else "rows"


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
