"""``uneven predict``."""

from __future__ import annotations

import click

from uneven.cli._output import write_whole
from uneven.cli.tables.options import read_options, reading_options


@click.command()
@click.argument("model")
@click.argument("data")
@reading_options
@click.option("-o", "--output", required=True, metavar="OUT", help="The .csv or .parquet file to write.")
def predict(model: str, data: str, output: str, **reading: str | None) -> None:
    """Predict with a model of `uneven fit`.

    Writes the decision and the score of each row, and the probability if the loss has one.
    """
    from uneven.cli._models import read_model
    from uneven.cli.tables.files import WRITABLE, require_output
    from uneven.cli.tables.matrix import read_columns, typed
    from uneven.cli.tables.remarks import tell_about_new_categories
    from uneven.cli.tables.table import read_table, table_bytes

    require_output(output, WRITABLE)
    options = read_options(**reading)
    content = read_model(model)
    about, pipeline = content["about"], content["pipeline"]
    table = read_table(data, options, about["decimal"])
    X = typed(table, read_columns(about["columns"]))
    import pandas as pd

    found = {"prediction": pipeline.predict(X).astype(int), "score": pipeline.decision_function(X)}
    if hasattr(pipeline, "predict_proba"):
        found["probability"] = pipeline.predict_proba(X)[:, 1]
    if about["id"] in table.frame.columns:
        found = {about["id"]: table.frame[about["id"]], **found}
    write_whole(output, table_bytes(pd.DataFrame(found), output))
    click.echo(table.in_words())
    tell_about_new_categories(pipeline, X)
    count = int(found["prediction"].sum())
    click.echo(f"{output}: {len(table)} rows, {count} predicted {about['target']} = {about['positive']}.")
