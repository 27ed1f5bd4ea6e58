"""What a user should know about a table before a model is fitted to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uneven.tables.columns import Plan
    from uneven.tables.table import Table
    from uneven.tables.target import Target


def about_table(table: Table, plan: Plan, X: Any, labels: Target, width: int) -> Iterator[str]:
    """Sentences: how the table was read, which columns are not used, and which look suspicious."""
    yield from about_reading(table, plan, X, labels, width)
    for name, why in leaking_columns(X, labels).items():
        option = f'--drop "{name}"' if " " in name else f"--drop {name}"
        yield f"WARNING: column {name!r} {why}. If it is not known when you decide, leave it out: {option}"


def leaking_columns(X: Any, labels: Target) -> dict[str, str]:
    """Columns of the table that may give the target away, and what each tells about it."""
    from uneven.tables.leaks import leaks
    from uneven.tables.matrix import with_parts

    found: dict[str, str] = {}
    parts, source = with_parts(X)
    for name, why in leaks(parts, labels.is_positive).items():
        found.setdefault(source[name], why)
    return found


def about_reading(table: Table, plan: Plan, X: Any, labels: Target, width: int) -> Iterator[str]:
    """Sentences: how the table was read, and which columns are not used."""
    from uneven.learners.frames.columns import DATE, NUMBER

    count, positives = labels.is_positive.size, int(labels.is_positive.sum())
    yield table.in_words()
    yield f"{count:,} rows, {positives:,} positive ({positives / count:.1%})."
    unlabelled = int((~labels.known).sum())
    if unlabelled:
        yield f"{unlabelled:,} {'row' if unlabelled == 1 else 'rows'} without a label skipped."
    yield from plan.remarks
    for name, why in plan.skipped.items():
        yield f"Column {name!r} skipped: {why}."
    gaps = dict(zip(X.columns, X.isna().to_numpy().sum(axis=0).tolist(), strict=True))
    for column in plan.columns:
        missing = gaps[column.name]
        if missing:
            filled = column.role in (NUMBER, DATE)
            how = "filled with the mean and flagged" if filled else "treated as a category"
            yield f"Column {column.name!r}: {missing:,} missing {'value' if missing == 1 else 'values'}, {how}."
    free = sum(column.words for column in plan.columns)
    words = f", and the words of {free}" if free else ""
    yield f"The model sees {width:,} columns made from {len(plan.columns) - free} of the table{words}."


def new_categories(preprocessing: Any, X: Any) -> list[str]:
    """How many values a model has never seen in the columns of categories: one sentence for each column."""
    import numpy as np

    found = []
    encoder = preprocessing.blocks_.named_transformers_["categories"]
    for name, known in zip(getattr(encoder, "names_", ()), getattr(encoder, "categories_", ()), strict=True):
        if name not in X.columns:  # a part of a date
            continue
        column = X[name]
        new = np.flatnonzero(~column.cat.categories.isin(known))
        rows = int(column.cat.codes.isin(new).sum())
        if rows:
            have = "row has" if rows == 1 else "rows have"
            found.append(f"Column {name!r}: {rows:,} {have} a value that was rare or absent in training.")
    return found
