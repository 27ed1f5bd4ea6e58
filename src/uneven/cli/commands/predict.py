"""``uneven predict``."""

from __future__ import annotations

import click

from uneven.cli._output import write_whole


@click.command()
@click.argument("model")
@click.argument("data")
@click.option("-o", "--output", required=True, metavar="OUT", help="The .csv or .parquet file to write.")
def predict(model: str, data: str, output: str) -> None:
    """Predict with a model of `uneven fit`.

    Writes the decision and the score of each row, and the probability if the loss has one.
    """
    from uneven.cli import _tables
    from uneven.cli._models import read_model

    content = read_model(model)
    about, pipeline = content["about"], content["pipeline"]
    frame = _tables.read_table(data)
    X = _tables.required_columns(frame, about["columns"])
    import pandas as pd

    found = {"prediction": pipeline.predict(X).astype(int), "score": pipeline.decision_function(X)}
    if hasattr(pipeline, "predict_proba"):
        found["probability"] = pipeline.predict_proba(X)[:, 1]
    write_whole(output, _tables.table_bytes(pd.DataFrame(found), output))
    count = int(found["prediction"].sum())
    click.echo(f"{output}: {len(frame)} rows, {count} predicted {about['target']} = {about['positive']}.")
