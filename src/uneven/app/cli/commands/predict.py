"""``uneven predict``."""

from __future__ import annotations

import click

from uneven.app.cli.options import applying, changed_cost_options, changed_costs, read_options, reading_options


@click.command()
@click.argument("model")
@click.argument("data")
@click.option("--id", "id_column", metavar="COL", help="The column that names the rows; by default that of the fit.")
@changed_cost_options
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
    output: str,
    **reading: str | None,
) -> None:
    """Predict with a model of `uneven fit`.

    Writes for each row: its ID, the prediction in the words of the target, the probability, the threshold of the row,
    the expected costs of both decisions, and the score. Probability and expected costs only if the model has them.
    Costs that you give replace those of the fit; nothing is fitted again.
    """
    from uneven.app.files.file_kinds import WRITABLE, require_output, write_whole
    from uneven.app.files.remarks import new_categories
    from uneven.app.files.table import read_table, table_bytes
    from uneven.app.models.apply_model import apply_model, in_training, prediction_table, seen_in_words
    from uneven.app.models.files_in_parts import write_predictions
    from uneven.app.models.model_files import read_model

    require_output(output, WRITABLE, inputs=(model, data))
    options = read_options(**reading)
    content = read_model(model)
    about = content["about"]
    if about.get("streamed"):
        changes = changed_costs(fp_cost, fn_cost, tp_cost, tn_cost)
        if id_column is not None:
            about["id"] = id_column
        rows, count = write_predictions(content, data, output, changes)
        click.echo(f"{output}: {rows:,} rows, {count:,} predicted {about['target']} = {about['positive']}.")
        return
    table = read_table(data, options, about["decimal"])
    used = apply_model(content, table, id_column, changed_costs(fp_cost, fn_cost, tp_cost, tn_cost))
    known = seen_in_words(in_training(used.X, content["seen"]))
    sentences = [*used.remarks, *new_categories(content["preprocessing"], used.X), known, used.expected_in_words()]
    count = int(used.decisions.said_positive.sum())
    written = table_bytes(prediction_table(used), output)
    write_whole(output, written)
    click.echo(table.in_words())
    for sentence in filter(None, sentences):
        click.echo(sentence)
    click.echo(f"{output}: {len(table):,} rows, {count:,} predicted {about['target']} = {about['positive']}.")
    if used.names is None:
        click.echo(f"They are in the order of {data}; --id COL adds the column that names them.")
