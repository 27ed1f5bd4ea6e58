"""``uneven report``."""

from __future__ import annotations

import click

from uneven.cli._cost_table import print_costs
from uneven.cli._fitted import fitted_learner, loss_in_words
from uneven.cli.tables.options import read_options, reading_options


@click.command()
@click.argument("model")
@click.argument("data")
@reading_options
def report(model: str, data: str, **reading: str | None) -> None:
    """What a model costs on a table with labels.

    With a confidence interval, compared with predicting everyone positive or everyone negative.
    """
    from uneven.calibration.implied_costs import costs_in_words
    from uneven.cli._models import read_model
    from uneven.cli._pipelines import read_costs
    from uneven.cli.tables.matrix import read_columns, typed
    from uneven.cli.tables.table import read_table
    from uneven.cli.tables.target import read_target
    from uneven.metrics.comparison import constant_costs, estimated_cost

    options = read_options(**reading)
    content = read_model(model)
    about, pipeline = content["about"], content["pipeline"]
    table = read_table(data, options, about["decimal"])
    labels = read_target(table, about["target"], about["positive"], others_negative=about["others_negative"])
    is_positive = labels.is_positive
    predicted = pipeline.predict(typed(table.rows(labels.known), read_columns(about["columns"])))
    cost = read_costs(about["fp_cost"], about["fn_cost"])
    ours = estimated_cost("this model", cost, is_positive, predicted == 1)
    click.echo(table.in_words())
    alpha = fitted_learner(pipeline).analysis_.exact_alpha
    click.echo(f"{is_positive.size} rows, {int(is_positive.sum())} positive; {costs_in_words(alpha)}.")
    print_costs([ours, *constant_costs(is_positive, cost)], "on this table")
    click.echo("If the model was fitted to these rows, expect a higher cost on new ones.")
    click.echo(loss_in_words(pipeline))
