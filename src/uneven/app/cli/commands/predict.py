"""``uneven predict``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from uneven.app.cli.options import (
    applying,
    changed_cost_options,
    changed_costs,
    limit_options,
    read_options,
    reading_options,
)
from uneven.errors import UnevenError


@click.command()
@click.argument("model")
@click.argument("data")
@click.option("--id", "id_column", metavar="COL", help="The column that names the rows; by default that of the fit.")
@changed_cost_options
@limit_options
@reading_options
@click.option("-o", "--output", required=True, metavar="OUT", help="The .csv or .parquet file to write.")
@applying
def predict(
    model: str,
    data: str,
    id_column: str | None,
    fp_cost: str | None,
    fn_cost: str | None,
    tp_cost: str | None,
    tn_cost: str | None,
    actions: tuple[str, ...],
    output: str,
    **others: Any,
) -> None:
    """Predict with a model of `uneven fit`, within limits.

    Writes for each row: its ID, the prediction in the words of the target, the probability, the threshold of the row,
    the expected costs of both decisions, and the score. Probability and expected costs only if the model has them.
    Costs that you give replace those of the fit; nothing is fitted again.

    With a limit (--at-most 200 --per day) or a further action (--action review=8:5) it writes what is done with each
    row, what each action is expected to cost, what the decision saves, and the rank of the row; and it says what the
    limit costs, and what one more place would save.
    """
    from uneven.app.files.file_kinds import WRITABLE, require_output, write_whole
    from uneven.app.files.remarks import new_categories
    from uneven.app.files.table import read_table, table_bytes
    from uneven.app.models.apply_model import apply_model, in_training, prediction_table, seen_in_words
    from uneven.app.models.files_in_parts import write_predictions
    from uneven.app.models.model_files import read_model
    from uneven.app.models.written_limits import (
        WrittenLimits,
        decide_table,
        decided_table,
        read_actions,
        written_actions,
    )

    limits = WrittenLimits(**{name: others.pop(name) for name in WrittenLimits.__dataclass_fields__})
    require_output(output, WRITABLE, inputs=(model, data, *([limits.held_out] if limits.held_out else [])))
    options = read_options(**others)
    content = read_model(model)
    about = content["about"]
    asked = actions or written_actions(about)
    if about.get("streamed"):
        if asked or limits.given:
            raise UnevenError(
                f"{model} was fitted in parts and decides row by row; limits and further actions need all rows at once"
            )
        changes = changed_costs(fp_cost, fn_cost, tp_cost, tn_cost)
        if id_column is not None:
            about["id"] = id_column
        rows, count = write_predictions(content, data, output, changes)
        click.echo(f"{output}: {rows:,} rows, {count:,} predicted {about['target']} = {about['positive']}.")
        return
    table = read_table(data, options, about["decimal"])
    used = apply_model(content, table, id_column, changed_costs(fp_cost, fn_cost, tp_cost, tn_cost))
    known = seen_in_words(in_training(used.X, content["seen"]))
    sentences = [*used.remarks, *new_categories(content["preprocessing"], used.X), known]
    end = f"{int(used.decisions.said_positive.sum()):,} predicted {about['target']} = {about['positive']}."
    if asked or limits.given:
        further = read_actions(asked, used.words)
        past = None if limits.held_out is None else read_table(limits.held_out, options, about["decimal"])
        changed = bool(changed_costs(fp_cost, fn_cost, tp_cost, tn_cost))
        found = decide_table(content, used, table, further, limits, past, changed=changed)
        sentences.append(replace(found, labels=tuple(map(repr, found.labels))).summary(used.given.unit))
        end = ", ".join(f"{count:,} {label}" for label, count in found.counts.items()) + "."
        frame = decided_table(used, found, further=bool(further))
    else:
        sentences.append(used.expected_in_words())
        frame = prediction_table(used)
    write_whole(output, table_bytes(frame, output))
    click.echo(table.in_words())
    for sentence in filter(None, sentences):
        click.echo(sentence)
    click.echo(f"{output}: {len(table):,} rows, {end}")
    if used.names is None:
        click.echo(f"They are in the order of {data}; --id COL adds the column that names them.")
