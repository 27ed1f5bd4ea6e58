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
    skip_costs_option,
)
from uneven.errors import UnevenError


@click.command()
@click.argument("model")
@click.argument("data")
@click.option("--id", "id_column", metavar="COL", help="The column that names the rows; by default that of the fit.")
@changed_cost_options
@skip_costs_option
@limit_options
@click.option(
    "--reasons",
    type=click.IntRange(min=1),
    metavar="N",
    help="Add the N columns that spoke most for each decision, with their money, and a change that would change it.",
)
@reading_options
@click.option("-o", "--output", required=True, metavar="OUT", help="The file to write: .csv, .tsv, .xlsx or .parquet.")
@applying
def predict(
    model: str,
    data: str,
    id_column: str | None,
    fp_cost: str | None,
    fn_cost: str | None,
    tp_cost: str | None,
    tn_cost: str | None,
    skip_bad_costs: bool,
    actions: tuple[str, ...],
    reasons: int | None,
    output: str,
    **others: Any,
) -> None:
    """Predict with a model of `uneven fit`, within limits.

    Writes for each row: its ID, the prediction in the words of the target, the probability, the threshold of the row,
    the expected costs of both decisions, and the score. Probability and expected costs only if the model has them.
    Costs that you give replace those of the fit; nothing is fitted again. A text file is written as DATA is: with its
    separator, decimal sign and encoding.

    With a limit (--at-most 200 --per day) or a further action (--action review=8:5) it writes what is done with each
    row, what each action is expected to cost, what the decision saves, and the rank of the row; and it says what the
    limit costs, and what one more place would save.
    """
    from uneven.app.files.file_kinds import PARQUET, WRITABLE, require_output, write_whole
    from uneven.app.files.remarks import new_categories
    from uneven.app.files.table import read_table
    from uneven.app.files.written_tables import sensible_digits, table_bytes
    from uneven.app.models.apply_model import (
        COMPARED,
        apply_model,
        in_training,
        prediction_table,
        read_rows,
        seen_in_words,
    )
    from uneven.app.models.model_files import read_model
    from uneven.app.models.row_reasons import add_reasons
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
    changes = changed_costs(fp_cost, fn_cost, tp_cost, tn_cost)
    if reasons is not None and (asked or limits.given):
        raise UnevenError(
            "--reasons explains decisions by the threshold; limits and further actions decide otherwise: leave one out"
        )
    if about.get("streamed"):
        unfit = "--reasons" if reasons is not None else "a limit or a further action" if asked or limits.given else ""
        _predict_in_parts(model, content, data, id_column, changes, output, unfit)
        return
    table, skipped = read_rows(content, data, options, changes, skip_bad_costs=skip_bad_costs)
    used = apply_model(content, table, id_column, changes)
    known = seen_in_words(in_training(used.X, content["seen"]))
    sentences = [skipped, *used.remarks, *new_categories(content["preprocessing"], used.X), known]
    end = f"{int(used.decisions.said_positive.sum()):,} predicted {about['target']} = {about['positive']}."
    if asked or limits.given:
        further = read_actions(asked, used.words)
        past = None if limits.held_out is None else read_table(limits.held_out, options, about["decimal"])
        found = decide_table(content, used, table, further, limits, past, changed=bool(changes))
        sentences.append(replace(found, labels=tuple(map(repr, found.labels))).summary(used.given.unit))
        end = ", ".join(f"{count:,} {label}" for label, count in found.counts.items()) + "."
        frame = decided_table(used, found, further=bool(further))
    else:
        sentences.append(used.expected_in_words())
        frame = prediction_table(used)
        if reasons is not None:
            frame, sentence = add_reasons(frame, content, used, reasons, changed=bool(changes))
            sentences.append(sentence)
    if not output.lower().endswith(PARQUET):
        frame = sensible_digits(frame, COMPARED)
    write_whole(output, table_bytes(frame, output, table))
    click.echo(table.in_words())
    for sentence in filter(None, sentences):
        click.echo(sentence)
    click.echo(f"{output}: {len(table):,} rows, {end}")
    if used.names is None:
        click.echo(f"They are in the order of {data}; --id COL adds the column that names them.")


def _predict_in_parts(
    model: str,
    content: dict[str, Any],
    data: str,
    id_column: str | None,
    changes: dict[str, str],
    output: str,
    unfit: str,
) -> None:
    """Predict with a model that was fitted in parts; ``unfit`` is an option that needs all rows at once."""
    from uneven.app.models.files_in_parts import write_predictions

    if unfit:
        raise UnevenError(f"{model} was fitted in parts and decides row by row; {unfit} needs all rows at once")
    about = content["about"]
    if id_column is not None:
        about["id"] = id_column
    rows, count, expected = write_predictions(content, data, output, changes)
    if expected:
        click.echo(expected)
    click.echo(f"{output}: {rows:,} rows, {count:,} predicted {about['target']} = {about['positive']}.")
