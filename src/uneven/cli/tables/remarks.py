"""What a user should know about a table before a model is fitted to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from uneven.cli.tables.columns import Plan
    from uneven.cli.tables.table import Table
    from uneven.cli.tables.target import Target


def tell_about_table(table: Table, plan: Plan, X: Any, labels: Target, width: int) -> None:
    """Print how the table was read, which columns are not used, and which look suspicious."""
    from uneven.cli.tables.leaks import leaks
    from uneven.cli.tables.matrix import made_from

    count, positives = labels.is_positive.size, int(labels.is_positive.sum())
    click.echo(table.in_words())
    click.echo(f"{count} rows, {positives} positive ({positives / count:.1%}).")
    unlabelled = int((~labels.known).sum())
    if unlabelled:
        click.echo(f"{unlabelled} {'row' if unlabelled == 1 else 'rows'} without a label skipped.")
    for remark in plan.remarks:
        click.echo(remark)
    for name, why in plan.skipped.items():
        click.echo(f"Column {name!r} skipped: {why}.")
    for column in plan.columns:
        name, first = column.name, X[made_from(column)[0]]
        missing = int(first.isna().sum())
        if missing:
            how = "treated as a category" if hasattr(first, "cat") else "filled with the median and flagged"
            click.echo(f"Column {name!r}: {missing} missing {'value' if missing == 1 else 'values'}, {how}.")
    click.echo(f"The model sees {width:,} columns made from {len(plan.columns)} of the table.")
    told: set[str] = set()
    for name, why in leaks(X, labels.is_positive).items():
        source = next(c.name for c in plan.columns if name in made_from(c))
        if source not in told:
            told.add(source)
            option = f'--drop "{source}"' if " " in source else f"--drop {source}"
            click.echo(f"WARNING: column {source!r} {why}. If it is not known when you decide, leave it out: {option}")


def new_categories(pipeline: Any, X: Any) -> list[str]:
    """How many values a model has never seen in the columns of categories: one sentence for each column."""
    import numpy as np

    found = []
    encoder = pipeline[0].named_transformers_["categories"]
    for name, known in zip(getattr(encoder, "names_", ()), getattr(encoder, "categories_", ()), strict=True):
        column = X[name]
        new = np.flatnonzero(~column.cat.categories.isin(known))
        rows = int(column.cat.codes.isin(new).sum())
        if rows:
            have = "row has" if rows == 1 else "rows have"
            found.append(f"Column {name!r}: {rows} {have} a value that was rare or absent in training.")
    return found
